"""flood.py PORT: some hundred clients that are slow, huge or silent, and one that asks meanwhile."""
import http.client
import socket
import sys

port = int(sys.argv[1])
clients = []
for i in range(300):
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    try:
        if i % 3 == 1:
            client.sendall(b"GET /api/v1/status HTTP/1.1\r\nX: ")
        if i % 30 == 2:
            client.sendall(b"GET /api/v1/status HTTP/1.1\r\nX: " + b"x" * 1_000_000)
        if i % 30 == 5:
            client.sendall(b"POST /api/v1/drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                           b"1000000\r\n\r\n" + b"x" * 1_000_000)
    except OSError:
        pass  # it is cut off, as it should be
    clients.append(client)
    if i % 50 == 49:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/healthz")
        print(i + 1, connection.getresponse().status)
        connection.close()

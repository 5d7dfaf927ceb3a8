"""reserve.py SOCKET REDIS_PID PORT PORT PORT: fills each pool over TCP, then uses the unix socket and the token."""
import json
import os
import select
import signal
import socket
import sys
import time

LIMIT_S = 60
CLOSE = "Connection: close\r\n"
TOKEN = "Authorization: Bearer 0123456789abcdef\r\n"
path, redis_pid, ports = sys.argv[1], int(sys.argv[2]), [int(text) for text in sys.argv[3:]]


class Client:
    """Sends one request; by TCP, or by the unix socket."""

    def __init__(self, target, headers="", local=False, method="GET", host="localhost", port=ports[0]):
        if local:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
        else:
            self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(LIMIT_S)
        self.head = b""
        self.socket.sendall(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n".encode())

    def status(self):
        while b"\r\n" not in self.head:
            more = self.socket.recv(4096)
            if not more:
                return "closed"
            self.head += more
        return int(self.head.split()[1])

    def text(self):
        """Returns all bytes until the server closes the connection."""
        text = self.head
        while more := self.socket.recv(65536):
            text += more
        return text.decode()

    def answered(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        self.socket.close()


def fill_streams(name, target, port):
    clients = [Client(target, port=port) for _ in range(40)]
    statuses = [client.status() for client in clients]
    local = Client(target, local=True)
    trusted = Client(target, TOKEN, port=port)
    print(f"{name}: {statuses.count(200)} of 40 over TCP, others {sorted(set(statuses) - {200})};",
          f"unix socket {local.status()}, with the token {trusted.status()}")
    for client in clients + [local, trusted]:
        client.close()


def is_kept_out(client):
    return "too many queries" in client.text()


def fill_queries():
    """Stops Redis, so that queries wait in the queue. The server replies at once to the queries beyond its length."""
    target = "/api/v1/runs"
    os.kill(redis_pid, signal.SIGSTOP)
    try:
        clients = [Client(target, CLOSE) for _ in range(46)]
        until = time.monotonic() + 2  # less than the time for which a query waits for Redis
        while sum(client.answered() for client in clients) < 30 and time.monotonic() < until:
            time.sleep(0.01)
        local = Client(target, CLOSE, local=True)
        trusted = Client(target, TOKEN + CLOSE)
    finally:
        os.kill(redis_pid, signal.SIGCONT)
    print(f"queries: {46 - sum(map(is_kept_out, clients))} of 46 over TCP;",
          f"unix socket {'kept out' if is_kept_out(local) else 'served'},",
          f"with the token {'kept out' if is_kept_out(trusted) else 'served'}")


def show_refusals():
    length = "Content-Length: 2\r\n"
    heads = {
        "space before the colon": "Content-Length : 2\r\n",
        "two lengths": length + length,
        "length and encoding": length + "Transfer-Encoding: chunked\r\n",
    }
    for name, head in heads.items():
        statuses = [Client("/api/v1/quiet", head, local, "POST").status() for local in (True, False)]
        print(f"{name}: unix socket {statuses[0]}, TCP {statuses[1]}")
    for count in (100, 101, 1000, 20000):
        target = "/api/v1/runs?" + "&".join(f"p{i}=1" for i in range(count))
        print(f"{count} parameters:", *(Client(target, CLOSE, local).status() for local in (True, False)))
    for host in ("localhost:80@evil.example", "evil.example", "localhost", f"127.0.0.1:{ports[0]}"):
        print("metrics of", host.replace(str(ports[0]), "PORT") + ":",
              Client("/metrics", CLOSE, host=host).status())


run = json.loads(Client("/api/v1/lists/work", CLOSE, True).text().partition("\r\n\r\n")[2])["here"]["runs"][0]["run"]
fill_streams("events", "/api/v1/events", ports[0])
fill_streams("live", "/api/v1/live", ports[1])
fill_streams("logs", f"/api/v1/runs/{run}/logs", ports[2])
fill_queries()
show_refusals()
for method in ("GET", "POST") * 10:
    wrong = Client("/api/v1/quiet", "Authorization: Bearer wrong-token\r\n" + CLOSE, method=method)
    assert wrong.status() == 401, wrong.status()

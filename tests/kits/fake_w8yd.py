"""An HTTP server that records requests, and replies to each with the next of the given replies."""
import json
import socket
import threading
from typing import NamedTuple


class Request(NamedTuple):
    connection: int  # number of the connection, from 0
    method: str
    path: str
    headers: dict
    body: object  # decoded JSON, or None


def reply(status=200, body=None, **headers):
    """Returns the bytes of a reply. A name of a header has _ in place of -."""
    text = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(text)}",
             *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + text


def chunked(body):
    text = json.dumps(body).encode()
    parts = [text[:3], text[3:]]
    chunks = b"".join(b"%x;extension\r\n%s\r\n" % (len(part), part) for part in parts)
    return (b"HTTP/1.1 100 Continue\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")


CLOSE = b""  # closes the connection without a reply
HANG = None  # never replies


class THEN_CLOSE(bytes):
    """A reply after which the connection is closed."""


class FakeW8yd:
    def __init__(self, path=None):
        """Listens on a unix socket, or on a port of 127.0.0.1."""
        if path:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(path))
            self.address = f"unix:{path}"
        else:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.listener.listen()
        self.requests = []
        self.replies = []
        self.gate = None  # a threading.Barrier that requests wait at
        self.closed = threading.Event()  # a connection after THEN_CLOSE or CLOSE is closed
        self._lock = threading.Lock()
        self._connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        with self._lock:
            for connection in self._connections:
                connection.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self._lock:
                number = len(self._connections)
                self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection, number):
        try:
            stream = connection.makefile("rb")
            while head := self._read_head(stream):
                method, path, headers = head
                text = stream.read(int(headers.get("content-length", 0)))
                with self._lock:
                    self.requests.append(Request(number, method, path, headers, json.loads(text) if text else None))
                    answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if self.gate:
                    self.gate.wait(60)
                if answer is HANG:
                    continue
                connection.sendall(answer)
                if answer == CLOSE or isinstance(answer, THEN_CLOSE):
                    break
        except OSError:
            pass
        finally:
            stream.close()
            connection.close()
            self.closed.set()

    @staticmethod
    def _read_head(stream):
        line = stream.readline()
        if not line:
            return None
        method, path, _ = line.decode("ascii").split(" ")
        headers = {}
        while (line := stream.readline().strip()):
            name, _, value = line.decode("ascii").partition(":")
            headers[name.lower()] = value.strip()
        return method, path, headers

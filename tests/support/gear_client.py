"""Gearman client that is independent of w8y and of libgearman: builds packets by the protocol."""
import socket
import struct

TYPES = {"job": 7, "background": 18, "high": 21, "high_background": 32, "low": 33, "low_background": 34}
NAMES = {8: "created", 12: "status", 13: "complete", 14: "fail", 19: "error", 25: "exception",
         27: "option", 28: "data"}


class Client:
    def __init__(self, port, exceptions=True, limit=60):
        self.socket = socket.create_connection(("127.0.0.1", port), limit)
        self.stream = self.socket.makefile("rb")
        if exceptions:
            self.say(26, b"exceptions")
            assert self.hear()[0] == "option"

    def close(self):
        self.stream.close()
        self.socket.close()

    def say(self, number, *words):
        body = b"\0".join(words)
        self.socket.sendall(b"\0REQ" + struct.pack(">II", number, len(body)) + body)

    def hear(self):
        """Returns (name, handle, rest…) of the next packet."""
        header = self.stream.read(12)
        assert len(header) == 12, "the server has closed the connection"
        magic, number, length = struct.unpack(">4sII", header)
        assert magic == b"\0RES", header
        body = self.stream.read(length)
        name = NAMES.get(number, str(number))
        return (name, *body.split(b"\0", 2 if name == "status" else 1))

    def submit(self, function, data=b"", unique="", kind="job"):
        """Submits a job and returns its handle."""
        self.say(TYPES[kind], function.encode(), unique.encode(), data)
        name, handle, *_ = self.hear()
        assert name == "created", name
        return handle

    def outcome(self):
        """Returns all packets of one job, up to its end. After an exception, Debian's gearmand sends no
        failure to clients that requested exceptions. To other clients it sends only the failure."""
        heard = []
        while not heard or heard[-1][0] not in ("complete", "fail", "exception", "error"):
            name, _, *rest = self.hear()
            heard.append((name, *rest))
        return heard

    def do(self, function, data=b"", unique="", kind="job"):
        self.submit(function, data, unique, kind)
        return self.outcome()

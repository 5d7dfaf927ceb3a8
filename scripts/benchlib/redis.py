"""A Redis of our own, in a folder of our own, and enough of its protocol to fill and ask it."""
import pathlib
import socket
from typing import List, Union

from .processes import Background, wait_for
from .programs import Programs

Reply = Union[int, bytes, None, List]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    """redis-server on a unix socket and on loopback, without persistence: a with-block."""

    def __init__(self, folder: pathlib.Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.socket = str(folder / "redis.sock")
        self.port = free_port()
        self.url = f"unix://{self.socket}"
        self.tcp_url = f"redis://127.0.0.1:{self.port}"
        self._server = Background([
            Programs.reference("redis-server"), "--dir", str(folder), "--unixsocket", self.socket,
            "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"
        ], log=str(folder / "redis.log"))
        wait_for("redis-server", 10, pathlib.Path(self.socket).exists)
        self._stream = socket.socket(socket.AF_UNIX)
        self._stream.connect(self.socket)
        self._lines = self._stream.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._lines.close()
        self._stream.close()
        self._server.__exit__(*problem)

    def call(self, *words) -> Reply:
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self._stream.sendall(b"*%d\r\n" % len(encoded) +
                             b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        return self._read()

    def _read(self) -> Reply:
        line = self._lines.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if int(rest) < 0:
            return None
        if kind == b"$":
            return self._lines.read(int(rest) + 2)[:-2]
        return [self._read() for _ in range(int(rest))]

    def calls_of(self, command: str) -> int:
        """How often clients have sent a command, by the server's own count."""
        for line in self.call("INFO", "commandstats").decode().splitlines():
            if line.startswith(f"cmdstat_{command}:calls="):
                return int(line.split("=")[1].split(",")[0])
        return 0

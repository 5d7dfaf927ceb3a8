"""A private Redis in its own directory, and the part of its protocol that the bench needs."""
import contextlib
import itertools
import pathlib
import socket
import threading
from dataclasses import dataclass
from typing import Dict, Iterable, List, Sequence, Union

from .processes import Background, wait_for
from .programs import Programs

Reply = Union[int, bytes, None, List]


def _encoded(words: Sequence) -> bytes:
    encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(
        b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def _parts(all_of_it: Iterable, size: int) -> Iterable[List]:
    rest = iter(all_of_it)
    while part := list(itertools.islice(rest, size)):
        yield part


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    """Context manager: redis-server on a unix socket and on loopback, without persistence."""

    def __init__(self, folder: pathlib.Path, events: str = "", tracking: bool = True):
        folder.mkdir(parents=True, exist_ok=True)
        self.socket = str(folder / "redis.sock")
        self.port = free_port()
        self.url = f"unix://{self.socket}"
        self.tcp_url = f"redis://127.0.0.1:{self.port}"
        self._server = Background([
            Programs.reference("redis-server"), "--dir", str(folder), "--unixsocket", self.socket,
            "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no",
            "--notify-keyspace-events", events,
            *([] if tracking else "--user default on nopass ~* &* +@all -client|tracking".split())
        ], log=str(folder / "redis.log"))
        try:
            wait_for("redis-server", 10, self._listens)
        except BaseException:
            self._server.__exit__()
            raise
        self._lines = self._stream.makefile("rb")

    def _listens(self) -> bool:
        """Returns whether it accepts connections, which it does a moment after it created its socket."""
        self._stream = socket.socket(socket.AF_UNIX)
        try:
            self._stream.connect(self.socket)
        except OSError:
            self._stream.close()
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._lines.close()
        self._stream.close()
        self._server.__exit__(*problem)

    def call(self, *words) -> Reply:
        self._stream.sendall(_encoded(words))
        return self._read()

    def fill(self, key: str, items: Iterable[str]):
        """Fills a list."""
        self.each([("RPUSH", key, *some) for some in _parts(items, 1000)])

    def each(self, calls: Iterable[Sequence]) -> List[Reply]:
        """Executes calls in batches whose replies fit into the buffer of a socket."""
        replies: List[Reply] = []
        for some in _parts(calls, 500):
            self._stream.sendall(b"".join(_encoded(words) for words in some))
            replies += [self._read() for _ in some]
        return replies

    @property
    def pid(self) -> int:
        return self._server.pid

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
        """Returns the number of calls of a command, by the server's statistics."""
        return self.commands().get(command, Command(0, 0)).calls

    def commands(self) -> Dict[str, "Command"]:
        """Returns the server's statistics of all commands, including those inside scripts."""
        found: Dict[str, Command] = {}
        for line in self.call("INFO", "commandstats").decode().splitlines():
            if line.startswith("cmdstat_"):
                name, values = line[len("cmdstat_"):].split(":")
                fields = dict(field.split("=") for field in values.split(","))
                found[name] = Command(int(fields["calls"]), int(fields["usec"]))
        return found


@dataclass
class Command:
    calls: int
    us: int


@contextlib.contextmanager
def listening(redis: Redis, channel: str):
    """Context manager: a subscriber that reads and discards all messages."""
    with socket.socket(socket.AF_UNIX) as ear:
        ear.connect(redis.socket)
        ear.sendall(f"SUBSCRIBE {channel}\r\n".encode())
        reader = threading.Thread(target=read_away, args=(ear,))
        reader.start()
        try:
            yield
        finally:
            ear.shutdown(socket.SHUT_RDWR)
            reader.join()


def read_away(ear: socket.socket):
    with contextlib.suppress(OSError):
        while ear.recv(1 << 20):
            pass

"""A redis-server for a test, and a client that is independent of w8y."""
import contextlib
import ctypes
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

_libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """Function for preexec_fn: the child is killed when its parent exits, even after SIGKILL."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    """Returns an unused TCP port of 127.0.0.1, below the ports that the kernel gives to clients. The
    port of a cluster's bus, 10,000 above it, is unused too."""
    while True:
        port = random.randrange(11_000, 22_000)
        with socket.socket() as one, socket.socket() as bus:
            try:
                one.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
                return port
            except OSError:
                continue


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def wait_for(fact, limit=60.0, what="a fact"):
    """Waits until fact() is true, and returns its value. Raises AssertionError after the limit."""
    end = time.monotonic() + limit
    while True:
        value = fact()
        if value:
            return value
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(0.01)


class RedisError(Exception):
    """An error reply of a server."""


class Wire:
    """A blocking connection to a Redis."""

    def __init__(self, path, timeout=10, login=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(str(path))
            self.stream = self.socket.makefile("rb")
            if login:
                self.ask("AUTH", *login)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, *words):
        out = b"*%d\r\n" % len(words)
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            out += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(out)

    def ask(self, *words):
        self.send(*words)
        return self.read()

    def read(self):
        line = self.stream.readline()
        if not line:
            raise OSError("no answer")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode(errors="replace"))
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        size = int(rest)
        if size < 0:
            return None
        if kind == b"$":
            return self.stream.read(size + 2)[:-2]
        return [self.read() for _ in range(size)]


class Redis:
    """A redis-server on a unix socket in its own directory. It is killed by its pid."""

    program = "redis-server"  # or a compatible server: --redis-server

    def __init__(self, home, *options, within=()):
        """`within`: a command before redis-server, for example to start it in a namespace."""
        self.home = pathlib.Path(home)
        self.home.mkdir(exist_ok=True)
        self.socket = self.home / "redis.sock"
        self.options = options
        self.within = within
        self.login = None  # arguments of AUTH for the test's own connections
        self.process = None
        self.start()

    @property
    def url(self):
        return f"unix://{self.socket}"

    def start(self, wait=True):
        port = () if "--port" in self.options else ("--port", "0")
        with open(self.home / "redis.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.within, self.program, *port, "--unixsocket", str(self.socket),
                 "--unixsocketperm", "777", "--dir", str(self.home), "--save", "",
                 "--enable-debug-command", "yes", *self.options],
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=die_with_parent)
        if wait:
            wait_for(self.answers, what="redis-server")

    def answers(self):
        try:
            return self.ask("PING") == b"PONG"
        except (OSError, RedisError):
            return False

    def wire(self, timeout=10):
        return Wire(self.socket, timeout, self.login)

    def ask(self, *words):
        """Executes one command on a new connection."""
        with self.wire() as wire:
            return wire.ask(*words)

    def set(self, **settings):
        for name, value in settings.items():
            self.ask("CONFIG", "SET", name.replace("_", "-"), value)

    def info(self, name):
        for line in self.ask("INFO", "everything").decode().splitlines():
            if line.startswith(name + ":"):
                return line.partition(":")[2]
        return ""

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()

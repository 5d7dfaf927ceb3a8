"""What the fault tests stand on: a Redis and hosts of their own, and the journal's truth.

Nothing here believes w8yd: what ran is read from the journal that the executors wrote, what is
locked from Redis.
"""
import collections
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def wait_for(fact, limit=20.0, what="a fact"):
    """Looks at it again and again; AssertionError after the limit."""
    end = time.monotonic() + limit
    while True:
        value = fact()
        if value:
            return value
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(0.01)


class Redis:
    """A redis-server on a unix socket in a folder of its own, killed by its pid."""

    def __init__(self, home, *options):
        self.home = pathlib.Path(home)
        self.home.mkdir(exist_ok=True)
        self.socket = self.home / "redis.sock"
        self.options = options
        self.process = None
        self.start()

    @property
    def url(self):
        return f"unix://{self.socket}"

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--dir",
             str(self.home), "--save", "", *self.options],
            stdout=open(self.home / "redis.log", "ab"), stderr=subprocess.STDOUT,
            start_new_session=True)
        wait_for(self.answers, what="redis-server")

    def answers(self):
        try:
            return self.ask("PING") == b"PONG"
        except OSError:
            return False

    def ask(self, *words):
        """One command on a connection of its own, by a client that isn't ours."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(10)
            sock.connect(str(self.socket))
            out = b"*%d\r\n" % len(words)
            for word in words:
                word = word if isinstance(word, bytes) else str(word).encode()
                out += b"$%d\r\n%s\r\n" % (len(word), word)
            sock.sendall(out)
            return self._read(sock.makefile("rb"))

    def _read(self, stream):
        line = stream.readline()
        if not line:
            raise OSError("no answer")
        kind, rest = line[:1], line[1:-2]
        if kind in b"+-":
            return rest
        if kind == b":":
            return int(rest)
        size = int(rest)
        if size < 0:
            return None
        if kind == b"$":
            return stream.read(size + 2)[:-2]
        return [self._read(stream) for _ in range(size)]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()


class Host:
    """One w8yd with a config of its own."""

    def __init__(self, world, name, config):
        self.world, self.name = world, name
        self.home = world.home / name
        self.home.mkdir(exist_ok=True)
        self.config = self.home / "w8y.toml"
        self.write(config)
        self.process = None
        self.killed_at = None

    def write(self, config):
        text = (f'[redis]\nurl = "{self.world.redis.url}"\n[supervisor]\nhost = "{self.name}"\n'
                f'status = ["unix:{self.home}/w8yd.sock"]\ndrain_timeout = "5s"\n' + config)
        partial = self.config.with_suffix(".new")
        partial.write_text(text)
        partial.rename(self.config)

    def start(self):
        self.process = subprocess.Popen(
            [self.world.w8yd, "--config", str(self.config)],
            stdout=open(self.home / "out.log", "ab"), stderr=subprocess.STDOUT,
            start_new_session=True)
        wait_for(self.ready, what=f"{self.name} to be ready")
        return self

    def ready(self):
        _, started, since = self.log().partition(f" pid={self.process.pid}\n")
        return started and "info: ready" in since

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        """SIGKILL, as a crash would be. Returns when it is gone."""
        self.process.kill()
        self.process.wait()
        self.killed_at = now_us()
        return self.killed_at

    def stop(self, limit=20):
        """SIGTERM; its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(limit)

    def log(self):
        return (self.home / "out.log").read_text(errors="replace")


Run = collections.namedtuple("Run", "item host run fence pid start end")


class World:
    """A folder, a Redis, hosts, a journal; all gone at the end."""

    def __init__(self, bin_dir, *redis_options):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="w8y-faults-"))
        self.bin = pathlib.Path(bin_dir).resolve()
        self.w8yd = str(self.bin / "src/app/w8yd")
        self.executor = str(self.bin / "tests/faults/journal")
        self.journal = self.home / "journal"
        self.journal.touch()
        self.redis = Redis(self.home / "redis", *redis_options)
        self.hosts = []
        self.wrappers = []
        self.random = random.Random(os.environ.get("W8Y_SEED", "1"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            if host.process and host.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    host.signal(signal.SIGCONT)
                host.kill()
        for wrapper in self.wrappers:
            if wrapper.poll() is None:
                wrapper.kill()
                wrapper.wait()
        self.redis.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def host(self, name, config=None, **settings):
        host = Host(self, name, config if config is not None else self.list_config(**settings))
        self.hosts.append(host)
        return host.start()

    def wrapper(self, *options):
        """A w8y that runs the journal."""
        process = subprocess.Popen(
            [str(self.bin / "src/app/w8y"), "-u", self.redis.url, "-e", "ITEM", *options,
             self.executor],
            env={"PATH": os.environ["PATH"], "JOURNAL": str(self.journal), "WORK_MS": "25"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        self.wrappers.append(process)
        return process

    def last_outcome(self, prefix):
        entry = self.redis.ask("XREVRANGE", f"{prefix}:runs", "+", "-", "COUNT", 1)
        if not entry:
            return None
        fields = entry[0][1]
        return dict(zip(fields[::2], fields[1::2]))[b"outcome"].decode()

    def list_config(self, prefix="work", work_ms=20, on_term="", **settings):
        lines = [f"[lists.{prefix}]", f'executor = "{self.executor}"',
                 f'env = {{ JOURNAL = "{self.journal}", WORK_MS = "{work_ms}", '
                 f'ON_TERM = "{on_term}" }}']
        for key, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else (
                str(value) if isinstance(value, (int, float)) or str(value)[:1] in "[{"
                else f'"{value}"')
            lines.append(f"{key} = {text}")
        return "\n".join(lines) + "\n"

    def fill(self, items, prefix="work"):
        self.redis.ask("RPUSH", f"{prefix}:list", *items)
        return set(items)

    def items(self, prefix="work"):
        return collections.Counter(
            item.decode() for item in self.redis.ask("LRANGE", f"{prefix}:list", 0, -1))

    def runs(self):
        """Every run of the journal, in order of start; end is None if none was written."""
        open_runs, order = {}, []
        for line in self.journal.read_text().splitlines():
            what, when, host, run, fence, pid, item = line.split(" ", 6)
            if what == "start":
                open_runs[run] = Run(item, host, run, int(fence), int(pid), int(when), None)
                order.append(run)
            elif run in open_runs:
                open_runs[run] = open_runs[run]._replace(end=int(when))
        return [open_runs[run] for run in order]

    def overlaps(self, deaths):
        """Pairs of runs of one item at the same time. `deaths`: for runs that wrote no end, when
        their host was killed, by host: a list of times."""
        found = []
        last = {}
        for run in self.runs():
            before = last.get(run.item)
            if before is not None:
                ended = before.end or min(
                    (t for t in deaths.get(before.host, []) if t >= before.start),
                    default=before.start)
                if run.start < ended:
                    found.append((before, run))
            last[run.item] = run
        return found

    def children(self):
        """Processes of the journal's executor that are alive, in this world."""
        alive = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                environ = (entry / "environ").read_bytes()
                if f"JOURNAL={self.journal}".encode() in environ.split(b"\0"):
                    alive.append(int(entry.name))
        return alive

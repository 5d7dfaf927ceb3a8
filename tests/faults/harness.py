"""Base of the fault tests: a Redis and hosts for each test, and the journal of the runs.

The tests do not trust w8yd: they read runs from the journal that the executors write, and locks from
Redis.
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile

from private_redis import Redis, die_with_parent, now_us, wait_for
from record import PATIENCE_US, RunRecord


class Host:
    """One w8yd with its config."""

    def __init__(self, world, name, config, *, url=None, redis="", supervisor="", drain="5s",
                 within=(), env=None, prepare=None, ready=True):
        """`redis`, `supervisor`: more lines of these tables. `within`: a command before w8yd.
        `prepare`: called in the new process before w8yd is executed. `ready`: whether to wait
        until its log, on standard error, has "ready"."""
        self.world, self.name = world, name
        self.url = url or world.redis.url
        self.redis, self.supervisor = redis, supervisor
        self.within, self.env, self.prepare = within, env, prepare
        self.drain, self.await_ready = drain, ready
        self.home = world.home / name
        self.home.mkdir(exist_ok=True)
        self.config = self.home / "w8y.toml"
        self.out = self.home / "out.log"
        self.write(config)
        self.process = None

    def write(self, config):
        text = (f'[redis]\nurl = "{self.url}"\n{self.redis}\n'
                f'[supervisor]\nhost = "{self.name}"\n'
                f'status = ["unix:{self.home}/w8yd.sock"]\ndrain_timeout = "{self.drain}"\n'
                f'{self.supervisor}\n{config}')
        partial = self.config.with_suffix(".new")
        partial.write_text(text)
        partial.rename(self.config)

    def start(self):
        def prepare():
            if self.prepare:
                self.prepare()
            die_with_parent()

        self.skip = self.out.stat().st_size if self.out.exists() else 0
        env = {k: v for k, v in os.environ.items() if k != "NOTIFY_SOCKET"} | (self.env or {})
        with open(self.out, "ab") as out:
            self.process = subprocess.Popen(
                [*self.within, self.world.w8yd, "--config", str(self.config)], stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=prepare, env=env)
        if self.await_ready:
            wait_for(self.ready, what=f"{self.name} to be ready")
        return self

    def ready(self):
        assert self.process.poll() is None, f"{self.name} ended: {self.log()[-2000:]}"
        return "info: ready" in self.log(self.skip)

    def log(self, since=0):
        """Returns the log from position `since`."""
        with open(self.out, "rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def log_size(self):
        return self.out.stat().st_size

    def complaints(self, since):
        """Returns log lines above the level info."""
        return [line for line in self.log(since).splitlines()
                if re.search(r"\b(warning|warn|error):", line)]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        """Kills w8yd with SIGKILL, like a crash. Returns the time at which the process had ended."""
        self.process.kill()
        self.process.wait()
        return now_us()

    def stop(self, limit=60):
        """Stops w8yd with SIGTERM. Returns its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(limit)

    # ---- data of the kernel

    def resident_mib(self):
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


class World:
    """A directory, a Redis, hosts and a journal. All are removed at the end."""

    def __init__(self, setup, *redis_options, within=(), forget=False):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="w8y-faults-"))
        self.home.chmod(0o755)  # a row may run w8yd as another user
        self.bin = pathlib.Path(setup.bin).resolve()
        self.w8yd = str(self.bin / "src/app/w8yd")
        self.executor = str(self.bin / "tests/faults/run-recorder")
        self.journal = self.home / "journal"
        self.journal.touch()
        self.journal.chmod(0o666)
        self.record = RunRecord(self.journal, forget)
        self.hosts = []
        self.wrappers = []
        self.random = random.Random(setup.seed)
        self.redis = None
        self.witness_socket = str(self.home / "witness.sock")
        self.witness = subprocess.Popen(
            [self.bin / "tests/faults/witness", self.witness_socket, self.journal],
            start_new_session=True, preexec_fn=die_with_parent)
        try:
            wait_for(lambda: os.path.exists(self.witness_socket), what="the witness")
            self.redis = Redis(self.home / "redis", *redis_options, within=within)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            if host.process and host.process.poll() is None:
                host.kill()
        for wrapper in self.wrappers:
            if wrapper.poll() is None:
                wrapper.kill()
                wrapper.wait()
        if self.redis:
            self.redis.kill()
        self.witness.kill()
        self.witness.wait()
        self.record.file.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def host(self, name, config=None, *, how=None, **settings):
        """Starts a w8yd and waits until it is ready. `how`: arguments of Host; `settings`: of list_config."""
        host = Host(self, name, config if config is not None else self.list_config(**settings),
                    **(how or {}))
        self.hosts.append(host)
        return host.start()

    def wrapper(self, *options, work_ms=25):
        """Starts a w8y whose program writes the journal."""
        process = subprocess.Popen(
            [str(self.bin / "src/app/w8y"), "-u", self.redis.url, "-e", "ITEM", *options,
             self.executor],
            env={"PATH": os.environ["PATH"], "JOURNAL": str(self.journal),
                 "WITNESS": self.witness_socket, "WORK_MS": str(work_ms)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=die_with_parent)
        self.wrappers.append(process)
        return process

    def records(self, prefix, last=-1):
        """Returns the run records of a list, those of failed runs first, each newest first."""
        return [json.loads(entry) for kind in ("failed-runs", "runs")
                for entry in self.redis.ask("LRANGE", f"{prefix}:{kind}", 0, last)]

    def record_count(self, prefix):
        return sum(self.redis.ask("LLEN", f"{prefix}:{kind}") for kind in ("failed-runs", "runs"))

    def last_outcome(self, prefix):
        newest = sorted(self.records(prefix, 0), key=lambda record: record["entered_ms"])
        return newest[-1]["outcome"] if newest else None

    def list_config(self, prefix="work", work_ms=20, on_term="", witness=True, say=0, **settings):
        lines = [f"[lists.{prefix}]", f'executor = "{self.executor}"',
                 f'env = {{ JOURNAL = "{self.journal}", WORK_MS = "{work_ms}", '
                 f'ON_TERM = "{on_term}", SAY = "{say}", WITNESS = "{self.witness_socket if witness else ""}" }}']
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

    def check_items(self, items, prefix="work"):
        found = self.items(prefix)
        assert set(found) == set(items), f"items: {sorted(set(items) ^ set(found))}"
        assert max(found.values()) == 1, f"items doubled: {found}"

    def locks(self, prefix="work"):
        """Returns the locks of runs, by item."""
        found = {}
        with self.redis.wire() as wire:
            for key in wire.ask("KEYS", f"{prefix}:lock:*"):
                value = wire.ask("GET", key)
                if value and value.startswith(b"run:"):
                    found[key.decode()[len(prefix) + 6:]] = value.decode()
        return found

    def runs(self):
        """Returns every run of the journal, in order of start."""
        return self.record.read().runs

    def runs_since(self, when):
        return [run for run in self.runs() if run.start > when]

    def overlaps(self):
        with contextlib.suppress(AssertionError):  # pairs that are undecided then count as overlaps
            wait_for(lambda: not self.record.read().undecided(), PATIENCE_US / 1e6)
        return self.record.overlaps()

    def wait_runs(self, more, limit=60, what="runs", since=None):
        """Waits for more runs than there are now, or than `since`."""
        before = self.record.read().count if since is None else since
        wait_for(lambda: self.record.read().count >= before + more, limit, what)

    def stop(self):
        """Stops every host, and asserts that its exit status is 0."""
        for host in self.hosts:
            status = host.stop()
            assert status == 0, f"{host.name} ended with {status}: {host.log()[-2000:]}"

    def children(self):
        """Returns the PIDs of this world's executors that are alive."""
        alive = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if b"run-recorder\0" not in (entry / "cmdline").read_bytes():
                    continue
                environ = (entry / "environ").read_bytes().split(b"\0")
                if f"JOURNAL={self.journal}".encode() in environ:
                    alive.append(int(entry.name))
        return alive


__all__ = ["Host", "World", "now_us", "signal", "wait_for"]

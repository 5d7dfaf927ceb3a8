"""No-op work of a private w8yd through the kits for Node and Python: rate, and processor time per item.

The feed has enough jobs before the measurement, so that no client that puts jobs uses the processors too.
"""
import json
import os
import pathlib
import subprocess
import time
from dataclasses import dataclass
from typing import List

from .daemon import W8yd
from .process_facts import cpu_seconds
from .processes import finish
from .redis import Redis

KITS = {"Node": "kit_executor.js", "Python": "kit_executor.py"}
ITEMS = 1000
SETTLE = 0.5
US = 1e6
# More jobs than a kit completes in a second.
PER_SECOND = 60_000


@dataclass
class Cost:
    """Rate, and processor time in µs per item."""

    rate: float
    w8yd: float
    redis: float
    executor: float

    def part(self) -> float:
        """Returns the rate as a part of the rate at which all processors, or one of the three processes, would
        have no idle time."""
        each = (self.w8yd, self.redis, self.executor)
        return self.rate / (US * min(os.cpu_count() / sum(each), 1 / max(each)))


class KitWorker:
    """A w8yd with an executor of a kit that starts runs only while it is measured. `source`: circular or job.
    `log`: file for the latency of each job."""

    def __init__(self, bench, stack, redis: Redis, kit: str, source: str, concurrency: int, log: str = ""):
        self._bench, self._redis, self._source = bench, redis, source
        self._name = f"{kit.lower()}-{source}"
        self.enqueued: List[float] = []  # jobs per second, of each call of w8yctl
        interpreter, *args = [bench.programs.interpreter(kit), bench.programs.script(KITS[kit]), str(concurrency), log]
        if source == "job":
            self._w8yctl("feed", "create", self._name, "--kind", "job", "--exists-ok")
        else:
            redis.fill(f"{self._name}:list", (f"item-{i}" for i in range(ITEMS)))
        self._daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), pathlib.Path(redis.socket).parent / self._name, redis.url,
            f'[lists.{self._name}]\nsource = "{source}"\nexecutor = "{interpreter}"\n'
            f'args = {json.dumps([arg for arg in args if arg])}\nconcurrency = {concurrency}\n'))
        self._daemon.quiet()

    def measure(self, seconds: float) -> Cost:
        if self._source == "job":
            self._put(int(PER_SECOND * (SETTLE + seconds)) - self._waiting())
        self._daemon.go_on()
        time.sleep(SETTLE)
        pids = [self._daemon.pid, self._redis.pid, self._executor()]

        def look() -> List[float]:
            return [time.monotonic(), self._daemon.succeeded(self._name), *map(cpu_seconds, pids)]

        before = look()
        time.sleep(seconds)
        took, runs, *spent = (now - then for now, then in zip(look(), before))
        self._daemon.quiet()
        if self._source == "job" and self._waiting() == 0:
            raise RuntimeError(f"{self._name}: the feed ran empty")
        return Cost(runs / took, *(US * each / runs for each in spent))

    def _executor(self) -> int:
        children = pathlib.Path(f"/proc/{self._daemon.pid}/task/{self._daemon.pid}/children").read_text()
        pid, *more = map(int, children.split())
        if more:
            raise RuntimeError(f"{self._name}: w8yd has {1 + len(more)} executors, not one")
        return pid

    def _waiting(self) -> int:
        return self._redis.call("LLEN", f"feed.ids:{self._name}")

    def _put(self, jobs: int):
        lines, since = "".join(f"{i}\n" for i in range(jobs)), time.monotonic()
        self._w8yctl("job", "put", self._name, "-", input=lines, text=True)
        self.enqueued.append(jobs / (time.monotonic() - since))

    def pace(self, rate: float, seconds: float):
        """Puts jobs at this rate, one in each call. The payload of a job is the time in µs."""
        feed, lua = self._name, pathlib.Path(self._bench.programs.lua("job_put")).read_text()
        parts = ("config", "ids", "items", "publishes", "published", "claimed", "cancelled", "stalled")
        head = ["EVALSHA", self._redis.call("SCRIPT", "LOAD", lua), 9, *(f"feed.{part}:{feed}" for part in parts),
                "feeds", feed, "", f"{feed}:keep", "feed.result:", "", "", ""]
        self._daemon.go_on()
        since = time.monotonic()
        for sent in range(int(rate * seconds)):
            time.sleep(max(0.0, since + sent / rate - time.monotonic()))
            self._redis.call(*head, f"{time.time_ns():032x}", time.time_ns() / 1000, "n", "")

    def _w8yctl(self, *words: str, **more):
        finish([self._bench.programs.ours("w8yctl"), "--redis-url", self._redis.url, *words],
               stdout=subprocess.DEVNULL, **more)

"""No-op jobs of the peers: BullMQ, Sidekiq, RQ and Celery, each with its own Redis on a unix socket.

Each peer has a program in bench.d/peers, with these arguments:

    version
    work SOCKET CONCURRENCY documented|best [LOG]   a worker; with LOG, it logs the latency of each job in µs
    put SOCKET COUNT                                puts jobs and prints the seconds
    pace SOCKET RATE SECONDS                        puts jobs at this rate, each with the time in µs
"""
import contextlib
import pathlib
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import Dict, List

from .processes import Background, finish, rate_over, wait_for
from .redis import Redis

SETTLE = 1.5
PATIENCE = 30
DOCUMENTED, BEST = "documented", "best"


@dataclass(frozen=True)
class Peer:
    name: str
    language: str
    program: str
    queue: str  # the Redis list of waiting jobs
    per_second: int  # more jobs than it completes in a second, before this is measured
    settings: Dict[str, str]


PEERS = [
    Peer("BullMQ", "Node", "bullmq.js", "bull:bench:wait", 25_000, {
        DOCUMENTED: "concurrency as the row, removeOnComplete 1000, addBulk",
        BEST: "and removeOnComplete 0, no check for stalled jobs, no renewal of locks"}),
    Peer("Sidekiq", "Ruby", "sidekiq.rb", "queue:default", 15_000, {
        DOCUMENTED: "threads as the row, at most 50; push_bulk",
        BEST: "at most 10 threads, hiredis, log level WARN"}),
    Peer("RQ", "Python", "rq_peer.py", "rq:queue:bench", 1500, {
        DOCUMENTED: "Worker, modules imported before the fork; enqueue_many",
        BEST: "SimpleWorker, no results, log level WARNING"}),
    Peer("Celery", "Python", "celery_peer.py", "celery", 5000, {
        DOCUMENTED: "prefork, a child per processor, prefetch 128, no results",
        BEST: "and solo, no gossip, mingle, heartbeat and rate limits"}),
]


def words(bench, peer: Peer, *more: str) -> List[str]:
    return [bench.programs.interpreter(peer.language), bench.programs.script(f"peers/{peer.program}"), *more]


def output(bench, peer: Peer, *more: str) -> str:
    return finish(words(bench, peer, *more), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                  stdin=subprocess.DEVNULL, text=True).stdout.split()[-1]


def waits_over(log: pathlib.Path) -> List[float]:
    """Returns the latencies in ms, without those of the first quarter, in which programs become warm."""
    found = [float(line) / 1000 for line in log.read_text().split()]
    return found[len(found) // 4:]


class PeerWorker:
    """A worker process that exists only while it is measured. All jobs are put before."""

    def __init__(self, bench, stack, peer: Peer, settings: str, concurrency: int):
        self._bench, self._peer = bench, peer
        self._folder = bench.folder / f"{peer.name}-{settings}-{concurrency}"
        self._redis = stack.enter_context(Redis(self._folder))
        self._per_second = float(peer.per_second)
        self._work = ("work", self._redis.socket, str(concurrency), settings)
        self.enqueued: List[float] = []  # jobs per second, of each call

    def rate(self, seconds: float) -> float:
        self._redis.call("FLUSHALL")
        jobs = int(self._per_second * (SETTLE + seconds)) + 1000
        self.enqueued.append(jobs / float(output(self._bench, self._peer, "put", self._redis.socket, str(jobs))))
        with self._worker():
            wait_for(self._peer.name, PATIENCE, lambda: self._waiting() < jobs)
            time.sleep(SETTLE)
            rate = -rate_over(seconds, self._waiting)
            if self._waiting() == 0:
                raise RuntimeError(f"{self._peer.name}: the queue ran empty")
        self._per_second = 2 * rate
        return rate

    def latencies(self, rate: float, seconds: float) -> List[float]:
        self._redis.call("FLUSHALL")
        log = self._folder / "latencies"
        log.write_text("")
        with self._worker(str(log)):
            self._pace(1, 1)
            wait_for(self._peer.name, PATIENCE, lambda: log.stat().st_size > 0)
            self._pace(rate, seconds)
            wait_for(self._peer.name, PATIENCE, lambda: self._waiting() == 0)
            time.sleep(0.2)
        return waits_over(log)

    def _pace(self, rate: float, seconds: float):
        finish(words(self._bench, self._peer, "pace", self._redis.socket, str(rate), str(seconds)),
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def _waiting(self) -> int:
        return self._redis.call("LLEN", self._peer.queue)

    def _worker(self, *log: str) -> Background:
        return Background(words(self._bench, self._peer, *self._work, *log), log=str(self._folder / "worker.log"),
                          end=signal.SIGKILL)


def versions(bench) -> Dict[str, str]:
    """Returns the version of each peer by its name. Prints a message for a missing peer."""
    found = {}
    for peer in PEERS:
        with contextlib.suppress(subprocess.CalledProcessError, RuntimeError, OSError):
            found[peer.name] = output(bench, peer, "version")
        if peer.name not in found:
            bench.say(f"without: {peer.name} is missing: scripts/bench --setup")
    return found


def percentile(values: List[float], which: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[which - 1]

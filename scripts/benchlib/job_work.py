"""Jobs put, run and finished per second, with a private w8yd and with a bare client.

A client keeps a constant number of jobs in a feed, puts at least 100 at a time, and counts finished jobs.
w8yd runs the jobs with the stream executor of `stream`. The reference only runs the scripts that w8yd
uses, for claims and ends, with the same number of jobs in flight. A second reference also writes history
and events. At the end, each job that was put must be finished, and none of its keys left. Once for each
w8yd, a client subscribes to the results. On a busy machine, the processor time of Redis per job,
including the puts, says more than the rate.
"""
import contextlib
import socket
import statistics
import subprocess
from dataclasses import dataclass
from typing import Callable, Dict, List

from .daemon import W8yd
from .measure import Goal, Row, Subject, find, in_turn, note_growth, rows_of
from .process_facts import cpu_seconds
from .processes import Background, finish
from .redis import Redis

US = 1e6
SETTLE = 0.3


@dataclass
class Done:
    """Result of one measurement."""

    rate: float  # finished jobs per second
    jobs: int  # number of jobs, all put and finished
    redis_us: float  # processor time of Redis per job


@dataclass
class Case:
    """A Redis with feeds whose workers run in turn, and the settings of the measurement."""

    bench: object
    redis: Redis
    concurrency: int
    waiting: int
    seconds: float

    def work(self, feed: str, seconds: float, settle: float = SETTLE) -> Done:
        """Puts jobs into the feed and measures its active worker."""
        lua, before = self.bench.programs.lua, cpu_seconds(self.redis.pid)
        done = finish([self.bench.programs.bare("put_jobs"), self.redis.socket, lua("job_put"),
                       feed, str(self.waiting), str(settle), str(seconds)],
                      stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        spent = cpu_seconds(self.redis.pid) - before
        finished_, took, jobs, least = done.stdout.split()
        if int(least) < self.waiting // 10:
            self.bench.say(f"{feed}: the client that puts jobs did not keep up, {least} jobs were left for once")
        self.all_finished(feed)
        return Done(int(finished_) / float(took), int(jobs), US * spent / int(jobs))

    def all_finished(self, feed: str):
        """Checks that only the counters of the feed are left."""
        for command, key in (("LLEN", f"feed.ids:{feed}"), ("HLEN", f"feed.items:{feed}"),
                             ("ZCARD", f"feed.claimed:{feed}"), ("SCARD", f"feed.stalled:{feed}"),
                             ("ZCARD", f"feed.published:{feed}"), ("HLEN", f"{feed}:claims")):
            if left := self.redis.call(command, key):
                raise RuntimeError(f"{key}: {left} jobs are left")
        put, ended = (self.count(feed, name) for name in ("publishes", "finishes"))
        if put != ended:
            raise RuntimeError(f"{feed}: {put} jobs were put, and {ended} are finished")

    def count(self, feed: str, name: str) -> int:
        return int(self.redis.call("GET", f"feed.{name}:{feed}") or 0)

    def bare(self, history: int) -> Done:
        lua, feed = self.bench.programs.lua, f"bare{history}"
        with Background([self.bench.programs.bare("bare_jobs"), self.redis.socket, lua("job_claim"),
                         lua("job_settle"), feed, str(self.concurrency), str(history)],
                        log=str(self.bench.folder / f"{feed}.log")):
            return self.work(feed, self.seconds)


class Worker:
    """A w8yd on its own feed that starts runs only while it is measured."""

    def __init__(self, case: Case, stack, feed: str, more: str = ""):
        self._case, self._feed = case, feed
        bench, places = case.bench, case.concurrency
        executor = bench.programs.bare("stream_executor")
        self._daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), bench.folder / f"{feed}-{places}", case.redis.url,
            f'[lists.{feed}]\nsource = "job"\nexecutor = "{executor}"\n'
            f'args = ["{places}", "answer"]\nconcurrency = {places}\n{more}'))
        self._daemon.quiet()

    def work(self, seconds: float, settle: float = SETTLE) -> Done:
        before = self._daemon.succeeded(self._feed)
        self._daemon.go_on()
        done = self._case.work(self._feed, seconds, settle)
        self._daemon.quiet()
        runs = self._daemon.succeeded(self._feed) - before
        if runs != done.jobs:
            raise RuntimeError(f"{self._feed}: {runs} runs succeeded of {done.jobs} jobs")
        return done

    def tells_each(self):
        """Checks that a subscriber receives the result of each job once."""
        with socket.socket(socket.AF_UNIX) as ear:
            ear.connect(self._case.redis.socket)
            ear.settimeout(20)
            ear.sendall(f"SUBSCRIBE job.finish:{self._feed}\r\n".encode())
            heard = ear.recv(4096)
            jobs = self.work(0.1, 0).jobs
            ear.sendall(b"PING\r\n")  # its reply follows all earlier messages
            while not heard.endswith(b"$4\r\npong\r\n$0\r\n\r\n"):
                heard += ear.recv(1 << 20)
        results = heard.count(b"\0{}\r\n")
        if results != jobs:
            raise RuntimeError(f"{self._feed}: {results} results were published for {jobs} jobs")


def by_case(case: Case, rounds: int) -> List[Row]:
    for feed in ("bare0", "bare1000", "plain", "short"):
        finish([case.bench.programs.ours("w8yctl"), "--redis-url", case.redis.url, "feed", "create",
                feed, "--kind", "job", "--exists-ok"], stdout=subprocess.DEVNULL)
    cost: Dict[str, List[float]] = {}

    def subject(name: str, settings: str, work: Callable[[], Done]) -> Subject:
        def take() -> float:
            done = work()
            cost.setdefault(name, []).append(done.redis_us)
            return done.rate

        return Subject(name, settings, take)

    claimed = f"{case.concurrency} claimed at a time"
    with contextlib.ExitStack() as stack:
        plain = Worker(case, stack, "plain")
        short = Worker(case, stack, "short", "history = 0\n")
        for worker in (plain, short):
            worker.tells_each()
        subjects = [
            subject("bare client", f"{claimed}, history 0", lambda: case.bare(0)),
            subject("bare client, history", f"{claimed}, history 1000", lambda: case.bare(1000)),
            subject("w8yd", "defaults (history 1000, events)", lambda: plain.work(case.seconds)),
            subject("w8yd, no history", "history 0, events", lambda: short.work(case.seconds)),
        ]
        taken = in_turn(subjects, rounds)
    name = f"{case.waiting:,} jobs, concurrency {case.concurrency}"
    settings = {each.name: each.settings for each in subjects}
    rows = rows_of(name, "jobs/s", settings, taken)
    # Each is compared with the client that uses the same scripts and records.
    for ours, same in (("w8yd", "bare client, history"), ("w8yd, no history", "bare client")):
        beside = statistics.median(a / b for a, b in zip(taken[ours], taken[same]))
        find(rows, ours).goals.append(Goal(f"≥ 0.7 × {same} ({beside:.2f})", beside >= 0.7))
    return rows + rows_of(f"{name}: Redis's processor", "µs/job", settings, cost)


def finished(bench, sizes: List[int], seconds: float, rounds: int) -> List[Row]:
    rows: List[Row] = []
    for concurrency in (16, 100):
        sized = []
        for waiting in sizes:
            bench.say(f"{waiting:,} jobs put, run and finished, concurrency {concurrency}")
            with Redis(bench.folder / f"redis-{concurrency}-{waiting}") as redis:
                found = by_case(Case(bench, redis, concurrency, waiting, seconds), rounds)
            rows += found
            sized.append((waiting, find(found, "w8yd")))
        # The cost is the time to finish as many jobs as the feed has.
        note_growth(sized, cost=lambda size, row: size / row.value.median)
    return rows

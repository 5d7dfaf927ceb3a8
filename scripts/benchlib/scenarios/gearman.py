"""Jobs per second from a gearmand: /bin/true beside gearman -w, stream beside a bare worker.

All workers take background jobs, which were put before, from one gearmand, in turn. w8yd runs with and
without a Redis. The bare worker has one connection and completes each job at once, without an executor and
without records. It requests as many jobs at a time as w8yd has slots. No library for workers does this, so
there is also a bare worker that takes one job at a time, as these libraries do.
"""
import contextlib
import subprocess
from typing import List

from ..daemon import W8yd
from ..gearman import FUNCTION, Gearman
from ..measure import Goal, Row, Subject, find, in_turn, rows_of
from ..processes import finish
from ..redis import Redis
from ..working import SETTLE, rate

PROGRAM = "/bin/true"
STREAM = "stream"
ONE = "bare worker, one job"
# More jobs than any subject completes in a second.
SPAWNED, STREAMED = 20_000, 300_000


class Queue:
    """Fills the queue with enough jobs for a round of any subject."""

    def __init__(self, bench, server: Gearman, function: str, per_second: int, seconds: float):
        self._putter = bench.programs.bare("bare_gearman")
        self._server, self._function = server, function
        self._enough = int(per_second * (seconds + SETTLE))

    def fill(self):
        self._server.put(self._putter, self._function, self._enough)

    def check(self):
        if self._server.waiting(self._function) == 0:
            raise RuntimeError("the queue of gearmand ran empty")


def bare(bench, name: str, server: Gearman, places: int, seconds: float, queue: Queue) -> Subject:
    words = [bench.programs.bare("bare_gearman"), str(server.port), STREAM, "work", str(seconds),
             str(places)]

    def take() -> float:
        queue.fill()
        done = finish(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        jobs, took = done.stdout.split()
        return int(jobs) / float(took)

    return Subject(name, f"{places} asked for at a time", take)


def ours(bench, stack, server: Gearman, function: str, places: int, program: str, queue: Queue,
         seconds: float):
    """Returns subjects with Redis, which stores history and events, and without."""
    folder = bench.folder / f"{function}-{places}"
    redis = stack.enter_context(Redis(folder / "redis"))
    lists = (f'[gearman]\nservers = ["127.0.0.1:{server.port}"]\n\n[lists.{function}]\n'
             f'source = "gearman"\nconcurrency = {places}\n{program}\n')
    for name, part, url, settings in (
            ("w8yd", "with", redis.url, "defaults (history 1000, events)"),
            ("w8yd, no Redis", "without", "", "no Redis")):
        daemon = stack.enter_context(W8yd(bench.programs.ours("w8yd"), folder / part, url, lists))
        daemon.quiet()

        def take(daemon=daemon) -> float:
            queue.fill()
            taken = rate(daemon, function, seconds)
            queue.check()
            return taken

        yield Subject(name, settings, take)


def judge(rows: List[Row], goal: str, least: float):
    one = find(rows, ONE)
    for name in ("w8yd", "w8yd, no Redis"):
        row = find(rows, name)
        row.goals.append(Goal(goal, row.ratio.median >= least))
        if one is not None:
            row.goals.append(Goal(f"≥ {least} × one job", row.value.median >= least * one.value.median))


def spawned(bench, server: Gearman, tool: str, places: int, seconds: float) -> List[Row]:
    queue = Queue(bench, server, FUNCTION, SPAWNED, seconds)

    def workers() -> float:
        queue.fill()
        return server.rate(PROGRAM, places, 0, seconds)

    with contextlib.ExitStack() as stack:
        subjects = [Subject("gearman -w", "a worker per place", workers)]
        subjects += ours(bench, stack, server, FUNCTION, places, f'command = ["{PROGRAM}"]', queue,
                         seconds)
        rows = rows_of(f"{PROGRAM}, concurrency {places}", "jobs/s",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))
    judge(rows, "above it", 1)
    return rows


def streamed(bench, server: Gearman, places: int, seconds: float) -> List[Row]:
    executor = bench.programs.bare("stream_executor")
    queue = Queue(bench, server, STREAM, STREAMED, seconds)
    with contextlib.ExitStack() as stack:
        subjects = [bare(bench, "bare worker", server, places, seconds, queue)]
        if places > 1:
            subjects.append(bare(bench, ONE, server, 1, seconds, queue))
        subjects += ours(bench, stack, server, STREAM, places,
                         f'executor = "{executor}"\nargs = ["{places}", "answer"]', queue, seconds)
        rows = rows_of(f"stream, concurrency {places}", "jobs/s",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))
    judge(rows, "≥ 0.7 × bare", 0.7)
    return rows


def run(bench) -> List[Row]:
    seconds = 0.5 if bench.quick else 2.0
    tool = bench.programs.reference("gearman")
    rows: List[Row] = []
    with Gearman(bench.programs.reference("gearmand"), tool, bench.folder / "gearmand") as server:
        for places in (1, 4):
            bench.say(f"{PROGRAM}, concurrency {places}")
            rows += spawned(bench, server, tool, places, seconds)
        for places in (1, 16, 100):
            bench.say(f"stream, concurrency {places}")
            rows += streamed(bench, server, places, seconds)
    return rows

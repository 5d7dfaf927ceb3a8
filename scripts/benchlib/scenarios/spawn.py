"""Runs per second of /bin/true over a circular list, against bare loops and other tools.

The bare loop starts programs and waits for them. The bare worker does the same with items that it claims and
settles, by the scripts that w8yd uses. The difference between the bare worker and w8yd is the cost of w8yd
itself.
"""
import contextlib
import subprocess
import time
from typing import List

from ..gearman import Gearman
from ..measure import Goal, Row, Subject, in_turn
from ..processes import Background, finish, rate_over
from ..redis import Redis, listening
from ..working import SETTLE, beside_both, runs_of, worker

PROGRAM = "/bin/true"
OTHERS = ("xargs", "gearman -w", "shell loop")


def bare(bench, concurrency: int, seconds: float) -> Subject:
    loop = bench.programs.bare("bare_spawn")

    def take() -> float:
        done = finish([loop, str(concurrency), str(seconds), PROGRAM], stdout=subprocess.PIPE,
                      stdin=subprocess.DEVNULL, text=True)
        runs, took = done.stdout.split()
        return int(runs) / float(took)

    return Subject("bare loop", "posix_spawn, wait", take)


def heard(redis: Redis, subject: Subject) -> Subject:
    """Returns the same subject with a subscriber of its events."""
    def take() -> float:
        with listening(redis, "bench:events"):
            return subject.take()

    return Subject(f"{subject.name}, heard", f"{subject.settings}, a listener on P:events", take)


def xargs(tool: str, concurrency: int, enough: int) -> Subject:
    def take() -> float:
        since = time.monotonic()
        finish([tool, "-P", str(concurrency), "-n", "1", PROGRAM], input="x\n" * enough, text=True)
        return enough / (time.monotonic() - since)

    return Subject("xargs", "-P -n 1", take)


def gearman(server: Gearman, concurrency: int, enough: int,
            seconds: float) -> Subject:
    return Subject("gearman -w", "a worker per place, background jobs",
                   lambda: server.rate(PROGRAM, concurrency, enough, seconds))


def shell_loop(bench, redis: Redis, concurrency: int, seconds: float) -> Subject:
    script = bench.programs.script("shell_loop.sh")

    def take() -> float:
        with contextlib.ExitStack() as loops:
            for _ in range(concurrency):
                loops.enter_context(Background([script, redis.socket, PROGRAM]))
            time.sleep(SETTLE)
            return rate_over(seconds, lambda: redis.calls_of("del"))

    return Subject("shell loop", "redis-cli: LMOVE, SET NX, run, DEL", take)


def judge(rows: List[Row]):
    ours = next(row for row in rows if row.subject == "w8yd")
    others = [row for row in rows if row.subject in OTHERS]
    ours.goals.append(
        Goal("above every other", all(ours.value.median > other.value.median for other in others)))


def run_case(bench, concurrency: int) -> List[Row]:
    seconds = 0.5 if bench.quick else 2.0
    folder = bench.folder / str(concurrency)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        subjects = [bare(bench, concurrency, seconds)]
        subjects += runs_of(bench, stack, redis, folder, concurrency, f'command = ["{PROGRAM}"]',
                            seconds)
        subjects.insert(2, heard(redis, subjects[1]))
        subjects.insert(1, worker(bench, redis, concurrency, "spawn", PROGRAM, seconds))
        # Tools that cannot be stopped after a time get about as many runs as the bare loop does in that time.
        enough = int(subjects[0].take() * seconds)
        if (tool := bench.want("xargs")) is not None:
            subjects.append(xargs(tool, concurrency, enough))
        server, tool = bench.want("gearmand"), bench.want("gearman")
        if server and tool:
            made = stack.enter_context(Gearman(server, tool, folder / "gearman"))
            subjects.append(gearman(made, concurrency, 4 * enough + 2000, seconds))
        if bench.want("redis-cli"):
            subjects.append(shell_loop(bench, redis, concurrency, seconds))
        settings = {subject.name: subject.settings for subject in subjects}
        rows = beside_both(f"concurrency {concurrency}", settings, in_turn(subjects, bench.rounds),
                           0.85)
    judge(rows)
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    for concurrency in (1, 2, 4, 8):
        bench.say(f"concurrency {concurrency}")
        rows += run_case(bench, concurrency)
    return rows

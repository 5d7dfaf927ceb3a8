"""Items per second through a stream executor that completes each at once, 1,000 in the list.

The reference only runs the scripts that w8yd uses, for claims and settlements, from one connection, in calls of
the same size: no executor, no history, no events. A second bare client writes history and events as w8yd does
by default. The difference between the two clients is the cost of Redis. w8yd runs with the defaults (history
1000, events), without history, and with a subscriber of `P:events`. All of them are ready on one Redis, each
with its own list.
"""
import contextlib
import subprocess
from typing import List

from ..daemon import W8yd
from ..measure import Goal, Row, Subject, find, in_turn, note_growth, rows_of
from ..processes import finish
from ..redis import Redis, listening
from ..working import rate

SETTLE = 0.5
# Number of claims in flight, so that Redis always has one to execute. Fewer if claims are large, so that the
# list has enough items for all of them.
LANES = {16: 4, 64: 4, 256: 2}
DEFAULTS = "defaults (history 1000, events)"


def fill(redis: Redis, prefix: str, items: int):
    redis.call("DEL", f"{prefix}:list")
    redis.fill(f"{prefix}:list", (f"item-{i}" for i in range(items)))


def bare(bench, redis: Redis, name: str, concurrency: int, history: int, seconds: float) -> Subject:
    lua = bench.programs.lua
    batch = min(concurrency, 256)
    lanes = LANES.get(batch, 4)
    words = [bench.programs.bare("bare_stream"), redis.socket, lua("claim"), lua("settle"),
             f"bare{history}", str(batch), str(lanes), str(seconds), str(history)]

    def take() -> float:
        done = finish(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        items, took = done.stdout.split()
        return int(items) / float(took)

    return Subject(name, f"{lanes} × {batch} claimed at a time, history {history}", take)


class Made:
    """A w8yd on its own list that starts runs only while it is measured."""

    def __init__(self, bench, stack, redis: Redis, prefix: str, concurrency: int, more: str = ""):
        self._redis = redis
        self._prefix = prefix
        executor = bench.programs.bare("stream_executor")
        self._daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), bench.folder / f"{prefix}-{concurrency}", redis.url,
            f'[lists.{prefix}]\nexecutor = "{executor}"\nargs = ["{concurrency}", "answer"]\n'
            f'concurrency = {concurrency}\n{more}'))
        self._daemon.quiet()

    def rate(self, seconds: float, heard: bool = False) -> float:
        with contextlib.ExitStack() as stack:
            if heard:
                stack.enter_context(listening(self._redis, f"{self._prefix}:events"))
            return rate(self._daemon, self._prefix, seconds, SETTLE)


def judge(rows: List[Row]):
    bare_rate = rows[0].value.median
    for name in ("w8yd", "w8yd, no history"):
        if ours := find(rows, name):
            ours.goals.append(Goal("≥ 0.7 × bare", ours.ratio.median >= 0.7))
            if bare_rate >= 150_000:
                ours.goals.append(Goal("≥ 100,000/s", ours.value.median >= 100_000))


def by_concurrency(bench, concurrency: int, seconds: float) -> List[Row]:
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / f"redis-{concurrency}"))
        for prefix in ("bare0", "bare1000", "plain", "short"):
            fill(redis, prefix, 1000)
        plain = Made(bench, stack, redis, "plain", concurrency)
        short = Made(bench, stack, redis, "short", concurrency, "history = 0\n")
        subjects = [
            bare(bench, redis, "bare client", concurrency, 0, seconds),
            bare(bench, redis, "bare client, history", concurrency, 1000, seconds),
            Subject("w8yd", DEFAULTS, lambda: plain.rate(seconds)),
            Subject("w8yd, heard", f"{DEFAULTS}, a listener on P:events",
                    lambda: plain.rate(seconds, True)),
            Subject("w8yd, no history", "history 0, events", lambda: short.rate(seconds)),
        ]
        rows = rows_of(f"concurrency {concurrency}", "items/s",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))
    judge(rows)
    return rows


def by_items(bench, sizes: List[int], seconds: float) -> List[Row]:
    """Measures at one concurrency, so that only the list grows. Rounds are shorter, because there are many."""
    concurrency = 64
    rows: List[Row] = []
    sized = []
    for items in sizes:
        bench.say(f"{items:,} items")
        with contextlib.ExitStack() as stack:
            redis = stack.enter_context(Redis(bench.folder / f"redis-items-{items}"))
            for prefix in ("bare0", "sized"):
                fill(redis, prefix, items)
            made = Made(bench, stack, redis, "sized", concurrency)
            subjects = [bare(bench, redis, "bare client", concurrency, 0, seconds),
                        Subject("w8yd", DEFAULTS, lambda: made.rate(seconds))]
            found = rows_of(f"{items:,} items", "items/s",
                            {subject.name: subject.settings for subject in subjects},
                            in_turn(subjects, bench.rounds))
        rows += found
        sized.append((items, found[1]))
    # The cost is the time in which each item of the list runs once.
    note_growth(sized, cost=lambda size, row: size / row.value.median)
    return rows


def run(bench) -> List[Row]:
    seconds = 0.5 if bench.quick else 2.0
    rows: List[Row] = []
    for concurrency in (16, 256) if bench.quick else (1, 16, 64, 256, 1000):
        bench.say(f"concurrency {concurrency}")
        rows += by_concurrency(bench, concurrency, seconds)
    sizes = [10 ** power for power in range(1, 5 if bench.quick else 7)]
    return rows + by_items(bench, sizes, seconds / 2)

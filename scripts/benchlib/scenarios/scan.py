"""Time to find the one free item of a list whose others are locked, 10 to 1,000,000 items.

The reference reads the list with LRANGE and asks for each lock with EXISTS, 1,000 at once, from one
connection. `w8y` is measured as a whole process, less the same on a list of one free item. `w8yd`
serves the list with a stream executor that completes the item at once, so it has the whole list
before it again: the time is that between two runs. The free item is behind all others each time,
for what was looked at goes to the end of the list.
"""
import contextlib
import statistics
import subprocess
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..measure import Goal, Row, Subject, in_turn, note_growth, rows_of
from ..processes import finish
from ..redis import Redis
from ..working import rate

DAY_MS = 86_400_000


def lock_all_but_one(redis: Redis, prefix: str, items: int):
    redis.fill(f"{prefix}:list", (f"item-{i}" for i in range(items)))
    redis.each(("SET", f"{prefix}:lock:item-{i}", "run:other:1:0", "PX", DAY_MS)
               for i in range(items - 1))


def free_item_last(redis: Redis, items: int):
    """w8yd may have been stopped in the middle of the list."""
    item = f"item-{items - 1}"
    redis.call("LREM", "full:list", -1, item)
    redis.call("RPUSH", "full:list", item)


def bare(bench, redis: Redis, times: int) -> float:
    """In ms."""
    done = finish([bench.programs.bare("bare_scan"), redis.socket, "full", str(times)],
                  stdout=subprocess.PIPE, text=True)
    return statistics.median(map(int, done.stdout.split())) / 1e6


def w8y(bench, redis: Redis, times: int, items: int) -> float:
    free_item_last(redis, items)

    def words(prefix: str) -> List[str]:
        return [bench.programs.ours("w8y"), "-q", "-k", prefix, "-u", redis.url, "--", "/bin/true"]

    done = finish([bench.programs.bare("start_in_turn"), str(times), *words("full"), "--next",
                   *words("single")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    full, single = ([int(ns) for ns in line.split()] for line in done.stderr.splitlines())
    return (statistics.median(full) - statistics.median(single)) / 1e6


def w8yd(daemon: W8yd, seconds: float) -> float:
    return 1e3 / rate(daemon, "full", seconds)


def run_case(bench, items: int) -> List[Row]:
    folder = bench.folder / str(items)
    times = max(3, min(100, 100_000 // items)) // (3 if bench.quick else 1)
    seconds = max(1.0 if bench.quick else 2.0, 20e-6 * items)
    executor = bench.programs.bare("stream_executor")
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        lock_all_but_one(redis, "full", items)
        redis.call("RPUSH", "single:list", "item")
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / "w8yd", redis.url,
            f'[lists.full]\nexecutor = "{executor}"\nargs = ["1", "answer"]\n'))
        daemon.quiet()
        subjects = [
            Subject("LRANGE, EXISTS", "1,000 locks at once", lambda: bare(bench, redis, times)),
            Subject("w8y", "whole process, less that for one item",
                    lambda: w8y(bench, redis, times, items)),
            Subject("w8yd", "defaults, concurrency 1, stream", lambda: w8yd(daemon, seconds)),
        ]
        return rows_of(f"{items:,} items", "ms",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))


def run(bench) -> List[Row]:
    rows: List[Row] = []
    sized: Dict[str, List[Tuple[int, Row]]] = {}
    for power in range(1, 6 if bench.quick else 7):
        items = 10 ** power
        bench.say(f"{items:,} items")
        found = run_case(bench, items)
        rows += found
        for row in found:
            sized.setdefault(row.subject, []).append((items, row))
            if items == 10_000 and row is not found[0]:
                row.goals.append(Goal("≤ 2 ×", row.ratio.median <= 2))
    for pairs in sized.values():
        note_growth(pairs)
    return rows

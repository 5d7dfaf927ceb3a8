"""Time to find the one free item of a list whose others are locked, 10 to 1,000,000 items.

The reference reads the list with LRANGE and queries each lock with EXISTS, 1,000 at once, from one
connection. `w8y` is measured as a whole process, less the same on a list of one free item. `w8yd` serves the
list with a stream executor that completes the item at once, and its cooldown delays the item. The bench
pauses the list, makes the item behind all others free, and resumes the list. The time is that until the run
has started, less the same for the list of one item. Without the pause, `w8yd` would not scan the whole list:
see `w8yd, next`, where `w8yd` finds the item that its own run has made free.
"""
import contextlib
import socket
import statistics
import subprocess
import time
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..measure import Goal, Row, Subject, in_turn, note_growth, rows_of
from ..processes import finish, wait_for
from ..redis import Redis
from ..working import rate

DAY_MS = 86_400_000


def lock_all_but_one(redis: Redis, prefix: str, items: int):
    redis.fill(f"{prefix}:list", (f"item-{i}" for i in range(items)))
    redis.each(("SET", f"{prefix}:lock:item-{i}", "run:other:1:0", "PX", DAY_MS)
               for i in range(items - 1))


def free_item_last(redis: Redis, items: int):
    """Moves the item to the end, because w8yd may have stopped in the middle of the list."""
    item = f"item-{items - 1}"
    redis.call("LREM", "full:list", -1, item)
    redis.call("RPUSH", "full:list", item)


def bare(bench, redis: Redis, times: int, item: str) -> float:
    """Returns the time in ms."""
    # A host that has just become quiet settles its last run a little later.
    wait_for("the free item", 10, lambda: redis.call("EXISTS", f"full:lock:{item}") == 0)
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


class Heard:
    """Context manager: starts of runs of a list, read from its events channel."""

    def __init__(self, redis: Redis, prefix: str):
        self._ear = socket.socket(socket.AF_UNIX)
        self._ear.connect(redis.socket)
        self._ear.sendall(f"SUBSCRIBE {prefix}:events\r\n".encode())
        self._ear.recv(1 << 16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ear.close()

    def next(self, kind: str) -> float:
        """Returns the time of the next event, in seconds."""
        self._ear.settimeout(60)
        while f'"type":"{kind}"'.encode() not in self._ear.recv(1 << 16):
            pass
        return time.monotonic()


def to_first_start(daemon: W8yd, redis: Redis, prefix: str, item: str) -> float:
    redis.call("SET", f"{prefix}:paused", "bench")
    redis.call("PUBLISH", f"{prefix}:wake", "pause")
    wait_for("the pause", 10, lambda: daemon.state(prefix) == "paused")
    redis.call("LREM", f"{prefix}:list", -1, item)
    redis.call("RPUSH", f"{prefix}:list", item)
    with Heard(redis, prefix) as heard:
        began = time.monotonic()
        redis.each([("DEL", f"{prefix}:lock:{item}", f"{prefix}:paused"),
                    ("PUBLISH", f"{prefix}:wake", "go on")])
        took = heard.next("start") - began
    wait_for_rest(redis, prefix, item)
    return took


def wait_for_rest(redis: Redis, prefix: str, item: str):
    lock = f"{prefix}:lock:{item}"
    wait_for("the rest", 10, lambda: redis.call("GET", lock) == b"delay:cooldown")


def w8yd(daemon: W8yd, redis: Redis, times: int, items: int) -> float:
    """Returns the time in ms."""
    full, single = [], []
    for _ in range(times):
        full.append(to_first_start(daemon, redis, "full", f"item-{items - 1}"))
        single.append(to_first_start(daemon, redis, "single", "item"))
    return (statistics.median(full) - statistics.median(single)) * 1e3


def run_case(bench, items: int) -> List[Row]:
    folder = bench.folder / str(items)
    times = max(3, min(100, 100_000 // items)) // (3 if bench.quick else 1)
    seconds = max(1.0 if bench.quick else 2.0, 20e-6 * items)
    executor = bench.programs.bare("stream_executor")
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        lock_all_but_one(redis, "full", items)
        redis.call("RPUSH", "single:list", "item")
        worker = f'executor = "{executor}"\nargs = ["1", "answer"]\n'
        last = {"full": f"item-{items - 1}", "single": "item"}

        def rest():
            for prefix, item in last.items():
                wait_for_rest(redis, prefix, item)

        def set_free():
            redis.call("DEL", *(f"{prefix}:lock:{item}" for prefix, item in last.items()))

        daemons = {}
        for name, lists in (
                ("pass", "".join(f'[lists.{prefix}]\n{worker}cooldown = "1d"\n'
                                 for prefix in ("full", "single"))),
                ("next", f"[lists.full]\n{worker}")):
            daemons[name] = stack.enter_context(W8yd(
                bench.programs.ours("w8yd"), folder / name, redis.url, lists))
            rest()  # delays the items of the first w8yd's runs, so that the second finds none free
            daemons[name].quiet()
        set_free()

        def whole_pass() -> float:
            daemons["pass"].go_on()
            took = w8yd(daemons["pass"], redis, min(times, 10), items)
            daemons["pass"].quiet()
            set_free()
            return took

        subjects = [
            Subject("LRANGE, EXISTS", "1,000 locks at once",
                    lambda: bare(bench, redis, times, last["full"])),
            Subject("w8y", "whole process, less that for one item",
                    lambda: w8y(bench, redis, times, items)),
            Subject("w8yd", "a whole pass; cooldown, stream, less that for one item", whole_pass),
            Subject("w8yd, next", "defaults, concurrency 1, stream, between two runs",
                    lambda: 1e3 / rate(daemons["next"], "full", seconds)),
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
            if items == 10_000 and row.subject in ("w8y", "w8yd"):
                row.goals.append(Goal("≤ 2 ×", row.ratio.median <= 2))
    for pairs in sized.values():
        note_growth(pairs)
    return rows

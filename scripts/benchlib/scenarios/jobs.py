"""Feeds, queues and jobs: items put and published from standard input, per second.

Put: `w8yctl queue put -` of many lines, as a whole process; beside it redis-cli --pipe with commands
of the contract that were made before. Publish: `w8yctl feed publish -` into a feed with max_length,
so that each item drops one; beside it the contract's steps, with WATCH and EXEC, in Python.
"""
import contextlib
import pathlib
import subprocess
import sys
import time
from typing import Iterator, List

from ..measure import Row, Subject, in_turn, rows_of
from ..programs import SCRIPTS
from ..redis import Redis, _encoded

TESTS = SCRIPTS.parent / "tests"
FEED = "bench"


@contextlib.contextmanager
def feed(bench, name: str, *options: str) -> Iterator[Redis]:
    """A Redis of its own with a feed on it."""
    with Redis(bench.folder / name) as redis:
        subprocess.run([bench.programs.ours("w8yctl"), "--redis-url", redis.url, "feed", "create",
                        FEED, *options], check=True)
        yield redis


def timed(command: List[str], standard_input: pathlib.Path) -> float:
    """Seconds."""
    with open(standard_input, "rb") as lines:
        since = time.monotonic()
        subprocess.run(command, stdin=lines, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - since


def empty(redis: Redis):
    redis.call("DEL", f"feed.ids:{FEED}", f"feed.items:{FEED}")


def put(bench, count: int, rounds: int) -> List[Row]:
    lines, commands = bench.folder / "lines", bench.folder / "commands"
    lines.write_text("".join(f"{number}\n" for number in range(count)))
    with open(commands, "wb") as file:
        for number in range(count):
            file.write(_encoded(("LPUSH", f"feed.ids:{FEED}", f"{number:032x}"))
                       + _encoded(("HSET", f"feed.items:{FEED}", f"{number:032x}", number))
                       + _encoded(("INCR", f"feed.publishes:{FEED}")))
    reference, ours = "redis-cli --pipe", "w8yctl queue put -"
    with feed(bench, "put", "--kind", "queue") as redis:
        def by_redis_cli() -> float:
            empty(redis)
            return count / timed([bench.programs.reference("redis-cli"), "-s", redis.socket,
                                  "--pipe"], commands)

        def by_us() -> float:
            empty(redis)
            took = timed([bench.programs.ours("w8yctl"), "--redis-url", redis.url, "queue", "put",
                          FEED, "-"], lines)
            assert redis.call("LLEN", f"feed.ids:{FEED}") == count
            return count / took

        bench.say(f"{count:,} lines put in a queue")
        taken = in_turn([Subject(reference, "", by_redis_cli), Subject(ours, "", by_us)], rounds)
    return rows_of(f"{count:,} lines", "items/s",
                   {reference: "LPUSH, HSET, INCR for each, made before", ours: "ids printed"},
                   taken)


def publish(bench, count: int, most: int, rounds: int) -> List[Row]:
    sys.path.insert(0, str(TESTS / "faults"))
    from thoonk_client import Contract

    class Asking:
        def __init__(self, redis: Redis):
            self.ask = redis.call

    lines = bench.folder / "lines-to-publish"
    lines.write_text("".join(f"{number}\n" for number in range(count)))
    reference, ours = "the contract's steps, in Python", "w8yctl feed publish -"
    with feed(bench, "publish", "--max-length", str(most)) as redis:
        def by_contract() -> float:
            client = Contract(Asking(redis), FEED)
            few = max(1, count // 20)
            since = time.monotonic()
            for number in range(few):
                client.publish(number)
            return few / (time.monotonic() - since)

        def by_us() -> float:
            took = timed([bench.programs.ours("w8yctl"), "--redis-url", redis.url, "feed",
                          "publish", FEED, "-"], lines)
            assert redis.call("ZCARD", f"feed.ids:{FEED}") == most
            return count / took

        by_us()  # from now on each drops one
        bench.say(f"{count:,} published, of which {most:,} stay")
        taken = in_turn([Subject(reference, "", by_contract), Subject(ours, "", by_us)], rounds)
    return rows_of(f"published, {most:,} stay", "items/s",
                   {reference: "WATCH, MULTI, EXEC: four round trips each",
                    ours: f"{count:,} lines"}, taken)


def run(bench) -> List[Row]:
    bench.folder.mkdir(parents=True, exist_ok=True)
    if bench.quick:
        return put(bench, 20_000, 1) + publish(bench, 5000, 100, 1)
    rounds = min(bench.rounds, 3)
    return put(bench, 1_000_000, rounds) + publish(bench, 100_000, 1000, rounds)

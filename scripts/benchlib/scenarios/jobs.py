"""Feeds, queues and jobs: items put and published, jobs put, run and finished, and maintenance.

Put: `w8yctl queue put -` of many lines, as a whole process. The reference is redis-cli --pipe with prepared
commands of the contract. Publish: `w8yctl feed publish -` into a feed with max_length, so that each item
drops one. The reference is the steps of the contract, with WATCH and EXEC, in Python.

Put, run, finished: see benchlib/job_work.py.

Maintenance: `w8yctl job maintain` of a feed with that many jobs. Of these, 1,000 are orphaned, and 1,000 are
claimed by a client that writes no lease. The result is the longest call by SLOWLOG of Redis, in the pass
that records the orphaned jobs and in the next pass, which recovers them. SLOWLOG also counts the time that
Redis waits for a processor. Therefore there are two more rows: the delay of an empty loop on this machine,
and the longest call if each call counts as in its fastest pass.
"""
import contextlib
import pathlib
import re
import subprocess
import sys
import time
from typing import Dict, Iterator, List, Tuple

from ..job_work import finished
from ..measure import Goal, Row, Spread, Subject, in_turn, note_growth, rows_of
from ..processes import finish
from ..programs import SCRIPTS
from ..redis import Redis, _encoded

TESTS = SCRIPTS.parent / "tests"
FEED = "bench"


@contextlib.contextmanager
def feed(bench, name: str, *options: str) -> Iterator[Redis]:
    """A private Redis with one feed."""
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

        by_us()  # from now on each publish drops an item
        bench.say(f"{count:,} published, of which {most:,} stay")
        taken = in_turn([Subject(reference, "", by_contract), Subject(ours, "", by_us)], rounds)
    return rows_of(f"published, {most:,} stay", "items/s",
                   {reference: "WATCH, MULTI, EXEC: four round trips each",
                    ours: f"{count:,} lines"}, taken)


LOST = 1000
MS = 1000.0


def slow_calls(redis: Redis) -> Dict[Tuple[bytes, ...], float]:
    """Returns the ms of each script that took 0.1 ms or more since the last SLOWLOG RESET, by the arguments that
    are the same in each pass: step, position or cursor, size of the page; for a check, the first ID."""
    calls = {}
    for entry in redis.call("SLOWLOG", "GET", "-1"):
        if (words := entry[3])[0] in (b"EVALSHA", b"EVAL"):
            step = words[21:24]
            calls[words[1], *(step[::2] if step[:1] == [b"check"] else step)] = entry[2] / MS
    if not calls:
        raise RuntimeError("SLOWLOG has no call of the maintenance")
    return calls


def longest_pause(bench, seconds: int) -> float:
    """Returns the ms by which the machine delays an empty loop."""
    done = finish([bench.programs.reference("redis-cli"), "--intrinsic-latency", str(seconds)],
                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return max(map(int, re.findall(r"so far: (\d+) microseconds", done.stdout))) / MS


def with_lost_jobs(bench, redis: Redis, count: int):
    """Makes jobs of which some are claimed without a lease, and enables the log of slow commands."""
    lines = bench.folder / "jobs"
    lines.write_text("".join(f"{number}\n" for number in range(count)))
    timed([bench.programs.ours("w8yctl"), "--redis-url", redis.url, "job", "put", FEED, "-"], lines)
    redis.each([("ZADD", f"feed.claimed:{FEED}", round(time.time() * MS), id_)
                for id_ in redis.call("RPOP", f"feed.ids:{FEED}", LOST)])
    redis.call("CONFIG", "SET", "slowlog-log-slower-than", 100)
    redis.call("CONFIG", "SET", "slowlog-max-len", 1_000_000)


def maintained(bench, count: int, rounds: int) -> List[Row]:
    bench.say(f"maintenance of {count:,} jobs")
    pause, call = "longest pause of the machine", "longest call"
    fastest: Dict[Tuple[bytes, ...], float] = {}
    took: List[float] = []
    with feed(bench, f"maintain-{count}", "--kind", "job") as redis:
        with_lost_jobs(bench, redis, count)
        maintain = [bench.programs.ours("w8yctl"), "--redis-url", redis.url, "job", "maintain", FEED]

        def look() -> float:
            redis.call("SLOWLOG", "RESET")
            since = time.monotonic()
            finish(maintain, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            took.append(time.monotonic() - since)
            calls = slow_calls(redis)
            for which, ms in calls.items():
                fastest[which] = min(ms, fastest.get(which, ms))
            return max(calls.values())

        def two_looks() -> float:
            # Removes as many jobs as a round recovers, from the end of the queue to which jobs are
            # recovered. So the queue is the same in each round.
            redis.call("LPOP", f"feed.ids:{FEED}", LOST)
            longest = max(look(), look())
            if (left := redis.call("LLEN", f"feed.ids:{FEED}")) != count - LOST:
                raise RuntimeError(f"after two looks {left} jobs wait, of {count - LOST}")
            return longest

        taken = in_turn([Subject(pause, "", lambda: longest_pause(bench, 1)),
                         Subject(call, "", two_looks)], rounds)
    case, slow = f"maintenance of {count:,} jobs", "by SLOWLOG"
    rows = rows_of(case, "ms", {pause: "redis-cli --intrinsic-latency 1", call: slow}, taken)
    rows.append(Row(case, f"{call}, each in its fastest look", f"{slow}, {2 * rounds} looks", "ms",
                    Spread.of([max(fastest.values())])))
    for row in rows[1:]:
        row.goals.append(Goal("≤ 10 ms", row.value.high <= 10))
    return rows + [Row(case, "the whole look", "w8yctl job maintain", "s", Spread.of(took))]


def all_maintained(bench, sizes: List[int], rounds: int) -> List[Row]:
    rows: List[Row] = []
    for count in sizes:
        rows += maintained(bench, count, rounds)
    for which in (1, 2, 3):
        note_growth(zip(sizes, rows[which::4]))
    return rows


def run(bench) -> List[Row]:
    bench.folder.mkdir(parents=True, exist_ok=True)
    if bench.quick:
        return (put(bench, 20_000, 1) + publish(bench, 5000, 100, 1)
                + finished(bench, [1000, 10_000], 0.3, bench.rounds)
                + all_maintained(bench, [10_000, 100_000], bench.rounds))
    rounds = min(bench.rounds, 3)
    return (put(bench, 1_000_000, rounds) + publish(bench, 100_000, 1000, rounds)
            + finished(bench, [1000, 10_000, 100_000], 2.0, rounds)
            + all_maintained(bench, [100_000, 1_000_000], rounds))

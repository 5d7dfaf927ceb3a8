"""Subcommands of w8yctl for 640 items of a list of a million: the longest call, and leases beside it.

The names are at equal distances in the list. Redis logs how long each call blocks it (SLOWLOG). Two w8yd
have 100 runs each on another list of the same Redis, with `key_expiry = "2s"`. The bench fails if a lease
is lost. The reference is one LREM of an item that is not in the list, which compares all items.
"""
import contextlib
import subprocess
import time
from typing import Dict, List

from ..daemon import W8yd
from ..measure import Goal, Row, Spread
from ..processes import wait_for
from ..redis import Redis

LIST = "bulk"
NAMES = 640
RUNS = 100


def commands(names: List[str]) -> Dict[str, List[str]]:
    """Returns the commands in their order. Each leaves the list in the state that the next one needs. With `-`,
    the names are on standard input."""
    return {
        "quarantine": ["quarantine", LIST, *names],
        "release": ["release", LIST, *names],
        "remove": ["remove", LIST, *names],
        "add": ["add", LIST, *names],
        "quarantine again": ["quarantine", LIST, *names],
        "release --all": ["release", LIST, "--all"],
        "remove again": ["remove", LIST, *names],
        "add -": ["add", LIST, "-"],
        "items --state": ["items", LIST, "--state=quarantined"],
    }


def longest_call_ms(redis: Redis) -> float:
    return max((one[2] for one in redis.call("SLOWLOG", "GET", "100000")), default=0) / 1000


def reference_ms(redis: Redis) -> float:
    redis.call("SLOWLOG", "RESET")
    redis.call("LREM", f"{LIST}:list", 0, "nothing")
    return longest_call_ms(redis)


def run(bench) -> List[Row]:
    length = 100_000 if bench.quick else 1_000_000
    names = [f"item-{i}" for i in range(length // NAMES // 2, length, length // NAMES)][:NAMES]
    longest: Dict[str, List[float]] = {}
    whole: Dict[str, List[float]] = {}
    beside: List[float] = []
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / "redis"))
        redis.fill(f"{LIST}:list", (f"item-{i}" for i in range(length)))
        redis.fill("bench:list", (f"run-{i}" for i in range(2 * RUNS)))
        executor = bench.programs.bare("stream_executor")
        hosts = [stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), bench.folder / f"w8yd-{i}", redis.url,
            f'[lists.bench]\nexecutor = "{executor}"\nargs = ["{RUNS}", "keep"]\n'
            f'concurrency = {RUNS}\nkey_expiry = "2s"\nkill_grace = "1s"\n',
            'drain_timeout = "0s"\n')) for i in range(2)]
        for one in hosts:
            wait_for(f"{RUNS} runs", 60, lambda one=one: one.status()["redis"]["leases"] == RUNS)
        redis.call("CONFIG", "SET", "slowlog-log-slower-than", 100)
        redis.call("CONFIG", "SET", "slowlog-max-len", 100_000)
        for _ in range(bench.rounds):
            beside.append(reference_ms(redis))
            for name, words in commands(names).items():
                bench.say(f"w8yctl {name}")
                redis.call("SLOWLOG", "RESET")
                began = time.monotonic()
                subprocess.run([bench.programs.ours("w8yctl"), "--redis-url", redis.url, *words],
                               input="\n".join(names), text=True, check=True,
                               stdout=subprocess.DEVNULL)
                whole.setdefault(name, []).append(time.monotonic() - began)
                longest.setdefault(name, []).append(longest_call_ms(redis))
        for one in hosts:
            one.succeeded("bench")  # raises if a lease was lost
    case = f"{NAMES} of {length:,} items"
    rows = [Row(case, "one LREM", "an item that is not there", "ms", Spread.of(beside),
                Spread(1, 1, 1))]
    for name, values in longest.items():
        row = Row(case, f"{name}: longest call", "two w8yd with 200 leases of 2 s", "ms",
                  Spread.of(values), Spread.of([a / b for a, b in zip(values, beside)]))
        row.goals.append(Goal("≤ 20 ms", row.value.high <= 20))
        rows += [row, Row(case, f"{name}: all of it", "", "s", Spread.of(whole[name]))]
    return rows

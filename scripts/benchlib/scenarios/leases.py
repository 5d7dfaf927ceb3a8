"""Locks of active runs in stream mode that never finish: renewals in time, and their cost.

Every 100 ms, a script in Redis reads every lock with PTTL and returns the minimum of 500. The minimum of all
rounds counts. `w8yd` also reports its smallest lease margin. The processor is measured in spans without these
reads. The reference is the same number of renewals by Redis alone: renew.lua on the same locks, in calls as
large as those of w8yd, with the time that Redis counts for them.
"""
import contextlib
import pathlib
import time
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import memory, share_of_a_core, wait_for_rest
from ..processes import wait_for
from ..redis import Redis

EXPIRY_MS = 5000
AT_ONCE = 200  # locks of a renewal call
LOCK_NAMES = ("bench:lock:", "bench:proc:")  # with this lock_key and with the other one
SETTINGS = "defaults (key_expiry 5 s), stream"
LEAST = """local least = 1e9
for i = 1, #KEYS do least = math.min(least, redis.call('PTTL', KEYS[i])) end
return least"""


def parts(keys: List[str], size: int) -> List[List[str]]:
    return [keys[i:i + size] for i in range(0, len(keys), size)]


def least_left(redis: Redis, locks: List[str], seconds: float) -> float:
    """Returns the smallest time to live in ms. A missing lock counts as a negative time."""
    sha = redis.call("SCRIPT", "LOAD", LEAST)
    least = float(EXPIRY_MS)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for some in parts(locks, 500):
            least = min(least, redis.call("EVALSHA", sha, len(some), *some))
        time.sleep(0.1)
    return least


def share_of_redis(redis: Redis, locks: List[str], script: str) -> float:
    """Returns the processor time of Redis for one renewal of each lock per third of its life, in % of a core."""
    sha = redis.call("SCRIPT", "LOAD", pathlib.Path(script).read_text())
    values = dict(zip(locks, redis.each(("GET", lock) for lock in locks)))
    before = redis.commands()["evalsha"].us if "evalsha" in redis.commands() else 0
    for some in parts(locks, AT_ONCE):
        states = redis.call("EVALSHA", sha, len(some) + 1, some[0], *some, EXPIRY_MS, 0, 0, *LOCK_NAMES,
                            256, *(values[lock] for lock in some), "", "")[1:]
        if set(states) != {1}:
            raise RuntimeError(f"locks that are not held: {states.count(3)} of {len(states)}")
    took_us = redis.commands()["evalsha"].us - before
    return 100 * took_us / 1e6 / (EXPIRY_MS / 3 / 1e3)


def run_case(bench, runs: int, seconds: float) -> List[Row]:
    folder = bench.folder / str(runs)
    taken: Dict[str, List[float]] = {name: [] for name in ("redis", "w8yd", "left", "margin")}
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        redis.fill("bench:list", (f"item-{i}" for i in range(runs)))
        executor = bench.programs.bare("stream_executor")
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / "w8yd", redis.url,
            f'[lists.bench]\nexecutor = "{executor}"\nargs = ["{runs}", "keep"]\n'
            f'concurrency = {runs}\nkill_grace = "1s"\n', 'drain_timeout = "0s"\n'))
        wait_for(f"{runs} runs", 60, lambda: daemon.status()["redis"]["leases"] == runs)
        wait_for_rest(daemon.pid, 10, low=0.5)
        locks = [f"bench:lock:item-{i}" for i in range(runs)]
        for _ in range(bench.rounds):
            # Renewals come in bursts, so the span has whole periods.
            taken["w8yd"].append(share_of_a_core(daemon.pid, seconds))
            taken["left"].append(least_left(redis, locks, seconds))
            # The status is last, because it takes time to write 10,000 runs.
            taken["margin"].append(daemon.status()["redis"]["min_lease_margin_ms"])
            taken["redis"].append(share_of_redis(redis, locks, bench.programs.lua("renew")))
        rss = memory(daemon.pid).rss / (1 << 20)
    case = f"{runs:,} runs"
    rows = [
        Row(case, "Redis, for renewals", f"renew.lua, {AT_ONCE} a call", "% of a core",
            Spread.of(taken["redis"]), Spread(1, 1, 1)),
        Row(case, "w8yd, processor", SETTINGS, "% of a core", Spread.of(taken["w8yd"]),
            Spread.of([a / b for a, b in zip(taken["w8yd"], taken["redis"])])),
        Row(case, "least PTTL", SETTINGS, "ms", Spread.of(taken["left"])),
        Row(case, "least margin, as w8yd says", SETTINGS, "ms", Spread.of(taken["margin"])),
        Row(case, "w8yd, memory", SETTINGS, "MiB RSS", Spread(rss, rss, rss)),
    ]
    rows[1].goals.append(Goal("≤ 10 % of a core", rows[1].value.median <= 10))
    rows[2].goals.append(Goal("≥ half of key_expiry, always", rows[2].value.low >= EXPIRY_MS / 2))
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    sized: List[Tuple[int, Row]] = []
    for runs in (100, 1000, 10_000):
        bench.say(f"{runs:,} runs")
        found = run_case(bench, runs, 2 if bench.quick else 5)
        rows += found
        sized.append((runs, found[1]))
    note_growth(sized)
    return rows

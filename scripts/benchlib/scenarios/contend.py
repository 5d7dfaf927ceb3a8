"""1 to 100 w8yd that wait for 3 items: scripts per run, and the share of each host.

Each host has more slots than there are items. Runs take 50 ms, so that 100 hosts are little work for the
machine. commandstats of Redis counts the scripts. Each w8yd reports the calls that it has sent, including
the event of the start of a run. The share is the number of runs of the host with the fewest runs, divided
by the mean.
"""
import contextlib
import time
from dataclasses import dataclass
from typing import List

from ..daemon import W8yd
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import cpu_seconds
from ..redis import Redis

ITEMS = 3
PLACES = 10
NAP_MS = 50
SECONDS = 10
SETTINGS = f"{ITEMS} items, concurrency {PLACES}, runs of {NAP_MS} ms"


@dataclass
class Costs:
    at: float
    scripts: int
    cpu: float


@dataclass
class Round:
    scripts: float  # per run
    sent: float
    share: float
    rate: float
    cpu: float  # % of a core


def costs(redis: Redis, hosts: List[W8yd]) -> Costs:
    return Costs(time.monotonic(), redis.calls_of("evalsha") + redis.calls_of("eval"),
                 sum(cpu_seconds(pid) for pid in [redis.pid] + [host.pid for host in hosts]))


def take(redis: Redis, hosts: List[W8yd], seconds: float) -> Round:
    """Counts runs from the first to the last status requests, and scripts and processor time between these
    requests. Each status request makes w8yd query the fleet: with 100 hosts, these queries would be most of
    the costs."""
    began, first = time.monotonic(), [host.status() for host in hosts]
    before = costs(redis, hosts)
    time.sleep(seconds)
    after = costs(redis, hosts)
    ended, last = time.monotonic(), [host.status() for host in hosts]

    def gained(get) -> List[int]:
        return [get(b) - get(a) for a, b in zip(first, last)]

    runs = gained(lambda status: status["lists"][0]["here"]["counters"]["succeeded"])
    total = max(sum(runs), 1)
    rate = total / (ended - began)
    in_span = rate * (after.at - before.at)
    return Round((after.scripts - before.scripts) / in_span,
                 sum(gained(lambda status: status["redis"]["commands_sent"])) / total,
                 min(runs) * len(runs) / total, rate,
                 100 * (after.cpu - before.cpu) / (after.at - before.at))


def run_case(bench, count: int) -> List[Row]:
    folder = bench.folder / str(count)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        redis.fill("work:list", (f"item-{i}" for i in range(ITEMS)))
        program = f'["{bench.programs.bare("nap")}", "{NAP_MS}"]'
        hosts = [stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / str(number), redis.url,
            f"[lists.work]\ncommand = {program}\nconcurrency = {PLACES}\n",
            f'host = "host-{number}"\ndrain_timeout = "0s"\n')) for number in range(count)]
        time.sleep(2)
        seconds = 4 if bench.quick else SECONDS
        rounds = [take(redis, hosts, seconds) for _ in range(min(bench.rounds, 3))]

    def row(subject: str, unit: str, name: str) -> Row:
        return Row(f"{count} × w8yd", subject, SETTINGS, unit,
                   Spread.of([getattr(one, name) for one in rounds]))

    scripts, share = row("scripts", "per run", "scripts"), row("least host", "of the mean", "share")
    scripts.goals.append(Goal("≤ 4", scripts.value.median <= 4))
    share.goals.append(Goal("≥ 0.5", share.value.median >= 0.5))
    return [scripts, row("calls of clients", "per run", "sent"), share,
            row("runs", "per second", "rate"),
            row("processor, w8yd and Redis", "% of a core", "cpu")]


def run(bench) -> List[Row]:
    rows: List[Row] = []
    sized = []
    for count in (1, 3, 10) if bench.quick else (1, 3, 10, 30, 100):
        bench.say(f"{count} hosts")
        found = run_case(bench, count)
        rows += found
        sized.append((count, found[0]))
    note_growth(sized)
    return rows

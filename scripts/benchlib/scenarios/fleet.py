"""Redis commands per run, and the share of each host, of 1 to 100 w8yd on one Redis.

All hosts serve 100 lists of 1,000 items each. Runs sleep for 1 s, and `host_concurrency` is 4, so that 100
hosts fit on one machine. The bench measures over a span, not until each item has run. It counts the
commands that Redis has executed, including the commands in scripts. It also counts the calls that each w8yd
reports as sent. The share is the number of runs of the host with the fewest runs, divided by the mean. With
one item in each list, most hosts wait for items of others.
"""
import contextlib
import time
from dataclasses import dataclass
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..many_lists import lists, names
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import cpu_seconds
from ..redis import Redis

LISTS = 100
PLACES = 4
NAP_MS = 1000
LEAST_SHARE = 0.5


@dataclass
class Round:
    carried_out: float  # executed commands per run
    sent: float
    cpu_ms: float  # of all w8yd and Redis, per run
    share: float
    rate: float


class Fleet:
    """Context manager: several w8yd on one Redis."""

    def __init__(self, bench, hosts: int, items: int):
        self._folder = bench.folder / f"{hosts}-{items}"
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as starting:
            self._redis = starting.enter_context(Redis(self._folder / "redis"))
            for name in names(LISTS):
                self._redis.fill(f"{name}:list", (f"item-{i}" for i in range(items)))
            program = f'command = ["{bench.programs.bare("nap")}", "{NAP_MS}"]'
            self._hosts: List[W8yd] = [starting.enter_context(W8yd(
                bench.programs.ours("w8yd"), self._folder / str(number), self._redis.url,
                lists(LISTS, program), f'host = "host-{number}"\nhost_concurrency = {PLACES}\n'
                'drain_timeout = "0s"\n')) for number in range(hosts)]
            self._stack = starting.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._stack.__exit__(*problem)

    def take(self, seconds: float) -> Round:
        before = self._look()
        time.sleep(seconds)
        after = self._look()
        at, carried_out, sent, cpu, runs = (b - a if not isinstance(b, list) else
                                            [y - x for x, y in zip(a, b)]
                                            for a, b in zip(before, after))
        total = max(sum(runs), 1)
        return Round(carried_out / total, sent / total, 1e3 * cpu / total,
                     min(runs) * len(runs) / total, total / at)

    def _look(self) -> Tuple:
        statuses = [host.status() for host in self._hosts]
        runs = [sum(one["here"]["counters"]["succeeded"] for one in status["lists"]) for status in statuses]
        commands = sum(one.calls for name, one in self._redis.commands().items() if name != "info")
        cpu = sum(cpu_seconds(pid) for pid in [self._redis.pid] + [one.pid for one in self._hosts])
        return (time.monotonic(), commands,
                sum(status["redis"]["commands_sent"] for status in statuses), cpu, runs)


def run_case(bench, hosts: int, items: int) -> List[Row]:
    seconds = 5 if bench.quick else 20
    with Fleet(bench, hosts, items) as fleet:
        time.sleep(2 if bench.quick else 10)
        rounds = [fleet.take(seconds) for _ in range(bench.rounds)]
    case = f"{hosts} × w8yd, {items:,} items a list"
    settings = f"host_concurrency {PLACES}, runs of {NAP_MS} ms, {bench.rounds} × {seconds} s"

    def row(subject: str, unit: str, name: str) -> Row:
        return Row(case, subject, settings, unit, Spread.of([getattr(one, name) for one in rounds]))

    return [row("commands carried out", "per run", "carried_out"),
            row("calls of clients", "per run", "sent"),
            row("processor, w8yd and Redis", "ms per run", "cpu_ms"),
            row("runs", "per second", "rate"),
            row("least host", "of the mean", "share")]


def relate(rows: List[Row], alone: List[Row]):
    for ours, reference in zip(rows[:3], alone):
        # Each case has new hosts, so their rounds have no common reference. They are compared with
        # the median of the case with one host.
        base = reference.value.median
        ours.ratio = Spread(*(value / base for value in
                              (ours.value.median, ours.value.low, ours.value.high)))


def judge(rows: List[Row]):
    rows[0].goals.append(Goal("≤ 1.5 × one host", rows[0].ratio.median <= 1.5))
    rows[4].goals.append(Goal(f"≥ {LEAST_SHARE}", rows[4].value.low >= LEAST_SHARE))


def run(bench) -> List[Row]:
    rows: List[Row] = []
    for items in (1000, 1):
        sized: Dict[str, List[Tuple[int, Row]]] = {}
        alone: List[Row] = []
        for hosts in (1, 10) if bench.quick else (1, 10, 100):
            bench.say(f"{hosts} hosts, {items} items a list")
            found = run_case(bench, hosts, items)
            alone = alone or found
            relate(found, alone)
            if items > 1:
                judge(found)
            rows += found
            for row in found[:3]:
                sized.setdefault(row.subject, []).append((hosts, row))
        # A row has the cost of one run. The cost of the fleet is that of all runs, whose number
        # grows with the number of hosts.
        for pairs in sized.values():
            note_growth(pairs, cost=lambda size, row: size * row.value.median)
    return rows

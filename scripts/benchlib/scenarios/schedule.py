"""Jobs of a schedule: many that are due at once, and the lateness of each within one minute.

Due at once: the time from the second at which they are due until all are in their queue. Within one minute:
the time from the second at which a job is due until the notification of Redis that it is in its queue. The
hosts claim no jobs. The reference does the same as a dispatcher of Redbike: every 10 ms, it takes due jobs off
the timeline one by one, and enqueues each by a script.
"""
import contextlib
import pathlib
import sys
import time
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..measure import Goal, Row, Spread, note_growth
from ..processes import Background
from ..programs import SCRIPTS
from ..redis import Redis
from ..timeline import PREFIX, due_at_once, lateness
from ..wakeups import percentile

REDBIKE = SCRIPTS.parent / "tests" / "faults" / "redbike_client.py"
REFERENCE, OURS = "Redbike's steps, in Python", "w8yd"
LIST = (f'[lists.{PREFIX}]\nsource = "schedule"\nqueues = "A"\nconcurrency = 0\n'
        'command = ["/bin/true"]\n')
# The reference dispatches about ten thousand jobs per second.
MOST_BY_REFERENCE = 100_000


class Place:
    """Context manager: a private Redis, and its dispatchers."""

    def __init__(self, bench, folder: pathlib.Path, hosts: int):
        """`hosts`: number of w8yd; 0 = the reference."""
        self._stack = contextlib.ExitStack()
        folder.mkdir(parents=True)
        try:
            self.redis = self._stack.enter_context(Redis(folder / "redis", "Kl"))
            if hosts == 0:
                self._stack.enter_context(Background(
                    [sys.executable, str(REDBIKE), self.redis.socket, PREFIX, "dispatch"],
                    log=str(folder / "redbike.log")))
            for number in range(hosts):
                self._stack.enter_context(W8yd(
                    bench.programs.ours("w8yd"), folder / str(number), self.redis.url, LIST,
                    f'host = "host-{number}"\ndrain_timeout = "0s"\n'))
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._stack.__exit__(*problem)


def pair(case: str, unit: str, settings: str, reference: List[float],
         ours: List[float]) -> List[Row]:
    """Returns the rows of the reference, if there is one, and of w8yd."""
    row = Row(case, OURS, settings, unit, Spread.of(ours))
    if not reference:
        return [row]
    row.ratio = Spread.of([a / b for a, b in zip(ours, reference)])
    return [Row(case, REFERENCE, settings, unit, Spread.of(reference), Spread(1, 1, 1)), row]


def at_once(bench, sizes: List[int], rounds: int) -> List[Row]:
    rows: List[Row] = []
    sized: Dict[str, List[Tuple[int, Row]]] = {}
    folder = bench.folder / "at-once"
    with Place(bench, folder / "redbike", 0) as theirs, Place(bench, folder / "w8yd", 1) as ours:
        for count in sizes:
            bench.say(f"{count:,} due at once")
            by_reference: List[float] = []
            by_us: List[float] = []
            for _ in range(rounds):
                if count <= MOST_BY_REFERENCE:
                    by_reference.append(due_at_once(theirs.redis, count, 300) * 1e3)
                by_us.append(due_at_once(ours.redis, count, 120) * 1e3)
            found = pair(f"{count:,} due at once", "ms", "1 queue", by_reference, by_us)
            if count == 100_000:
                found[-1].goals.append(Goal("≤ 1 s", found[-1].value.median <= 1000))
            rows += found
            for row in found:
                sized.setdefault(row.subject, []).append((count, row))
    for pairs in sized.values():
        note_growth(pairs)
    return rows


def spread_out(bench, hosts: int, count: int, seconds: int) -> Tuple[List[float], float]:
    """Returns the sorted lateness in ms, and scripts per second. 0 hosts: the reference."""
    with Place(bench, bench.folder / f"spread-{hosts}", hosts) as place:
        time.sleep(2)  # until the hosts have finished the work of their start
        before, since = place.redis.commands(), time.monotonic()
        late = lateness(place.redis, count, seconds, 30)
        span = time.monotonic() - since
        after = place.redis.commands()
        scripts = sum(after[name].calls - (before[name].calls if name in before else 0)
                      for name in ("eval", "evalsha") if name in after)
        return [one * 1e3 for one in late], scripts / span


def over_time(bench, numbers: List[int], count: int, seconds: int) -> List[Row]:
    """`numbers`: numbers of hosts."""
    rows: List[Row] = []
    settings = f"{count:,} jobs over {seconds} s, due at whole seconds"
    sized: Dict[str, List[Tuple[int, Row]]] = {}
    for hosts in [0] + numbers:
        bench.say(f"{seconds} s, " + (f"{hosts} hosts" if hosts else "the reference"))
        late, scripts = spread_out(bench, hosts, count, seconds)
        case = f"{hosts} × w8yd" if hosts else REFERENCE
        for name, part in (("p50", 0.5), ("p99", 0.99)):
            value = percentile(late, part)
            row = Row(case, f"lateness {name}", settings, "ms", Spread(value, late[0], late[-1]))
            if hosts and name == "p99":
                row.goals.append(Goal("≤ 10 ms", value <= 10))
            rows.append(row)
        rows.append(Row(case, "scripts", settings, "per second", Spread.of([scripts])))
        if hosts:
            for row in rows[-2:]:
                sized.setdefault(row.subject, []).append((hosts, row))
    for pairs in sized.values():
        note_growth(pairs)
    return rows


def run(bench) -> List[Row]:
    if bench.quick:
        return (at_once(bench, [100, 1000, 10_000], 1) + over_time(bench, [1, 3], 1000, 6))
    rounds = min(bench.rounds, 3)
    return (at_once(bench, [100, 1000, 10_000, 100_000, 1_000_000], rounds)
            + over_time(bench, [1, 10, 100], 10_000, 60))

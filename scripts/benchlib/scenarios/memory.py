"""Memory of w8yd: after its start, per idle list, per running child.

RSS and PSS of the idle process, from /proc/PID/smaps_rollup, with a new process for each round. The memory
per list is the difference between 10,000 and 10 lists, divided by the difference of their numbers. The
memory per child is the increase with children that live until they are killed, divided by their number.
"""
import pathlib
import time
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..many_lists import lists
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import Memory, descriptors, memory, wait_for_rest
from ..processes import wait_for
from ..redis import Redis

DEFAULTS = "defaults"
KIB, MIB = 1 << 10, 1 << 20
FEWEST = 10


def at_rest(bench, redis: Redis, folder: pathlib.Path, count: int) -> Memory:
    with W8yd(bench.programs.ours("w8yd"), folder, redis.url,
              lists(count, 'command = ["/bin/true"]'), patience=120) as daemon:
        wait_for_rest(daemon.pid, 20)
        # w8yd frees the memory of its start after one second, plus one second per 2,000 lists.
        time.sleep(0.5 if bench.quick else 2 + count / 2000)
        return memory(daemon.pid)


def spread(unit: int, values: List[int]) -> Spread:
    return Spread.of([value / unit for value in values])


def of_lists(bench, redis: Redis, sizes: List[int]) -> List[Row]:
    rows: List[Row] = []
    found: Dict[int, List[Memory]] = {}
    sized: List[Tuple[int, Row]] = []
    for count in sizes:
        bench.say(f"{count:,} lists")
        found[count] = [at_rest(bench, redis, bench.folder / f"{count}-{number}", count)
                        for number in range(bench.rounds)]
        case = "after start, 1 list" if count == 1 else f"{count:,} idle lists"
        row = Row(case, "w8yd RSS", DEFAULTS, "MiB", spread(MIB, [one.rss for one in found[count]]))
        rows += [row, Row(case, "w8yd PSS", DEFAULTS, "MiB",
                          spread(MIB, [one.pss for one in found[count]]))]
        if count == 1:
            row.goals.append(Goal("≤ 16 MiB", row.value.median <= 16))
        else:
            sized.append((count, row))
    note_growth(sized)
    most = sizes[-1]
    each = Row(f"per idle list, {FEWEST} → {most:,}", "w8yd RSS", DEFAULTS, "KiB",
               spread(KIB * (most - FEWEST),
                      [b.rss - a.rss for a, b in zip(found[FEWEST], found[most])]))
    each.goals.append(Goal("≤ 3 KiB", each.value.median <= 3))
    return rows + [each]


def with_children(bench, redis: Redis, folder: pathlib.Path, count: int,
                  program: str) -> Tuple[float, float]:
    """Returns bytes and descriptors per child."""
    redis.call("FLUSHALL")
    config = f"[lists.bench]\n{program}\nconcurrency = {count}\nkill_grace = \"1s\"\n"
    # The children never end by themselves, so w8yd must kill them at once.
    with W8yd(bench.programs.ours("w8yd"), folder, redis.url, config,
              'drain_timeout = "0s"\n') as daemon:
        wait_for_rest(daemon.pid, 5, span=0.5)
        before, open_before = memory(daemon.pid).rss, descriptors(daemon.pid)
        redis.fill("bench:list", (f"item-{i}" for i in range(count)))
        redis.call("PUBLISH", "bench:wake", "added")
        wait_for(f"{count} children", 60,
                 lambda: daemon.status()["lists"][0]["here"]["running"] == count)
        time.sleep(1)
        return ((memory(daemon.pid).rss - before) / count,
                (descriptors(daemon.pid) - open_before) / count)


def of_children(bench, redis: Redis, sizes: List[int], kind: str, program: str) -> List[Row]:
    rows: List[Row] = []
    sized: List[Tuple[int, Row]] = []
    for count in sizes:
        bench.say(f"{count:,} children, {kind}")
        found = [with_children(bench, redis, bench.folder / f"{kind}-{count}-{number}", count,
                               program) for number in range(bench.rounds)]
        case = f"per child of {count:,}"
        each = Row(case, f"w8yd RSS, {kind}", DEFAULTS, "KiB",
                   Spread.of([of / KIB for of, _ in found]))
        rows += [each, Row(case, f"w8yd descriptors, {kind}", DEFAULTS, "",
                           Spread.of([of for _, of in found]))]
        sized.append((count, each))
    # A row has the memory of one child. The cost is the memory of all children.
    note_growth(sized, cost=lambda size, row: size * row.value.median)
    sized[-1][1].goals.append(Goal("≤ 16 KiB", sized[-1][1].value.median <= 16))
    return rows


def run(bench) -> List[Row]:
    sleeper = bench.programs.bare("sleeper")
    most = 4 if bench.quick else 5
    with Redis(bench.folder / "redis") as redis:
        rows = of_lists(bench, redis, [1] + [10 ** power for power in range(1, most)])
        sizes = [10, 100] if bench.quick else [10, 100, 1000]
        for kind, program in (("command", f'command = ["{sleeper}"]'),
                              ("single", f'executor = "{sleeper}"')):
            rows += of_children(bench, redis, sizes, kind, program)
    return rows

"""Share of `host_concurrency` of each list, by its weight: no list starves.

The result of a round belongs to the list with the smallest part of its share. It is the number of its runs
over a span, divided by the share of its weight in all counted runs. Runs sleep for 10 ms, so that slots are
scarce and not the processor. The cases are:

- lists with different weights
- one list whose child floods (garbage, standard error, progress) for its whole life, beside lists of short
  runs; the reference is the same with a silent child
- one list of 100,000 items and 99 lists of 10; the reference is 100 lists of 10
"""
import time
from dataclasses import dataclass
from typing import Dict, List

from ..daemon import W8yd
from ..measure import Goal, Row, Subject, in_turn, rows_of
from ..redis import Redis

NAP_MS = 10
SETTLE = 1.0
ENOUGH = 0.8


@dataclass
class Listed:
    """A list of a case. A list with endless runs is not counted."""

    items: int
    settings: str
    weight: int = 1
    counted: bool = True


class Share:
    """Measures rounds, each with a new w8yd."""

    def __init__(self, bench, redis: Redis, seconds: float):
        self._bench, self._redis, self._seconds = bench, redis, seconds
        self._round = 0

    def least(self, lists: Dict[str, Listed], places: int) -> float:
        self._round += 1
        self._redis.call("FLUSHALL")
        config = ""
        for name, one in lists.items():
            self._redis.fill(f"{name}:list", (f"item-{i}" for i in range(one.items)))
            config += f'[lists.{name}]\n{one.settings}\nweight = {one.weight}\n'
        with W8yd(self._bench.programs.ours("w8yd"), self._bench.folder / str(self._round),
                  self._redis.url, config,
                  f'host_concurrency = {places}\ndrain_timeout = "0s"\n') as daemon:
            time.sleep(SETTLE)
            before = daemon.all_succeeded()
            time.sleep(self._seconds)
            after = daemon.all_succeeded()
        counted = {name: after[name] - before[name] for name in lists if lists[name].counted}
        fair = sum(counted.values()) / sum(lists[name].weight for name in counted)
        return min(runs / lists[name].weight for name, runs in counted.items()) / fair


def judged(rows: List[Row]) -> List[Row]:
    for row in rows:
        row.goals.append(Goal(f"≥ {ENOUGH}", row.value.median >= ENOUGH))
    return rows


def rows_for(bench, case: str, subjects: List[Subject]) -> List[Row]:
    bench.say(case)
    return judged(rows_of(case, "of its fair share, the least list",
                          {subject.name: subject.settings for subject in subjects},
                          in_turn(subjects, bench.rounds)))


def run(bench) -> List[Row]:
    nap = f'command = ["{bench.programs.bare("nap")}", "{NAP_MS}"]\nconcurrency = 4'
    child = bench.programs.bare("flood_child")
    sleeper = bench.programs.bare("sleeper")

    def flooded(name: str, settings: str) -> Subject:
        lists = {f"short{i}": Listed(100, nap) for i in range(3)}
        lists["flood"] = Listed(1, f'{settings}\nkill_grace = "1s"', counted=False)
        return Subject(name, "4 places, one of them the child's; 3 lists",
                       lambda: share.least(lists, 4))

    def mixed(name: str, first: int) -> Subject:
        lists = {f"list{i}": Listed(first if i == 0 else 10, nap) for i in range(100)}
        return Subject(name, "8 places; 100 lists, concurrency 4",
                       lambda: share.least(lists, 8))

    def weighted(weights: List[int], places: int) -> Subject:
        many = f'command = ["{bench.programs.bare("nap")}", "{NAP_MS}"]\nconcurrency = {places}'
        lists = {f"list{i}": Listed(100, many, weight) for i, weight in enumerate(weights)}
        return Subject(f"{', '.join(map(str, weights))}; {places} places",
                       f"4 lists, concurrency {places}", lambda: share.least(lists, places))

    with Redis(bench.folder / "redis") as redis:
        share = Share(bench, redis, 2 if bench.quick else 5)
        rows = rows_for(bench, "weight", [weighted([1, 1, 1, 1], 4),
                                          weighted([1, 2, 3, 4], 4),
                                          weighted([1, 2, 3, 4], 10)])
        rows += rows_for(bench, "a flood", [flooded("silent", f'executor = "{sleeper}"')] + [
            flooded(kind, f'executor = "{child}"\nargs = ["{kind}"]')
            for kind in ("garbage", "stderr", "progress")])
        rows += rows_for(bench, "a long list", [mixed("100 of 10 items", 10),
                                                mixed("one of 100,000 among them", 100_000)])
    return rows

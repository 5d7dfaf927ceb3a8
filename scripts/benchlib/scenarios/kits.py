"""Jobs and items per second through the kits for Node and Python, and the processor time of each.

A row has the processor time per item of w8yd, Redis and the executor. The ratio compares the rate with the rate
at which the processors, or the process that needs the most time, would have no idle time. The executor and the
list have the same concurrency.
"""
import contextlib
import os
from typing import Dict, List

from ..kit_work import KITS, Cost, KitWorker
from ..measure import Goal, Row, Spread, Subject, in_turn
from ..redis import Redis

UNITS = {"job": "jobs", "circular": "items"}
GOAL = 0.8


def row(case: str, subject: str, unit: str, costs: List[Cost]) -> Row:
    each = ", ".join(f"{name} {Spread.of([getattr(cost, name) for cost in costs]).median:.1f}"
                     for name in ("w8yd", "redis", "executor"))
    return Row(case, subject, f"µs per item: {each}", f"{unit}/s", Spread.of([cost.rate for cost in costs]),
               Spread.of([cost.part() for cost in costs]))


def by_concurrency(bench, concurrency: int, seconds: float) -> List[Row]:
    costs: Dict[str, List[Cost]] = {}

    def subject(name: str, worker: KitWorker) -> Subject:
        def take() -> float:
            cost = worker.measure(seconds)
            costs.setdefault(name, []).append(cost)
            return cost.rate

        return Subject(name, "", take)

    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / f"redis-{concurrency}"))
        subjects = [subject(f"{kit} kit, {unit}", KitWorker(bench, stack, redis, kit, source, concurrency))
                    for kit in KITS for source, unit in UNITS.items()]
        in_turn(subjects, bench.rounds)
    rows = [row(f"concurrency {concurrency}", name, name.rsplit(maxsplit=1)[-1], found)
            for name, found in costs.items()]
    for one in rows:
        if concurrency > 1:
            one.goals.append(Goal(f"≥ {GOAL} × limit of {os.cpu_count()} processors", one.ratio.median >= GOAL))
    return rows


def run(bench) -> List[Row]:
    seconds = 0.5 if bench.quick else 2.0
    rows: List[Row] = []
    for concurrency in (16, 100) if bench.quick else (1, 16, 100, 500):
        bench.say(f"concurrency {concurrency}")
        rows += by_concurrency(bench, concurrency, seconds)
    return rows

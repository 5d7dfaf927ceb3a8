"""A list beside another whose child writes as fast as it can, against that list alone.

The child writes lines of garbage to its standard output or standard error, or progress. The other list runs
/bin/true. In one more case, the child only computes: this loss is due to the machine and not to w8yd. For
each round, the list of the flood is resumed and starts again, so that the rounds of all kinds run in turn.
"""
import contextlib
import time
from typing import List

from ..daemon import W8yd
from ..measure import Goal, Row, Subject, in_turn, rows_of
from ..processes import rate_over, wait_for
from ..process_facts import memory
from ..redis import Redis

ITEMS = 1000
SETTLE = 1.0
MIB = 1 << 20
KINDS = {
    "compute": "a child that computes and writes nothing",
    "garbage": "a child that floods standard output",
    "stderr": "a child that floods standard error",
    "progress": "a child that floods progress",
}


class Beside:
    def __init__(self, bench, redis: Redis, concurrency: int, seconds: float):
        self._bench, self._redis, self._seconds = bench, redis, seconds
        self._concurrency = concurrency
        self._round = 0
        self.most_memory = 0.0

    def subject(self, name: str, kind: str, settings: str) -> Subject:
        return Subject(name, settings, lambda: self._take(kind))

    def _take(self, kind: str) -> float:
        self._round += 1
        config = f'[lists.other]\ncommand = ["/bin/true"]\nconcurrency = {self._concurrency}\n'
        if kind:
            config += (f'[lists.flood]\nexecutor = "{self._bench.programs.bare("flood_child")}"\n'
                       f'args = ["{kind}"]\nkill_grace = "1s"\n')
        self._redis.call("FLUSHALL")
        self._redis.fill("other:list", (f"item-{i}" for i in range(ITEMS)))
        self._redis.fill("flood:list", ["item"])
        folder = self._bench.folder / f"{self._concurrency}-{self._round}"
        with W8yd(self._bench.programs.ours("w8yd"), folder, self._redis.url, config,
                  'drain_timeout = "0s"\n') as daemon:
            if kind:
                wait_for("the flood", 10, lambda: any(
                    one["list"] == "flood" and one["here"]["running"] == 1
                    for one in daemon.status()["lists"]))
            time.sleep(SETTLE)
            rate = rate_over(self._seconds, lambda: daemon.succeeded("other"))
            self.most_memory = max(self.most_memory, memory(daemon.pid).rss / MIB)
        daemon.log.unlink()  # the log has all standard error of the child
        return rate


def run_case(bench, concurrency: int) -> List[Row]:
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / f"redis-{concurrency}"))
        beside = Beside(bench, redis, concurrency, 1 if bench.quick else 3)
        subjects = [beside.subject("alone", "", "defaults")]
        for kind, name in KINDS.items():
            subjects.append(beside.subject(name, kind, "defaults"))
        rows = rows_of(f"/bin/true, concurrency {concurrency}", "runs/s of it",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))
    for row in rows[2:]:
        row.goals.append(Goal("≥ 0.9 × alone", row.ratio.median >= 0.9))
    bench.say(f"most memory of w8yd: {beside.most_memory:.1f} MiB")
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    for concurrency in (1, 4):
        bench.say(f"concurrency {concurrency}")
        rows += run_case(bench, concurrency)
    return rows

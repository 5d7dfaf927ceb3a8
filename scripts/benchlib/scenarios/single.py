"""Runs per second of a C executor that reads its item and prints `complete`.

The reference spawns the same program with three pipes, writes the item to it, reads both outputs to their end
and waits for it, with the same number at once, and does nothing else. The bare worker does the same with items
that it claims and settles, by the scripts that w8yd uses.
"""
import contextlib
import subprocess
from typing import List

from ..measure import Row, Subject, in_turn
from ..processes import finish
from ..redis import Redis
from ..working import beside_both, runs_of, worker


def bare(bench, concurrency: int, executor: str, seconds: float) -> Subject:
    loop = bench.programs.bare("bare_single")

    def take() -> float:
        done = finish([loop, str(concurrency), str(seconds), "item-100", executor],
                      stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        runs, took = done.stdout.split()
        return int(runs) / float(took)

    return Subject("bare loop", "posix_spawn, three pipes, wait", take)


def run_case(bench, concurrency: int) -> List[Row]:
    seconds = 0.5 if bench.quick else 2.0
    folder = bench.folder / str(concurrency)
    executor = bench.programs.bare("single_executor")
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        subjects = [bare(bench, concurrency, executor, seconds),
                    worker(bench, redis, concurrency, "single", executor, seconds)]
        subjects += runs_of(bench, stack, redis, folder, concurrency, f'executor = "{executor}"',
                            seconds)
        settings = {subject.name: subject.settings for subject in subjects}
        return beside_both(f"concurrency {concurrency}", settings, in_turn(subjects, bench.rounds),
                           0.9)


def run(bench) -> List[Row]:
    rows: List[Row] = []
    for concurrency in (1, 2, 4, 8):
        bench.say(f"concurrency {concurrency}")
        rows += run_case(bench, concurrency)
    return rows

"""A w8yd that is ready, and starts runs only while its rate is measured."""
import os
import subprocess
import time
from typing import Dict, List

from .daemon import W8yd
from .measure import Goal, Row, Subject, find, rows_of
from .processes import finish, rate_over
from .redis import Redis

WORKER = "bare worker"

# Seconds until the pace is even: processes have started, and files are in memory.
SETTLE = 0.25


def rate(daemon: W8yd, prefix: str, seconds: float, settle: float = SETTLE) -> float:
    daemon.go_on()
    time.sleep(settle)
    per_second = rate_over(seconds, lambda: daemon.succeeded(prefix))
    daemon.quiet()
    return per_second


def runs_of(bench, stack, redis, folder, concurrency: int, program: str, seconds: float):
    """Yields subjects, each with its own list and w8yd: with the defaults, without history, and, as root, with
    runs of another user, which a helper process starts."""
    items = 1000
    kinds = [
        ("w8yd", "bench", "", "defaults (history 1000, events)"),
        ("w8yd, no history", "short", "history = 0\n", "history 0, events"),
    ]
    if os.geteuid() == 0:
        kinds.append(("w8yd, as nobody", "theirs", 'user = "nobody"\n', "defaults, user"))
        for part in (bench.folder.parent, bench.folder):
            part.mkdir(exist_ok=True)
            part.chmod(0o711)  # lets the user nobody reach the programs
    for name, prefix, more, settings in kinds:
        redis.fill(f"{prefix}:list", (f"item-{i}" for i in range(items)))
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / prefix, redis.url,
            f"[lists.{prefix}]\n{program}\nconcurrency = {concurrency}\n{more}"))
        daemon.quiet()
        yield Subject(name, f"{settings}, {items} items",
                      lambda daemon=daemon, prefix=prefix: rate(daemon, prefix, seconds))


def worker(bench, redis: Redis, concurrency: int, kind: str, program: str,
           seconds: float) -> Subject:
    """Returns the bare worker: the bare loop, which also claims an item for each run and settles it with history
    and events, by the scripts that w8yd uses."""
    redis.fill("worker:list", (f"item-{i}" for i in range(1000)))
    words = [bench.programs.bare("bare_worker"), redis.socket, bench.programs.lua("claim"),
             bench.programs.lua("settle"), "worker", "1000", str(concurrency), str(seconds), kind,
             program]

    def take() -> float:
        done = finish(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        runs, took = done.stdout.split()
        return int(runs) / float(took)

    return Subject(WORKER, "claims, starts, waits, settles; history 1000, events", take)


def beside_both(case: str, settings: Dict[str, str], taken: Dict[str, List[float]],
                least: float) -> List[Row]:
    """Returns rows compared with the bare loop, where w8yd must reach `least`, and rows of w8yd compared with the
    bare worker."""
    rows = rows_of(case, "runs/s", settings, taken)
    ours = find(rows, "w8yd")
    ours.goals.append(Goal(f"≥ {least} × bare loop", ours.ratio.median >= least))
    names = [WORKER, "w8yd", "w8yd, no history"]
    beside = rows_of(f"{case}, beside the bare worker", "runs/s", settings,
                     {name: taken[name] for name in names})[1:]
    beside[0].goals.append(Goal("≥ 0.95 × bare worker", beside[0].ratio.median >= 0.95))
    return rows + beside

"""A w8yd that stands by and works only while its rate is taken."""
import os
import time

from .daemon import W8yd
from .measure import Subject
from .processes import rate_over

# From a start to an even pace: processes are there, files are in memory.
SETTLE = 0.25


def rate(daemon: W8yd, prefix: str, seconds: float, settle: float = SETTLE) -> float:
    daemon.go_on()
    time.sleep(settle)
    per_second = rate_over(seconds, lambda: daemon.succeeded(prefix))
    daemon.quiet()
    return per_second


def runs_of(bench, stack, redis, folder, concurrency: int, program: str, seconds: float):
    """Subjects with a list and a w8yd of their own each: with what a user has without asking, without
    history, and, as root, with runs of another user, which w8yd does not start itself."""
    items = 1000
    kinds = [
        ("w8yd", "bench", "", "defaults (history 1000, events)"),
        ("w8yd, no history", "short", "history = 0\n", "history 0, events"),
    ]
    if os.geteuid() == 0:
        kinds.append(("w8yd, as nobody", "theirs", 'user = "nobody"\n', "defaults, user"))
        for part in (bench.folder.parent, bench.folder):
            part.mkdir(exist_ok=True)
            part.chmod(0o711)  # for nobody to get at the programs
    for name, prefix, more, settings in kinds:
        redis.fill(f"{prefix}:list", (f"item-{i}" for i in range(items)))
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / prefix, redis.url,
            f"[lists.{prefix}]\n{program}\nconcurrency = {concurrency}\n{more}"))
        daemon.quiet()
        yield Subject(name, f"{settings}, {items} items",
                      lambda daemon=daemon, prefix=prefix: rate(daemon, prefix, seconds))

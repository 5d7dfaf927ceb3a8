"""Cost of one run: instructions of w8y and w8yd, counted by valgrind, and Redis commands.

Counts do not depend on the load of the machine, so one round is enough. For w8yd, the counts of a short
execution are subtracted from those of a longer one. The difference is the cost of the additional runs.
"""
import pathlib
import re
import subprocess
import time
from typing import List, Tuple

from ..daemon import W8yd
from ..measure import Row, Spread
from ..processes import finish, wait_for
from ..redis import Redis

PROGRAM = "/bin/true"
PATIENCE = 300  # s; valgrind makes a program about 50 times slower


def row(case: str, subject: str, settings: str, value: float) -> Row:
    return Row(case, subject, settings, "per run", Spread.of([value]))


def counting(bench, out: pathlib.Path) -> List[str]:
    return [bench.programs.reference("valgrind"), "--tool=callgrind",
            f"--callgrind-out-file={out}", "--"]


def instructions(out: pathlib.Path) -> int:
    found = re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.M)
    if found is None:
        raise RuntimeError(f"{out} has no total")
    return int(found.group(1))


def sent(redis: Redis) -> int:
    """Returns the number of commands that Redis has executed, including those inside scripts."""
    return sum(command.calls for name, command in redis.commands().items() if name != "info")


def of_w8y(bench) -> List[Row]:
    out = bench.folder / "w8y.callgrind"
    with Redis(bench.folder / "redis-w8y") as redis:
        redis.fill("bench:list", (f"item-{i}" for i in range(10)))
        words = [bench.programs.ours("w8y"), "-q", "-k", "bench", "-u", redis.url, "--", PROGRAM]
        finish(words, stdin=subprocess.DEVNULL)  # loads the scripts into Redis
        before = sent(redis)
        finish(counting(bench, out) + words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        commands = sent(redis) - before
    return [row("w8y", "instructions", PROGRAM, instructions(out)),
            row("w8y", "Redis commands", PROGRAM, commands)]


def enough(daemon: W8yd, runs: int) -> bool:
    """Waits before it queries the status, because each query costs w8yd instructions."""
    time.sleep(0.5)
    return daemon.succeeded("bench") >= runs


def life(bench, name: str, program: str, runs: int) -> Tuple[int, int, int]:
    """Returns instructions, Redis commands and runs of a w8yd that exits after at least `runs` runs."""
    folder = bench.folder / f"{name}-{runs}"
    folder.mkdir(parents=True)
    out = folder / "callgrind"
    starter = folder / "w8yd"
    counted = " ".join(f"'{word}'" for word in counting(bench, out))
    starter.write_text(f"#!/bin/sh\nexec {counted} '{bench.programs.ours('w8yd')}' \"$@\"\n")
    starter.chmod(0o755)
    with Redis(folder / "redis") as redis:
        redis.fill("bench:list", (f"item-{i}" for i in range(1000)))
        with W8yd(str(starter), folder / "w8yd.d", redis.url, f"[lists.bench]\n{program}",
                  patience=PATIENCE) as daemon:
            wait_for(f"{runs} runs", PATIENCE, lambda: enough(daemon, runs))
            daemon.quiet()
            done, commands = daemon.succeeded("bench"), sent(redis)
        wait_for("the output of valgrind", PATIENCE, out.exists)
    return instructions(out), commands, done


def of_w8yd(bench, name: str, program: str, runs: int) -> List[Row]:
    bench.say(f"w8yd, {name}")
    short, long = (life(bench, name, program, count) for count in (runs, 4 * runs))
    more = long[2] - short[2]
    return [row(f"w8yd, {name}", what, f"{short[2]} and {long[2]} runs", (b - a) / more)
            for what, a, b in zip(("instructions", "Redis commands"), short, long)]


def run(bench) -> List[Row]:
    bench.folder.mkdir(parents=True, exist_ok=True)
    executor = bench.programs.bare("stream_executor")
    stream = f'executor = "{executor}"\nargs = ["64", "answer"]\nconcurrency = 64\n'
    return (of_w8y(bench)
            + of_w8yd(bench, "spawn", f'command = ["{PROGRAM}"]\nconcurrency = 4\n', 200)
            + of_w8yd(bench, "stream", stream, 5000))

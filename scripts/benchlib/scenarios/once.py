"""w8y for one item, as a whole process, against a minimal program with similar work."""
import statistics
import subprocess
from typing import Dict, List

from ..measure import Goal, Row, find, rows_of
from ..processes import finish
from ..redis import Redis

PROGRAM = "/bin/true"
ITEMS = 10
US_PER_NS = 1e-3


def take(bench, commands: Dict[str, List[str]]) -> Dict[str, List[float]]:
    """Runs the commands in turn. The value of a round is the median of its runs."""
    words = [bench.programs.bare("start_in_turn"), "50" if bench.quick else "400"]
    for i, command in enumerate(commands.values()):
        words += (["--next"] if i > 0 else []) + command
    taken: Dict[str, List[float]] = {name: [] for name in commands}
    for number in range(bench.rounds + 1):
        done = finish(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE, text=True)
        if number == 0:
            continue  # the first round reads files into memory
        for name, line in zip(commands, done.stderr.splitlines()):
            taken[name].append(statistics.median(map(int, line.split())) * US_PER_NS)
    return taken


def judge(rows: List[Row]):
    ours, ping = find(rows, "w8y"), find(rows, "redis-cli ping")
    ours.goals.append(Goal("≤ 1.35 × least", ours.ratio.median <= 1.35))
    if ping:
        ours.goals.append(Goal("below redis-cli ping", ours.value.median < ping.value.median))


def run(bench) -> List[Row]:
    w8y = bench.programs.ours("w8y")
    least = bench.programs.bare("least_once", "-static")
    cli = bench.want("redis-cli")
    settings = {
        "bare": f"posix_spawn, wait: {PROGRAM}",
        "least program": "PING, posix_spawn, wait, PING: static C",
        "w8y": f"w8y -q: {PROGRAM}, {ITEMS} items",
        "redis-cli ping": "",
    }
    rows: List[Row] = []
    with Redis(bench.folder) as redis:
        redis.call("RPUSH", "bench:list", *[f"item-{i}" for i in range(ITEMS)])
        for case, url, where in (
            ("unix socket", redis.url, ["-s", redis.socket]),
            ("TCP loopback", redis.tcp_url, ["-h", "127.0.0.1", "-p", str(redis.port)]),
        ):
            bench.say(case)
            commands = {
                "least program": [least, where[-1], PROGRAM],
                "bare": [PROGRAM],
                "w8y": [w8y, "-q", "-k", "bench", "-u", url, "--", PROGRAM],
            }
            if cli:
                commands["redis-cli ping"] = [cli, *where, "ping"]
            found = rows_of(case, "µs", settings, take(bench, commands))
            judge(found)
            rows += found
    return rows

"""A reload with one list changed, among 10 to 10,000.

The time is from SIGUSR2 to "reloaded" in the log. The reference is parsing the file alone: `w8yd --check` of
the same file less `w8yd --check` of a file with one list. The longest stall of the loop is measured from
outside: every millisecond, a client requests a page that does not exist, which needs no work. The stall is
the longest wait for that response during the reload. Another row has the longest wait in a span of the same
length before the reload.
"""
import contextlib
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import time
from typing import Callable, Dict, List, Tuple

from ..daemon import W8yd
from ..many_lists import lists
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import wait_for_rest
from ..processes import finish
from ..redis import Redis

LIST = 'command = ["/bin/true"]'
ASK = b"GET /nothing HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n"
LIMIT = 60.0


def check_seconds(program: str, config: pathlib.Path) -> float:
    def once() -> float:
        since = time.monotonic()
        finish([program, "--check", "--config", str(config)], stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
        return time.monotonic() - since

    return statistics.median(once() for _ in range(5))


def answer_seconds(path: str) -> float:
    since = time.monotonic()
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(LIMIT)
        asking.connect(path)
        asking.sendall(ASK)
        asking.recv(4096)
    return time.monotonic() - since


def longest_wait(path: str, over: Callable[[], bool]) -> float:
    longest = 0.0
    while not over():
        took = answer_seconds(path)
        longest = max(longest, took)
        time.sleep(max(0.0, 0.001 - took))
    return longest


def reload(daemon: W8yd) -> Tuple[float, float]:
    """Returns the seconds of the reload, and of the longest stall."""
    with open(daemon.log, "rb") as log:
        log.seek(0, os.SEEK_END)
        text = b""

        def over() -> bool:
            nonlocal text
            text = text[-4096:] + log.read()
            if time.monotonic() - since > LIMIT or b"reload failed" in text:
                raise RuntimeError(f"no reload; see {daemon.log}")
            return b" reloaded " in text

        since = time.monotonic()
        os.kill(daemon.pid, signal.SIGUSR2)
        stall = longest_wait(daemon.socket, over)
        return time.monotonic() - since, stall


def run_case(bench, redis: Redis, count: int) -> List[Row]:
    folder = bench.folder / str(count)
    program = bench.programs.ours("w8yd")
    taken: Dict[str, List[float]] = {name: [] for name in ("parse", "reload", "before", "stall")}
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(W8yd(program, folder, redis.url, lists(count, LIST),
                                          patience=120))
        wait_for_rest(daemon.pid, 20)
        single = folder / "single.toml"
        single.write_text(f"[lists.one]\n{LIST}\n")
        for number in range(bench.rounds):
            daemon.configure(lists(count, LIST) + f"concurrency = {number + 2}\n")
            one = check_seconds(program, single)
            taken["parse"].append(max(check_seconds(program, daemon.config) - one, 1e-6))
            time.sleep(0.5)
            until = time.monotonic() + 0.5
            taken["before"].append(longest_wait(daemon.socket,
                                                lambda: time.monotonic() > until))
            took, stall = reload(daemon)
            taken["reload"].append(took)
            taken["stall"].append(stall)
            wait_for_rest(daemon.pid, 10, span=0.5)
    return rows_of_case(count, taken)


def rows_of_case(count: int, taken: Dict[str, List[float]]) -> List[Row]:
    case = f"{count:,} lists"

    def ms(name: str) -> Spread:
        return Spread.of([1e3 * value for value in taken[name]])

    rows = [
        Row(case, "parsing", "w8yd --check, less that of one list", "ms", ms("parse"),
            Spread(1, 1, 1)),
        Row(case, "reload", "SIGUSR2, one list's concurrency", "ms", ms("reload"),
            Spread.of([a / b for a, b in zip(taken["reload"], taken["parse"])])),
        Row(case, "longest stall", "of a status request, reloading", "ms", ms("stall")),
        Row(case, "longest stall before", "in 0.5 s without a reload", "ms", ms("before")),
    ]
    if count < 1000:
        rows[1].ratio = None  # the time to parse this few lists is lost in the start of a process
    else:
        rows[1].goals.append(Goal("≤ 2 × parsing", rows[1].ratio.median <= 2))
    rows[2].goals.append(Goal("≤ 20 ms", rows[2].value.median <= 20))
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    sized: Dict[str, List[Tuple[int, Row]]] = {}
    with Redis(bench.folder / "redis") as redis:
        for count in (10, 100, 1000, 10_000):
            bench.say(f"{count:,} lists")
            found = run_case(bench, redis, count)
            rows += found
            for row in found[1:3]:
                sized.setdefault(row.subject, []).append((count, row))
    for pairs in sized.values():
        note_growth(pairs)
    return rows

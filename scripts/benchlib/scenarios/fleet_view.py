"""The fleet view of the status API: 500 hosts with 1,000 lists each, and forged heartbeats.

Redis has the heartbeats and list reports as w8yd writes them. One w8yd has 1,000 runs whose leases it
renews. A client reads all pages of GET /api/v1/fleet over the unix socket, as w8yctl does. The longest
stall of the loop is measured from outside, as in `reload`. Another row has the time that the thread of the
loop was on a processor during the longest of these waits, because a busy machine does not change it. Memory
is the peak of the resident set (VmHWM, reset before each round) less the resident set before the first
round. The forged case has list reports of almost 4 KiB.
"""
import contextlib
import json
import pathlib
import re
import threading
import time
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, Tuple

from ..daemon import W8yd
from ..measure import Goal, Row, Spread
from ..process_facts import memory, wait_for_rest
from ..processes import wait_for
from ..redis import Redis
from .page import Pages
from .reload import answer_seconds

FLEET = "w8y-fleet"
RUNS = 1000
MIB = 1 << 20
KEPT = {"state": "idle", "reason": "", "program": "/opt/acme/bin/encode",
        "caps": ["complete", "progress", "update", "print"], "executor_version": "1.4.2",
        "running": 0, "concurrency": 2, "fleet_concurrency": 0, "weight": 1, "enabled": True}


def compact(value: Dict) -> str:
    return json.dumps(value, separators=(",", ":"))


def host_ids(hosts: int) -> List[str]:
    return [f"host-{i:04d}-0123abcd" for i in range(hosts)]


def now_ms(redis: Redis) -> int:
    return int(redis.call("TIME")[0]) * 1000


def beat_again(redis: Redis, hosts: int):
    now = now_ms(redis)
    redis.each([("ZADD", f"{FLEET}:hosts", now, one) for one in host_ids(hosts)])


def calls(hosts: int, lists: int, report: str, now: int) -> Iterator[Tuple]:
    for number, one in enumerate(host_ids(hosts)):
        beat = compact({"format": 1, "host": one[:9], "pid": 1000 + number, "version": "0.1.0",
                        "state": "running", "started_ms": now - 3_600_000,
                        "config_hash": "0123456789abcdef" * 4, "generation": 1,
                        "applied_ms": now - 3_600_000, "processors": 8, "slots_used": 0,
                        "slots_limit": 8, "lease_margin_ms": 3300, "min_lease_margin_ms": 3200,
                        "lists_version": 1})
        yield ("SET", f"{FLEET}:host:{one}", beat)
        for first in range(0, lists, 500):
            fields = (f"list-{i:05d}" for i in range(first, min(first + 500, lists)))
            yield ("HSET", f"{FLEET}:lists:{one}", *(word for name in fields
                                                     for word in (name, report)))


def read_part(daemon: W8yd, after: str) -> Tuple[int, str]:
    """Returns the bytes of a page, and the cursor of the next page, empty after the last page."""
    connection = daemon.connection()
    try:
        connection.timeout = 120
        connection.request("GET", "/api/v1/fleet" + (f"?after={after}" if after else ""))
        answer = connection.getresponse()
        size, tail = 0, b""
        while got := answer.read1(1 << 16):
            size += len(got)
            tail = (tail + got)[-512:]
        if answer.status != 200:
            raise RuntimeError(f"the fleet cannot be seen: {tail.decode(errors='replace')}")
        found = re.search(rb'"next":"([^"]*)"}\s*$', tail)
        return size, found.group(1).decode() if found else ""
    finally:
        connection.close()


class Round(threading.Thread):
    """Reads all pages of the fleet view while the event loop is measured."""

    def __init__(self, daemon: W8yd):
        super().__init__(daemon=True)
        self._daemon = daemon
        self.parts = 0
        self.largest = 0
        self.seconds = 0.0
        self.problem = ""

    def run(self):
        since = time.monotonic()
        try:
            after = ""
            while self.parts == 0 or after:
                size, after = read_part(self._daemon, after)
                self.parts += 1
                self.largest = max(self.largest, size)
        except (OSError, RuntimeError) as problem:
            self.problem = str(problem) or repr(problem)
        self.seconds = time.monotonic() - since


def peak(pid: int) -> int:
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", text).group(1)) * 1024


@dataclass
class Stall:
    """The longest stall, in milliseconds."""

    wall: float = 0
    worked: float = 0  # processor time of the loop's thread


def longest_stall(daemon: W8yd, over: Callable[[], bool]) -> Stall:
    loop = pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/schedstat")
    stall = Stall()
    worked = int(loop.read_text().split()[0])
    while not over():
        took = 1e3 * answer_seconds(daemon.socket)
        before, worked = worked, int(loop.read_text().split()[0])
        stall.wall = max(stall.wall, took)
        stall.worked = max(stall.worked, (worked - before) / 1e6)
        time.sleep(max(0.0, 1e-3 - took / 1e3))
    return stall


def take(daemon: W8yd) -> Tuple[Round, Stall, int]:
    pathlib.Path(f"/proc/{daemon.pid}/clear_refs").write_text("5")
    reading = Round(daemon)
    reading.start()
    stall = longest_stall(daemon, lambda: not reading.is_alive())
    if reading.problem:
        raise RuntimeError(reading.problem)
    return reading, stall, peak(daemon.pid)


def at_rest(daemon: W8yd) -> Stall:
    until = time.monotonic() + 1
    return longest_stall(daemon, lambda: time.monotonic() > until)


def with_page(daemon: W8yd, seconds: float) -> Stall:
    with Pages(daemon.socket, 1):
        until = time.monotonic() + seconds
        return longest_stall(daemon, lambda: time.monotonic() > until)


def rows_of(case: str, taken: Dict[str, List[float]]) -> List[Row]:
    settings = f"{RUNS:,} leases, unix socket"

    def row(subject: str, unit: str, name: str, *goals: Tuple[str, float]) -> Row:
        found = Row(case, subject, settings, unit, Spread.of(taken[name]))
        found.goals += [Goal(text, found.value.median <= most) for text, most in goals]
        return found

    return [row("longest stall before", "ms", "before"),
            row("longest stall", "ms", "stall", ("≤ 20 ms", 20)),
            row("of it, on a processor", "ms", "stall_worked", ("≤ 20 ms", 20)),
            row("longest stall, a page is open", "ms", "page", ("≤ 20 ms", 20)),
            row("of it, on a processor", "ms", "page_worked", ("≤ 20 ms", 20)),
            row("memory, more than before", "MiB", "memory", ("≤ 64 MiB", 64)),
            row("least margin of a lease", "ms", "margin"),
            row("all parts", "s", "seconds"),
            row("parts", "", "parts"),
            row("largest part", "MiB", "largest")]


def run_case(bench, hosts: int, lists: int, report: str, case: str) -> List[Row]:
    folder = bench.folder / str(hosts)
    taken: Dict[str, List[float]] = {}
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis"))
        redis.each(calls(hosts, lists, report, now_ms(redis)))
        redis.fill("bench:list", (f"item-{i}" for i in range(RUNS)))
        executor = bench.programs.bare("stream_executor")
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / "w8yd", redis.url,
            f'[lists.bench]\nexecutor = "{executor}"\nargs = ["{RUNS}", "keep"]\n'
            f'concurrency = {RUNS}\nkill_grace = "1s"\n', 'drain_timeout = "0s"\n'))
        wait_for(f"{RUNS} runs", 60, lambda: daemon.status()["redis"]["leases"] == RUNS)
        wait_for_rest(daemon.pid, 10, low=1)
        before = memory(daemon.pid).rss
        for _ in range(bench.rounds):
            beat_again(redis, hosts)
            rest = at_rest(daemon)
            reading, stall, most = take(daemon)
            beat_again(redis, hosts)
            page = with_page(daemon, 3 if bench.quick else 10)
            for name, value in (("before", rest.wall), ("stall", stall.wall),
                                ("stall_worked", stall.worked), ("page", page.wall),
                                ("page_worked", page.worked), ("memory", (most - before) / MIB),
                                ("margin", daemon.status()["redis"]["min_lease_margin_ms"]),
                                ("seconds", reading.seconds), ("parts", reading.parts),
                                ("largest", reading.largest / MIB)):
                taken.setdefault(name, []).append(value)
    return rows_of(case, taken)


def run(bench) -> List[Row]:
    rows: List[Row] = []
    forged = compact({**KEPT, "caps": ["x" * 30] * 115})
    for hosts, lists, report, kind in ((500, 1000, compact(KEPT), "hosts"),
                                       (60, 5000, forged, "forged hosts")):
        if bench.quick:
            hosts, lists = hosts // 10, lists // 2
        case = f"{hosts} {kind} × {lists:,} lists"
        bench.say(case)
        rows += run_case(bench, hosts, lists, report, case)
    return rows

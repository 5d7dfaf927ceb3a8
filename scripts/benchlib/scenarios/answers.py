"""Responses of the status API about 10,000 idle lists: time until the last byte, processor of w8yd.

A round is several requests in sequence on one connection. --build compares two builds.
"""
import contextlib
import time
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..many_lists import lists
from ..measure import Row, Spread
from ..process_facts import cpu_seconds, wait_for_rest
from ..redis import Redis

PATHS = ("/api/v1/lists", "/api/v1/status", "/api/v1/lists/list-00007")


def take(daemon: W8yd, path: str, requests: int) -> Tuple[float, float]:
    """Milliseconds per request: elapsed time, and w8yd's processor time."""
    connection = daemon.connection()
    try:
        worked, since = cpu_seconds(daemon.pid), time.monotonic()
        for _ in range(requests):
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200 or not answer.read():
                raise RuntimeError(f"{path}: status {answer.status}")
        took = time.monotonic() - since
        return 1000 * took / requests, 1000 * (cpu_seconds(daemon.pid) - worked) / requests
    finally:
        connection.close()


def run(bench) -> List[Row]:
    count = 1000 if bench.quick else 10_000
    took: Dict[str, List[float]] = {path: [] for path in PATHS}
    worked: Dict[str, List[float]] = {path: [] for path in PATHS}
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / "redis"))
        daemon = stack.enter_context(W8yd(bench.programs.ours("w8yd"), bench.folder / "w8yd", redis.url,
                                          lists(count, 'command = ["true"]'), patience=120))
        wait_for_rest(daemon.pid, 20)
        for _ in range(bench.rounds):
            for path in PATHS:
                clock, processor = take(daemon, path, 3 if bench.quick else 10)
                took[path].append(clock)
                worked[path].append(processor)
    case = f"{count:,} lists"
    return [row for path in PATHS for row in (
        Row(case, f"GET {path}", "unix socket", "ms", Spread.of(took[path])),
        Row(case, f"GET {path}, processor", "unix socket", "ms", Spread.of(worked[path])))]

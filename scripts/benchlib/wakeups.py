"""Time from an RPUSH until the program of the item has started."""
import contextlib
import os
import pathlib
import random
import select
import time
from typing import Dict, List

from .redis import Redis


class Starts:
    """Context manager: reads the times that bench.d/started_at writes to a FIFO."""

    def __init__(self, path: pathlib.Path):
        os.mkfifo(path)
        self.path = str(path)
        # Opened for reading and writing, so that reads do not return end of file when a writer
        # closes it.
        self._fifo = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        self._rest = b""
        self.at: Dict[str, float] = {}  # by item: the first start, in seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fifo)

    def read(self, until: float):
        while ((left := until - time.monotonic()) > 0
               and select.select([self._fifo], [], [], left)[0]):
            *lines, self._rest = (self._rest + os.read(self._fifo, 1 << 16)).split(b"\n")
            for line in lines:
                at, item = line.decode().split()
                self.at.setdefault(item, int(at) / 1e9)


def measure(redis: Redis, starts: Starts, lists: List[str], count: int, per_second: float,
            limit: float) -> List[float]:
    """Returns the sorted times in seconds. An item that has not started within `limit` counts as `limit`. Items
    are pushed to random lists at random times, even if earlier items have not started. Each list is emptied
    afterwards, so that it never has an item twice."""
    pushed: Dict[str, float] = {}
    key: Dict[str, str] = {}
    cleared = set()

    def clear():
        for item in starts.at.keys() & key.keys() - cleared:
            redis.call("LREM", key[item], 0, item)
            cleared.add(item)

    label = os.urandom(4).hex()
    for number in range(count):
        item = f"{label}-{number}"
        key[item] = f"{random.choice(lists)}:list"
        pushed[item] = time.monotonic()
        redis.call("RPUSH", key[item], item)
        pause = random.expovariate(per_second)
        until = time.monotonic() + pause
        while time.monotonic() < until:
            starts.read(min(until, time.monotonic() + 0.005))
            clear()
    last = max(pushed.values()) + limit
    while len(cleared) < count and time.monotonic() < last:
        starts.read(time.monotonic() + 0.01)
        clear()
    for item in pushed.keys() - cleared:
        with contextlib.suppress(RuntimeError):
            redis.call("LREM", key[item], 0, item)
    return sorted(min(starts.at.get(item, last) - at, limit) for item, at in pushed.items())


def percentile(values: List[float], part: float) -> float:
    """Returns the value below which this part of the sorted values lies."""
    return values[min(len(values) - 1, int(part * len(values)))]

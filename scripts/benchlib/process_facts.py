"""Facts of the system about a process: time on a processor, memory, descriptors."""
import os
import pathlib
import time
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")
KIB = 1024


def cpu_seconds(pid: int) -> float:
    """Of all its threads, by the scheduler's own count: finer than the ticks of stat."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


@dataclass
class Memory:
    """Bytes: what is in memory, and of that the part that is not shared, each page by its users."""

    rss: int
    pss: int


def memory(pid: int) -> Memory:
    sizes = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        sizes[name] = int(value.split()[0]) * KIB
    return Memory(sizes["Rss"], sizes["Pss"])


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def share_of_a_core(pid: int, seconds: float) -> float:
    """Per cent, over a span."""
    since, before = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - since)


def wait_for_rest(pid: int, limit: float, low: float = 5, span: float = 1):
    """Until it needs hardly more than before, or little at all; or `limit` seconds are over."""
    until = time.monotonic() + limit
    last = 1e9
    while time.monotonic() < until:
        share = share_of_a_core(pid, span)
        if share < low or share > 0.9 * last and share < 1.1 * last:
            return
        last = share

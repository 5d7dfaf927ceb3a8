"""Resources of a process: processor time, memory, descriptors."""
import os
import pathlib
import time
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")
KIB = 1024


def cpu_seconds(pid: int) -> float:
    """Returns the time of all threads, by the scheduler's counter, which is finer than the ticks of stat."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


@dataclass
class Memory:
    """Resident bytes, and proportional bytes, which divide each page by the number of its users."""

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
    """Returns the processor usage of a span, in per cent."""
    since, before = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - since)


def wait_for_rest(pid: int, limit: float, low: float = 5, span: float = 1):
    """Waits until the processor usage is stable or low, for at most `limit` seconds."""
    until = time.monotonic() + limit
    last = 1e9
    while time.monotonic() < until:
        share = share_of_a_core(pid, span)
        if share < low or share > 0.9 * last and share < 1.1 * last:
            return
        last = share

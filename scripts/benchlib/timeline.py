"""The timeline of a schedule: filled at once, and the times at which its jobs enter their queue."""
import contextlib
import socket
import threading
import time
from typing import Iterator, List, Tuple

from .redis import Redis

PREFIX = "mix"
QUEUE = f"{PREFIX}-work-A"
KEYS = [f"{PREFIX}-{name}" for name in ("schedules", "statuses", "timeline")] + [
    QUEUE, f"{QUEUE}-members"]


def enter(redis: Redis, due: List[Tuple[int, str]]):
    """Sets jobs by the second at which they are due, with all keys that `AT:…` writes."""
    redis.call("UNLINK", *KEYS)
    schedules, statuses, timeline = KEYS[:3]
    for begin in range(0, len(due), 1000):
        part = due[begin:begin + 1000]
        redis.call("HSET", schedules, *(word for _, job in part for word in (job, "STOP")))
        redis.call("HSET", statuses, *(word for _, job in part for word in (job, "TML:1")))
        redis.call("ZADD", timeline, *(word for at, job in part for word in (at, job)))


def names(count: int) -> Iterator[str]:
    return (f"job-{number:07}:A" for number in range(count))


def due_at_once(redis: Redis, count: int, limit: float) -> float:
    """Returns the seconds from the moment at which all jobs are due until all are in their queue."""
    at = int(time.time() + 2.5 + count / 50_000)
    enter(redis, [(at, job) for job in names(count)])
    if time.time() > at - 1:
        raise RuntimeError(f"{count} jobs took too long to be entered")
    time.sleep(at - 0.05 - time.time())
    while redis.call("LLEN", QUEUE) < count:
        if time.time() > at + limit:
            raise RuntimeError(f"{count} jobs are not in their queue within {limit} s")
        time.sleep(0.002)
    return time.time() - at


class Entries:
    """Context manager: times at which jobs enter the queue, by Redis's keyspace notifications. They must have
    the classes K and l."""

    WORD = b"\r\nlpush\r\n"

    def __init__(self, redis: Redis):
        self.times: List[float] = []
        self._rest = b""
        self._ear = socket.socket(socket.AF_UNIX)
        self._ear.connect(redis.socket)
        self._ear.sendall(f"SUBSCRIBE __keyspace@0__:{QUEUE}\r\n".encode())
        self._ear.recv(1 << 16)  # the reply: it is subscribed
        self._reader = threading.Thread(target=self._read)

    def __enter__(self):
        self._reader.start()
        return self

    def __exit__(self, *_):
        self._ear.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._ear.close()

    def _read(self):
        with contextlib.suppress(OSError):
            while said := self._ear.recv(1 << 20):
                now = time.time()
                text = self._rest + said
                self.times += [now] * text.count(self.WORD)
                self._rest = text[-(len(self.WORD) - 1):]


def lateness(redis: Redis, count: int, seconds: int, limit: float) -> List[float]:
    """Returns the sorted lateness, in seconds, of jobs that are due evenly over a span. Jobs enter their queue
    in the order of their due seconds; the order within a second is arbitrary."""
    first = int(time.time() + 3)
    due = [first + number * seconds // count for number in range(count)]
    with Entries(redis) as entries:
        enter(redis, list(zip(due, names(count))))
        end = due[-1] + limit
        while len(entries.times) < count and time.time() < end:
            time.sleep(0.05)
        if len(entries.times) != count:
            raise RuntimeError(f"{len(entries.times)} jobs of {count} entered their queue")
        return sorted(at - second for at, second in zip(entries.times, due))

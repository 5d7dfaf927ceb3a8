"""Cost of ten open pages for w8yd: 10,000 idle lists, and items at full speed through one process.

A page is a client of /api/v1/live that reads all data that it receives. For idle lists, the reference is the
same w8yd without a page, just before. At full speed, it is the processor time of w8yd per item without a page.
"""
import contextlib
import socket
import threading
import time
from typing import List

from ..daemon import W8yd
from ..many_lists import lists
from ..measure import Goal, Row, Subject, Spread, in_turn, rows_of
from ..process_facts import cpu_seconds, wait_for_rest
from ..redis import Redis

PAGES = 10


class Pages:
    """Context manager: clients that have received the full state, and read on."""

    def __init__(self, path: str, count: int = PAGES):
        self._path = path
        self._count = count
        self._sockets: List[socket.socket] = []

    def __enter__(self):
        for _ in range(self._count):
            page = socket.socket(socket.AF_UNIX)
            page.connect(self._path)
            page.sendall(b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            tail = b""
            while b"event: ready" not in tail:
                got = page.recv(1 << 16)
                if not got:
                    raise RuntimeError("w8yd ended the stream of a page")
                tail = tail[-64:] + got
            self._sockets.append(page)
            threading.Thread(target=self._read, args=(page,), daemon=True).start()
        return self

    @staticmethod
    def _read(page: socket.socket):
        with contextlib.suppress(OSError):
            while page.recv(1 << 16):
                pass

    def __exit__(self, *_):
        for page in self._sockets:
            with contextlib.suppress(OSError):
                page.shutdown(socket.SHUT_RDWR)
            page.close()


def share(pid: int, seconds: float) -> float:
    begun, worked = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    return 100 * (cpu_seconds(pid) - worked) / (time.monotonic() - begun)


def at_rest(bench, count: int) -> List[Row]:
    # The span includes all periodic work, whose longest interval is 15 s.
    seconds = 3 if bench.quick else 30
    without: List[float] = []
    with_pages: List[float] = []
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / "redis-rest"))
        daemon = stack.enter_context(W8yd(bench.programs.ours("w8yd"), bench.folder / "rest",
                                          redis.url, lists(count, 'command = ["true"]'),
                                          patience=120))
        wait_for_rest(daemon.pid, 20)
        for _ in range(bench.rounds):
            time.sleep(1 if bench.quick else 20)  # until w8yd has dropped the state of earlier pages
            without.append(share(daemon.pid, seconds))
            with Pages(daemon.socket):
                time.sleep(2)
                with_pages.append(share(daemon.pid, seconds))
    more = [b - a for a, b in zip(without, with_pages)]
    row = Row(f"{count:,} idle lists", f"{PAGES} pages, processor", "more than without",
              "% of a core", Spread.of(more))
    row.goals.append(Goal("≤ 3 % of a core", row.value.median <= 3))
    return [Row(row.case, "no page, processor", "defaults", "% of a core", Spread.of(without)), row]


def at_speed(bench) -> List[Row]:
    seconds = 1 if bench.quick else 4
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / "redis-speed"))
        redis.fill("fast:list", (f"item-{i}" for i in range(1000)))
        executor = bench.programs.bare("stream_executor")
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), bench.folder / "speed", redis.url,
            f'[lists.fast]\nexecutor = "{executor}"\nargs = ["64", "answer"]\nconcurrency = 64\n'))

        def per_item(pages: int) -> float:
            if pages == 0 and not bench.quick:
                time.sleep(21)  # until w8yd has dropped the state of earlier pages
            with Pages(daemon.socket, pages):
                time.sleep(0.5)
                items, worked = daemon.succeeded("fast"), cpu_seconds(daemon.pid)
                time.sleep(seconds)
                worked = cpu_seconds(daemon.pid) - worked
                return 1e6 * worked / (daemon.succeeded("fast") - items)

        subjects = [Subject("no page", "concurrency 64", lambda: per_item(0)),
                    Subject(f"{PAGES} pages", "concurrency 64", lambda: per_item(PAGES))]
        rows = rows_of("stream at full speed", "µs of w8yd for an item",
                       {subject.name: subject.settings for subject in subjects},
                       in_turn(subjects, bench.rounds))
    rows[1].goals.append(Goal("≤ 1.1 × without", rows[1].ratio.median <= 1.1))
    return rows


def run(bench) -> List[Row]:
    return at_rest(bench, 1000 if bench.quick else 10_000) + at_speed(bench)

"""10,000 hostile TCP clients beside 1,000 leases: renewals, memory, a normal client.

The clients (benchlib/crowd.py) send nothing, are slow, send headers without end, or request the whole status and
do not read it. A client that is disconnected connects again at once. The runs are in stream mode and never
finish. Every 100 ms, every lock is read with PTTL, in Redis. The minimum of all rounds counts. At the same time,
a client on the unix socket and a client over TCP request /healthz.
"""
import contextlib
import http.client
import pathlib
import subprocess
import sys
import threading
import time
from typing import Dict, List

from .. import crowd
from ..daemon import W8yd
from ..measure import Goal, Row, Spread
from ..process_facts import memory, share_of_a_core, wait_for_rest
from ..processes import ENVIRONMENT, wait_for
from ..redis import Redis, free_port
from .leases import EXPIRY_MS, least_left

RUNS = 1000
CLIENTS = 10_000
MIB = 1 << 20
SETTINGS = "defaults (key_expiry 5 s), stream"


class Honest(threading.Thread):
    """Normal client: requests /healthz repeatedly, and stores the time of each response in ms."""

    def __init__(self, make):
        super().__init__(daemon=True)
        self._make, self._over = make, threading.Event()
        self.took: List[float] = []
        self.failed = 0

    def run(self):
        while not self._over.wait(0.05):
            since = time.monotonic()
            connection = self._make()
            try:
                connection.request("GET", "/healthz")
                if connection.getresponse().status != 200:
                    self.failed += 1
                self.took.append(1000 * (time.monotonic() - since))
            except OSError:
                self.failed += 1
            finally:
                connection.close()

    def end(self) -> List[float]:
        self._over.set()
        self.join()
        return self.took


def p99(values: List[float]) -> float:
    return sorted(values)[int(0.99 * (len(values) - 1))] if values else float("inf")


def run_round(daemon: W8yd, redis: Redis, locks: List[str], port: int, seconds: float,
              taken: Dict[str, List[float]]):
    taken["quiet left"].append(least_left(redis, locks, seconds))
    crowd_program = subprocess.Popen(
        [sys.executable, str(pathlib.Path(crowd.__file__)), str(port), str(CLIENTS), str(seconds + 3)],
        stdout=subprocess.PIPE, env=ENVIRONMENT, text=True)
    try:
        time.sleep(1)
        over_tcp = Honest(lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=30))
        over_unix = Honest(daemon.connection)
        for client in (over_tcp, over_unix):
            client.start()
        taken["left"].append(least_left(redis, locks, seconds))
        taken["memory"].append(memory(daemon.pid).rss / MIB)
        taken["processor"].append(share_of_a_core(daemon.pid, 1))
        taken["unix"].append(p99(over_unix.end()))
        taken["tcp"].append(p99(over_tcp.end()))
        taken["failed"].append(over_unix.failed)
        taken["answered"].append(100 * len(over_tcp.took) / max(1, len(over_tcp.took) + over_tcp.failed))
        came, at_once = crowd_program.communicate(timeout=60)[0].split()
    finally:
        crowd_program.kill()
        crowd_program.wait()
    taken["came"].append(int(came))
    taken["at once"].append(int(at_once))


def run(bench) -> List[Row]:
    taken: Dict[str, List[float]] = {
        name: [] for name in ("quiet left", "left", "memory", "processor", "unix", "tcp", "failed",
                              "answered", "came", "at once")}
    port = free_port()
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / "redis"))
        redis.fill("bench:list", (f"item-{i}" for i in range(RUNS)))
        executor = bench.programs.bare("stream_executor")
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), bench.folder / "w8yd", redis.url,
            f'[lists.bench]\nexecutor = "{executor}"\nargs = ["{RUNS}", "keep"]\n'
            f'concurrency = {RUNS}\nkill_grace = "1s"\n', 'drain_timeout = "0s"\n',
            addresses=[f"127.0.0.1:{port}"]))
        wait_for(f"{RUNS} runs", 60, lambda: daemon.status()["redis"]["leases"] == RUNS)
        wait_for_rest(daemon.pid, 10, low=0.5)
        locks = [f"bench:lock:item-{i}" for i in range(RUNS)]
        before = memory(daemon.pid).rss / MIB
        for _ in range(min(bench.rounds, 3)):
            run_round(daemon, redis, locks, port, 5 if bench.quick else 10, taken)
        lost = daemon.status()["here"]["leases_lost"]
    case = f"{CLIENTS:,} clients"

    def row(subject: str, unit: str, name: str, settings: str = SETTINGS) -> Row:
        return Row(case, subject, settings, unit, Spread.of(taken[name]))

    rows = [
        row("least PTTL, without clients", "ms", "quiet left"),
        row("least PTTL, beside them", "ms", "left"),
        row("w8yd, memory", "MiB RSS", "memory", f"before: {before:.0f} MiB"),
        row("w8yd, processor", "% of a core", "processor"),
        row("/healthz on the unix socket, p99", "ms", "unix"),
        row("/healthz over TCP, p99", "ms", "tcp"),
        row("/healthz over TCP, answered", "%", "answered", ""),
        row("clients that came", "", "came", "disconnected clients reconnect"),
        row("clients at once", "", "at once"),
    ]
    rows[1].ratio = Spread.of([a / b for a, b in zip(taken["left"], taken["quiet left"])])
    rows[1].goals.append(Goal("≥ half of key_expiry, always, and no lease lost",
                              rows[1].value.low >= EXPIRY_MS / 2 and lost == 0))
    rows[2].goals.append(Goal("≤ 100 MiB more", rows[2].value.high <= before + 100))
    rows[4].goals.append(Goal("each is answered", sum(taken["failed"]) == 0))
    rows[6].goals.append(Goal("each is answered", rows[6].value.low == 100))
    return rows

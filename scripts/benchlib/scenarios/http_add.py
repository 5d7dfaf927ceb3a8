"""Items and jobs of one client over the status API, in batches of 100, over the unix socket and TCP.

The client sends one request after the other on one connection, each with an Idempotency-Key. `w8yd` renews the
leases of 1,000 runs meanwhile, and reports its smallest lease margin.
"""
import contextlib
import http.client
import json
import time
from typing import Callable, Dict, List

from ..daemon import W8yd
from ..measure import Goal, Row, Spread
from ..processes import wait_for
from ..redis import Redis, free_port

AT_ONCE = 100
RUNS = 1000
EXPIRY_MS = 5000
LEAST_PER_SECOND = 20_000
TOKEN = "0123456789abcdef"


class Client:
    """One connection, which sends batches."""

    def __init__(self, connection: http.client.HTTPConnection):
        self._connection = connection
        self._sent = 0

    def post(self, path: str, body: Dict) -> Dict:
        self._sent += 1
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}",
                   "Idempotency-Key": f"{id(self)}-{time.monotonic_ns()}-{self._sent}"}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200 or said["added"] != AT_ONCE:
            raise RuntimeError(f"{path}: status {answer.status}: {said}")
        return said


def rate(seconds: float, batch: Callable[[], None]) -> float:
    """Entries per second. The bodies are part of the time, as in any client."""
    done, since = 0, time.monotonic()
    while time.monotonic() - since < seconds:
        batch()
        done += AT_ONCE
    return done / (time.monotonic() - since)


class Cases:
    def __init__(self, redis: Redis, client: Client):
        self._redis, self._client = redis, client
        self._next = 0

    def _names(self) -> List[str]:
        self._next += AT_ONCE
        return [f"https://example.org/{number}" for number in range(self._next - AT_ONCE, self._next)]

    def jobs(self):
        self._client.post("/api/v1/feeds/jobs/jobs", {"jobs": [{"payload": name} for name in self._names()]})

    def short_list(self):
        """Adds to a list that is emptied when it has 1,000 items."""
        if self._next % 1000 == 0:
            self._redis.call("DEL", "short:list")
        self._client.post("/api/v1/lists/short/items", {"items": self._names()})

    def long_list(self):
        self._client.post("/api/v1/lists/long/items", {"items": self._names(), "allow_duplicates": True})


def run(bench) -> List[Row]:
    seconds = 1 if bench.quick else 3
    rows: List[Row] = []
    with contextlib.ExitStack() as stack:
        folder = bench.folder
        redis = stack.enter_context(Redis(folder / "redis"))
        redis.fill("bench:list", (f"item-{i}" for i in range(RUNS)))
        executor = bench.programs.bare("stream_executor")
        port = free_port()
        (folder / "w8yd").mkdir(parents=True, exist_ok=True)
        token = folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        idle = 'enabled = false\n'
        daemon = stack.enter_context(W8yd(
            bench.programs.ours("w8yd"), folder / "w8yd", redis.url,
            f'[lists.bench]\nexecutor = "{executor}"\nargs = ["{RUNS}", "keep"]\n'
            f'concurrency = {RUNS}\nkill_grace = "1s"\n'
            f'[lists.short]\ncommand = ["true"]\n{idle}[lists.long]\ncommand = ["true"]\n{idle}'
            f'[lists.jobs]\nsource = "job"\ncommand = ["true"]\n{idle}',
            f'drain_timeout = "0s"\nstatus_token_file = "{token}"\n', addresses=[f"127.0.0.1:{port}"]))
        wait_for(f"{RUNS} runs", 60, lambda: daemon.status()["redis"]["leases"] == RUNS)
        for way, connection in (("unix socket", daemon.connection()),
                                ("TCP", http.client.HTTPConnection("127.0.0.1", port, timeout=10))):
            cases = Cases(redis, Client(connection))
            for subject, batch in (("jobs", cases.jobs), ("items, up to 1,000 in the list", cases.short_list),
                                   ("items, allow_duplicates", cases.long_list)):
                value = Spread.of([rate(seconds, batch) for _ in range(bench.rounds)])
                row = Row(way, subject, f"batches of {AT_ONCE}, one client", "per second", value)
                row.goals.append(Goal("≥ 20,000 per second", value.median >= LEAST_PER_SECOND))
                rows.append(row)
                redis.call("DEL", "long:list", "feed.ids:jobs", "feed.items:jobs", "feed.published:jobs", "jobs:keep")
            connection.close()
        margin = daemon.status()["redis"]["min_lease_margin_ms"]
    rows.append(Row("both", "least margin of a lease", f"{RUNS:,} runs, key_expiry 5 s", "ms",
                    Spread(margin, margin, margin)))
    rows[-1].goals.append(Goal("≥ half of key_expiry, always", margin >= EXPIRY_MS / 2))
    return rows

"""No-op jobs per second of w8y, through the kits, beside BullMQ, Sidekiq, RQ, Celery and gearmand.

A peer has one worker process, the settings that its documentation recommends for throughput, and in a second row
the best settings that were found. All Redis servers have the same settings. The latency is the time from the put
to the start of a job, at 10 % of the throughput of the same subject.
"""
import contextlib
import statistics
import subprocess
from typing import Dict, List

from ..gearman import Gearman
from ..kit_work import KITS, KitWorker
from ..measure import Goal, Missing, Row, Spread, Subject, in_turn
from ..peer_work import DOCUMENTED, PEERS, PeerWorker, percentile, versions, waits_over
from ..processes import wait_for
from ..redis import Redis
from .gearman import STREAM, STREAMED, Queue, bare

OURS = {f"{kit} kit, {unit}": (kit, source) for kit in KITS for source, unit in (("job", "jobs"), ("circular", "list"))}
DEFAULTS = "defaults (history 1000, events)"
LEAST = 1.5
RIVALS = {"Node kit, jobs": ("BullMQ", "Sidekiq"), "Python kit, jobs": ("RQ", "Celery", "Sidekiq")}
LOAD = 0.1


class Case:
    """All subjects at one concurrency, each with its own Redis."""

    def __init__(self, bench, stack, found: Dict[str, str], concurrency: int, seconds: float):
        self._bench, self._concurrency, self._seconds = bench, concurrency, seconds
        self.name = f"concurrency {concurrency}"
        self.settings: Dict[str, str] = {}
        self.languages: Dict[str, str] = {}
        self._kits: Dict[str, KitWorker] = {}
        self._peers: Dict[str, PeerWorker] = {}
        for name, (kit, source) in OURS.items():
            redis = stack.enter_context(Redis(bench.folder / f"{kit}-{source}-{concurrency}"))
            self._kits[name] = KitWorker(bench, stack, redis, kit, source, concurrency)
            self.settings[name] = DEFAULTS
        for peer in PEERS:
            for kind, text in peer.settings.items() if peer.name in found else ():
                name = f"{peer.name}, {kind}"
                self._peers[name] = PeerWorker(bench, stack, peer, kind, concurrency)
                self.settings[name] = f"{found[peer.name]}: {text}"
                self.languages[name] = peer.language
        self._gearman = gearmand(bench, stack, concurrency, seconds)
        if self._gearman:
            self.settings[self._gearman.name] = self._gearman.settings

    def measure(self, rounds: int) -> Dict[str, List[float]]:
        subjects = [Subject(name, "", lambda kit=kit: kit.measure(self._seconds).rate)
                    for name, kit in self._kits.items()]
        subjects += [Subject(name, "", lambda peer=peer: peer.rate(self._seconds))
                     for name, peer in self._peers.items()]
        return in_turn(subjects + ([self._gearman] if self._gearman else []), rounds)

    def rates(self, taken: Dict[str, List[float]]) -> List[Row]:
        rows = [self._row(self.name, name, "per second", taken[name]) for name in OURS]
        for ours in OURS:
            for theirs in [name for name in taken if name not in OURS]:
                row = self._row(f"{self.name}: {ours}, against", theirs, "jobs/s", taken[theirs])
                row.ratio = Spread.of([a / b for a, b in zip(taken[ours], taken[theirs])])
                if theirs.split(",")[0] in RIVALS.get(ours, ()):
                    row.goals.append(Goal(f"≥ {LEAST}", row.ratio.median >= LEAST))
                rows.append(row)
        return rows

    def enqueued(self) -> List[Row]:
        rows = [Row("put", "w8yctl job put -", "one process", "jobs/s",
                    Spread.of([rate for kit in self._kits.values() for rate in kit.enqueued]))]
        for name, peer in self._peers.items():
            if DOCUMENTED in name:
                rows.append(self._row("put", name, "jobs/s", peer.enqueued))
        return rows

    def latencies(self, taken: Dict[str, List[float]]) -> List[Row]:
        seconds = 4 * self._seconds
        found: Dict[str, List[float]] = {}
        for name in taken:
            rate = max(1.0, LOAD * statistics.median(taken[name]))
            if name in self._peers:
                found[name] = self._peers[name].latencies(rate, seconds)
            elif OURS.get(name, ("", ""))[1] == "job":
                found[name] = self._ours(OURS[name][0], rate, seconds)
        rows = []
        for which in (50, 99):
            values = {name: percentile(waits, which) for name, waits in found.items() if len(waits) > 1}
            for name, value in values.items():
                row = self._row(f"{self.name}: start of a job, p{which}", name, "ms", [value])
                same = [values[peer] for peer, language in self.languages.items()
                        if peer in values and name in OURS and language == OURS[name][0]]
                if same:
                    row.goals.append(Goal(f"≤ {min(same):.2f} ms", value <= min(same)))
                rows.append(row)
        return rows

    def _ours(self, kit: str, rate: float, seconds: float) -> List[float]:
        folder = self._bench.folder / f"latency-{kit}-{self._concurrency}"
        folder.mkdir(parents=True)
        log = folder / "latencies"
        log.write_text("")
        with contextlib.ExitStack() as stack:
            redis = stack.enter_context(Redis(folder / "redis"))
            worker = KitWorker(self._bench, stack, redis, kit, "job", self._concurrency, str(log))
            worker.pace(1, 1)
            wait_for(kit, 10, lambda: log.stat().st_size > 0)
            worker.pace(rate, seconds)
            wait_for(kit, 10, lambda: len(log.read_text().splitlines()) == 1 + int(rate * seconds))
        return waits_over(log)

    def _row(self, case: str, name: str, unit: str, values: List[float]) -> Row:
        return Row(case, name, self.settings[name], unit, Spread.of(values))


def gearmand(bench, stack, concurrency: int, seconds: float):
    """Returns a bare worker of gearmand as a subject, or None."""
    try:
        server, tool = (bench.programs.reference(name) for name in ("gearmand", "gearman"))
    except Missing as missing:
        bench.say(f"without: {missing}")
        return None
    version = subprocess.run([server, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    running = stack.enter_context(Gearman(server, tool, bench.folder / f"gearmand-{concurrency}"))
    subject = bare(bench, "gearmand", running, concurrency, seconds,
                   Queue(bench, running, STREAM, STREAMED, seconds))
    subject.settings = f"{version[1] if len(version) > 1 else ''}: bare worker, {subject.settings}; TCP, no Redis"
    return subject


def run(bench) -> List[Row]:
    bench.folder.mkdir(parents=True, exist_ok=True)
    seconds, rounds = (0.5, 1) if bench.quick else (2.0, min(bench.rounds, 3))
    found = versions(bench)
    rows: List[Row] = []
    for concurrency in (16,) if bench.quick else (1, 16, 100):
        bench.say(f"concurrency {concurrency}")
        with contextlib.ExitStack() as stack:
            case = Case(bench, stack, found, concurrency, seconds)
            taken = case.measure(rounds)
            rows += case.rates(taken) + case.latencies(taken)
            if concurrency == 16:
                rows += case.enqueued()
    return rows

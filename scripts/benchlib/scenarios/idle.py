"""Idle lists, 10 to 10,000: processor, memory, Redis commands, wake-up.

The reference for the processor is a libuv loop that wakes `idle_commands` times per second and does
nothing. Commands are counted in two ways: the calls that w8yd reports as sent, and all commands that Redis
has executed, by its commandstats, including those in scripts. Wake-up is the time from before an RPUSH to a
random list until the process of the command runs. It is measured at random times, with reports of
changes by Redis (CLIENT TRACKING) and without.
"""
import contextlib
import time
from dataclasses import dataclass
from typing import Dict, List, Tuple

from ..daemon import W8yd
from ..many_lists import lists, names
from ..measure import Goal, Row, Spread, note_growth
from ..process_facts import cpu_seconds, memory, wait_for_rest
from ..processes import Background
from ..redis import Redis
from ..wakeups import Starts, measure, percentile

IDLE_COMMANDS = 100
SETTINGS = f"defaults (idle_commands {IDLE_COMMANDS})"
MIB = 1 << 20


@dataclass
class Seen:
    """One round."""

    cpu: float  # per cent of a core
    reference: float
    sent: float  # per second
    carried_out: float
    rss: float  # MiB


def total(redis: Redis) -> int:
    return sum(command.calls for name, command in redis.commands().items()
               if name not in ("info", "config|get"))


def watch(redis: Redis, daemon: W8yd, loop: Background, seconds: float) -> Seen:
    """Measures w8yd and the reference in the same span, because both need little processor time."""
    def look() -> Tuple[float, ...]:
        return (time.monotonic(), cpu_seconds(daemon.pid), cpu_seconds(loop.pid),
                total(redis))

    def sent_so_far() -> int:
        return daemon.status()["redis"]["commands_sent"]

    # Counts the commands outside of the span and with a separate time, because a status request
    # costs w8yd work. The request makes w8yd query the length of each list; these commands are
    # subtracted.
    first = sent_so_far()
    sent_before, sent_since = sent_so_far(), time.monotonic()
    by_status = sent_before - first
    before = look()
    time.sleep(seconds)
    after = look()
    span, cpu, reference, carried_out = (b - a for a, b in zip(before, after))
    sent = sent_so_far() - sent_before - by_status
    sent_rate = sent / (time.monotonic() - sent_since)
    return Seen(100 * cpu / span, 100 * reference / span, sent_rate, carried_out / span,
                memory(daemon.pid).rss / MIB)


def at_rest(bench, count: int, tracking: bool, seen: List[Seen],
            woken: Dict[str, List[float]]):
    """Measures one w8yd: rounds with idle lists, then wake-ups."""
    kind = "on" if tracking else "off"
    folder = bench.folder / f"{count}-{kind}"
    folder.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(folder / "redis", tracking=tracking))
        starts = stack.enter_context(Starts(folder / "starts"))
        command = f'["{bench.programs.bare("started_at")}", "{starts.path}", "{{}}"]'
        daemon = stack.enter_context(
            W8yd(bench.programs.ours("w8yd"), folder / "w8yd", redis.url,
                 lists(count, f"command = {command}"), patience=120))
        wait_for_rest(daemon.pid, 20)
        time.sleep(1 if bench.quick else 5)  # until the budget that has accumulated at the start is spent
        if tracking:
            loop = stack.enter_context(
                Background([bench.programs.bare("empty_loop", "-luv"), str(IDLE_COMMANDS)]))
            for _ in range(bench.rounds):
                seen.append(watch(redis, daemon, loop, 1 if bench.quick else 5))
        pushes = 40 if bench.quick else 400
        woken[kind] = measure(redis, starts, list(names(count)), pushes, 20,
                              10 if bench.quick else 150)


def rows_at(count: int, seen: List[Seen], woken: Dict[str, List[float]]) -> List[Row]:
    case = f"{count:,} lists"

    def of(name: str) -> Spread:
        return Spread.of([getattr(one, name) for one in seen])

    cpu = Row(case, "w8yd, processor", SETTINGS, "% of a core", of("cpu"),
              Spread.of([one.cpu / one.reference for one in seen]))
    sent = Row(case, "w8yd, commands sent", SETTINGS, "per second", of("sent"))
    rss = Row(case, "w8yd, memory, its status read", SETTINGS, "MiB RSS", of("rss"))
    rows = [Row(case, "libuv loop", f"wakes {IDLE_COMMANDS} times a second", "% of a core",
                of("reference"), Spread(1, 1, 1)), cpu, sent,
            Row(case, "Redis, carried out", "those inside scripts too", "per second",
                of("carried_out")), rss]
    for kind, limit in (("on", 0.002), ("off", 1.5)):
        times = woken[kind]
        for name, part in (("p50", 0.5), ("p99", 0.99)):
            value = percentile(times, part)
            rows.append(Row(case, f"wake-up {name}, tracking {kind}",
                            f"{len(times)} pushes, 20 a second", "ms",
                            Spread(value * 1e3, times[0] * 1e3, times[-1] * 1e3)))
        rows[-1].goals.append(Goal(f"≤ {limit * 1e3:g} ms", value <= limit))
    cpu.goals.append(Goal("≤ 1 % of a core", cpu.value.median <= 1))
    sent.goals.append(Goal("≤ idle_commands, + 2 %", sent.value.median <= 1.02 * IDLE_COMMANDS))
    rss.goals.append(Goal("≤ 50 MiB", rss.value.median <= 50))
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    sized: Dict[str, List[Tuple[int, Row]]] = {}
    for count in (10, 100, 1000) if bench.quick else (10, 100, 1000, 10_000):
        bench.say(f"{count:,} lists")
        seen: List[Seen] = []
        woken: Dict[str, List[float]] = {}
        for tracking in (True, False):
            at_rest(bench, count, tracking, seen, woken)
        found = rows_at(count, seen, woken)
        rows += found
        for row in found:
            if row.subject != "libuv loop":
                sized.setdefault(row.subject, []).append((count, row))
    for pairs in sized.values():
        note_growth(pairs)
    return rows

"""Clocks that jump: the wall clock of w8yd, and the clock of Redis."""
import mmap
import signal
import struct
import time

from harness import World, now_us, wait_for
from matrix import Skip, in_time, row


class JumpingClock:
    """A file with the offset that the preloaded library reads."""

    def __init__(self, home, programs):
        self.path = home / "clock"
        self.path.write_bytes(bytes(8))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8)
        self.library = programs / "tests/faults/libclock_jump.so"
        self.env = {"LD_PRELOAD": str(self.library), "CLOCK_JUMP": str(self.path)}

    def jump(self, seconds):
        self.map[:] = struct.pack("q", seconds)


@row("clock changed by one hour, forward and back", "early expiries 0, renewals missed 0, overlaps 0")
def clock_jumps(setup):
    if setup.sanitized:
        raise Skip("the sanitizers must be loaded first")
    with World(setup) as world:
        clock = JumpingClock(world.home, world.bin)
        items = world.fill(["short", "other"])
        settings = dict(key_expiry="2s", on_lease_loss="terminate", timeout="1h")
        config = (world.list_config("long", work_ms=3_600_000, **settings)
                  + world.list_config(work_ms=100, cooldown="500ms", concurrency=2, **settings))
        how = {"env": clock.env, "drain": "100ms"}
        world.fill(["held"], "long")
        one = world.host("one", config, how=how)
        held = wait_for(lambda: next((r for r in world.runs() if r.item == "held"
                                      and world.locks("long")), None), what="a long run")
        world.host("two", config, how=how)
        shown = []  # time of day in the logs after each jump
        least, worst_rest = 2000, 0
        for jump in (3600, 0, -3600, 0) * setup.scale:
            since = one.log_size()
            clock.jump(jump)
            one.signal(signal.SIGUSR2)  # a reload writes a log line with the time
            until = now_us() + 1_500_000
            while now_us() < until:
                life = world.redis.ask("PTTL", "long:lock:held")
                least = min(least, life)
                time.sleep(0.005)
            wait_for(lambda since=since: one.log(since), what="a line of the log")
            shown.append(one.log(since)[:13])
        hours = {text[11:13] for text in shown}
        assert len(hours) == 3, f"the clock did not jump: {shown}"
        # The delay of an item does not depend on the clock.
        rests = {}
        for run in world.runs():
            if run.item in items:
                before = rests.get(run.item)
                if before:
                    worst_rest = max(worst_rest, (run.start - before.end) / 1000 - 500)
                    assert run.start - before.end > 450_000, "a delay that was too short"
                rests[run.item] = run
        assert held.over is None, "the long run was ended"
        assert sum(r.item == "held" and r.start > held.start for r in world.runs()) == 0
        lines = [line for host in world.hosts for line in host.complaints(0)
                 if "lock" in line]
        assert not lines, lines
        overlaps = world.overlaps()
        assert not overlaps, overlaps
        assert not world.record.fences_back, "a fence went back"
        # A lock is renewed after a third of its life. If less than half is left, a renewal was missed.
        in_time(least >= 1000, f"only {least} ms of a lock were left")
        world.stop()
        world.check_items(items)
        return {"jumps": 4 * setup.scale, "early expiries": 0, "overlaps": 0,
                "least life of a 2 s lock ms": least, "delays late by ms": round(worst_rest)}


ROWS = [clock_jumps]

"""Temporary faults of Redis, and how work continues after them."""
import time

from harness import now_us, wait_for
from matrix import in_time

KEY_EXPIRY_S = 2
SETTINGS = dict(work_ms=30, concurrency=3, key_expiry=f"{KEY_EXPIRY_S}s")
# Short timeouts, so that w8yd detects lost data within the time of a test.
TIMEOUTS = 'connect_timeout = "1s"\ncommand_timeout = "1s"'
MOST_LINES = 2  # one at the start of the outage, one at its end


def worst(measured):
    return {name: max(figures[name] for figures in measured) for name in measured[0]}


class Outages:
    """A world whose hosts run items while faults start and end."""

    def __init__(self, setup, world, items):
        self.setup, self.world, self.items = setup, world, items
        self.overlaps = 0

    def __call__(self, fault, begin, end, hold=0.7, limit=2.0, stops_work=True,
                 most_lines=MOST_LINES):
        """Adds a line of the table with the worst of `scale` measurements. `limit`: seconds from the
        fault's end until work continues."""
        self.setup.part(
            fault, f"work continues ≤ {limit:g} s, all items ≤ {limit + KEY_EXPIRY_S:g} s, log "
            f"lines ≤ {most_lines}",
            lambda: worst([self._measure(begin, end, hold, limit, stops_work, most_lines)
                           for _ in range(self.setup.scale)]))

    def _measure(self, begin, end, hold, limit, stops_work, most_lines):
        world = self.world
        world.wait_runs(5, what="work before the fault")
        # This line is coalesced, so it follows a little after the first runs.
        for host in world.hosts:
            wait_for(lambda host=host: "served" in host.log(), what="the list's line in the log")
        sizes = {host: host.log_size() for host in world.hosts}
        try:
            begin()
            settled = now_us() + 200_000
            time.sleep(hold)
            during = len(world.runs_since(settled))
        finally:
            end()
        ended = now_us()
        patience = 20 + limit
        first = wait_for(lambda: next(iter(world.runs_since(ended)), None), patience,
                         "work to continue")
        wait_for(lambda: {r.item for r in world.runs_since(ended)} == self.items, patience,
                 "all items to run again")
        all_ran = (now_us() - ended) / 1e6
        pause = (first.start - ended) / 1e6
        said = max((host.log(since).splitlines() for host, since in sizes.items()), key=len)
        # The line for the end of the previous outage may have been logged only now.
        said = said[1:] if said and "info: Redis available again" in said[0] else said
        lines = len(said)
        world.check_items(self.items)
        overlaps = len(world.overlaps()) - self.overlaps
        self.overlaps += overlaps
        for host in world.hosts:
            assert host.process.poll() is None, f"{host.name} ended: {host.log()[-1000:]}"
        assert overlaps == 0, world.overlaps()[-overlaps:]
        assert lines <= most_lines, "\n".join([f"{lines} log lines", *said])
        # Items that were claimed before the fault may still start. After 200 ms all have started.
        in_time(not stops_work or during == 0, f"{during} runs started during the outage")
        in_time(pause <= limit, f"work continued after {pause:.2f} s")
        in_time(all_ran <= limit + KEY_EXPIRY_S, f"all items had run after {all_ran:.2f} s")
        return {"continues after s": round(pause, 2), "all items s": round(all_ran, 2),
                "lost 0, overlaps": 0, "log lines": lines, "runs meanwhile": during}

    def over(self):
        """Checks the state at the end of a row."""
        self.world.stop()
        locks = self.world.locks()
        assert not locks, f"locks left: {locks}"
        assert not self.world.record.fences_back, "a fence went back"
        assert not self.world.children(), "children left"

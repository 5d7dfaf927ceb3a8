"""A dispatcher with Redbike's two steps beside w8yd. Both are killed.

The dispatcher reads due jobs, then removes each from the timeline and enqueues it. If it is killed in
between, it loses the job. A job that w8yd has dispatched since the read is enqueued twice. The row counts
these jobs separately from jobs that w8yd loses or doubles, by the commands that MONITOR shows for each.
"""
import collections
import contextlib
import pathlib
import random
import subprocess
import sys
import threading
import time

from harness import World, wait_for
from matrix import row
from private_redis import die_with_parent
from rows_schedule import places

CLIENT = pathlib.Path(__file__).resolve().parent / "redbike_client.py"
JOBS = 1000


class Monitor:
    """Changes of the timeline by MONITOR. w8yd uses scripts, the dispatcher of Redbike uses commands."""

    def __init__(self, redis):
        self.dispatched = set()  # by a script of w8yd
        self.removed, self.entered = set(), collections.Counter()  # by Redbike's steps
        self.wire = redis.wire()
        self.wire.ask("MONITOR")
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        self.seen = ""

    def _read(self):
        with contextlib.suppress(OSError, ValueError):
            while line := self.wire.stream.readline():
                words = line.decode(errors="replace").rstrip().split(" ")
                if words[3] == '"ZREM"':
                    (self.dispatched if words[2] == "lua]" else self.removed).add(words[5].strip('"'))
                elif words[2] == "lua]":
                    continue
                elif words[3] == '"EVAL"' and '"mix-statuses"' in words:
                    self.entered[words[-2].strip('"')] += 1
                elif words[3] == '"ECHO"':
                    self.seen = words[4].strip('"')

    def up_to_now(self, redis):
        """Waits until all commands that were executed before this call have been read."""
        word = f"w{time.monotonic_ns()}"
        redis.ask("ECHO", word)
        wait_for(lambda: self.seen == word, what="the monitor")

    def close(self):
        self.wire.socket.shutdown(2)
        self.thread.join()
        self.wire.close()


# Takes jobs from a queue as Redbike's workers do, and removes them at once.
TAKE_AND_END = """
local taken = redis.call('RPOP', KEYS[1], 100) or {}
if #taken > 0 then redis.call('SREM', KEYS[1] .. '-members', unpack(taken)) end
return taken"""


class Worker:

    def __init__(self, redis):
        self.runs = collections.Counter()
        self.over = False
        self.wire = redis.wire()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        while not self.over:
            taken = self.wire.ask("EVAL", TAKE_AND_END, 1, "mix-work-A")
            self.runs.update(job.decode() for job in taken)
            if not taken:
                time.sleep(0.001)

    def close(self):
        self.over = True
        self.thread.join()
        self.wire.close()


@row("SIGKILL of w8yd, and of a dispatcher with Redbike's two steps, in turn",
     "jobs lost by w8yd 0, doubled 0; those by Redbike's steps are counted")
def redbike_dispatches(setup):
    with World(setup) as world:
        chance = random.Random(setup.seed)
        host = world.host("h0", prefix="mix", source="schedule", queues="A", concurrency=0)
        monitor, worker = Monitor(world.redis), Worker(world.redis)
        jobs, kills = [], collections.Counter()

        def dispatcher():
            return subprocess.Popen(
                [sys.executable, CLIENT, str(world.redis.socket), "mix", "dispatch"],
                preexec_fn=die_with_parent, stdout=subprocess.DEVNULL)

        try:
            theirs = dispatcher()
            for round_ in range(12 * setup.scale):
                some = [f"r{round_}n{i}:A" for i in range(JOBS)]
                jobs += some
                world.redis.ask("ZADD", "mix-timeline", *(word for job in some for word in (1, job)))
                wait_for(lambda some=some: world.redis.ask("ZCARD", "mix-timeline") < JOBS,
                         what="somebody to dispatch")
                time.sleep(chance.uniform(0, 0.02))
                if round_ % 3:
                    # Notifies w8yd, as w8yctl does after a change. The other dispatcher is active.
                    world.redis.ask("PUBLISH", "mix:wake", "timeline")
                    time.sleep(chance.uniform(0, 0.02))
                if round_ % 3 == 2:
                    host.kill()
                    host.start()
                    kills["w8yd"] += 1
                else:
                    theirs.kill()
                    theirs.wait()
                    theirs = dispatcher()
                    kills["Redbike"] += 1
                wait_for(lambda: world.redis.ask("ZCARD", "mix-timeline") == 0, what="all to be due")
            theirs.kill()
            theirs.wait()
            wait_for(lambda: not places(world), what="all to be done")
            monitor.up_to_now(world.redis)
        finally:
            worker.close()
            monitor.close()
        world.stop()
        lost = set(jobs) - worker.runs.keys()
        twice = {job: n - 1 for job, n in worker.runs.items() if n > 1}
        # w8yd cannot dispatch a job that the other dispatcher has removed first.
        lost_by_us = lost & monitor.dispatched | lost - monitor.removed
        twice_by_us = {job: n for job, n in twice.items() if n > monitor.entered[job]}
        assert not lost_by_us, f"lost: {sorted(lost_by_us)[:10]}"
        assert not twice_by_us, f"doubled: {twice_by_us}"
        assert monitor.entered, "the dispatcher beside ours has entered nothing"
        assert monitor.dispatched, "w8yd has dispatched nothing"
        return {"kills of each": f"{kills['w8yd']} and {kills['Redbike']}", "jobs": len(jobs),
                "lost by w8yd": 0, "doubled by w8yd": 0, "lost by the two steps": len(lost),
                "doubled by the two steps": sum(twice.values())}


ROWS = [redbike_dispatches]

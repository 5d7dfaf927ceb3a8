"""Gearman: hosts, servers and Redis that are killed or stopped while jobs run.

The jobs are background jobs on a server that stores them in a file. Runs are read from the journal,
reported jobs from the history, and remaining jobs from the server."""
import contextlib
import shutil
import signal
import time

from gear_client import Client
from harness import World, now_us, wait_for
from matrix import Skip, in_time, row
from private_gearmand import Gearmand

AT_ONCE = 3
WORK_MS = 120
MOST_LINES = 4  # the server is unavailable, runs have lost their leases, they have ended, and one more


class Fleet:
    """A gearmand, and two hosts that run its jobs."""

    def __init__(self, world, stack):
        if not shutil.which("gearmand", path="/usr/sbin:/usr/bin"):
            raise Skip("there is no gearmand")
        self.world = world
        self.given = []
        queue = world.home / "jobs.db"
        self.server = Gearmand(world.home, "--queue-type=libsqlite3", f"--libsqlite3-db={queue}")
        stack.callback(self.server.stop)
        servers = f'[gearman]\nservers = ["127.0.0.1:{self.server.port}"]\n'
        self.config = servers + world.list_config(
            source="gearman", concurrency=AT_ONCE, work_ms=WORK_MS, history=100_000)
        self.hosts = [world.host(f"h{i}", self.config) for i in range(2)]

    def give(self, count, begun):
        """Puts `count` jobs. Returns when `begun` more runs have started."""
        before = self.world.record.read().count
        with contextlib.closing(Client(self.server.port)) as client:
            for _ in range(count):
                name = f"j{len(self.given)}"
                client.submit("work", name.encode(), name, "background")
                self.given.append(name)
        self.world.wait_runs(begun, since=before)

    def ended(self):
        return {run.item for run in self.world.runs() if run.end is not None}

    def all_done(self):
        """Waits until every job has ended, and the server has the result."""
        wait_for(lambda: self.ended() >= set(self.given) and
                 self.server.counts("work")[:2] == (0, 0), what="all jobs")

    def reported(self, outcome="succeeded"):
        """Returns jobs with this outcome, once for each report of a host to the server."""
        return [each["item"] for each in self.world.records("work") if each["outcome"] == outcome]


def first_since(world, at):
    """Returns the seconds from that time until the next run started."""
    run = wait_for(lambda: next(iter(world.runs_since(at)), None), what="work to continue")
    return (run.start - at) / 1e6


def said_since(fleet, sizes):
    """Returns the largest number of log lines of a host without those of single runs, and the number of
    those of all hosts."""
    most = results = 0
    for host, since in zip(fleet.hosts, sizes):
        said = host.complaints(since)
        told = sum("gearmand job error" in line for line in said)
        most, results = max(most, len(said) - told), results + told
    return most, results


@row("SIGKILL of w8yd while it runs jobs of Gearman", "jobs lost 0; interrupted jobs run again ≤ 2 s, "
     "each at most once for each kill")
def kill_gearman_host(setup):
    with contextlib.ExitStack() as stack:
        world = stack.enter_context(World(setup))
        fleet = Fleet(world, stack)
        kills, worst = 2 * setup.scale, 0
        for round_ in range(kills):
            fleet.give(40, 5)
            host = fleet.hosts[round_ % 2]
            held = wait_for(lambda: [run.item for run in world.runs()
                                     if run.host == host.name and run.over is None],
                            what="a run to kill")
            at = host.kill()
            wait_for(lambda: {run.item for run in world.runs_since(at)} | fleet.ended()
                     >= set(held), what="what the dead had to run again")
            again = [run.start for run in world.runs_since(at) if run.item in held]
            worst = max(worst, *((start - at) / 1e6 for start in again), 0)
            host.start()
        fleet.all_done()
        runs = world.runs()
        times = max(sum(run.item == job for run in runs) for job in fleet.given)
        world.stop()
        assert times <= 1 + kills, f"a job was run {times} times"
        cut = sum(run.end is None for run in runs)
        assert len(runs) <= len(fleet.given) + kills * AT_ONCE, \
            f"{len(runs)} runs of {len(fleet.given)} jobs"
        in_time(worst <= 2, f"a job waited {worst:.2f} s")
        return {"kills": kills, "jobs": len(fleet.given), "lost": 0, "interrupted": cut,
                "run again": len(runs) - len(fleet.given), "run again after s": round(worst, 2)}


@row("SIGKILL of gearmand (jobs in a file) while hosts use it", "jobs lost 0, reported twice 0; work "
     f"continues ≤ 4 s; log lines ≤ {MOST_LINES}, plus one for each interrupted run")
def kill_gearmand(setup):
    with contextlib.ExitStack() as stack:
        world = stack.enter_context(World(setup))
        fleet = Fleet(world, stack)
        worst = lines = results = 0
        for _ in range(setup.scale):
            fleet.give(60, 15)
            sizes = [host.log_size() for host in fleet.hosts]
            fleet.server.stop()
            time.sleep(0.7)
            fleet.server.start()
            worst = max(worst, first_since(world, now_us()))
            fleet.all_done()
            wait_for(lambda sizes=sizes: all("gearmand available again" in host.log(since) for host, since
                                             in zip(fleet.hosts, sizes)), what="its line")
            said, told = said_since(fleet, sizes)
            lines, results = max(lines, said), results + told
        world.stop()
        reported = fleet.reported()
        assert len(reported) == len(set(reported)), "a job was reported twice"
        # The killed server may have had the result of these jobs without confirming it. Such a job is not run
        # again; each other interrupted job is.
        unsure = set(fleet.given) - set(reported)
        assert set(reported) <= set(fleet.given), set(reported) - set(fleet.given)
        assert unsure <= set(fleet.reported("lost")), unsure - set(fleet.reported("lost"))
        cut = len(world.runs()) - len(fleet.given) + len(unsure)
        assert results == cut, f"{results} in the log, of {cut} interrupted runs"
        assert lines <= MOST_LINES, "\n".join(fleet.hosts[0].complaints(0))
        in_time(worst <= 4, f"work continued after {worst:.2f} s")
        return {"kills": setup.scale, "jobs": len(fleet.given), "lost": 0, "reported twice": 0,
                "interrupted, and in the log": cut, "continues after s": round(worst, 2),
                "log lines": lines}


@row("gearmand stopped (SIGSTOP) for 1.5 s while hosts use it",
     "jobs lost 0, run twice 0; no lease lost; work continues ≤ 1 s")
def stop_gearmand(setup):
    with contextlib.ExitStack() as stack:
        world = stack.enter_context(World(setup))
        fleet = Fleet(world, stack)
        worst = 0
        for _ in range(setup.scale):
            fleet.give(60, 15)
            fleet.server.process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            fleet.server.process.send_signal(signal.SIGCONT)
            worst = max(worst, first_since(world, now_us()))
            fleet.all_done()
        world.stop()
        reported = fleet.reported()
        assert sorted(reported) == sorted(fleet.given), "a job was lost, or reported twice"
        assert len(world.runs()) == len(fleet.given), f"{len(world.runs())} runs"
        in_time(worst <= 1, f"work continued after {worst:.2f} s")
        return {"jobs": len(fleet.given), "lost": 0, "run twice": 0,
                "continues after s": round(worst, 2)}


@row("SIGKILL of redis-server (AOF) while hosts run jobs of Gearman",
     "work continues meanwhile; jobs lost 0, run twice 0; each is in the history once")
def kill_redis_gearman(setup):
    with contextlib.ExitStack() as stack:
        world = stack.enter_context(World(setup, "--appendonly", "yes", "--appendfsync", "always"))
        fleet = Fleet(world, stack)
        meanwhile = 0
        for _ in range(setup.scale):
            fleet.give(60, 15)
            world.redis.kill()
            fleet.give(30, 15)
            meanwhile += 15
            world.redis.start()
            fleet.all_done()
        wait_for(lambda: len(fleet.reported()) >= len(fleet.given), what="the history")
        world.stop()
        reported = fleet.reported()
        assert sorted(reported) == sorted(fleet.given), "the history lacks a run, or has one twice"
        assert len(world.runs()) == len(fleet.given), f"{len(world.runs())} runs"
        return {"jobs": len(fleet.given), "lost": 0, "run twice": 0,
                "runs meanwhile, at least": meanwhile, "ends in the history": len(reported)}


ROWS = [kill_gearman_host, kill_gearmand, stop_gearmand, kill_redis_gearman]

"""Schedules: hosts that are killed while they dispatch and work, and a Redis that is."""
import collections
import subprocess

from harness import World, now_us, wait_for
from matrix import in_time, row

KEY_EXPIRY_S = 1
AOF = ("--appendonly", "yes", "--appendfsync", "always")


def enter(world, jobs):
    """Jobs and schedules, by w8yctl: all or none."""
    lines = "".join(f"{job},{schedule}\n" for job, schedule in jobs)
    subprocess.run([world.bin / "src/app/w8yctl", "--redis-url", world.redis.url, "schedule",
                    "-k", "mix", "set", "--file", "-"], input=lines, text=True, check=True,
                   timeout=60, capture_output=True)


def places(world):
    """In how many of queues, timeline and hands each job is."""
    found = collections.Counter()
    with world.redis.wire() as wire:
        for code in "AB":
            found.update(wire.ask("LRANGE", f"mix-work-{code}", 0, -1))
        found.update(wire.ask("ZRANGE", "mix-timeline", 0, -1))
        found.update(wire.ask("HKEYS", "mix:taken"))
    return {job.decode(): count for job, count in found.items()}


def hosts_of(world, count):
    settings = dict(prefix="mix", source="schedule", queues="A:A:B", work_ms=40, concurrency=3,
                    key_expiry=f"{KEY_EXPIRY_S}s")
    return [world.host(f"h{i}", **settings) for i in range(count)]


def all_ran_since(world, jobs, at):
    """How long it took until each job had begun a run after that time, in s."""
    def missing():
        return set(jobs) - {run.item for run in world.runs_since(at)}
    wait_for(lambda: not missing(), what="each job to run again")
    first = {}
    for run in world.runs_since(at):
        first.setdefault(run.item, run.start)
    return (max(first[job] for job in jobs) - at) / 1e6


def check(world, jobs):
    """Each job is in one place, and was in one hand at a time."""
    found = places(world)
    assert found == dict.fromkeys(jobs, 1), f"lost or doubled: {found}"
    assert not world.overlaps(), world.overlaps()


@row("SIGKILL of w8yd at work on a schedule", "jobs lost 0, doubled 0, overlaps 0; "
     f"runs again ≤ {KEY_EXPIRY_S + 6} s")
def kill_schedule(setup):
    with World(setup) as world:
        hosts = hosts_of(world, 2)
        jobs = [f"j{i}:{'AB'[i % 2]}" for i in range(10)]
        enter(world, [(job, "CONTINUE") for job in jobs])
        world.wait_runs(20)
        worst = 0
        for round_ in range(2 * setup.scale):
            host = hosts[round_ % 2]
            wait_for(lambda: any(r.host == host.name and r.over is None for r in world.runs()),
                     what="a run to kill")
            worst = max(worst, all_ran_since(world, jobs, host.kill()))
            host.start()
        world.stop()
        check(world, jobs)
        in_time(worst <= KEY_EXPIRY_S + 6, f"a job waited {worst} s")
        return {"kills": 2 * setup.scale, "runs": world.record.count, "jobs lost": 0,
                "doubled": 0, "overlaps": 0, "runs again after s": round(worst, 2)}


@row("SIGKILL of w8yd that dispatches", "due jobs lost 0, doubled 0")
def kill_dispatcher(setup):
    """Each job is due once: it has run as often as it was set, but for those that were cut off."""
    with World(setup) as world:
        hosts = hosts_of(world, 2)
        names = []
        for round_ in range(2 * setup.scale):
            jobs = [f"r{round_}n{i}:{'AB'[i % 2]}" for i in range(30)]
            names += jobs
            enter(world, [(job, "AT:100") for job in jobs])
            at = hosts[round_ % 2].kill()
            hosts[round_ % 2].start()
            all_ran_since(world, jobs, min(at, now_us()) - 60_000_000)
        wait_for(lambda: not places(world), what="all to be done")
        world.stop()
        runs = collections.Counter(run.item for run in world.runs())
        cut = collections.Counter(run.item for run in world.runs() if run.end is None)
        doubled = {job: n for job, n in runs.items() if n - cut[job] > 1}
        assert set(runs) == set(names), f"lost: {set(names) - set(runs)}"
        assert not doubled, f"ran twice: {doubled}"
        assert not world.overlaps(), world.overlaps()
        return {"kills": 2 * setup.scale, "jobs": len(names), "lost": 0, "doubled": 0,
                "cut off and run again": sum(cut.values())}


@row("SIGKILL of redis-server (AOF) beside a schedule", "jobs lost 0, doubled 0, overlaps 0")
def kill_redis_schedule(setup):
    with World(setup, *AOF) as world:
        hosts_of(world, 2)
        jobs = [f"j{i}:{'AB'[i % 2]}" for i in range(10)]
        enter(world, [(job, "CONTINUE") for job in jobs])
        world.wait_runs(20)
        worst = 0
        for _ in range(setup.scale):
            world.redis.kill()
            world.redis.start()
            worst = max(worst, all_ran_since(world, jobs, now_us()))
        world.stop()
        check(world, jobs)
        return {"kills": setup.scale, "runs": world.record.count, "jobs lost": 0, "doubled": 0,
                "overlaps": 0, "all ran after s": round(worst, 2)}


ROWS = [kill_schedule, kill_dispatcher, kill_redis_schedule]

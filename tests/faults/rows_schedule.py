"""Schedules: hosts that are killed while they dispatch or run jobs, a killed Redis, a failover, and
wrong clocks."""
import collections
import os
import pathlib
import subprocess
import tempfile
import time

from harness import World, now_us, wait_for
from matrix import Skip, in_time, row
from rows_clock import JumpingClock
from rows_cluster import LONGEST_PAUSE_S, Cluster, Pauses, Place, Sentinels
from rows_fleet import ask

KEY_EXPIRY_S = 1
AOF = ("--appendonly", "yes", "--appendfsync", "always")


def enter(world, jobs, prefix="mix", env=None):
    """Sets all jobs with w8yctl, or none."""
    lines = "".join(f"{job},{schedule}\n" for job, schedule in jobs)
    subprocess.run([world.bin / "src/app/w8yctl", "--redis-url", world.redis.url, "schedule",
                    "-k", prefix, "set", "--file", "-"], input=lines, text=True, check=True,
                   timeout=60, capture_output=True, env=os.environ | (env or {}))


def places(world, prefix="mix"):
    """Returns the number of queues, timeline entries and claims that have the job, by job."""
    found = collections.Counter()
    for code in "AB":
        found.update(world.redis.ask("LRANGE", f"{prefix}-work-{code}", 0, -1))
    found.update(world.redis.ask("ZRANGE", f"{prefix}-timeline", 0, -1))
    found.update(world.redis.ask("HKEYS", f"{prefix}:claims"))
    return {job.decode(): count for job, count in found.items()}


def hosts_of(world, count, prefix="mix", how=None, **more):
    settings = dict(source="schedule", queues="A:A:B", work_ms=40, concurrency=3,
                    key_expiry=f"{KEY_EXPIRY_S}s") | more
    return [world.host(f"h{i}", prefix=f'"{prefix}"', how=how, **settings) for i in range(count)]


def all_ran_since(world, jobs, at):
    """Returns the seconds from that time until each job had started."""
    def missing():
        return set(jobs) - {run.item for run in world.runs_since(at)}
    wait_for(lambda: not missing(), what="each job to run again")
    first = {}
    for run in world.runs_since(at):
        first.setdefault(run.item, run.start)
    return (max(first[job] for job in jobs) - at) / 1e6


def check(world, jobs):
    """Asserts that each job is in exactly one queue, claim or the timeline, and that no runs overlapped."""
    check_places(world, jobs)
    assert not world.overlaps(), world.overlaps()


def check_places(world, jobs, prefix="mix"):
    found = places(world, prefix)
    assert found == dict.fromkeys(jobs, 1), f"lost or doubled: {found}"


@row("SIGKILL of w8yd while it runs jobs of a schedule", "jobs lost 0, doubled 0, overlaps 0; "
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


TOLD_WITHIN_US = 100_000  # time until Redis has a settlement, also on a busy machine


def cut_off(run, kills):
    return run.end is None or any(run.host == host and 0 <= at - run.end <= TOLD_WITHIN_US
                                  for host, at in kills)


@row("SIGKILL of w8yd while it dispatches", "due jobs lost 0, doubled 0")
def kill_dispatcher(setup):
    """Each job is due once, so it runs once, and again only if its run was interrupted. A run also counts as
    interrupted if its child had ended when w8yd was killed, but Redis did not have its settlement."""
    with World(setup) as world:
        hosts = hosts_of(world, 2)
        names, kills = [], []
        for round_ in range(2 * setup.scale):
            jobs = [f"r{round_}n{i}:{'AB'[i % 2]}" for i in range(30)]
            names += jobs
            enter(world, [(job, "AT:100") for job in jobs])
            host = hosts[round_ % 2]
            at = host.kill()
            kills.append((host.name, at))
            host.start()
            all_ran_since(world, jobs, min(at, now_us()) - 60_000_000)
        wait_for(lambda: not places(world), what="all to be done")
        world.stop()
        runs = collections.Counter(run.item for run in world.runs())
        cut = collections.Counter(run.item for run in world.runs() if cut_off(run, kills))
        doubled = {job: n for job, n in runs.items() if n - cut[job] > 1}
        assert set(runs) == set(names), f"lost: {set(names) - set(runs)}"
        assert not doubled, f"ran twice: {doubled}"
        assert not world.overlaps(), world.overlaps()
        return {"kills": 2 * setup.scale, "jobs": len(names), "lost": 0, "doubled": 0,
                "cut off and run again": sum(cut.values())}


@row("SIGKILL of redis-server (AOF) while hosts run jobs of a schedule", "jobs lost 0, doubled 0, overlaps 0")
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


def failed_over(world, prefix, events):
    """Runs two hosts while events happen to their Redis. A failover may lose the newest claims, so overlaps
    are counted and allowed."""
    hosts_of(world, 2, prefix, key_expiry="2s")
    jobs = [f"j{i}:{'AB'[i % 2]}" for i in range(8)]
    enter(world, [(job, "FREQ=SECONDLY" if i < 4 else "CONTINUE") for i, job in enumerate(jobs)],
          prefix)
    world.wait_runs(20)
    pauses = Pauses(world)
    worst = 0
    for event in events:
        began = now_us()
        pauses.after(event)
        worst = max(worst, all_ran_since(world, jobs, began))
    world.stop()
    check_places(world, jobs, prefix)
    return {"events": len(events), "runs": world.record.count, "jobs lost": 0, "doubled": 0,
            "overlaps": len(world.overlaps()), "without work s": round(max(pauses.longest), 2),
            "all ran after s": round(worst, 2)}


@row("failover by Sentinel while hosts run jobs of a schedule: SIGKILL of the primary",
     f"jobs lost 0, doubled 0; work continues ≤ {LONGEST_PAUSE_S} s")
def sentinel_schedule(setup):
    with Place(setup, Sentinels) as world:
        servers = world.redis

        def fail():
            servers.follow()
            old = servers.primary()
            old.kill()
            wait_for(lambda: servers.primary() is not old, what="a failover")

        def fail_and_return():
            dead = [server for server in servers.servers if not server.runs()]
            for server in dead:
                server.start()
            fail()

        return failed_over(world, "mix", [fail] + [fail_and_return] * (setup.scale - 1))


@row("SIGKILL of the cluster's primary that has the schedule, and its return",
     f"jobs lost 0, doubled 0; work continues ≤ {LONGEST_PAUSE_S} s")
def cluster_schedule(setup):
    with Place(setup, Cluster) as world:
        cluster = world.redis

        def fail():
            old = cluster.owner("{mix}-timeline")
            cluster.replica_of(old).follow(old)
            old.kill()
            cluster.owner("{mix}-timeline")
            old.start()
            wait_for(old.linked, what="the old primary to follow")

        return failed_over(world, "{mix}", [fail] * setup.scale)


def late_ms(world, due):
    """Returns the sorted times from the due second to the start of each job. `due`: Unix time by job. A job
    without exactly one run has been lost or doubled."""
    boot = time.clock_gettime(time.CLOCK_BOOTTIME) - time.time()
    runs = collections.Counter(run.item for run in world.runs() if run.item in due)
    assert runs == collections.Counter(due.keys()), \
        f"lost: {due.keys() - runs.keys()}, ran twice: {[j for j, n in runs.items() if n > 1]}"
    return sorted(run.start / 1e3 - (due[run.item] + boot) * 1e3
                  for run in world.runs() if run.item in due)


def p99(values):
    return values[min(len(values) - 1, len(values) * 99 // 100)]


@row("a schedule whose hosts' clocks jump by one hour, forward and back",
     "jobs lost 0, doubled 0, early 0")
def clock_schedule(setup):
    """Redis's clock counts, also for a w8yctl whose own clock is wrong."""
    if setup.sanitized:
        raise Skip("the sanitizers want to be loaded first")
    with World(setup) as world:
        clock = JumpingClock(world.home, world.bin)
        hosts_of(world, 2, how={"env": clock.env, "drain": "100ms"})
        enter(world, [("tick:A", "FREQ=SECONDLY")])
        wait_for(lambda: any(run.item == "tick:A" for run in world.runs()), what="a first run")
        due, far = {}, []
        for jump in (3600, 0, -3600, 0) * setup.scale:
            clock.jump(jump)
            now = int(time.time())
            some = {f"d{len(due) + i}:{'AB'[i % 2]}": now + 1 + i // 4 for i in range(8)}
            far.append(f"far{len(far)}:A")
            enter(world, [(job, f"AT:{at}") for job, at in some.items()]
                  + [(far[-1], f"AT:{now + 1800}"), ("tock:B", "FREQ=SECONDLY")], env=clock.env)
            due |= some
            wait_for(lambda some=some: some.keys() <= {run.item for run in world.runs()},
                     what="jobs to run at their time")
        ticks = [run.start for run in world.runs() if run.item == "tick:A"]
        tocks = [run for run in world.runs() if run.item == "tock:B"]
        seconds = (ticks[-1] - ticks[0]) / 1e6
        late = late_ms(world, due)
        assert late[0] > -2, f"a job ran {-late[0]} ms before its time"  # compares two clocks
        assert not [run for run in world.runs() if run.item in far], "a job ran half an hour early"
        assert tocks, "a rule that was set with a wrong clock did not run"
        # A job never runs twice for one second. On a busy machine it may skip a second.
        assert len(ticks) <= seconds + 2, f"{len(ticks)} runs in {seconds} s"
        gaps = [(b - a) / 1e6 for a, b in zip(ticks, ticks[1:])]
        in_time(max(gaps) <= 5, f"nothing for {max(gaps)} s")
        world.stop()
        return {"jumps": 4 * setup.scale, "jobs": len(due), "lost": 0, "doubled": 0, "early": 0,
                "ticks missed": max(0, round(seconds) + 1 - len(ticks)),
                "late p99 ms": round(p99(late))}


@row("two w8yd that dispatch", "jobs lost 0, doubled 0; lateness p99 ≤ 1 s")
def two_dispatchers(setup):
    """Measures the time from a job's second to the start of its process."""
    with World(setup) as world:
        hosts_of(world, 2, work_ms=1, concurrency=4)
        begin, seconds = int(time.time()) + 2, 3 * setup.scale
        due = {f"n{i}:{'AB'[i % 2]}": begin + i * seconds // (40 * seconds)
               for i in range(40 * seconds)}
        enter(world, [(job, f"AT:{at}") for job, at in due.items()])
        wait_for(lambda: world.record.read().count >= len(due), what="all jobs to run")
        wait_for(lambda: not places(world), what="all to be done")
        world.stop()
        late = late_ms(world, due)
        in_time(p99(late) <= 1000, f"{p99(late)} ms late")
        return {"jobs": len(due), "lost": 0, "doubled": 0, "late p50 ms": round(late[len(late) // 2]),
                "late p99 ms": round(p99(late))}


def shows_clock(host):
    return "clock" in [one["kind"] for one in ask(host, "/api/v1/status")[1]["problems"]]


@row("clock of Redis a day ahead, then back", "each item and each job runs again within 10 s; status "
     "shows it; items lost 0")
def redis_clock_jumps(setup):
    with tempfile.TemporaryDirectory(prefix="w8y-clock-") as home:
        clock = JumpingClock(pathlib.Path(home), pathlib.Path(setup.bin).resolve())
        within = ["env", *(f"{name}={value}" for name, value in clock.env.items())]
        with World(setup, within=within) as world:
            items = world.fill([f"item{i}" for i in range(20)])
            settings = dict(key_expiry="2s", work_ms=20, concurrency=4)
            config = (world.list_config(cooldown="1s", **settings)
                      + world.list_config("mix", source="schedule", queues="A", **settings))
            jobs = {f"job{i}:A" for i in range(5)}
            enter(world, [(job, "RRULE:FREQ=SECONDLY;INTERVAL=2") for job in jobs])
            hosts = [world.host(f"h{i}", config) for i in range(2)]
            all_ran_since(world, items | jobs, now_us())
            clock.jump(86_400)
            ahead = now_us()
            for host in hosts:
                wait_for(lambda host=host: shows_clock(host), what="the jump to be shown")
            all_ran_since(world, items | jobs, ahead)
            ahead_s = (now_us() - ahead) / 1e6
            clock.jump(0)
            back = now_us()
            took = all_ran_since(world, items | jobs, back)
            in_time(took <= 10, f"an item or job waited for {took:.1f} s")
            world.stop()
            world.check_items(items)
            return {"jumps": 2, "ahead s": round(ahead_s, 1), "all ran again after s": round(took, 1), "items lost": 0}


ROWS = [kill_schedule, kill_dispatcher, kill_redis_schedule, sentinel_schedule, cluster_schedule,
        clock_schedule, redis_clock_jumps, two_dispatchers]

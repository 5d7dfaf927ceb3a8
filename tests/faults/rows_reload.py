"""Reloads under load."""
import signal
import time

from harness import World, now_us, wait_for
from matrix import row
from private_redis import Redis


@row("valid and invalid reloads under load", "runs disturbed 0; descriptors and memory level",
     sanitized=True)
def reload_storm(setup):
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(10)])
        host = world.host("h", work_ms=150, concurrency=3, key_expiry="2s")
        world.wait_runs(3)

        def level(max_descriptors=0):
            """Returns descriptors, threads and memory of w8yd while it is quiet and has no runs. If
            `max_descriptors` is not 0, waits at most 10 s until w8yd has no more descriptors than that."""
            host.signal(signal.SIGUSR1)
            wait_for(lambda: world.runs() and all(r.died for r in world.runs()), what="quiet")
            wait_for(lambda: not world.locks(), what="no locks")
            time.sleep(0.2)
            end = time.monotonic() + 10
            while host.descriptors() > max_descriptors > 0 and time.monotonic() < end:
                time.sleep(0.05)
            found = host.descriptors(), host.threads(), host.resident_mib()
            host.signal(signal.SIGCONT)
            return found

        def storm(reloads):
            for i in range(reloads):
                good = world.list_config(work_ms=150, concurrency=3 + i % 2, key_expiry="2s",
                                         cwd="/tmp" if i % 4 else "temp")
                host.write(good if i % 3 else good + "nonsense = 1\n[lists.\n")
                host.signal(signal.SIGUSR2)
                time.sleep(0.01)
            host.write(world.list_config(work_ms=150, concurrency=3, key_expiry="2s"))
            host.signal(signal.SIGUSR2)
            world.wait_runs(5, what="work to go on")

        reloads = 50 if setup.scale == 1 else 200 * setup.scale
        storm(10)  # until all objects that are created once exist
        before = level()
        storm(reloads)
        after = level(before[0])
        assert host.stop() == 0
        disturbed = [r for r in world.runs() if r.end is None]
        assert not disturbed, disturbed
        assert not world.overlaps()
        world.check_items(items)
        more = [b - a for a, b in zip(before, after)]
        assert more[0] == 0 and more[1] <= 0, f"descriptors {more[0]:+}, threads {more[1]:+}"
        assert setup.sanitized or more[2] < 2 + 0.001 * reloads, f"{more[2]:+.1f} MiB"
        return {"reloads": reloads, "runs": world.record.count, "runs disturbed": 0,
                "descriptors more": more[0], "threads more": more[1],
                "MiB more": round(more[2], 1)}


MOVED_S = 3.0


@row("Redis dies during a run; a reload changes url and lock_key",
     f"new Redis in use ≤ {MOVED_S:g} s; no connection to the old one")
def moved_redis(setup):
    with World(setup) as world:
        later = Redis(world.home / "later")
        try:
            world.fill(["old"])
            settings = dict(work_ms=5000, concurrency=2, key_expiry="1s")
            host = world.host("h", **settings)
            run = wait_for(lambda: world.runs() and world.runs()[0], what="a run")
            world.redis.kill()
            later.ask("RPUSH", "work:list", "new")
            host.url = later.url
            host.write(world.list_config(**settings, lock_key="proc"))
            died, since = now_us(), host.log_size()
            host.signal(signal.SIGUSR2)
            new = wait_for(lambda: world.runs_since(died), what="a run on the new Redis")[0]
            served = (new.start - died) / 1e6
            assert new.item == "new" and later.ask("EXISTS", "work:proc:new") == 1
            assert world.runs() and run.died is None, "the old run did not go on"
            # When the old run ends, its settlement is abandoned, and one log line reports that.
            wait_for(lambda: "settlements abandoned" in host.log(since), what="it to be given up")
            assert host.log(since).count("settlements abandoned") == 1, host.log(since)
            assert world.runs() and run.end is not None, "the old run was ended"
            world.redis.start()
            before = int(world.redis.info("total_connections_received"))
            time.sleep(1.5)
            tried = int(world.redis.info("total_connections_received")) - before - 1
            assert tried == 0, f"{tried} connections to the Redis that is configured no more"
            world.stop()
            assert not later.ask("KEYS", "work:proc:*"), "locks left"
            return {"served on the new one after s": round(served, 2), "runs disturbed": 0,
                    "tries of the old one later": tried}
        finally:
            later.kill()


@row("lock_key is changed host by host, and back, in a fleet of three under load",
     "overlaps 0; items lost 0; every host continues")
def lock_key_rollout(setup):
    settings = dict(work_ms=30, concurrency=4, key_expiry="3s")
    with World(setup) as world:
        items = world.fill([f"i{n}" for n in range(8)])
        hosts = [world.host(f"h{n}", **settings) for n in range(3)]
        world.wait_runs(60)
        changes = 0
        for lock_key in ("proc", "lock") * (2 * setup.scale):
            for host in hosts:
                before = world.record.read().count
                host.write(world.list_config(**settings, lock_key=lock_key))
                host.signal(signal.SIGUSR2)
                changes += 1
                wait_for(lambda: any(run.host == host.name for run in world.runs()[before:]),
                         what=f"runs of {host.name} with {lock_key}")
                world.wait_runs(40)
        world.stop()
        world.check_items(items)
        assert not world.overlaps(), world.overlaps()
        return {"changes": changes, "runs": world.record.count, "overlaps": 0, "items lost": 0}


ROWS = [reload_storm, moved_redis, lock_key_rollout]

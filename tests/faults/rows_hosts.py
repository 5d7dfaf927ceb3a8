"""Hosts that are killed or stopped, and different programs on one list."""
import collections
import signal
import time

from harness import World, now_us, wait_for
from matrix import in_time, row

KEY_EXPIRY_S = 1


def next_run(world, item, since):
    """Waits for the first run of the item after this time, and returns it."""
    return wait_for(lambda: next((r for r in world.runs() if r.item == item and r.start > since),
                                 None), what=f"{item} to run again")


@row("SIGKILL of w8yd, several on a list", f"items lost 0, overlaps 0, children left 0; "
     f"runs again ≤ {KEY_EXPIRY_S + 1} s")
def kill_hosts(setup):
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(12)])
        settings = dict(work_ms=50, concurrency=3, key_expiry=f"{KEY_EXPIRY_S}s")
        hosts = [world.host(f"h{i}", **settings) for i in range(3)]
        gaps, slowest_child = [], 0
        world.wait_runs(10)
        for round_ in range(4 * setup.scale):
            host = hosts[round_ % 3]
            wait_for(lambda: any(r.host == host.name and r.over is None for r in world.runs()),
                     what="a run to kill")
            at = host.kill()
            held = [r for r in world.runs() if r.host == host.name and r.end is None
                    and r.start > at - 1_000_000]
            for run in held:
                died = wait_for(lambda run=run: world.runs() and run.died or run.end, limit=2,
                                what="a child of a killed w8yd to be gone")
                slowest_child = max(slowest_child, died - at)
                gaps.append((next_run(world, run.item, at).start - at) / 1e6)
            host.start()
        world.stop()
        overlaps, left = world.overlaps(), len(world.children())
        world.check_items(items)
        assert not overlaps, overlaps
        assert not left, f"{left} children left"
        worst = max(gaps, default=0)
        in_time(worst <= KEY_EXPIRY_S + 1, f"an item waited {worst} s")
        return {"kills": 4 * setup.scale, "runs": world.record.count, "items lost": 0,
                "overlaps": 0, "children left": left,
                "child dead after ms": round(slowest_child / 1000, 1),
                "runs again after s": round(worst, 2)}


def has_grown(world, key):
    """Returns a function: whether the key's time to live has grown since the last call."""
    seen = []

    def look():
        with world.redis.wire() as wire:
            seen.append(wire.ask("PTTL", key))
        return len(seen) > 1 and seen[-1] > seen[-2]

    return look


def is_settled(world, run):
    """Returns whether the history has the run. Its record is written in the same step in which the lock is released."""
    with world.redis.wire() as wire:
        entries = [entry for kind in ("failed-runs", "runs")
                   for entry in wire.ask("LRANGE", f"work:{kind}", 0, 19)]
    return any(run.run.encode() in entry for entry in entries)


@row("SIGKILL of w8y", f"child dies too; lock ends ≤ {KEY_EXPIRY_S} s")
def kill_wrappers(setup):
    with World(setup) as world:
        items = world.fill(["a", "b"])
        lock_ends, child_ends = [], []
        for _ in range(2 * setup.scale):
            begun = now_us()
            wrapper = world.wrapper("-k", "work", "-x", str(KEY_EXPIRY_S), "-q", work_ms=20000)
            run = wait_for(lambda: next(iter(world.runs_since(begun)), None), what="a run")
            wait_for(has_grown(world, f"work:lock:{run.item}"), what="the lock to be renewed")
            assert list(world.locks()) == [run.item]
            wrapper.kill()
            wrapper.wait()
            killed = now_us()
            died = wait_for(lambda: world.runs() and run.died, limit=2, what="the child to die")
            wait_for(lambda: not world.locks(), what="the lock to end")
            child_ends.append((died - killed) / 1000)
            lock_ends.append((now_us() - killed) / 1e6)
        # A new w8y process continues with the list.
        wrapper = world.wrapper("-k", "work", "-q")
        assert wrapper.wait(20) == 0
        world.check_items(items)
        assert not world.overlaps() and not world.children() and not world.locks()
        in_time(max(lock_ends) <= KEY_EXPIRY_S + 0.3, lock_ends)
        return {"kills": 2 * setup.scale, "child dead after ms": round(max(child_ends), 1),
                "lock gone after s": round(max(lock_ends), 2), "items lost": 0}


@row("SIGSTOP past key_expiry, then CONT", "foreign locks deleted 0; with terminate no overlap "
     "after CONT is handled (≤ 200 ms)")
def stop_and_continue(setup):
    with World(setup) as world:
        items = world.fill(["a"])
        hosts = {name: world.host(name, work_ms=60000, key_expiry="1s", how={"drain": "100ms"},
                                  on_lease_loss="terminate") for name in ("one", "two")}
        handled, foreign = [], 0
        for _ in range(2 * setup.scale):
            run = wait_for(lambda: next((r for r in world.runs() if r.over is None), None),
                           what="a run")
            hosts[run.host].signal(signal.SIGSTOP)
            after = next_run(world, "a", run.start)  # run of the other host
            assert after.host != run.host and run.died is None
            hosts[run.host].signal(signal.SIGCONT)
            resumed = now_us()
            wait_for(lambda run=run: world.runs() and run.died, what="the child to be ended")
            handled.append((run.died - resumed) / 1000)
            wait_for(lambda run=run: is_settled(world, run), what="the ended run to be settled")
            foreign += not world.locks().get("a", "").endswith(":" + after.run)
            assert after.over is None, "the new holder's run was ended"
        world.stop()
        world.check_items(items)
        assert foreign == 0, "a foreign lock was deleted"
        in_time(max(handled) <= 200, f"a child lived on for {max(handled)} ms")
        return {"stops": 2 * setup.scale, "foreign locks deleted": 0,
                "overlaps while stopped": len(world.overlaps()),
                "child dead after CONT ms": round(max(handled), 1)}


@row("several w8yd, w8y and redis-cli", "one holder at a time; locks left 0")
def mixed(setup):
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(6)])
        settings = dict(work_ms=25, concurrency=2, key_expiry="2s")
        for i in range(2):
            world.host(f"h{i}", **settings)
        wrappers = [world.wrapper("-k", "work", "-x", "2", "-c", "-q") for _ in range(2)]
        # An operator rotates the list, and removes and adds items.
        for i in range(20 * setup.scale):
            world.redis.ask("LMOVE", "work:list", "work:list", "LEFT", "RIGHT")
            world.redis.ask("LREM", "work:list", 0, f"i{i % 6}")
            world.redis.ask("LPUSH", "work:list", f"i{i % 6}")
            time.sleep(0.05)
        wait_for(lambda: len({r.host for r in world.runs()}) == 3, what="each of them to have run")
        for wrapper in wrappers:
            wrapper.terminate()
            assert wrapper.wait(20) == 128 + signal.SIGTERM
        world.stop()
        world.check_items(items)
        overlaps = world.overlaps()
        assert not overlaps, overlaps
        assert not world.record.fences_back, "a fence that went back"
        locks = world.redis.ask("KEYS", "*lock:*")
        assert not locks, locks
        by_host = collections.Counter(r.host for r in world.runs())
        return {"runs": sum(by_host.values()), "by w8y": by_host["w8y"], "overlaps": 0,
                "locks left": 0}


ROWS = [kill_hosts, kill_wrappers, stop_and_continue, mixed]

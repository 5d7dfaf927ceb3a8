"""The rows of the fault matrix (promises.md). Each returns its figures, and asserts its promise.

A row takes a World's options and `scale`: 1 is the short form that the tests run.
"""
import signal
import time

from harness import World, now_us, wait_for

KEY_EXPIRY_S = 1
AOF = ("--appendonly", "yes", "--appendfsync", "always")


def kill_hosts(bin_dir, scale):
    """SIGKILL of w8yd, again and again, several hosts on one list."""
    with World(bin_dir) as world:
        items = world.fill([f"i{i}" for i in range(12)])
        settings = dict(work_ms=50, concurrency=3, key_expiry=f"{KEY_EXPIRY_S}s")
        hosts = [world.host(f"h{i}", **settings) for i in range(3)]
        deaths, gaps, left = {}, [], 0
        wait_for(lambda: len(world.runs()) > 10, what="the first runs")
        for round_ in range(4 * scale):
            host = hosts[round_ % 3]
            wait_for(lambda: any(r.host == host.name and r.end is None for r in world.runs()),
                     what="a run to kill")
            at = host.kill()
            deaths.setdefault(host.name, []).append(at)
            held = {r.item for r in world.runs() if r.host == host.name and r.end is None
                    and r.start > at - 1_000_000}
            wait_for(lambda: not [p for p in world.children() if alive_of(world, host, p)],
                     limit=2, what="the children of a killed w8yd to be gone")
            for item in held:
                again = wait_for(lambda item=item: next(
                    (r for r in world.runs() if r.item == item and r.start > at), None),
                    what=f"{item} to run again")
                gaps.append((again.start - at) / 1e6)
            host.start()
        for host in hosts:
            assert host.stop() == 0, host.log()
        left = len(world.children())
        overlaps = world.overlaps(deaths)
        assert set(world.items()) == items, "items lost"
        assert not overlaps, overlaps
        assert not left, "children left"
        worst = max(gaps, default=0)
        assert worst <= KEY_EXPIRY_S + 1, f"an item waited {worst} s"
        return {"kills": 4 * scale, "runs": len(world.runs()), "items lost": 0, "overlaps": 0,
                "children left": left, "longest gap s": round(worst, 2)}


def alive_of(world, host, pid):
    return any(r.pid == pid and r.host == host.name for r in world.runs())


def kill_redis(bin_dir, scale):
    """SIGKILL of redis-server (AOF), restart."""
    with World(bin_dir, *AOF) as world:
        items = world.fill([f"i{i}" for i in range(8)])
        hosts = [world.host(f"h{i}", work_ms=30, concurrency=2, key_expiry="2s") for i in range(2)]
        wait_for(lambda: len(world.runs()) > 10, what="the first runs")
        pauses = []
        for _ in range(2 * scale):
            world.redis.kill()
            time.sleep(0.5)
            world.redis.start()
            back = now_us()
            again = wait_for(lambda: next((r for r in world.runs() if r.start > back), None),
                             what="work to go on")
            pauses.append((again.start - back) / 1e6)
            wait_for(lambda: len([r for r in world.runs() if r.start > back]) > 20,
                     what="more runs")
        for host in hosts:
            assert host.stop() == 0
        assert set(world.items()) == items, "items lost"
        assert max(pauses) <= 2, f"work went on after {max(pauses)} s"
        return {"kills": 2 * scale, "runs": len(world.runs()), "items lost": 0,
                "longest pause s": round(max(pauses), 2)}


def stop_and_continue(bin_dir, scale):
    """SIGSTOP of w8yd past key_expiry, then CONT."""
    with World(bin_dir) as world:
        items = world.fill(["a", "b"])
        settings = dict(work_ms=400, concurrency=2, key_expiry="1s", on_lease_loss="terminate")
        one, two = world.host("one", **settings), world.host("two", **settings)
        wait_for(lambda: len(world.runs()) > 2, what="the first runs")
        foreign = 0
        for _ in range(scale):
            one.signal(signal.SIGSTOP)
            time.sleep(1.6)
            held = {key: world.redis.ask("GET", key) for key in ("work:lock:a", "work:lock:b")}
            two_holds = {k: v for k, v in held.items() if v and v.startswith(b"run:two:")}
            one.signal(signal.SIGCONT)
            for key, value in two_holds.items():
                # Until its own run ends, the lock stays with the value that it had.
                run = value.rsplit(b":", 1)[1].decode()
                while world.redis.ask("GET", key) != value:
                    ended = any(r.run == run and r.end for r in world.runs())
                    foreign += 0 if ended else 1
                    break
            before = len(world.runs())
            wait_for(lambda: len(world.runs()) > before + 3, what="work to go on")
        assert one.stop() == 0 and two.stop() == 0
        assert set(world.items()) == items
        assert foreign == 0, "a foreign lock was deleted"
        return {"stops": scale, "foreign locks deleted": foreign,
                "overlaps while stopped": len(world.overlaps({}))}


def reload_storm(bin_dir, scale):
    """Reloads under load, good and broken files in turn."""
    with World(bin_dir) as world:
        items = world.fill([f"i{i}" for i in range(10)])
        host = world.host("h", work_ms=150, concurrency=3, key_expiry="2s")
        wait_for(lambda: len(world.runs()) > 3, what="the first runs")

        def descriptors():
            import os
            return len(os.listdir(f"/proc/{host.process.pid}/fd"))

        reloads = 50 * scale
        least = descriptors()
        for i in range(reloads):
            good = world.list_config(work_ms=150, concurrency=3 + i % 2, key_expiry="2s")
            host.write(good if i % 3 else good + "nonsense = 1\n[lists.\n")
            host.signal(signal.SIGUSR2)
            time.sleep(0.01)
        host.write(world.list_config(work_ms=150, concurrency=3, key_expiry="2s"))
        host.signal(signal.SIGUSR2)
        before = len(world.runs())
        wait_for(lambda: len(world.runs()) > before + 5, what="work to go on")
        grown = descriptors() - least
        assert host.stop() == 0
        runs = world.runs()
        disturbed = [r for r in runs if r.end is None]
        assert not disturbed, disturbed
        assert not world.overlaps({})
        assert set(world.items()) == items
        assert grown <= 20, f"{grown} descriptors more"
        return {"reloads": reloads, "runs": len(runs), "runs disturbed": 0,
                "descriptors more": grown}


ROWS = [kill_hosts, kill_redis, stop_and_continue, reload_storm]

"""The rows of the fault matrix (promises.md). Each returns its figures, and asserts its promise.

A row takes a World's options and `scale`: 1 is the short form that the tests run.
"""
import collections
import signal
import time

from harness import World, now_us, wait_for

KEY_EXPIRY_S = 1
SANITIZED = False  # sanitizers keep what was freed: memory is not compared then
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


def mixed(bin_dir, scale):
    """Several w8yd, several w8y and redis-cli on one list at once."""
    with World(bin_dir) as world:
        items = world.fill([f"i{i}" for i in range(6)])
        settings = dict(work_ms=25, concurrency=2, key_expiry="2s")
        hosts = [world.host(f"h{i}", **settings) for i in range(2)]
        wrappers = [world.wrapper("-k", "work", "-x", "2", "-c", "-q") for _ in range(2)]
        # A user turns the list by hand and takes items out and in again.
        for i in range(20 * scale):
            world.redis.ask("LMOVE", "work:list", "work:list", "LEFT", "RIGHT")
            world.redis.ask("LREM", "work:list", 0, f"i{i % 6}")
            world.redis.ask("LPUSH", "work:list", f"i{i % 6}")
            time.sleep(0.05)
        wait_for(lambda: len({r.host for r in world.runs()}) == 3, what="each of them to have run")
        for wrapper in wrappers:
            wrapper.terminate()
            assert wrapper.wait(20) == 128 + signal.SIGTERM
        for host in hosts:
            assert host.stop() == 0
        assert set(world.items()) == items
        # The journal of a child that was told to end has no end: its wrapper waited for it.
        overlaps = [pair for pair in world.overlaps({}) if pair[0].end]
        assert not overlaps, overlaps
        locks = [key for key in world.redis.ask("KEYS", "*lock*")]
        assert not locks, locks
        by_host = collections.Counter(r.host for r in world.runs())
        return {"runs": sum(by_host.values()), "by w8y": by_host["w8y"], "overlaps": 0}


HOSTILE = {
    "flood": "while :; do echo out; echo err >&2; done",
    "endless": "head -c 50000000 /dev/zero",
    "stubborn": "trap '' TERM; while :; do sleep 1; done",
    "leaves": "setsid sleep 30 & exit 0",
    "closes": "exec >&- 2>&-; sleep 0.1",
    "garbage": "head -c 100000 /dev/urandom",
    "dies": "kill -SEGV $$",
}


def hostile(bin_dir, scale):
    """Executors that flood, ignore SIGTERM, leave children, close outputs, print garbage."""
    with World(bin_dir) as world:
        config = world.list_config(work_ms=5, concurrency=1)
        for name, script in HOSTILE.items():
            config += (f'[lists.{name}]\ncommand = ["sh", "-c", "{script}"]\n'
                       f'timeout = "{30 if name == "endless" else 3}s"\nkill_grace = "500ms"\nmax_line = "64KiB"\n')
            world.fill([name], name)
        world.fill([f"i{i}" for i in range(10)])
        host = world.host("h", config)

        def resident_mib():
            with open(f"/proc/{host.process.pid}/statm") as statm:
                return int(statm.read().split()[1]) * 4096 / (1 << 20)

        most = 0.0
        began, before = now_us(), len(world.runs())
        outcomes = {}
        while now_us() - began < 5_000_000 * scale or not all(outcomes.values()):
            most = max(most, resident_mib())
            time.sleep(0.05)
            outcomes = {name: world.last_outcome(name) for name in HOSTILE}
            assert now_us() - began < 60_000_000 * scale, outcomes
        runs = len(world.runs()) - before
        assert host.stop() == 0
        expected = {"flood": "timed out", "endless": "succeeded", "stubborn": "timed out",
                    "leaves": "succeeded", "closes": "succeeded", "garbage": "succeeded",
                    "dies": "crashed"}
        assert outcomes == expected, outcomes
        assert runs > 50 * scale, f"the other list only ran {runs} times"
        assert SANITIZED or most < 64, f"{most} MiB"
        return {"runs of the list beside": runs, "resident MiB at most": round(most, 1)}


ROWS = [kill_hosts, kill_redis, stop_and_continue, mixed, hostile, reload_storm]

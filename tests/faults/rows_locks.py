"""Commands that reach Redis very late, and locks of other programs."""
import time

from harness import World, now_us, wait_for
from matrix import in_time, row
from proxy import Proxy


@row("a late settlement, after other hosts have run the item",
     "failures, delay and quarantine unchanged")
def old_end(setup):
    with World(setup) as world:
        redis = world.redis
        items = world.fill(["a"])
        go = world.home / "go"
        proxy = Proxy(world.home / "proxy.sock", redis.socket, setup.seed)
        # The far host's runs wait and then fail; the near host's runs succeed.
        fails = f'["sh", "-c", "while [ ! -e {go} ]; do sleep 0.05; done; exit 1", "sh", "{{}}"]'
        settings = ('key_expiry = "1s"\nmax_failures = 1\nhistory = 100000\n'
                    'backoff = { min = "60s", max = "60s" }\n')
        far = world.host("far", f"[lists.work]\ncommand = {fails}\n{settings}", how={
            "url": proxy.url, "drain": "100ms",
            "redis": 'connect_timeout = "1s"\ncommand_timeout = "1s"'})
        others = 0
        for _ in range(setup.scale):
            wait_for(lambda: "run:far:" in world.locks().get("a", ""), what="the far host's run")
            proxy.mode = "deaf"
            wait_for(lambda: not world.locks(), what="its lock to expire")
            before = redis.ask("LLEN", "work:runs")
            near = world.host("near", f'[lists.work]\ncommand = ["true", "{{}}"]\n{settings}',
                              how={"drain": "100ms"})
            wait_for(lambda: redis.ask("LLEN", "work:runs") >= before + 20,
                     what="the near host's runs")
            go.touch()
            time.sleep(0.3)  # the far run ends, and its host cannot write the settlement
            near.stop()
            world.hosts.remove(near)
            others = redis.ask("LLEN", "work:runs") - before
            redis.ask("SET", "work:paused", "so that it is not the far host's again at once")
            proxy.mode = "pass"
            # The late settlement writes the run record and changes nothing else.
            wait_for(lambda: world.last_outcome("work") == "failed", what="the old end")
            lock = redis.ask("GET", "work:lock:a") or b""
            assert not lock.startswith((b"delay:", b"quarantine:")), lock
            assert redis.ask("EXISTS", "work:failures", "work:quarantined") == 0
            go.unlink()
            redis.ask("DEL", "work:paused")
            redis.ask("PUBLISH", "work:wake", "resumed")
        far.stop()
        world.hosts.remove(far)
        proxy.close()
        world.check_items(items)
        return {"old ends": setup.scale, "runs between": others}


def write_all(redis, commands):
    with redis.wire(timeout=60) as wire:
        for first in range(0, len(commands), 1000):
            part = commands[first:first + 1000]
            for command in part:
                wire.send(*command)
            for _ in part:
                wire.read()


@row("locks of another program expire, and Redis reports no expiry",
     "in 10,000 locked items, claimed ≤ 1 s later", alone=True)
def foreign_expiry(setup):
    with World(setup) as world:
        redis = world.redis
        # Redis then deletes an expired key only when a client reads it, and reports nothing before.
        redis.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        names = [f"i{i}" for i in range(10_000)]
        items = world.fill(names)
        write_all(redis, [("SET", f"work:lock:{name}", "theirs") for name in names])
        write_all(redis, [("SET", f"other:{i}", "x", "EX", 3600) for i in range(300_000)])
        world.host("h", work_ms=5, cooldown="1h")
        waits = []
        for i in range(4 * setup.scale):
            # not at an end of the list, which each claim examines
            name = names[500 + world.random.randrange(9000)]
            if redis.ask("PTTL", f"work:lock:{name}") != -1:
                continue
            redis.ask("PEXPIRE", f"work:lock:{name}", 1500 if i > 0 else 5000)
            expires = now_us() + 1000 * redis.ask("PTTL", f"work:lock:{name}")
            run = wait_for(lambda name=name: next((r for r in world.runs() if r.item == name), None),
                           what=f"{name} to run")
            waits.append((run.start - expires) / 1e6)
        world.stop()
        world.check_items(items)
        in_time(max(waits) <= 1, f"an item waited {max(waits):.2f} s")
        return {"locks": len(waits), "longest wait s": round(max(waits), 2)}


ROWS = [old_end, foreign_expiry]

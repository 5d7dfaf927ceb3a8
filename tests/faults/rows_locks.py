"""Commands that reach Redis very late."""
import time

from harness import World, wait_for
from matrix import row
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


ROWS = [old_end]

"""A host whose network to Redis is interrupted without a reset."""
import time

from harness import World, now_us, wait_for
from matrix import in_time, row
from netns import SERVER, Cable

PORT = 6379
TCP = ("--port", str(PORT), "--bind", SERVER, "--protected-mode", "no")


def cut_off_world(setup, cable):
    return World(setup, *TCP, within=cable.within_server())


def cut_off_host(world, cable, name="far", **settings):
    """Starts a w8yd that reaches Redis over the cable."""
    return world.host(name, **settings, how={
        "url": f"redis://{SERVER}:{PORT}", "within": cable.within_client(), "drain": "100ms",
        "redis": 'connect_timeout = "1s"\ncommand_timeout = "1s"'})


def lock_end_us(world, item):
    """Returns the earliest time at which the lock ends, according to Redis."""
    with world.redis.wire() as wire:
        asked = now_us()
        return asked + 1000 * wire.ask("PTTL", f"work:lock:{item}")


def held_by(world, host):
    return next((r for r in world.runs() if r.host == host and r.over is None), None)


@row("network cut (namespace), terminate", "overlaps 0; child dead before its lock expires")
def network_terminate(setup):
    with Cable() as cable, cut_off_world(setup, cable) as world:
        items = world.fill(["a"])
        settings = dict(work_ms=30000, concurrency=1, key_expiry="1500ms",
                        on_lease_loss="terminate")
        far = cut_off_host(world, cable, **settings)
        near = None
        margins, backs = [], []
        for _ in range(setup.scale):
            run = wait_for(lambda: held_by(world, "far"), what="a run of the far host")
            near = near or world.host("near", **settings, how={"drain": "100ms"})
            time.sleep(world.random.uniform(0.5, 1.0))
            cable.cut()
            time.sleep(0.05)  # data in flight has arrived or is lost
            end = lock_end_us(world, run.item)
            died = wait_for(lambda run=run: world.runs() and run.died, what="the child to die")
            margins.append((end - died) / 1000)
            other = wait_for(lambda: held_by(world, "near"), what="the near host to take over")
            assert other.start > died
            # Connects the cable again and kills the near host, so that the far host must work
            # again.
            cable.mend()
            healed = now_us()
            near.kill()
            world.hosts.remove(near)
            again = wait_for(lambda: held_by(world, "far"), what="the far host to work again")
            backs.append((again.start - healed) / 1e6)
            near = None
        world.stop()
        world.check_items(items)
        in_time(min(margins) > 0, f"a child died {-min(margins)} ms after its lock's end")
        assert not world.overlaps(), world.overlaps()
        assert not world.record.fences_back
        return {"cuts": setup.scale, "overlaps": 0,
                "latest death before expiry ms": round(min(margins)),
                "back after s": round(max(backs), 2)}


@row("network cut (namespace), continue", "run continues; lease regained ≤ 4 s if it is free")
def network_continue(setup):
    with Cable() as cable, cut_off_world(setup, cable) as world:
        items = world.fill(["a"])
        far = cut_off_host(world, cable, work_ms=60000, concurrency=1, key_expiry="1s",
                           on_lease_loss="continue")
        run = wait_for(lambda: held_by(world, "far"), what="a run")
        value = world.locks()["a"]
        backs = []
        for _ in range(setup.scale):
            cable.cut()
            wait_for(lambda: not world.locks(), what="the lock to expire")
            assert far.process.poll() is None and world.runs() and run.over is None
            time.sleep(0.5)
            cable.mend()
            healed = now_us()
            wait_for(lambda: world.locks().get("a") == value, what="the lease to be regained")
            backs.append((now_us() - healed) / 1e6)
            time.sleep(1.2)  # the lease is also renewed again
            assert world.locks().get("a") == value
        assert world.runs() == [run] and run.over is None, "the run did not continue"
        world.stop()
        world.check_items(items)
        assert not world.locks()
        in_time(max(backs) <= 4, f"the lease was regained after {max(backs)} s")
        return {"cuts": setup.scale, "runs ended by it": 0,
                "lease back after s": round(max(backs), 2)}


ROWS = [network_terminate, network_continue]

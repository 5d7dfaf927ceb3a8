"""A Redis that is killed."""
import pathlib
import subprocess
import tempfile
import time

from harness import World, now_us, wait_for
from matrix import in_time, row
from private_redis import free_port

AOF = ("--appendonly", "yes", "--appendfsync", "always")


def kill_again_and_again(setup, world, how):
    items = world.fill([f"i{i}" for i in range(8)])
    for i in range(2):
        world.host(f"h{i}", how=how, work_ms=30, concurrency=2, key_expiry="2s")
    world.wait_runs(10)
    pauses = []
    for _ in range(2 * setup.scale):
        world.redis.kill()
        time.sleep(0.5)
        world.redis.start()
        back = now_us()
        again = wait_for(lambda: next(iter(world.runs_since(back)), None), what="work to go on")
        pauses.append((again.start - back) / 1e6)
        world.wait_runs(20)
    world.stop()
    world.check_items(items)
    assert not world.overlaps(), world.overlaps()
    assert not world.record.fences_back, "a fence that went back"
    in_time(max(pauses) <= 2, f"work went on after {max(pauses)} s")
    return {"kills": 2 * setup.scale, "runs": world.record.count, "items lost": 0,
            "overlaps": 0, "longest pause s": round(max(pauses), 2)}


@row("SIGKILL of redis-server (AOF)", "items lost 0, overlaps 0; work continues ≤ 2 s")
def kill_redis(setup):
    with World(setup, *AOF) as world:
        return kill_again_and_again(setup, world, {})


def make_certificate(folder):
    """Writes a self-signed certificate for 127.0.0.1."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-keyout", folder / "key.pem", "-out", folder / "cert.pem",
         "-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True)


@row("SIGKILL of redis-server (AOF), with TLS", "items lost 0, overlaps 0; work continues ≤ 2 s")
def kill_redis_tls(setup):
    with tempfile.TemporaryDirectory(prefix="w8y-faults-") as name:
        folder = pathlib.Path(name)
        make_certificate(folder)
        port = free_port()
        tls = ("--tls-port", str(port), "--tls-cert-file", str(folder / "cert.pem"),
               "--tls-key-file", str(folder / "key.pem"), "--tls-auth-clients", "no")
        with World(setup, *AOF, *tls) as world:
            how = {"url": f"rediss://127.0.0.1:{port}",
                   "redis": f'tls_ca = "{folder}/cert.pem"'}
            return kill_again_and_again(setup, world, how)


@row("Redis unavailable for longer than the life of a lock",
     "terminate: child dead before the end of its lock; no overlap")
def redis_away(setup):
    """With `terminate`, w8yd ends active runs by the clock alone, because Redis is unavailable."""
    with World(setup, *AOF) as world:
        items = world.fill(["a", "b"])
        for name in ("one", "two"):
            world.host(name, how={"drain": "100ms"}, work_ms=20000, key_expiry="1500ms",
                       on_lease_loss="terminate")
        margins = []
        for _ in range(setup.scale):
            wait_for(lambda: len(world.locks()) == 2 and all(
                any(r.item == item and r.over is None for r in world.runs())
                for item in ("a", "b")), what="two runs")
            held = [r for r in world.runs() if r.over is None]
            time.sleep(0.7)
            with world.redis.wire() as wire:
                ends = {r.item: now_us() / 1000 + wire.ask("PTTL", f"work:lock:{r.item}")
                        for r in held}
            world.redis.kill()
            for run in held:
                wait_for(lambda run=run: world.runs() and run.died, what="the child to die")
                margins.append(ends[run.item] - run.died / 1000)
            # Counted before the start, because a run may start as soon as the server replies.
            before = world.record.read().count
            world.redis.start()
            wait_for(lambda before=before: world.record.read().count >= before + 2, what="runs")
        world.stop()
        world.check_items(items)
        in_time(min(margins) > 0, f"a child died {-min(margins)} ms after its lock's end")
        assert not world.overlaps(), world.overlaps()
        return {"times": setup.scale, "overlaps": 0,
                "least margin before expiry ms": round(min(margins))}


ROWS = [kill_redis, kill_redis_tls, redis_away]

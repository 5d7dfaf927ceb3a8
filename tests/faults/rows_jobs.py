"""Jobs of feeds: hosts that are killed at work on them, a Redis that is, one whose part another
takes, and a client beside them that follows Thoonk's contract."""
import threading
import uuid

from harness import World, now_us, wait_for
from matrix import in_time, row
from private_redis import RedisError
from rows_cluster import LONGEST_PAUSE_S, Pauses, Place, Sentinels

KEY_EXPIRY_S = 1
AOF = ("--appendonly", "yes", "--appendfsync", "always")
FEED = "thumbs"


def key(name, feed=FEED):
    return f"feed.{name}:{feed}"


def put(redis, ids, feed=FEED):
    """As the contract has it; the payload is the id."""
    with redis.wire() as wire:
        for job in ids:
            wire.send("MULTI")
            wire.send("LPUSH", key("ids", feed), job)
            wire.send("INCR", key("publishes", feed))
            wire.send("HSET", key("items", feed), job, job)
            wire.send("ZADD", key("published", feed), now_us() // 1000, job)
            wire.send("EXEC")
            for _ in range(6):
                wire.read()


class Client(threading.Thread):
    """Claims, and then finishes, cancels or stalls, step by step as the contract has it: nothing is
    one step but what stands between MULTI and EXEC, and it writes no lease."""

    def __init__(self, redis):
        super().__init__(daemon=True)
        self.redis = redis
        self.over = threading.Event()
        self.finished, self.cancelled, self.stalled, self.late = [], [], [], []
        self.trouble = None
        self.start()

    def run(self):
        try:
            with self.redis.wire() as wire:
                turn = 0
                while not self.over.is_set():
                    job = self.get(wire)
                    if job is None:
                        continue
                    turn += 1
                    self.over.wait(0.01)  # it works, and leaves some to w8yd
                    step = (self.finish, self.cancel, self.finish, self.stall)[turn % 4]
                    step(wire, job)
        except (OSError, RedisError, AssertionError) as trouble:
            self.trouble = trouble

    @staticmethod
    def get(wire):
        popped = wire.ask("BRPOP", key("ids"), "0.2")
        if popped is None:
            return None
        job = popped[1]
        wire.ask("MULTI")
        wire.ask("ZADD", key("claimed"), now_us() // 1000, job)
        wire.ask("HGET", key("items"), job)
        item = wire.ask("EXEC")[1]
        assert item in (job, None), f"{job} has the payload {item}"
        return job

    def step(self, wire, job, steps):
        """Whether the claim was there."""
        while True:
            wire.ask("WATCH", key("claimed"))
            if wire.ask("ZRANK", key("claimed"), job) is None:
                wire.ask("UNWATCH")
                self.late.append(job)
                return False
            wire.ask("MULTI")
            for words in steps:
                wire.ask(*words)
            if wire.ask("EXEC") is not None:
                return True

    def finish(self, wire, job):
        if self.step(wire, job, [("ZREM", key("claimed"), job), ("HDEL", key("cancelled"), job),
                                 ("INCR", key("finishes")),
                                 ("PUBLISH", f"job.finish:{FEED}", job + b"\0{}"),
                                 ("HDEL", key("items"), job)]):
            self.finished.append(job.decode())

    def cancel(self, wire, job):
        if self.step(wire, job, [("HINCRBY", key("cancelled"), job, 1), ("LPUSH", key("ids"), job),
                                 ("ZREM", key("claimed"), job)]):
            self.cancelled.append(job.decode())

    def stall(self, wire, job):
        if self.step(wire, job, [("ZREM", key("claimed"), job), ("HDEL", key("cancelled"), job),
                                 ("SADD", key("stalled"), job),
                                 ("ZREM", key("published"), job)]):
            self.stalled.append(job.decode())

    def end(self):
        self.over.set()
        self.join()
        if self.trouble:
            raise self.trouble


def hosts_of(world, count, feed=FEED, **more):
    settings = dict(source="job", work_ms=40, concurrency=3, key_expiry=f"{KEY_EXPIRY_S}s",
                    maintenance_interval="1s", backoff='{ min = "50ms", max = "1s" }') | more
    return [world.host(f"h{i}", prefix=f'"{feed}"', **settings) for i in range(count)]


def left(world, feed=FEED):
    return world.redis.ask("HLEN", key("items", feed))


def names(round_, count):
    return [f"r{round_}n{i}-{uuid.uuid4().hex[:8]}" for i in range(count)]


def all_done(world, jobs, feed=FEED):
    """Each job was finished once."""
    wait_for(lambda: left(world, feed) == 0, what="all jobs to be finished")
    world.stop()
    finishes = int(world.redis.ask("GET", key("finishes", feed)))
    assert finishes == len(jobs), f"{len(jobs)} jobs, and {finishes} finishes"
    for what in ("claimed", "cancelled", "published"):
        rest = world.redis.ask("EXISTS", key(what, feed))
        assert rest == 0, f"{key(what, feed)} is left"
    assert world.redis.ask("EXISTS", f"{feed}:taken") == 0, "a claim is noted that is none"
    ran = {run.item for run in world.runs()}
    assert ran == set(jobs), f"lost: {set(jobs) - ran}"


@row("SIGKILL of w8yd at work on jobs of a feed", "jobs lost 0, finished twice 0, overlaps 0; "
     f"runs again ≤ {KEY_EXPIRY_S + 2} s")
def kill_jobs(setup):
    with World(setup) as world:
        hosts = hosts_of(world, 2)
        jobs, worst = [], 0
        for round_ in range(2 * setup.scale):
            some = names(round_, 30)
            jobs += some
            put(world.redis, some)
            host = hosts[round_ % 2]
            wait_for(lambda host=host: any(r.host == host.name and r.over is None
                                           for r in world.runs()), what="a run to kill")
            at = host.kill()
            cut = {r.item for r in world.runs() if r.host == host.name and r.end is None}
            begun = lambda: {r.item for r in world.runs_since(at)}
            wait_for(lambda: cut <= begun() | {r.item for r in world.runs() if r.end}
                     or left(world) == 0, what="what was cut off to run again")
            again = [r.start - at for r in world.runs_since(at) if r.item in cut]
            worst = max([worst] + again)
            host.start()
        all_done(world, jobs)
        assert not world.overlaps(), world.overlaps()
        in_time(worst / 1e6 <= KEY_EXPIRY_S + 2, f"a job waited {worst / 1e6} s")
        return {"kills": 2 * setup.scale, "jobs": len(jobs), "runs": world.record.count,
                "lost": 0, "finished twice": 0, "overlaps": 0,
                "runs again after s": round(worst / 1e6, 2)}


@row("SIGKILL of redis-server (AOF) beside jobs of a feed",
     "jobs lost 0, finished twice 0, overlaps 0")
def kill_redis_jobs(setup):
    with World(setup, *AOF) as world:
        hosts_of(world, 2)
        jobs = []
        for round_ in range(setup.scale):
            some = names(round_, 60)
            jobs += some
            put(world.redis, some)
            world.wait_runs(15)
            world.redis.kill()
            world.redis.start()
        all_done(world, jobs)
        assert not world.overlaps(), world.overlaps()
        return {"kills": setup.scale, "jobs": len(jobs), "runs": world.record.count, "lost": 0,
                "finished twice": 0, "overlaps": 0}


@row("failover by Sentinel beside jobs of a feed: SIGKILL of the primary",
     f"each job finished, stalled or waiting; work goes on ≤ {LONGEST_PAUSE_S} s")
def sentinel_jobs(setup):
    """A failover may lose the newest writes: then a job that was finished is there once more, and
    one that was just put is not. Neither is forbidden; both are counted."""
    with Place(setup, Sentinels) as world:
        servers = world.redis
        hosts_of(world, 2, key_expiry="2s", work_ms=120)
        jobs = names(0, 300)  # for longer than a failover takes
        put(servers.primary(), jobs)
        world.wait_runs(20)
        pauses = Pauses(world)

        def fail():
            servers.follow()
            old = servers.primary()
            old.kill()
            wait_for(lambda: servers.primary() is not old, what="a failover")

        for event in range(setup.scale):
            if event:
                for server in [each for each in servers.servers if not each.runs()]:
                    server.start()
            pauses.after(fail)
            more = names(event + 1, 40)
            put(servers.primary(), more)
            jobs += more
        wait_for(lambda: left(world) == 0, what="all jobs to be finished")
        world.stop()
        ran = {run.item for run in world.runs()}
        twice = world.record.count - len(ran)
        assert ran == set(jobs), f"lost: {set(jobs) - ran}"
        return {"events": setup.scale, "jobs": len(jobs), "lost": 0, "runs again": twice,
                "overlaps": len(world.overlaps()),
                "without work s": round(max(pauses.longest), 2)}


@row("a client that follows Thoonk's contract beside w8yd on one feed, and w8yd is killed",
     "each job finished once, stalled or waiting; lost 0")
def beside_a_client(setup):
    """The client writes no leases, and w8yd takes its claims back never (claim_timeout)."""
    with World(setup) as world:
        hosts = hosts_of(world, 2, work_ms=5)
        clients = [Client(world.redis) for _ in range(2)]
        jobs = []
        for round_ in range(2 * setup.scale):
            some = names(round_, 150)
            jobs += some
            put(world.redis, some)
            host = hosts[round_ % 2]
            host.kill()
            host.start()

        def waits():
            stalled = world.redis.ask("SMEMBERS", key("stalled"))
            return left(world) == len(stalled)
        wait_for(waits, what="each job to be finished or stalled")
        for client in clients:
            client.end()
        stalled = {job.decode() for job in world.redis.ask("SMEMBERS", key("stalled"))}
        world.stop()
        finishes = int(world.redis.ask("GET", key("finishes")))
        by_client = [job for client in clients for job in client.finished]
        assert len(by_client) == len(set(by_client)), "a client has finished a job twice"
        assert finishes + len(stalled) == len(jobs), \
            f"{len(jobs)} jobs, {finishes} finishes, {len(stalled)} stalled"
        assert stalled <= {job for client in clients for job in client.stalled}, "stalled by w8yd"
        assert world.redis.ask("LLEN", key("ids")) == 0
        assert not world.overlaps(), world.overlaps()
        assert world.record.count > 0, "w8yd had none of them"
        return {"kills": 2 * setup.scale, "jobs": len(jobs), "finished by w8yd":
                finishes - len(by_client), "by the client": len(by_client),
                "stalled": len(stalled), "lost": 0, "finished twice": 0}


ROWS = [kill_jobs, kill_redis_jobs, sentinel_jobs, beside_a_client]

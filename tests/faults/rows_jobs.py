"""Jobs of feeds: killed hosts, a killed Redis, a failover, and a client on the same feed that follows
Thoonk's contract."""
import subprocess
import threading
import uuid

from harness import World, wait_for
from matrix import in_time, row
from private_redis import RedisError
from rows_cluster import LONGEST_PAUSE_S, Cluster, Pauses, Place, Sentinels
from thoonk_client import Contract

KEY_EXPIRY_S = 1
AOF = ("--appendonly", "yes", "--appendfsync", "always")
FEED = "thumbs"


def key(name, feed=FEED):
    return f"feed.{name}:{feed}"


def put(redis, ids, feed=FEED):
    """Puts jobs whose payload is their ID."""
    with redis.wire() as wire:
        client = Contract(wire, feed)
        for job in ids:
            client.put(job, job=True, id_=job)


class Client(threading.Thread):
    """Claims jobs, then finishes, cancels or stalls them by the contract. It writes no lease."""

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
                self.work(Contract(wire, FEED))
        except (OSError, RedisError, AssertionError) as trouble:
            self.trouble = trouble

    def work(self, client):
        steps = ((lambda job: client.finish(job, "{}"), self.finished),
                 (client.cancel, self.cancelled),
                 (lambda job: client.finish(job, "{}"), self.finished),
                 (client.stall, self.stalled))
        turn = 0
        while not self.over.is_set():
            claimed = client.claim(0.2)
            if claimed is None:
                continue
            job, item = claimed
            assert item in (job.encode(), None), f"{job} has the payload {item}"
            turn += 1
            self.over.wait(0.01)  # a pause, in which w8yd gets other jobs
            step, done = steps[turn % 4]
            (done if step(job) else self.late).append(job)

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
    """Waits for the end of all jobs, and asserts that each was finished once."""
    wait_for(lambda: left(world, feed) == 0, what="all jobs to be finished")
    world.stop()
    finishes = int(world.redis.ask("GET", key("finishes", feed)))
    assert finishes == len(jobs), f"{len(jobs)} jobs, and {finishes} finishes"
    for what in ("claimed", "cancelled", "published"):
        rest = world.redis.ask("EXISTS", key(what, feed))
        assert rest == 0, f"{key(what, feed)} is left"
    assert world.redis.ask("EXISTS", f"{feed}:claims") == 0, "a claim is noted that is none"
    ran = {run.item for run in world.runs()}
    assert ran == set(jobs), f"lost: {set(jobs) - ran}"


@row("SIGKILL of w8yd while it runs jobs of a feed", "jobs lost 0, finished twice 0, overlaps 0; "
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


@row("SIGKILL of redis-server (AOF) while hosts run jobs of a feed",
     "jobs lost 0, finished twice 0, overlaps 0")
def kill_redis_jobs(setup):
    with World(setup, *AOF) as world:
        hosts_of(world, 2)
        jobs = []
        for round_ in range(setup.scale):
            some = names(round_, 60)
            jobs += some
            before = world.record.read().count  # the hosts run jobs while others are put
            put(world.redis, some)
            world.wait_runs(15, since=before)
            world.redis.kill()
            world.redis.start()
        all_done(world, jobs)
        assert not world.overlaps(), world.overlaps()
        return {"kills": setup.scale, "jobs": len(jobs), "runs": world.record.count, "lost": 0,
                "finished twice": 0, "overlaps": 0}


@row("failover by Sentinel while hosts run jobs of a feed: SIGKILL of the primary",
     f"each job finished, stalled or queued; work continues ≤ {LONGEST_PAUSE_S} s")
def sentinel_jobs(setup):
    """A failover may lose the newest writes. Then a finished job exists again, or a new job is missing. Both
    are allowed and counted."""
    with Place(setup, Sentinels) as world:
        servers = world.redis
        hosts_of(world, 2, key_expiry="2s", work_ms=120)
        most = 300  # work for longer than a failover takes
        jobs = names(0, most)
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
            more = names(event + 1, most if event + 1 < setup.scale else 40)
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
     "each job finished once, stalled or queued; lost 0")
def beside_a_client(setup):
    """The client writes no leases. Without claim_timeout, w8yd never recovers its claims."""
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


def feed_elsewhere(cluster):
    """Returns a feed whose keys are not on the server with the names of all feeds."""
    return next(feed for feed in (f"{{thumbs{i}}}" for i in range(100))
                if cluster.owner(key("ids", feed)) is not cluster.owner("feeds"))


@row("jobs in a cluster: create, put, run, maintain, delete; SIGKILL of a host",
     "each job finished once; a failed step can be repeated; no keys left")
def cluster_jobs(setup):
    """The names of all feeds are on one server, and the feed is on another."""
    with Place(setup, Cluster) as world:
        feed = feed_elsewhere(world.redis)
        names_, owner = world.redis.owner("feeds"), world.redis.owner(key("ids", feed))

        def ctl(*words, says=0):
            program = world.bin / "src/app/w8yctl"
            ran = subprocess.run([program, "--redis-url", world.redis.url, *words], text=True,
                                 capture_output=True, timeout=60, check=False)
            assert ran.returncode == says, f"{words}: {ran.returncode} {ran.stderr}"
            return ran.stdout if says == 0 else ran.stderr

        def is_named():
            return names_.ask("SISMEMBER", "feeds", feed) == 1

        for words in (("feed", "create", FEED), ("job", "put", FEED, "x"), ("job", "ids", FEED)):
            assert "has no hash tag" in ctl(*words, says=2)
        # The subcommand "create" writes the name first. It removes the name if the other server
        # refuses the feed's keys.
        owner.ask("SET", key("config", feed), "of a wrong type")
        assert "WRONGTYPE" in ctl("feed", "create", feed, "--kind", "job", says=1)
        assert not is_named()
        owner.ask("DEL", key("config", feed))
        ctl("feed", "create", feed, "--kind", "job")
        assert is_named() and owner.ask("HGET", key("config", feed), "type") == b"job"
        assert "already" in ctl("feed", "create", feed, "--kind", "job", says=1)

        hosts = hosts_of(world, 2, feed)
        jobs = names(0, 60)
        put(owner, jobs, feed)
        wait_for(lambda: any(r.host == hosts[0].name and r.over is None for r in world.runs()),
                 what="a run to kill")
        hosts[0].kill()
        waited = ctl("job", "put", feed, "by w8yctl", "--wait", "--timeout", "50s")
        assert waited.startswith("{"), waited
        owner.ask("HSET", key("items", feed), "nowhere", "nowhere")  # orphaned job of a client that has died
        wait_for(lambda: owner.ask("HLEN", key("items", feed)) == 0, what="all jobs to be finished")
        hosts[0].start()
        world.stop()
        finishes = int(owner.ask("GET", key("finishes", feed)))
        assert finishes == len(jobs) + 2, f"{len(jobs) + 2} jobs, and {finishes} finishes"
        assert not world.overlaps(), world.overlaps()

        # The subcommand "delete" removes the name last. The name stays while the server refuses to
        # delete the feed's keys.
        ctl("job", "put", feed, "left")
        ctl("job", "maintain", feed)
        owner.ask("ACL", "SETUSER", "default", "-evalsha", "-eval")
        ctl("feed", "delete", feed, says=1)
        assert is_named() and owner.ask("HLEN", key("items", feed)) == 1
        owner.ask("ACL", "SETUSER", "default", "+evalsha", "+eval")
        ctl("feed", "delete", feed)
        assert not is_named() and ctl("feed", "list") == ""
        # Kept results expire.
        left_ = [each for node in world.redis.nodes[:3] for each in node.ask("KEYS", "feed*")
                 if not (each.startswith(b"feed.result:") and 0 < node.ask("PTTL", each) <= 3_600_000)]
        assert not left_, f"left: {left_}"
        return {"jobs": finishes, "kills": 1, "finished twice": 0, "overlaps": 0, "keys left": 0}


ROWS = [kill_jobs, kill_redis_jobs, sentinel_jobs, beside_a_client, cluster_jobs]

"""Rows of the fault matrix about changes of the primary: failovers by Sentinel, a hash slot that moves
in a cluster, and the death of a cluster's primary.

Replication is asynchronous, so a failover may lose the newest locks. Therefore overlaps are counted and
allowed. The rows assert that no item is lost and that work continues without help.
"""
import contextlib
import re
import subprocess
import time

from harness import World, now_us, wait_for
from matrix import in_time, row
from private_redis import Redis, RedisError, die_with_parent, free_port

KEY_EXPIRY_S = 2
LONGEST_PAUSE_S = 10


class Server(Redis):
    """A server with its own port and its own config file, which a sentinel may write."""

    def __init__(self, home, *lines, sentinel=False, address="127.0.0.1", within=()):
        self.port, self.sentinel, self.address = free_port(), sentinel, address
        home.mkdir(parents=True)
        self.config = home / "redis.conf"
        self.config.write_text("\n".join(
            [f"port {self.port}", f"bind {address}", "protected-mode no",
             f"unixsocket {home}/redis.sock", f"dir {home}", 'save ""', "repl-diskless-sync-delay 0", *lines]) + "\n")
        super().__init__(home, within=within)

    def start(self, wait=True):
        with open(self.home / "redis.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.within, self.program, str(self.config), *(["--sentinel"] if self.sentinel else [])],
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=die_with_parent)
        if wait:
            wait_for(self.answers, what="redis-server")

    def runs(self):
        return self.process.poll() is None

    def ask(self, *words):
        """Executes a command. A server closes its connections when its role changes; then the command is
        sent again."""
        def asked():
            try:
                return (super(Server, self).ask(*words),)
            except OSError:
                if not self.runs():
                    raise
                return None
        return wait_for(asked, what="an answer of a server that runs")[0]

    def linked(self):
        return b"master_link_status:up" in self.ask("INFO", "replication")

    @property
    def place(self):
        return f"{self.address}:{self.port}"

    def follow(self, primary):
        """Waits until the replica has the data that the primary has now. After the first copy, a primary
        sends nothing for up to a second, although the link is up. A replica that is promoted in this
        second lacks the list."""
        there = int(primary.info("master_repl_offset"))
        wait_for(lambda: self.linked() and int(self.info("slave_repl_offset")) >= there,
                 what="a replica to have what its primary has")


class Sentinels:
    """A primary, two replicas and three sentinels, as the Redis of a World."""

    def __init__(self, home):
        self.servers = [Server(home / "s0")]
        first = self.servers[0].port
        for i in (1, 2):
            self.servers.append(Server(home / f"s{i}", f"replicaof 127.0.0.1 {first}"))
        for replica in self.servers[1:]:
            replica.follow(self.servers[0])
        lines = (f"sentinel monitor main 127.0.0.1 {first} 2",
                 "sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 2000")
        self.sentinels = [Server(home / f"w{i}", *lines, sentinel=True) for i in range(3)]
        for sentinel in self.sentinels:
            wait_for(lambda s=sentinel: self.known(s) == (2, 2), what="sentinels to know each other")

    @property
    def url(self):
        places = ",".join(f"127.0.0.1:{s.port}" for s in self.sentinels)
        return f"redis+sentinel://{places}/main"

    @staticmethod
    def known(sentinel):
        fields = sentinel.ask("SENTINEL", "MASTER", "main")
        found = dict(zip(fields[::2], fields[1::2]))
        return int(found[b"num-slaves"]), int(found[b"num-other-sentinels"])

    def follow(self):
        """Waits until the replicas have the data of the primary. On a busy machine, the sentinels may elect
        another primary meanwhile, whose offset is lower."""
        def followed():
            primary = self.primary()
            there = int(primary.info("master_repl_offset"))
            return all(server.linked() and int(server.info("slave_repl_offset")) >= there
                       for server in self.servers if server.runs() and server is not primary)
        wait_for(followed, what="the replicas to have what their primary has")

    def primary(self):
        sentinel = next(s for s in reversed(self.sentinels) if s.runs())
        port = int(sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")[1])
        return next(s for s in self.servers if s.port == port)

    def ask(self, *words):
        return self.primary().ask(*words)

    def kill(self):
        for server in self.sentinels + self.servers:
            server.kill()


class Cluster:
    """Three primaries and a replica of each, as the Redis of a World."""

    def __init__(self, home):
        lines = ("cluster-enabled yes", "cluster-node-timeout 800", "cluster-allow-replica-migration no",
                 "cluster-replica-validity-factor 0")
        self.nodes = [Server(home / f"n{i}", *lines) for i in range(6)]
        for i, node in enumerate(self.nodes):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            if i < 3:
                node.ask("CLUSTER", "ADDSLOTSRANGE", i * 16384 // 3, (i + 1) * 16384 // 3 - 1)
            node.ask("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        wait_for(lambda: all(self.fine(node) for node in self.nodes), what="a cluster")
        for i in (3, 4, 5):
            primary = self.nodes[i - 3].ask("CLUSTER", "MYID")
            wait_for(lambda p=primary, n=self.nodes[i]: p in n.ask("CLUSTER", "NODES"),
                     what="a replica to know its primary")
            self.nodes[i].ask("CLUSTER", "REPLICATE", primary)
        for primary, replica in zip(self.nodes, self.nodes[3:]):
            replica.follow(primary)
        for node in self.nodes:
            wait_for(lambda n=node: n.ask("CLUSTER", "NODES").count(b"slave") == 3,
                     what="the replicas to be known")

    @property
    def url(self):
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port},127.0.0.1:{self.nodes[5].port}"

    @staticmethod
    def fine(node):
        info = node.ask("CLUSTER", "INFO")
        return b"cluster_state:ok" in info and b"cluster_known_nodes:6" in info

    def owner(self, key):
        """Returns the node that reports itself as the primary for the key."""
        def look():
            for node in self.nodes:
                if not node.runs():
                    continue
                with contextlib.suppress(RedisError):  # MOVED, CLUSTERDOWN
                    node.ask("EXISTS", key)
                    if node.info("role") == "master":
                        return node
            return None
        return wait_for(look, what=f"an owner of {key}")

    def replica_of(self, primary):
        """Returns the only replica of a primary."""
        port = int(re.search(r"port=(\d+)", primary.info("slave0"))[1])
        return next(node for node in self.nodes if node.port == port)

    def ask(self, *words):
        return self.owner(next(w for w in words if "{" in str(w))).ask(*words)

    def move(self, key, to):
        """Moves the hash slot of the key with all its keys, like redis-cli --cluster reshard."""
        source = self.owner(key)
        slot = source.ask("CLUSTER", "KEYSLOT", key)
        from_id, to_id = source.ask("CLUSTER", "MYID"), to.ask("CLUSTER", "MYID")
        assert to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id) == b"OK"
        assert source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", to_id) == b"OK"
        time.sleep(0.1)  # existing keys are on the source, new keys go to the target
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 2):
            source.ask("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "REPLACE", "KEYS", *keys)
        for node in (to, source):
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", to_id)

    def kill(self):
        for node in self.nodes:
            node.kill()


class Place(World):
    """A World with several servers in place of one Redis."""

    def __init__(self, setup, servers):
        super().__init__(setup)
        self.redis.kill()
        try:
            self.redis = servers(self.home)
        except BaseException:
            self.__exit__()
            raise


class Pauses:
    """Longest time without the start of a run, for each event."""

    def __init__(self, world):
        self.world, self.longest = world, []

    def after(self, event, runs=40):
        began = now_us()
        event()
        starts = wait_for(lambda: self.enough(began, runs), limit=30, what="work to continue")
        gaps = [b - a for a, b in zip([began, *starts], starts)]
        self.longest.append(max(gaps) / 1e6)
        in_time(self.longest[-1] <= LONGEST_PAUSE_S, f"no work for {self.longest[-1]} s")

    def enough(self, began, runs):
        starts = sorted(r.start for r in self.world.runs_since(began))
        # Waits at least 4 s, until all effects of the event have happened.
        late = starts and starts[-1] > began + 4_000_000
        return starts if late and len(starts) >= runs else None


def told(hosts, text):
    return sum(host.log().count(text) for host in hosts)


def figures(world, pauses, items, events, prefix="work"):
    world.stop()
    world.check_items(items, prefix)
    lines = told(world.hosts, "Redis unavailable")
    assert lines <= 2 * events * len(world.hosts), f"{lines} outages in the log"
    assert told(world.hosts, "Redis available again") == lines, "an outage without an end"
    return {"events": events, "runs": world.record.count, "items lost": 0,
            "overlaps": len(world.overlaps()), "without work s": round(max(pauses.longest), 2),
            "outages in the log per host and event": round(lines / len(world.hosts) / events, 1)}


def start(world, prefix="work"):
    items = world.fill([f"i{i}" for i in range(8)], prefix)
    settings = dict(work_ms=30, concurrency=2, key_expiry=f"{KEY_EXPIRY_S}s")
    name = prefix if prefix == "work" else f'"{prefix}"'
    for i in range(2):
        world.host(f"h{i}", prefix=name, **settings)
    world.wait_runs(10)
    return items


@row("failover by Sentinel: on demand, then SIGKILL, a sentinel dead too",
     "items lost 0; work continues ≤ 10 s; one outage in the log each", sanitized=True)
def sentinel_failover(setup):
    events = 0
    with Place(setup, Sentinels) as world:
        servers = world.redis
        items = start(world)
        pauses = Pauses(world)
        for _ in range(setup.scale):
            servers.follow()
            old = servers.primary()
            pauses.after(lambda: servers.sentinels[0].ask("SENTINEL", "FAILOVER", "main"))
            assert servers.primary() is not old, "no failover"
            events += 1
        servers.sentinels[0].kill()
        servers.follow()
        old = servers.primary()
        pauses.after(old.kill)
        assert servers.primary() is not old, "no failover"
        return figures(world, pauses, items, events + 1)


@row("SIGKILL of the cluster's primary that has the list, and its return",
     "items lost 0; work continues ≤ 10 s; one outage in the log each", sanitized=True)
def cluster_primary(setup):
    with Place(setup, Cluster) as world:
        items = start(world, "{work}")
        pauses = Pauses(world)
        for _ in range(setup.scale):
            old = world.redis.owner("{work}:list")
            world.redis.replica_of(old).follow(old)
            pauses.after(old.kill)
            old.start()
            wait_for(old.linked, what="the old primary to follow")
        return figures(world, pauses, items, setup.scale, "{work}")


@row("the list's hash slot moves back and forth between primaries",
     "items lost 0, overlaps 0, leases lost 0; work continues")
def cluster_reshard(setup):
    with Place(setup, Cluster) as world:
        cluster = world.redis
        items = start(world, "{work}")
        pauses = Pauses(world)
        moves = 0

        def reshard():
            nonlocal moves
            for _ in range(10):
                owner = cluster.owner("{work}:list")
                others = [node for node in cluster.nodes[:3] if node is not owner]
                cluster.move("{work}:list", others[moves % 2])
                moves += 1
                time.sleep(0.2)

        for _ in range(setup.scale):
            pauses.after(reshard)
        overlaps = world.overlaps()
        assert not overlaps, overlaps  # the move lost no lock
        lost = told(world.hosts, "lease lost")
        assert lost == 0, f"{lost} leases lost"
        return {"moves": moves, "leases lost": lost,
                **figures(world, pauses, items, setup.scale, "{work}")}


ROWS = [sentinel_failover, cluster_primary, cluster_reshard]

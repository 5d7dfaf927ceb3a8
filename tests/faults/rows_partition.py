"""A network partition between the primary and the majority of the sentinels.

The sentinels promote a replica on their side. The old primary still serves the hosts on its side, so items have
two holders. min-replicas-to-write ends this: w8yd(8) and w8y-fleet(7) recommend it.
"""
from harness import now_us, wait_for
from matrix import in_time, row
from netns import CLIENT, SERVER, Cable
from rows_cluster import Place, Sentinels, Server

LAG_S = 1
# A replica sends its offset once per second, and the primary checks it once per second.
LONGEST_DOUBLE_S = LAG_S + 3
PARTITION_S = LONGEST_DOUBLE_S + 4


class Halves:
    """A primary and a sentinel on one side of a cable, two replicas and two sentinels on the other side."""

    def __init__(self, home, cable, *lines):
        near = dict(address=SERVER, within=cable.within_server())
        far = dict(address=CLIENT, within=cable.within_client())
        self.old = Server(home / "s0", *lines, **near)
        follow = f"replicaof {SERVER} {self.old.port}"
        self.replicas = [Server(home / f"s{i}", follow, *lines, **far) for i in (1, 2)]
        for replica in self.replicas:
            replica.follow(self.old)
        monitor = (f"sentinel monitor main {SERVER} {self.old.port} 2",
                   "sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 2000")
        self.sentinels = [Server(home / f"w{i}", *monitor, sentinel=True, **side)
                          for i, side in enumerate((near, far, far))]
        for sentinel in self.sentinels:
            wait_for(lambda s=sentinel: Sentinels.known(s) == (2, 2), what="sentinels to know each other")

    @property
    def url(self):
        return "redis+sentinel://" + ",".join(s.place for s in self.sentinels) + "/main"

    def promoted(self):
        return next((server for server in self.replicas if server.info("role") == "master"), None)

    def ask(self, *words):
        return (self.promoted() or self.old).ask(*words)

    def kill(self):
        for server in [self.old, *self.replicas, *self.sentinels]:
            server.kill()


def partition(setup, *lines):
    """Returns the number of overlaps, and the time in s from the start of the partition until the last one
    started."""
    with Cable() as cable, Place(setup, lambda home: Halves(home, cable, *lines)) as world:
        items = world.fill([f"i{i}" for i in range(8)])
        settings = dict(work_ms=30, concurrency=4, key_expiry="2s", on_lease_loss="terminate")
        for name, within in (("near", cable.within_server()), ("far", cable.within_client())):
            world.host(name, **settings, how={"within": within, "drain": "1s", "redis": (
                'connect_timeout = "1s"\ncommand_timeout = "1s"')})

        def works(name, since):
            return any(run.host == name for run in world.runs_since(since))

        wait_for(lambda: works("near", 0) and works("far", 0), what="a run of each host")
        cut = now_us()
        cable.cut()
        wait_for(world.redis.promoted, what="a replica to be promoted")
        late = cut + PARTITION_S * 1_000_000
        wait_for(lambda: works("far", late), 60, "the far host to work until the partition ends")
        mended = now_us()
        cable.mend()
        wait_for(lambda: world.redis.old.info("role") == "slave", 60, "the old primary to follow the new one")
        healed = now_us()
        wait_for(lambda: works("near", healed) and works("far", healed), 60, "both hosts to work again")
        world.stop()
        world.check_items(items)
        starts = [max(a.start, b.start) for a, b in world.overlaps()]
        assert all(start < mended + 4_000_000 for start in starts), "items are doubled after the partition"
        return len(starts), (max(starts, default=cut) - cut) / 1e6


@row("network partition under Sentinel", "items lost 0; with min-replicas-to-write, items are doubled "
     f"≤ {LONGEST_DOUBLE_S} s", alone=True)
def sentinel_partition(setup):
    count, last = partition(setup, "min-replicas-to-write 1", f"min-replicas-max-lag {LAG_S}")
    in_time(last <= LONGEST_DOUBLE_S, f"the last of {count} overlaps started after {last:.1f} s")
    figures = {"partition s": PARTITION_S, "overlaps": count, "last after s": round(last, 1)}
    if setup.scale > 1:
        without, last = partition(setup)
        # w8yd(8) documents this. If a later Redis prevents it, the manual must change too.
        assert last > PARTITION_S - 2, f"the last of {without} overlaps started after {last:.1f} s"
        figures |= {"without the setting": without, "then last after s": round(last, 1)}
    return figures


ROWS = [sentinel_partition]

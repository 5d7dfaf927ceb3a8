"""Feeds, sorted feeds, queues and jobs: clients that follow Thoonk's contract with WATCH, MULTI and
EXEC, the scripts of w8y, and w8yctl use one feed at the same time."""
import collections
import json
import pathlib
import random
import subprocess
import tempfile
import threading
import time

from matrix import row
from private_redis import Redis
from thoonk_client import Contract, Scripts

SECONDS = 2  # per kind of feed, at scale 1
ACTORS = (Contract, Scripts, Contract, Scripts)


class Race:
    """A server with one feed, and clients that change the feed until the time has passed."""

    def __init__(self, setup, kind, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="w8y-feeds-")
        self.redis = Redis(pathlib.Path(self.folder.name) / "redis")
        self.program = pathlib.Path(setup.bin) / "src/app/w8yctl"
        self.setup, self.group = setup, {"sorted_feed": "sorted"}.get(kind, kind)
        self.done = collections.Counter()
        self.failure = None
        self.ctl("feed", "create", "f", "--kind", kind, *options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.redis.kill()
        self.folder.cleanup()

    def ctl(self, *words, said=(0,), stdin=None):
        """Returns the output of w8yctl, or None if it exits with an allowed status other than 0."""
        ran = subprocess.run([self.program, "--redis-url", self.redis.url, *words], text=True,
                             capture_output=True, timeout=60, input=stdin, check=False)
        assert ran.returncode in said, f"{words}: {ran.returncode} {ran.stderr}"
        return ran.stdout if ran.returncode == 0 else None

    def run(self, act, by_hand):
        """Calls `act(client, random)` repeatedly, in one thread per client, and `by_hand(random)` in one more
        thread, which uses w8yctl."""
        self.end = time.monotonic() + SECONDS * self.setup.scale
        threads = [threading.Thread(target=self.guarded, args=(self.actor, number, kind, act))
                   for number, kind in enumerate(ACTORS)]
        threads.append(threading.Thread(target=self.guarded, args=(self.hand, by_hand)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failure:
            raise self.failure

    def guarded(self, what, *arguments):
        try:
            what(*arguments)
        except Exception as error:
            self.failure = self.failure or error
            self.end = 0

    def actor(self, number, kind, act):
        chance = random.Random(f"{self.setup.seed}-{number}")
        with self.redis.wire() as wire:
            client = kind(wire, "f")
            while time.monotonic() < self.end:
                act(client, chance)
                self.done[kind.__name__] += 1

    def hand(self, by_hand):
        chance = random.Random(f"{self.setup.seed}-hand")
        while time.monotonic() < self.end:
            by_hand(chance)
            self.done["w8yctl"] += 1

    def figures(self, **more):
        return {**{f"by {name}": count for name, count in sorted(self.done.items())}, **more}

    def both(self, command):
        """Returns the IDs, and asserts that they are the IDs of the items."""
        with self.redis.wire() as wire:
            ids = [each.decode() for each in wire.ask(command, "feed.ids:f", 0, -1)]
            items = {each.decode() for each in wire.ask("HKEYS", "feed.items:f")}
        assert len(ids) == len(set(ids)), f"ids that are there twice: {len(ids) - len(set(ids))}"
        assert set(ids) == items, (f"ids without item: {sorted(set(ids) - items)[:5]}, items "
                                   f"without id: {sorted(items - set(ids))[:5]}")
        return ids


PROMISE = "ids lost 0, ids without item 0, items without id 0"


@row("clients of the contract, scripts and w8yctl on a feed", PROMISE)
def race_feed(setup):
    with Race(setup, "feed") as race:
        kept, published = set(), collections.Counter()

        def act(client, chance):
            name = f"shared{chance.randrange(20)}"
            if chance.random() < 0.4:
                client.retract(name)
            elif chance.random() < 0.2:
                kept.add(client.publish("kept"))
                published["all"] += 1
            else:
                client.publish("x", name)
                published["all"] += 1

        def by_hand(chance):
            if chance.random() < 0.5:
                race.ctl("feed", "retract", "f", f"shared{chance.randrange(20)}", said=(0, 1))
            else:
                ids = race.ctl("feed", "publish", "f", "-", stdin="a\nb\n").split()
                kept.update(ids)
                published["all"] += 2

        race.run(act, by_hand)
        ids = race.both("ZRANGE")
        assert kept <= set(ids), f"lost: {len(kept - set(ids))}"
        # From now on at most 10 items are kept. Other clients may keep one less.
        race.ctl("feed", "config", "f", "max_length", "10")
        race.run(act, by_hand)
        left = len(race.both("ZRANGE"))
        assert left <= 10, f"{left} items, and max_length is 10"
        return race.figures(lost=0, kept=len(kept))


@row("clients of the contract, scripts and w8yctl on a sorted feed", PROMISE)
def race_sorted(setup):
    with Race(setup, "sorted_feed") as race:
        kept, others = set(), collections.deque(maxlen=50)

        def some(chance):
            return chance.choice(list(others) or ["0"])  # "0" is never an ID

        def act(client, chance):
            what = chance.random()
            if what < 0.2:
                client.retract_sorted(some(chance))
            elif what < 0.45:
                id_, other = some(chance), some(chance)
                where = chance.choice(("begin", "end", "before", "after"))
                if id_ != other:
                    client.move(where, id_, other if where in ("before", "after") else None)
            elif what < 0.55:
                client.edit(some(chance), "edited")
            else:
                where = chance.choice(("append", "prepend", "before", "after"))
                id_ = client.insert(where, "x",
                                    some(chance) if where in ("before", "after") else None)
                if id_ and what < 0.65:
                    kept.add(id_)
                elif id_:
                    others.append(id_)

        def by_hand(chance):
            if chance.random() < 0.5:
                race.ctl("sorted", "move", "f", chance.choice((":end", "begin:")), some(chance),
                         said=(0, 1))
            else:
                kept.update(race.ctl("sorted", "append", "f", "-", stdin="a\nb\n").split())

        race.run(act, by_hand)
        ids = race.both("LRANGE")
        assert kept <= set(ids), f"lost: {len(kept - set(ids))}"
        return race.figures(lost=0, kept=len(kept))


@row("clients of the contract, scripts and w8yctl on a queue", PROMISE + ", returned twice 0")
def race_queue(setup):
    with Race(setup, "queue") as race:
        put, got = [], []

        def act(client, chance):
            if chance.random() < 0.5:
                put.append(client.put("x", high=chance.random() < 0.3))
            else:
                taken = client.get()
                if taken:
                    assert taken[1] is not None, "an id without an item"
                    got.append(taken[0])

        def by_hand(chance):
            if chance.random() < 0.5:
                put.extend(race.ctl("queue", "put", "f", "-", stdin="a\nb\n").split())
            else:
                said = race.ctl("--json", "queue", "get", "f", said=(0, 1))
                if said:
                    got.append(json.loads(said)["id"])

        race.run(act, by_hand)
        race.both("LRANGE")
        with race.redis.wire() as wire:
            rest = Scripts(wire, "f")
            while taken := rest.get():
                got.append(taken[0])
            counted = int(wire.ask("GET", "feed.publishes:f"))
        race.both("LRANGE")
        assert len(got) == len(set(got)), "taken twice"
        assert set(got) == set(put), f"lost: {len(set(put) - set(got))}"
        assert counted == len(put), f"{counted} counted, {len(put)} put"
        return race.figures(put=len(put), lost=0, **{"taken twice": 0})


@row("clients of the contract, scripts and w8yctl on jobs", PROMISE + ", finished twice 0")
def race_jobs(setup):
    with Race(setup, "job") as race:
        put, finished, retracted, gone = [], [], [], []

        def worked(client, taken, chance):
            id_, item = taken
            if item is None:  # retracted between the two steps of the contract's claim
                gone.append(client.finish(id_, ""))
                return
            what = chance.random()
            if what < 0.6:
                if client.finish(id_, "result"):
                    finished.append(id_)
            elif what < 0.8:
                client.cancel(id_)
            else:
                client.stall(id_)

        def act(client, chance):
            what = chance.random()
            if what < 0.4:
                put.append(client.put("x", high=chance.random() < 0.3, job=True))
            elif what < 0.85:
                taken = client.claim()
                if taken:
                    worked(client, taken, chance)
            elif put and what < 0.9:
                id_ = chance.choice(put)
                if client.retract_job(id_):
                    retracted.append(id_)
            else:
                stalled = (client.keys if isinstance(client, Scripts) else client).ask(
                    "SRANDMEMBER", "feed.stalled:f")
                if stalled:
                    client.retry(stalled.decode())

        def by_hand(chance):
            if chance.random() < 0.5:
                put.extend(race.ctl("job", "put", "f", "-", stdin="a\nb\n").split())
            else:
                said = race.ctl("job", "get", "f", said=(0, 1))
                id_ = said and said.split()[0]
                if id_ and race.ctl("job", "finish", "f", id_, "r", said=(0, 1)) is not None:
                    finished.append(id_)

        race.run(act, by_hand)
        drain(race, finished)
        with race.redis.wire() as wire:
            left = wire.ask("KEYS", "feed.*")
            finishes = int(wire.ask("GET", "feed.finishes:f"))
        assert sorted(left) == [b"feed.config:f", b"feed.finishes:f", b"feed.publishes:f"], left
        assert len(finished) == len(set(finished)), "finished twice"
        assert set(finished).isdisjoint(retracted), "finished, and retracted"
        assert set(finished) | set(retracted) == set(put), (
            f"lost: {len(set(put) - set(finished) - set(retracted))}")
        assert finishes == len(finished) + sum(gone), f"{finishes} counted, {len(finished)} finished"
        return race.figures(put=len(put), retracted=len(retracted), lost=0,
                            **{"finished twice": 0, "retracted between two steps": len(gone)})


def drain(race, finished):
    """Finishes all remaining jobs. No client has left a claimed job."""
    with race.redis.wire() as wire:
        ours = Scripts(wire, "f")
        for id_ in wire.ask("SMEMBERS", "feed.stalled:f"):
            ours.retry(id_.decode())
        assert wire.ask("ZCARD", "feed.claimed:f") == 0, "claimed by nobody"
        ids = {each.decode() for each in wire.ask("HKEYS", "feed.items:f")}
        waiting = [each.decode() for each in wire.ask("LRANGE", "feed.ids:f", 0, -1)]
        assert len(waiting) == len(set(waiting)), "jobs that wait twice"
        assert ids <= set(waiting), f"items without id: {len(ids - set(waiting))}"
        # A cancel as in Thoonk's contract may enqueue the ID of a retracted job again. That ID has
        # no item.
        while taken := ours.claim():
            assert ours.finish(taken[0], "")
            finished.append(taken[0])
        wire.ask("DEL", "feed.published:f", "feed.cancelled:f")


ROWS = [race_feed, race_sorted, race_queue, race_jobs]

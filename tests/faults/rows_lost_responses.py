"""Producers whose responses are lost, between them and w8yd or between w8yd and Redis."""
import collections
import contextlib
import http.client
import json
import random
import threading
import time

from api_client import UnixConnection
from harness import World
from matrix import row
from proxy import Relay

PRODUCERS = 4
REQUESTS = 60  # of each producer, at scale 1
LIMIT_S = 60  # from a request to its first whole response
FEED = "thumbs"
# Bytes of replies after which a connection is closed. The start of a connection to Redis fits into the smallest number.
HTTP_BYTES, REDIS_BYTES = (0, 600), (6_000, 30_000)


class Cutter(Relay):
    """Relay that closes each connection after a random number of bytes of replies, while `active`."""

    def __init__(self, path, server, dice, limits):
        self.dice, self.limits = dice, limits
        self.active, self.cuts = True, 0
        super().__init__(path, server)

    def _begin(self):
        return (self.dice.randrange(*self.limits),)

    def _up(self, client, server, _):
        while data := client.recv(65536):
            server.sendall(data)

    def _down(self, client, server, left):
        while data := server.recv(65536):
            end = self._end(data, left) if self.active else None
            if end is not None:
                self.cuts += 1
                client.sendall(data[:end])
                return
            left = max(0, left - len(data))
            client.sendall(data)

    def _end(self, data, left):
        """Returns how many bytes the connection still forwards before it is closed, or None if it stays open."""
        return left if len(data) > left else None


class RedisCutter(Cutter):
    """Also closes connections within or before replies to requests of producers, which are few among all replies."""

    def _end(self, data, left):
        written = data.find(b"written")  # status of a request that was carried out, see lua/parts/request.lua
        if written >= 0 and self.dice.randrange(4) == 0:
            return self.dice.randrange(written + 7)
        return super()._end(data, left)


class Producer(threading.Thread):
    """Client that repeats each request with its key until it has a whole response."""

    def __init__(self, name, sockets, dice, requests):
        super().__init__()
        self.name, self.sockets, self.dice, self.requests = name, sockets, dice, requests
        self.items, self.jobs = [], {}  # jobs: payload -> ID
        self.repeated = collections.Counter()
        self.failure = None
        self.start()

    def run(self):
        try:
            for number in range(self.requests):
                words = [f"{self.name}r{number}n{i}" for i in range(self.dice.randrange(1, 4))]
                if self.dice.randrange(2):
                    # Without its record, a repetition would add the items again.
                    said = self.insist("/api/v1/lists/work/items", {"items": words, "allow_duplicates": True}, words[0])
                    assert said["added"] == len(words), said
                    self.items += words
                else:
                    said = self.insist(f"/api/v1/feeds/{FEED}/jobs", {"jobs": [{"payload": word} for word in words]},
                                       words[0])
                    assert said["added"] == len(words), said
                    self.jobs |= {word: job["id"] for word, job in zip(words, said["jobs"])}
        except Exception as failure:
            self.failure = failure

    def insist(self, path, body, key):
        end = time.monotonic() + LIMIT_S
        while True:
            status, said = self.ask(path, body, key)
            if status == 200:
                return said
            assert status in (None, 503), f"{path}: {status} {said}"
            assert time.monotonic() < end, f"{path}: no response within {LIMIT_S} s: {status} {said}"
            self.repeated["truncated" if status is None else said.get("applied", "503")] += 1
            time.sleep(0.01)

    def ask(self, path, body, key):
        """Returns the status and the JSON of a response, or None twice if it was truncated."""
        with contextlib.closing(UnixConnection(self.dice.choice(self.sockets))) as connection:
            try:
                connection.request("POST", path, json.dumps(body),
                                   {"Content-Type": "application/json", "Idempotency-Key": key})
                response = connection.getresponse()
                return response.status, json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                return None, None


@row("responses of w8yd to producers and replies of Redis to w8yd are truncated; each request is repeated with its key",
     "each item and job exists once", sanitized=True)
def lost_responses(setup):
    with World(setup) as world, contextlib.ExitStack() as relays:
        redis = world.redis

        def relay(kind, name, server, limits):
            dice = random.Random(f"{setup.seed}-{name}")
            return relays.enter_context(contextlib.closing(kind(world.home / name, server, dice, limits)))

        config = world.list_config(work_ms=5, concurrency=2, witness=False) + f'[lists.{FEED}]\nsource = "job"\n' \
            'command = ["true"]\nenabled = false\n'
        to_redis, to_hosts = [], []
        for name in ("h1", "h2"):
            to_redis.append(relay(RedisCutter, f"{name}.redis", redis.socket, REDIS_BYTES))
            host = world.host(name, config, how={"url": to_redis[-1].url})
            to_hosts.append(relay(Cutter, f"{name}.http", host.home / "w8yd.sock", HTTP_BYTES))
        producers = [Producer(f"p{number}", [each.path for each in to_hosts],
                              random.Random(f"{setup.seed}-p{number}"), REQUESTS * setup.scale)
                     for number in range(PRODUCERS)]
        for producer in producers:
            producer.join()
        for each in to_redis:
            each.active = False
        for producer in producers:
            if producer.failure:
                raise producer.failure
        world.stop()
        world.check_items(item for producer in producers for item in producer.items)
        check_jobs(redis, {payload: job for producer in producers for payload, job in producer.jobs.items()})
        repeated = sum((producer.repeated for producer in producers), collections.Counter())
        cuts = {"truncated responses": sum(each.cuts for each in to_hosts),
                "truncated replies": sum(each.cuts for each in to_redis)}
        assert all(cuts.values()), f"nothing was truncated: {cuts}"
        assert repeated["unknown"], "no request was in doubt"
        return {"requests": PRODUCERS * REQUESTS * setup.scale, **cuts, "repeated": sum(repeated.values()),
                "in doubt": repeated["unknown"], "runs": len(world.runs()), "lost": 0, "twice": 0}


def check_jobs(redis, jobs):
    """Asserts that the feed has exactly these jobs, each queued once."""
    fields = [word.decode() for word in redis.ask("HGETALL", f"feed.items:{FEED}")]
    found = collections.Counter(fields[1::2])
    assert set(found) == set(jobs), f"jobs: {sorted(set(found) ^ set(jobs))}"
    assert max(found.values()) == 1, f"jobs doubled: {found}"
    assert dict(zip(fields[1::2], fields[::2])) == jobs, "a response has other IDs than the feed"
    queued = collections.Counter(word.decode() for word in redis.ask("LRANGE", f"feed.ids:{FEED}", 0, -1))
    assert queued == collections.Counter(jobs.values()), "a job is not queued once"
    assert int(redis.ask("GET", f"feed.publishes:{FEED}")) == len(jobs), "a job was put twice"


ROWS = [lost_responses]

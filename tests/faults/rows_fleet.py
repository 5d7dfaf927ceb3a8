"""Invalid data of other clients in the fleet's keys and on its channel, while hosts run items."""
import contextlib
import json
import os
import random
import threading
import time

from api_client import UnixConnection
from harness import Host, World, wait_for
from matrix import in_time, row

KEY_EXPIRY_S = 2
SECONDS = 3
FLEET = "w8y-fleet"
SIMULATED = 1000


def ask(host, path):
    """Returns the status and the JSON of a response."""
    connection = UnixConnection(f"{host.home}/w8yd.sock")
    with contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def simulated_beat(dice, number):
    good = {"format": 1, "host": f"sim{number}", "pid": 1, "version": "9", "state": "running", "config_hash": "f",
            "generation": 1, "applied_ms": 1, "started_ms": 1, "lists_version": 1}
    kind = dice.randrange(4)
    if kind == 0:
        return json.dumps({**good, "host": 7, "state": ["x"], "applied_ms": -1e300})
    if kind == 1:
        return "[" * 5000
    return json.dumps(good) if kind == 2 else os.urandom(2000)


def garbage_orders(dice):
    deep = "[" * 1000
    return [os.urandom(dice.randrange(1, 3000)), deep, "x" * 100_000, "null", '{"id": 3}',
            json.dumps({"id": "a", "command": "explode"}),
            json.dumps({"id": "../../" + "x" * 500, "command": "cancel", "run": deep}),
            json.dumps({"id": "b", "command": "cancel", "host": "nobody", "run": "01"})]


def spoil(redis, dice, over):
    """Writes values of all types to the keys of the fleet until `over`, like another client."""
    with redis.wire() as wire:
        # Simulated hosts, as many as a fleet may have.
        now = int(time.time() * 1000)
        for number in range(SIMULATED):
            wire.ask("ZADD", f"{FLEET}:hosts", now, f"sim{number}-00000000")
            wire.ask("SET", f"{FLEET}:host:sim{number}-00000000", simulated_beat(dice, number),
                     "EX", 60)
        while not over.is_set():
            hosts = [name.decode(errors="replace") for name in
                     wire.ask("ZRANDMEMBER", f"{FLEET}:hosts", 5) or []]
            for name in hosts:
                key = f"{FLEET}:{dice.choice(['host', 'lists'])}:{name}"
                wire.ask("DEL", key)
                wire.ask(*dice.choice([("RPUSH", key, "x"), ("SET", key, "x"),
                                       ("HSET", key, "work", "{"), ("SADD", key, "x")]))
            for order in garbage_orders(dice):
                wire.ask("PUBLISH", f"{FLEET}:control", order)
            time.sleep(0.02)
        # For half a second, the key of the host set has a wrong type.
        wire.ask("DEL", f"{FLEET}:hosts")
        wire.ask("SET", f"{FLEET}:hosts", "x")
        time.sleep(0.5)
        for key in wire.ask("KEYS", f"{FLEET}:*"):
            wire.ask("DEL", key)


def keep_asking(hosts, over, statuses):
    while not over.is_set():
        for host in hosts:
            for path in ("/api/v1/fleet", "/api/v1/fleet/runs", "/api/v1/status"):
                statuses.append(ask(host, path)[0])


def seen(host):
    status, answer = ask(host, "/api/v1/fleet?lists=no")
    return sorted(one["host"] for one in answer["hosts"] if one["state"] == "running") \
        if status == 200 else []


@row("invalid data in the fleet's keys and on its channel, 1,000 simulated hosts, two with one name",
     "items lost 0, overlaps 0, leases lost 0; the fleet is shown again", sanitized=True)
def fleet_garbage(setup):
    dice = random.Random(setup.seed)
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(12)])
        settings = dict(work_ms=900, concurrency=3, key_expiry=f"{KEY_EXPIRY_S}s")
        hosts = [world.host("h0", **settings), world.host("h1", **settings)]
        twin = Host(world, "twin", world.list_config(**settings))
        twin.config.write_text(twin.config.read_text().replace('"twin"', '"h0"'))
        world.hosts.append(twin)
        twin.start()
        hosts.append(twin)
        world.wait_runs(9)
        over, statuses = threading.Event(), []
        threads = [threading.Thread(target=spoil, args=(world.redis, dice, over)),
                   threading.Thread(target=keep_asking, args=(hosts, over, statuses))]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS * setup.scale)
        over.set()
        for thread in threads:
            thread.join()
        wait_for(lambda: seen(hosts[1]) == ["h0", "h0", "h1"], what="the fleet to be seen again")
        world.wait_runs(9)
        states = [ask(host, "/api/v1/status")[1] for host in hosts]
        world.stop()
        world.check_items(items)
        overlaps = world.overlaps()
        assert not overlaps, overlaps
        lost = sum(state["here"]["leases_lost"] for state in states)
        margin = min(state["redis"]["min_lease_margin_ms"] for state in states
                     if state["redis"]["min_lease_margin_ms"] is not None)
        assert set(statuses) <= {200, 404, 409, 503}, set(statuses)
        in_time(lost == 0, f"{lost} leases lost")
        in_time(margin >= KEY_EXPIRY_S * 1000 / 3, f"a lease had {margin} ms left")
        return {"runs": world.record.count, "answers": len(statuses), "items lost": 0,
                "overlaps": 0, "leases lost": lost, "least margin ms": margin}


ROWS = [fleet_garbage]

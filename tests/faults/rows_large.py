"""Items so large that they could block a host, and their effect on other lists."""
import base64
import json
import time

from harness import World, now_us, signal, wait_for
from matrix import in_time, row

KIB = 1024
MIB = 1024 * KIB
# Redis may take a second for an item of 16 MiB. Only a longer pause is an outage.
QUICK = {"redis": 'command_timeout = "2s"'}
OUTAGE_S = 3


def fill(world, prefix, items, size, name="i"):
    """Adds "i1:xxx…", "i2:xxx…", … to a list. A script on the server creates the items."""
    world.redis.ask("EVAL", "for i = 1, ARGV[1] do local name = ARGV[3] .. i .. ':' "
                    "redis.call('RPUSH', KEYS[1], name .. string.rep('x', ARGV[2] - #name)) end",
                    1, f"{prefix}:list", items, size, name)


def counted(world, prefix):
    """Returns the number of items of a list, their bytes, and the number of duplicates."""
    return world.redis.ask(
        "EVAL", "local items, bytes, seen, twice = redis.call('LRANGE', KEYS[1], 0, -1), 0, {}, 0 "
        "for i = 1, #items do bytes = bytes + #items[i] "
        "if seen[items[i]] then twice = twice + 1 end seen[items[i]] = true end "
        "return {#items, bytes, twice}", 1, f"{prefix}:list")


def runs_of(world, name):
    return sum(1 for run in world.runs() if run.item.startswith(name))


def rate(world, name, seconds):
    before, began = runs_of(world, name), time.monotonic()
    time.sleep(seconds)
    return (runs_of(world, name) - before) / (time.monotonic() - began)


def go_on(world, since, names, limit):
    """Returns the seconds until an item of each kind has started again."""
    def all_again():
        runs = world.runs_since(since)
        return all(any(run.item.startswith(name) for run in runs) for name in names)

    wait_for(all_again, limit, f"{names} to run again")
    return (now_us() - since) / 1e6


def rates(world):
    """Returns the rate of small items while the list of large items is paused, and beside its runs."""
    world.redis.ask("SET", "big:paused", "a measurement")
    wait_for(lambda: world.redis.ask(
        "EVAL", "local runs = 0 for _, lock in ipairs(redis.call('KEYS', 'big:lock:*')) do "
        "if redis.call('GETRANGE', lock, 0, 3) == 'run:' then runs = runs + 1 end end return runs", 0) == 0,
        what="no run of a large item")
    alone = rate(world, "s", 1)
    world.redis.ask("DEL", "big:paused")
    go_on(world, now_us(), ("b",), 20)
    return alone, rate(world, "s", 2)


def large_config(world, items):
    return (world.list_config("big", work_ms=20, concurrency=items, key_expiry="20s")
            + world.list_config("small", work_ms=10, concurrency=2, key_expiry="20s"))


@row("items of 600 KiB and 16 MiB: lost replies, outage, SIGKILL",
     "work continues before key_expiry; items lost 0; other lists ≥ half of their rate",
     alone=True, limit=150)
def large_items(setup):
    items = 12 if setup.scale == 1 else 300
    pauses = []
    with World(setup) as world:
        world.fill([f"s{i}" for i in range(20)], "small")
        host = world.host("one", large_config(world, items), how=QUICK)
        alone = (wait_for(lambda: runs_of(world, "s") > 10, what="small items"),
                 rate(world, "s", 1))[1]
        fill(world, "big", items, 600 * KIB, "b")
        fill(world, "big", 1 if setup.scale == 1 else 3, 16 * MIB, "m")
        fill(world, "big", 1, 17 * MIB, "huge")
        before = counted(world, "big")
        names = ("b", "m", "s")
        go_on(world, now_us(), names, 20 * setup.scale)
        beside = rate(world, "s", 2)
        # Other programs on a busy machine change both rates, so both are measured again together.
        for _ in range(4):
            if beside > alone / 2:
                break
            alone, beside = rates(world)
        for _ in range(setup.scale):
            # Data in flight is lost: in most cases, the reply to a claim.
            world.redis.signal(signal.SIGSTOP)
            time.sleep(OUTAGE_S)
            back = now_us()
            world.redis.signal(signal.SIGCONT)
            pauses.append(go_on(world, back, ("b", "s"), 15))
        for _ in range(setup.scale):
            host.kill()
            wait_for(lambda: not world.children(), what="no children")
            world.redis.ask("EVAL", "for _, name in ipairs(redis.call('KEYS', '*:lock:*')) do "
                            "if redis.call('PTTL', name) > 0 then redis.call('DEL', name) end end",
                            0)
            host.start()
            go_on(world, now_us(), ("b", "s"), 15)
        parked = [line for line in host.log().splitlines() if "item quarantined: longer than 16 MiB" in line]
        world.stop()
        assert counted(world, "big") == before, f"items: {before}, {counted(world, 'big')}"
        assert before[2] == counted(world, "big")[2] == 0, "items doubled"
        assert len(parked) == 1, f"{len(parked)} log lines about the item that is too long"
        assert runs_of(world, "huge") == 0, "an item that is too long was run"
        assert not world.overlaps(), world.overlaps()
        in_time(max(pauses) < 15, f"work went on after {max(pauses)} s")
        in_time(beside > alone / 2, f"{beside:.0f} small runs/s beside large ones, {alone:.0f} alone")
        return {"large items": items, "runs": world.record.count, "items lost": 0, "overlaps": 0,
                "longest pause s": round(max(pauses), 2),
                "small runs/s": f"{beside:.0f} beside, {alone:.0f} alone"}


@row("a burst of settlements of 64 KiB items after an outage", "all settled; at most one connection lost",
     alone=True)
def burst_of_ends(setup):
    items = 100 if setup.scale == 1 else 400
    with World(setup) as world:
        fill(world, "big", items, 64 * KIB, "b")
        host = world.host("one", world.list_config(
            "big", work_ms=1500, witness=False, concurrency=items, key_expiry="60s",
            cooldown="60s"), how=QUICK)
        wait_for(lambda: runs_of(world, "b") == items, what="all to run")
        size = host.log_size()
        world.redis.signal(signal.SIGSTOP)
        wait_for(lambda: all(run.end for run in world.runs()), what="all to end")
        time.sleep(OUTAGE_S)
        back = now_us()
        world.redis.signal(signal.SIGCONT)
        wait_for(lambda: world.record_count("big") == items, what="all settled")
        took = (now_us() - back) / 1e6
        lost = [line for line in host.complaints(size) if "answer" in line or "read" in line]
        assert counted(world, "big")[0] == items
        assert len(lost) <= 1, lost
        world.stop()
        assert not world.overlaps(), world.overlaps()
        return {"ends": items, "settled s": round(took, 2), "connections lost": len(lost)}


@row("SIGKILL of redis-server (AOF) while items of 600 KiB and 16 MiB are in flight",
     "items lost 0, overlaps 0; work continues", alone=True)
def kill_redis_large(setup):
    with World(setup, "--appendonly", "yes", "--appendfsync", "no") as world:
        world.fill([f"s{i}" for i in range(20)], "small")
        fill(world, "big", 12, 600 * KIB, "b")
        fill(world, "big", 1, 16 * MIB, "m")
        before = counted(world, "big")
        world.host("one", large_config(world, 12), how=QUICK)
        go_on(world, now_us(), ("b", "m", "s"), 20)
        pauses = []
        for _ in range(2 * setup.scale):
            # Redis has received a long item, and others are in flight.
            carried = int(world.redis.info("total_net_input_bytes"))
            wait_for(lambda: int(world.redis.info("total_net_input_bytes")) > carried + 4 * MIB,
                     what="long items on their way")
            world.redis.kill()
            world.redis.start()
            back = now_us()
            pauses.append(go_on(world, back, ("b", "s"), 20))
        world.stop()
        assert counted(world, "big") == before, f"items: {before}, {counted(world, 'big')}"
        assert not world.overlaps(), world.overlaps()
        return {"kills": len(pauses), "runs": world.record.count, "items lost": 0, "overlaps": 0,
                "longest pause s": round(max(pauses), 2)}


MEASURE = """#!/usr/bin/env python3
import base64, json, os, sys
if sys.argv[-1] == "--caps":
    print(json.dumps({"type": "caps", "caps": ["single", "stream"]}))
elif "--stream" in sys.argv:
    for line in sys.stdin:
        item = json.loads(line)
        data = (item["item"].encode() if "item" in item
                else base64.b64decode(item["item_base64"]))
        print(json.dumps({"type": "complete", "id": item["id"], "bytes": len(data)}), flush=True)
else:
    print(json.dumps({"type": "complete", "bytes": len(sys.stdin.buffer.read()),
                      "variable": "W8Y_ITEM" in os.environ}))
"""


@row("items of 16 MiB in each way to run them", "complete, or refused as an argument", alone=True)
def long_items_each_way(setup):
    with World(setup) as world:
        program = world.home / "measure"
        program.write_text(MEASURE)
        program.chmod(0o755)
        ways = {"single": f'executor = "{program}"\nmode = "single"',
                "stream": f'executor = "{program}"\nmode = "stream"',
                "whole": 'command = ["true"]', "argument": 'command = ["true", "{}"]'}
        for name in ways:
            for byte in (b"x", b"\x01", b"\xff")[:1 if setup.scale == 1 else 3]:
                world.redis.ask("EVAL", "redis.call('RPUSH', KEYS[1], string.rep(ARGV[1], ARGV[2]))",
                                1, f"{name}:list", byte, 16 * MIB)
        world.host("one", "".join(
            f'[lists.{name}]\n{how}\nkey_expiry = "60s"\ncooldown = "60s"\n'
            f'backoff = {{ min = "60s", max = "60s" }}\n' for name, how in ways.items()))
        told = {}
        for name in ways:
            wait_for(lambda name=name: world.record_count(name)
                     == world.redis.ask("LLEN", f"{name}:list"), 60, f"runs of {name}")
            told[name] = world.records(name)[0]
            assert told[name]["item_length"] == 16 * MIB, told[name]
            shown = told[name].get("item_base64")
            start = base64.b64decode(shown) if shown else told[name]["item"].encode()
            assert len(start) <= 4096
        result = json.dumps(told["single"]["result"])
        assert '"bytes": 16777216, "variable": false' in result, told["single"]
        assert '"bytes": 16777216' in json.dumps(told["stream"]["result"]), told["stream"]
        assert told["whole"]["outcome"] == "succeeded", told["whole"]
        assert told["argument"]["outcome"] == "failed", told["argument"]
        return {name: entry["outcome"] for name, entry in told.items()}


STALL_S = 6


@row("run records of 4 MiB in 20 lists of four hosts; replies are withheld for 6 s",
     "90 % of the rate ≤ 10 s; history ≤ history_bytes", alone=True, limit=240)
def large_records(setup):
    lists = [f"l{n}" for n in range(20)]
    with World(setup) as world:
        for name in lists:
            world.fill([f"{name}-{i}" for i in range(2)], name)
        config = "".join(world.list_config(
            name, work_ms=1000, say=4 * MIB, witness=False, stderr_tail="4MiB", keep_output=True,
            key_expiry="30s") for name in lists)
        for name in "abcd":
            world.host(name, config)
        wait_for(lambda: world.record.read().count > 4 * len(lists), 60, "runs")

        def rate_of(runs):
            began = time.monotonic()
            world.wait_runs(runs)
            return runs / (time.monotonic() - began)

        rate = rate_of(8 * len(lists))
        world.redis.signal(signal.SIGSTOP)
        time.sleep(STALL_S)
        world.redis.signal(signal.SIGCONT)
        back, later = time.monotonic(), 0
        while later < 0.9 * rate and time.monotonic() - back < 60:
            later = rate_of(2 * len(lists))
        took = time.monotonic() - back
        kept = [sum(len(entry) for entry in world.redis.ask("LRANGE", f"{name}:runs", 0, -1))
                for name in lists]
        world.stop()
        assert max(kept) <= 16 * MIB, f"a history of {max(kept)} bytes"
        assert min(kept) > 4 * MIB, f"a history of {min(kept)} bytes"
        in_time(later >= 0.9 * rate and took <= 10, f"{later:.1f} of {rate:.1f} runs/s after {took:.0f} s")
        return {"runs/s": round(rate, 1), "90 % of it after s": round(took, 1),
                "largest history MiB": round(max(kept) / MIB, 1)}


ROWS = [large_records, large_items, burst_of_ends, kill_redis_large, long_items_each_way]

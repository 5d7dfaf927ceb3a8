"""The fixed world of recorded_world.py: a config, and the keys in Redis, as of NOW_S."""
import json

NOW_S = 1_764_000_000  # 2025-11-24 16:00:00 UTC, when the world starts
NOW_MS = NOW_S * 1000
DAY_S = 86_400

CONFIG = """[redis]
url = "@REDIS@"

[supervisor]
host = "web1"
status = ["unix:@DIR@/w8yd.sock"]
host_concurrency = 10

[lists.films]
command = ["true"]
concurrency = 3
fleet_concurrency = 1
cooldown = "5m"
max_failures = 5
overdue_after = "1h"

[lists.paused]
command = ["true"]

[lists.no-program]
command = ["/nonexistent/program"]

[lists.mix]
source = "schedule"
queues = "A:B"
command = ["true"]

[lists.encode]
source = "job"
command = ["true"]
"""

# ULIDs of runs that started before NOW_S. The last one is active on web2.
RUNS = ["01KAV5WDM0APPLE0000000000A", "01KAV5SV00BANANA000000000B", "01KAV4Q2M0CHERRY000000000C",
        "01KAV6C000ACTVE0000000000D"]


def record(number, item, outcome, ago_s, **more):
    return json.dumps({
        "entered_ms": NOW_MS - ago_s * 1000, "type": "end", "list": "films", "run": RUNS[number], "item": item,
        "host": "web2", "time_ms": NOW_MS - ago_s * 1000, "outcome": outcome, "duration_ms": 1250, "attempt": 1,
        "fence": 1000 + number, **more}, separators=(",", ":"))


HISTORY = [
    record(0, "apple", "succeeded", 90, exit=0, result={"data": {"n": 1}}),
    record(1, "banana", "failed", 150, exit=3, attempt=2, reason="HTTP 503 from upstream",
           stderr="Traceback\nHTTP 503 from upstream\n"),
    record(2, "damson", "crashed", 1230, signal="SIGSEGV", attempt=5),
]


def heartbeat(host, state, **more):
    return json.dumps({
        "format": 1, "host": host, "pid": 4711, "version": "0.1.0", "state": state, "started_ms": NOW_MS - DAY_S * 1000,
        "config_hash": "0123456789abcdef" * 4, "generation": 2, "applied_ms": NOW_MS - 3_600_000,
        "processors": 4, "slots_used": 1, "slots_limit": 8, "lease_margin_ms": 3300,
        "min_lease_margin_ms": 3200, "lists_version": 1} | more, separators=(",", ":"))


def list_report(state, **more):
    return json.dumps({
        "state": state, "reason": "", "program": "/usr/bin/true", "caps": [], "executor_version": "",
        "running": 0, "concurrency": 3, "fleet_concurrency": 0, "weight": 1, "enabled": True} | more,
        separators=(",", ":"))


def fill(wire):
    ask = wire.ask
    ask("RPUSH", "films:list", "apple", "banana", "cherry", "damson", "elder", b"\xff\x00x", "twice",
        "twice", "long " + "x" * 5000)
    ask("SET", "films:lock:banana", "delay:backoff", "PX", 2_730_000)
    ask("SET", "films:lock:cherry", f"run:web2:4711:{RUNS[3]}", "PX", 1_830_000)
    ask("SET", "films:lock:damson", f"quarantine:{RUNS[2]}")
    ask("SET", "films:lock:elder", "another's")
    ask("HSET", "films:failures", "banana", 2, "damson", 5)
    ask("HSET", "films:quarantined", "damson", json.dumps({
        "run": RUNS[2], "by": "w8yd on web2", "reason": "crashed: SIGSEGV; 5 failures in a row",
        "time_ms": NOW_MS - 1_230_000}))
    ask("ZADD", "films:slots", NOW_MS + 1_830_000, RUNS[3])
    ask("SET", "films:fence", NOW_MS * 1000)
    ask("RPUSH", "films:runs", HISTORY[0])
    ask("RPUSH", "films:failed-runs", *HISTORY[1:])
    ask("HSET", "films:kept-runs", "damson", HISTORY[2])
    ask("RPUSH", "paused:list", "one", "two")
    ask("SET", "paused:paused", "new disks (by alice on web2 since 2025-11-24T15:00:00Z)")
    ask("RPUSH", "no-program:list", "one")
    ask("RPUSH", "loose:list", "a", "b", "a")

    ask("SET", "mix-control", "HALT")
    ask("SET", "mix:halted", "alice on web2")
    for job, schedule, status in (
            ("backup:A", "DTSTART:20250101T030000Z\nRRULE:FREQ=DAILY", "TML"),
            ("broken:A", "FREQ=DALY", "BAD"), ("dead:B", "CONTINUE", "DIE"), ("stopped:B", "STOP", "STP"),
            ("waiting:A", "CONTINUE", "ENQ")):
        ask("HSET", "mix-schedules", job, schedule)
        ask("HSET", "mix-statuses", job, f"{status}:{NOW_S - 3600}")
    ask("ZADD", "mix-timeline", NOW_S + 39_600, "backup:A")
    ask("LPUSH", "mix-work-A", "waiting:A")
    ask("SADD", "mix-work-A-members", "waiting:A")

    ask("SADD", "feeds", "news", "ranking", "mails", "encode")
    for feed, kind in (("news", "feed"), ("ranking", "sorted_feed"), ("mails", "queue"), ("encode", "job")):
        ask("HSET", f"feed.config:{feed}", "type", kind)
    ask("ZADD", "feed.ids:news", NOW_MS - 2_000_000, "1", NOW_MS - 1_000_000, "2")
    ask("HSET", "feed.items:news", "1", "first", "2", b"second \xff")
    ask("RPUSH", "feed.ids:ranking", "1", "2", "3")
    ask("HSET", "feed.items:ranking", "1", "gold", "2", "silver", "3", "bronze")
    ask("SET", "feed.idincr:ranking", 3)
    ask("LPUSH", "feed.ids:mails", "m1", "m2")
    ask("HSET", "feed.items:mails", "m1", "to alice", "m2", "to bob")
    ask("SET", "encode:paused", "no space left")
    ask("HSET", "feed.items:encode", "job1", "waits", "job2", "is claimed", "job3", "is stalled")
    ask("LPUSH", "feed.ids:encode", "job1")
    ask("ZADD", "feed.claimed:encode", NOW_MS - 330_000, "job2")
    ask("SADD", "feed.stalled:encode", "job3")
    ask("HSET", "feed.cancelled:encode", "job3", 3)
    ask("ZADD", "feed.published:encode", *(word for i in (1, 2, 3) for word in (NOW_MS - i * 630_000, f"job{i}")))

    # web2 replies (Web2 in recorded_world.py); web3 is unresponsive.
    ask("ZADD", "w8y-fleet:hosts", NOW_MS + 30_000, "web2-00000002", NOW_MS - 28_000, "web3-00000003")
    ask("SET", "w8y-fleet:host:web2-00000002", heartbeat("web2", "running"))
    ask("SET", "w8y-fleet:host:web3-00000003", heartbeat("web3", "quiet"))
    ask("HSET", "w8y-fleet:lists:web2-00000002", "films", list_report("running", running=1, fleet_concurrency=1),
        "paused", list_report("paused", reason="new disks"), "mix", list_report("idle"))
    ask("HSET", "w8y-fleet:lists:web3-00000003", "films", list_report("ineligible", reason="true: not found"))

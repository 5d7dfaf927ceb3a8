"""Reads /metrics and compares the values with runs and Redis."""
import collections
import re
import shutil
import subprocess
import sys
import time

from api_client import UnixConnection


def ask(method="GET"):
    connection = UnixConnection("w8yd.sock")
    connection.request(method, "/metrics")
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


SAMPLE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def scrape():
    samples = {}
    for line in ask()[1].splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        samples[(name, frozenset(LABEL.findall(labels or "")))] = float(value)
    return samples


def value(samples, name, **labels):
    return samples.get((name, frozenset(labels.items())))


def until(what, fact):
    """Waits until the condition holds, and returns the samples for which it does."""
    end = time.monotonic() + 60
    while True:
        samples = scrape()
        if fact(samples):
            return samples
        if time.monotonic() > end:
            raise SystemExit(f"gave up waiting for: {what}\n" + ask()[1])
        time.sleep(0.1)


def redis(*words):
    command = ["redis-cli", "-s", "redis.sock", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def check(fact, what):
    print("ok" if fact else "NOT OK", what)


NAMES = """build_info config_info runs_total run_duration_seconds runs_active slots_used slots_limit list_state items
cycle_seconds longest_wait_seconds claims_total claim_duration_seconds leases lease_margin_seconds
leases_lost_total schedule_lateness_seconds schedule_due redis_up redis_rtt_seconds redis_commands_total
redis_bytes_total loop_lag_seconds settlements_pending reloads_total probe_duration_seconds
spawn_failures_total child_output_lines_total child_output_dropped_total fleet_hosts
fleet_hosts_outdated fleet_hosts_unresponsive reload_last_success list_last_success_timestamp_seconds
list_slots_needed""".split()


def begin():
    answer, body = ask()
    check(answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8", "its type")
    missing = [name for name in NAMES if f"# TYPE w8y_{name} " not in body]
    check(not missing, f"every metric is there from the beginning {missing or ''}".strip())
    head, none = ask("HEAD")
    check(head.status == 200 and none == "" and int(head.getheader("Content-Length")) > 0, "HEAD")
    samples = scrape()
    for name, labels in (
        ("w8y_reloads_total", {"result": "applied"}),
        ("w8y_reloads_total", {"result": "failed"}),
        ("w8y_spawn_failures_total", {"reason": "shortage"}),
    ):
        check(value(samples, name, **labels) == 0, f"{name} is 0 {labels}")
    check(value(samples, "w8y_redis_up") == 1, "Redis is up")
    check(value(samples, "w8y_slots_limit") == 7, "slots have a limit")
    check(value(samples, "w8y_reload_last_success") == 1, "no reload has failed")
    check(value(samples, "w8y_fleet_hosts_unresponsive") == 0, "no host is unresponsive")
    check(value(samples, "w8y_fleet_hosts") == 1, "one host")
    check(value(samples, "process_resident_memory_bytes") > 1e6, "a process has memory")
    check(abs(value(samples, "process_start_time_seconds") - time.time()) < 600, "and a start")


def alive():
    def ran(samples):
        return (
            (value(samples, "w8y_runs_total", list="ring", outcome="succeeded") or 0) > 12
            and value(samples, "w8y_cycle_seconds", list="ring") is not None
            and value(samples, "w8y_list_slots_needed", list="ring") is not None
            and value(samples, "w8y_list_slots_needed", list="empty") is not None
            and value(samples, "w8y_items", list="bad", state="quarantined") == 1
            and value(samples, "w8y_runs_total", list="mix", outcome="succeeded") == 1
            and value(samples, "w8y_runs_total", list="jobs", outcome="succeeded") == 1
            and value(samples, "w8y_items", list="jobs", state="queued") == 0
            and value(samples, "w8y_items", list="mix", state="queued") == 0
        )

    samples = until("runs of all kinds", ran)
    check(True, "runs of all kinds, and their items")
    # All six items run, two at a time, for at least 50 ms each.
    check(value(samples, "w8y_cycle_seconds", list="ring") >= 0.1, "a cycle is as long as its runs")
    check(value(samples, "w8y_overdue_after_seconds", list="ring") == 0.05, "overdue_after")
    check(value(samples, "w8y_schedule_lateness_seconds_count", list="mix") >= 1, "how late a job was")
    lists = collections.defaultdict(set)
    for name, labels in samples:
        for label, of in labels:
            if label == "list":
                lists[of].add(name)
    check(lists["never ran"] == {"w8y_list_state"}, "a list that never ran has only its state")
    states = collections.defaultdict(list)
    for (name, labels), sample in samples.items():
        if name == "w8y_list_state":
            states[dict(labels)["list"]].append(sample)
    check(len(states) == 6 and all(sorted(each) == [0] * 11 + [1] for each in states.values()),
          "a list is in one state, and the other states are 0")
    # Six items of at least 50 ms each, within 50 ms.
    check(value(samples, "w8y_list_slots_needed", list="ring") >= 6, "slots that a list needs")
    check(value(samples, "w8y_list_slots_needed", list="empty") == 0, "an empty list needs no slot")
    last = value(samples, "w8y_list_last_success_timestamp_seconds", list="ring")
    check(abs(last - time.time()) < 600, "the time of the last success")
    check(value(samples, "w8y_list_last_success_timestamp_seconds", list="bad") is None,
          "none of a list without a success")
    bounds = [float(dict(labels)["le"]) for name, labels in samples
              if name == "w8y_run_duration_seconds_bucket" and ("list", "ring") in labels]
    check(sorted(bounds)[0] == 0.005 and sorted(bounds)[-2:] == [3600, float("inf")],
          "buckets from 5 ms to 1 hour")


def quiet():
    def still(samples):
        return (
            value(samples, "w8y_runs_active", list="ring") == 0
            and value(samples, "w8y_settlements_pending") == 0
            and value(samples, "w8y_slots_used") == 0
        )

    samples = until("the end of all runs", still)
    runs = int(redis("LLEN", "ring:runs"))
    of_ring = {
        outcome: value(samples, "w8y_runs_total", list="ring", outcome=outcome)
        for outcome in ("succeeded", "failed", "crashed", "timed_out", "cancelled", "lost")
    }
    check(of_ring["succeeded"] == runs, "as many runs as the history has")
    check(sum(of_ring.values()) == runs, "and no others")
    check(value(samples, "w8y_run_duration_seconds_count", list="ring") == runs, "each with its time")
    check(value(samples, "w8y_run_duration_seconds_sum", list="ring") >= 0.05 * runs, "that it took")
    lines = {
        stream: value(samples, "w8y_child_output_lines_total", list="ring", stream=stream)
        for stream in ("stdout", "stderr")
    }
    check(lines == {"stdout": 2 * runs, "stderr": runs}, "each with its lines")
    check(value(samples, "w8y_runs_total", list="bad", outcome="failed") == 1, "one has failed")
    check(value(samples, "w8y_claims_total", list="ring", result="claimed") > 0, "claims")
    items = {
        state: value(samples, "w8y_items", list="ring", state=state)
        for state in ("free", "running", "delayed", "quarantined")
    }
    check(sum(items.values()) == int(redis("LLEN", "ring:list")), "as many items as Redis has")
    claims = value(samples, "w8y_redis_commands_total", command="claim")
    check(claims is not None and claims > 0, "commands by kind")
    check(value(samples, "w8y_redis_bytes_total", direction="out") > 1000, "bytes")
    check_with_promtool()

    def commands():
        return int(re.search(r"total_commands_processed:(\d+)", redis("INFO", "stats"))[1])

    before = commands()
    for _ in range(100):
        ask()
    # The commands that w8yd sends by itself in this time are fewer than 100.
    check(commands() - before < 90, "a hundred scrapes cost Redis nothing")


def check_with_promtool():
    if not shutil.which("promtool"):
        print("skipped: promtool is missing; it is in the package prometheus", file=sys.stderr)
        print("ok promtool ")
        return
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=ask()[1], capture_output=True, text=True, check=False
    )
    check(checked.returncode == 0 and not checked.stderr, "promtool " + checked.stderr)


def failed():
    samples = until("the reload", lambda samples: value(samples, "w8y_reloads_total", result="failed"))
    check(value(samples, "w8y_reload_last_success") == 0, "the last reload failed")


def reloaded():
    samples = until("the reload", lambda samples: value(samples, "w8y_reloads_total", result="applied"))
    check(value(samples, "w8y_overdue_after_seconds", list="ring") == 3600, "another overdue_after")
    check(value(samples, "w8y_reload_last_success") == 1, "the last reload succeeded")
    check(value(samples, "w8y_slots_limit") == float("inf"), "no limit is +Inf")


globals()[sys.argv[1]]()

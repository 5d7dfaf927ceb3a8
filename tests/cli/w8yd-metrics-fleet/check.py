"""Compares the /metrics of the hosts of a fleet."""
import json
import re
import subprocess
import sys
import time

from api_client import UnixConnection

END = time.monotonic() + 90


def metrics(name):
    """Returns samples by the text before the value; none if the host does not reply yet."""
    connection = UnixConnection(name)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    except OSError:
        return {}
    finally:
        connection.close()
    return {key: float(value) for key, value in re.findall(r"(?m)^([^#\n].*) (\S+)$", text)}


def until(what, fact):
    while not fact():
        if time.monotonic() > END:
            raise SystemExit("gave up waiting for: " + what)
        time.sleep(0.05)


def asked_at():
    done = subprocess.run(
        ["redis-cli", "-s", "redis.sock", "HGET", "w8y-fleet:stats", "list:ring"],
        capture_output=True, text=True, check=True,
    )
    return json.loads(done.stdout or "{}").get("at_ms", 0)


def measured(hosts):
    return sum(
        metrics(host).get('w8y_redis_commands_total{command="measure"}', 0) for host in hosts
    )


def all_know(hosts):
    for sample in ('w8y_cycle_seconds{list="ring"}', 'w8y_items{list="ring",state="free"}'):
        until(sample, lambda: all(sample in metrics(host) for host in hosts))


if sys.argv[1:] == ["gone"]:
    before = asked_at()
    until("another asks", lambda: asked_at() > before)
    print("ok another asks")
    raise SystemExit

HOSTS = ["w8yd.sock", "beta.sock", "gamma.sock"]
all_know(HOSTS)
print("ok all hosts know how long a lap takes")
until("three hosts", lambda: all(metrics(host).get("w8y_fleet_hosts") == 3 for host in HOSTS))
print("ok and how many they are")
print("ok" if all('w8y_items{list="rest",state="free"}' not in metrics(host) for host in HOSTS)
      else "NOT OK", "of a list without runs only its state is told")
begun, calls = asked_at(), measured(HOSTS)
changes, last = 0, begun
while changes < 2:
    until("it is asked again", lambda: asked_at() != last)
    last = asked_at()
    changes += 1
more = measured(HOSTS) - calls
print("ok" if more <= changes + 1 else f"NOT OK {more} calls for {changes}", "one of them asks")

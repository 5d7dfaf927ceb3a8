"""Creates work by the paths for programs, in every documented way and in some invalid ways."""
import base64
import json
import os
import sys
import threading
import time

from api_client import Api
from private_redis import Wire

unix = Api(os.environ["SOCKET"])
tcp = Api(int(sys.argv[1]), "0123456789abcdef")
NO_TOKEN = Api(int(sys.argv[1]))
HOUR_MS = 3_600_000


def redis(*words):
    with Wire(os.environ["DIR"] + "/redis.sock", timeout=60) as wire:
        return wire.ask(*words)


def good(api, method, path, body=None, key=None):
    status, said = api.ask(method, path, body, {"Idempotency-Key": key} if key else None)
    assert status == 200, (method, path, status, said)
    return said


def refused(status, words, method, path, body=None, key=None):
    for api in (unix, tcp):
        got, said = api.ask(method, path, body, {"Idempotency-Key": key} if key else None)
        assert got == status and words in said.get("error", ""), (method, path, got, said)


def results(said, name, member):
    return [(entry["result"], entry.get(member)) for entry in said[name]]


def b64(data):
    return base64.b64encode(data).decode()


def title(text):
    print(text, flush=True)


ITEMS = "/api/v1/lists/films/items"
title("items: each is added or exists; bytes are base64")
said = good(tcp, "POST", ITEMS, {"items": ["a", "b", {"item_base64": b64(b"\xff\0")}, "a"]})
assert said["list"] == "films" and said["added"] == 3, said
assert [entry["result"] for entry in said["items"]] == ["added"] * 3 + ["exists"], said
assert said["items"][2] == {"index": 2, "result": "added", "item_base64": b64(b"\xff\0")}, said
assert redis("LRANGE", "films:list", 0, -1) == [b"a", b"b", b"\xff\0"]
said = good(unix, "POST", ITEMS, {"items": ["b", "c"]})
assert results(said, "items", "item") == [("exists", "b"), ("added", "c")], said
said = good(unix, "POST", ITEMS, {"items": ["b"], "allow_duplicates": True})
assert said["added"] == 1 and redis("LLEN", "films:list") == 5, said

title("items: an added item has no past")
redis("SET", "films:lock:d", "delay:backoff", "PX", HOUR_MS)
redis("HSET", "films:failures", "d", 3)
assert good(unix, "POST", ITEMS, {"items": ["d"]})["added"] == 1
assert redis("EXISTS", "films:lock:d", "films:failures") == 0

title("items: an invalid entry is named by its index, and the valid ones are written")
said = good(tcp, "POST", ITEMS, {"items": [1, "e", {"item": "f"}, {"item_base64": "*"}]})
assert [entry["result"] for entry in said["items"]] == ["invalid", "added", "invalid", "invalid"], said
assert said["items"][0] == {"index": 0, "result": "invalid",
                            "error": "must be a string, or an object with only item_base64"}, said

title("items: a long list is read before the write")
redis("EVAL", "for i = 1, 20000 do redis.call('RPUSH', KEYS[1], 'item ' .. i) end", 1, "films:list")
many = [f"item {number}" for number in range(19_501, 20_501)]
said = good(unix, "POST", ITEMS, {"items": many}, "long")
assert said["added"] == 500 and {entry["result"] for entry in said["items"][:500]} == {"exists"}, said["added"]
again = good(tcp, "POST", ITEMS, {"items": many}, "long")
assert again == said
assert good(unix, "POST", ITEMS, {"items": ["item 1"], "allow_duplicates": True})["added"] == 1
assert good(unix, "POST", ITEMS, {"items": ["item 2", "item 10001", "item 20001"]})["added"] == 0

title("items: a repeated request changes nothing, also over another address")
length = redis("LLEN", "films:list")
body = {"items": ["new", "a"], "allow_duplicates": True}
first = good(unix, "POST", ITEMS, body, "key-1")
assert first["added"] == 2
assert good(tcp, "POST", ITEMS, body, "key-1") == first
assert redis("LLEN", "films:list") == length + 2
assert HOUR_MS - 60_000 < redis("PTTL", "films:idempotency:key-1") <= HOUR_MS
refused(422, "another request was sent with this Idempotency-Key", "POST", ITEMS, {"items": ["x"]}, "key-1")
refused(400, "Idempotency-Key", "POST", ITEMS, body, "k" * 256)
assert good(unix, "POST", "/api/v1/lists/other/items", {"items": ["x"], "create": True}, "key-1")["added"] == 1
redis("SET", "films:idempotency:bad", "not a record")
refused(422, "another request", "POST", ITEMS, body, "bad")

title("items: lists that do not exist are refused unless the request creates them")
refused(404, "there is no list none", "POST", "/api/v1/lists/none/items", {"items": ["a"]})
assert redis("EXISTS", "none:list") == 0
assert good(tcp, "POST", "/api/v1/lists/fresh/items", {"items": ["a"], "create": True})["added"] == 1
refused(409, "is a schedule", "POST", "/api/v1/lists/mix/items", {"items": ["a"]})
refused(409, "is a feed of jobs", "POST", "/api/v1/lists/thumbs/items", {"items": ["a"]})

title("items: all copies are removed")
assert good(tcp, "DELETE", ITEMS + "/b") == {"result": "removed", "list": "films", "item": "b"}
assert good(unix, "DELETE", ITEMS + "/%FF%00")["item_base64"] == b64(b"\xff\0")
assert redis("LPOS", "films:list", "b") is None
refused(404, "not in the list", "DELETE", ITEMS + "/b")
refused(404, "there is no list none", "DELETE", "/api/v1/lists/none/items/a")

JOBS = "/api/v1/feeds/thumbs/jobs"
title("jobs: the response has their IDs, and their results are kept")
said = good(tcp, "POST", JOBS, {"jobs": [{"payload": "good 1"}, {"payload": "good 2", "id": "two"}]})
assert said["feed"] == "thumbs" and said["added"] == 2 and said["jobs"][1]["id"] == "two", said
new = said["jobs"][0]["id"]
assert len(new) == 32
for api, id_ in ((unix, new), (tcp, "two")):
    job = good(api, "GET", f"{JOBS}/{id_}?wait=60s")
    assert job["state"] == "finished" and job["result"].startswith("did good"[:8]), job
    assert job["run"] and job["time_ms"] > 1_600_000_000_000, job
assert redis("EXISTS", "thumbs:keep") == 0
assert HOUR_MS - 60_000 < redis("PTTL", "feed.result:thumbs:two") <= HOUR_MS
good(unix, "POST", JOBS, {"jobs": [{"payload": "long", "id": "long", "keep_result": "1d"}]})
job = good(unix, "GET", f"{JOBS}/long?wait=60s")
assert job["result"] == "01234567", job
refused(404, "there is no job none in the feed thumbs, and no kept result", "GET", JOBS + "/none")

title("jobs: a job whose result is not kept is gone when it is finished")
good(unix, "POST", JOBS, {"jobs": [{"payload": "good", "id": "two", "keep_result": False}]})
refused(404, "no kept result", "GET", JOBS + "/two?wait=60s")

title("jobs: a stalled job shows its cause, and retried its result")
good(tcp, "POST", JOBS, {"jobs": [{"payload": "bad", "id": "bad"}]})
job = good(unix, "GET", JOBS + "/bad?wait=10ms")
assert job["state"] in ("queued", "running"), job
while good(unix, "GET", JOBS + "/bad")["state"] != "running":
    time.sleep(0.02)
said = good(unix, "POST", JOBS, {"jobs": [{"payload": "good again", "id": "bad", "rerun": True}]})
assert results(said, "jobs", "id") == [("runs_again", "bad")] and said["added"] == 0, said
waited = []
waiter = threading.Thread(target=lambda: waited.append(good(tcp, "GET", JOBS + "/bad?wait=60s")))
waiter.start()
open(os.environ["DIR"] + "/go", "w").close()
waiter.join()
(job,) = waited
assert job["state"] == "stalled" and "exit status 3" in job["reason"] and job["run"], job
assert good(unix, "GET", JOBS + "/bad")["reason"] == job["reason"]
assert redis("HGET", "feed.items:thumbs", "bad") == b"good again" and redis("EXISTS", "thumbs:reruns") == 0
said = good(unix, "POST", JOBS, {"jobs": [{"payload": "x", "id": "bad", "rerun": True}]})
assert results(said, "jobs", "id") == [("stalled", "bad")], said

title("jobs: an ID is unique while its job exists")
said = good(unix, "POST", JOBS, {"jobs": [{"payload": "x", "id": "bad"}, {"payload": "good", "id": "new"},
                                          {"payload": "y", "id": "new"}]})
assert results(said, "jobs", "id") == [("exists", "bad"), ("added", "new"), ("exists", "new")], said
assert good(tcp, "DELETE", JOBS + "/bad") == {"result": "retracted", "feed": "thumbs", "id": "bad"}
refused(404, "there is no bad in the feed thumbs", "DELETE", JOBS + "/bad")
refused(404, "no kept result", "GET", JOBS + "/bad")

title("jobs: order, bytes, invalid entries")
IDLE = "/api/v1/feeds/idle/jobs"
said = good(tcp, "POST", IDLE, {"jobs": [
    {"payload": "1", "id": "1"}, {"payload_base64": b64(b"\xff"), "id_base64": b64(b"\xfe"), "high": True}, {},
    {"payload": "x", "id": "a\0b"}, {"payload": "x", "keep_result": "2d"}, {"payload": "x", "other": 1}, "text",
    {"payload": "x", "high": "yes"}, {"payload": "x", "id": 1}]})
assert [entry["result"] for entry in said["jobs"]] == ["added"] * 2 + ["invalid"] * 7, said
assert said["jobs"][1]["id_base64"] == b64(b"\xfe"), said
for entry, words in zip(said["jobs"][2:], ("needs payload", "NUL byte", "at most 1d", "member other",
                                           "must be an object", "needs high", "needs id")):
    assert words in entry["error"], entry
assert redis("LRANGE", "feed.ids:idle", 0, -1) == [b"1", b"\xfe"]
assert redis("HGET", "feed.items:idle", b"\xfe") == b"\xff"
assert redis("HGETALL", "idle:keep") == [b"1", b"3600000", b"\xfe", b"3600000"]
job = good(unix, "GET", IDLE + "/1")
assert (job["state"], job["position"], job["failures"]) == ("queued", 2, 0), job
assert good(unix, "GET", IDLE + "/%FE")["id_base64"] == b64(b"\xfe")
said = good(unix, "POST", IDLE, {"jobs": [{"payload": "new", "id": "1", "rerun": True},
                                          {"payload": "x", "rerun": True}]})
assert [entry["result"] for entry in said["jobs"]] == ["replaced", "invalid"], said
assert redis("HGET", "feed.items:idle", "1") == b"new"
assert good(unix, "DELETE", IDLE + "/1")["id"] == "1" and redis("HLEN", "idle:keep") == 1

title("jobs: a repeated request gets the IDs of the first")
body = {"jobs": [{"payload": "x"}, {"payload": "y", "id": "mine"}, {"payload": "z"}]}
first = good(unix, "POST", IDLE, body, "key-2")
assert first["added"] == 3 and good(tcp, "POST", IDLE, body, "key-2") == first
assert redis("HLEN", "feed.items:idle") == 4
refused(422, "another request", "POST", IDLE, {"jobs": [{"payload": "x"}]}, "key-2")

title("jobs: a feed that does not exist is refused unless the request creates it")
refused(404, "there is no feed none", "POST", "/api/v1/feeds/none/jobs", {"jobs": [{"payload": "x"}]})
refused(404, "there is no feed none", "GET", "/api/v1/feeds/none/jobs/x")
refused(404, "there is no feed none", "DELETE", "/api/v1/feeds/none/jobs/x")
refused(404, "there is no feed none", "POST", "/api/v1/feeds/none/jobs/x/retry", {})
assert good(tcp, "POST", "/api/v1/feeds/fresh/jobs", {"jobs": [{"payload": "x"}], "create": True})["added"] == 1
assert redis("HGET", "feed.config:fresh", "type") == b"job" and redis("SISMEMBER", "feeds", "fresh") == 1
redis("SADD", "feeds", "queue")
redis("HSET", "feed.config:queue", "type", "queue")
refused(409, "is of kind queue", "POST", "/api/v1/feeds/queue/jobs", {"jobs": [{"payload": "x"}]})

title("schedules: set, shown and removed")
DAILY = "/api/v1/schedules/mix/daily%3AA"
said = good(tcp, "PUT", DAILY, {"schedule": "FREQ=DAILY", "jitter": "1m"})
assert said["job"] == "daily:A" and len(said["next_ms"]) == 5, said
assert redis("HGET", "mix-schedules", "daily:A").decode() == said["schedule"]
assert redis("HGET", "mix:jitter", "daily:A") == b"60000"
job = good(unix, "GET", DAILY)
assert job["state"] == "scheduled" and job["rule"] == said["schedule"], job
said = good(unix, "PUT", DAILY, {"schedule": "0 9 * * *", "tz": "Europe/Berlin"})
assert "Europe/Berlin" in said["schedule"], said
for body, words in (({"schedule": "NEVER"}, "nothing was changed"), ({}, "schedule must be a string"),
                    ({"schedule": "NOW", "jitter": "1m"}, "jitter needs"),
                    ({"schedule": "0 9 * * *", "tz": "Nowhere/None"}, "tz Nowhere/None"),
                    ({"schedule": "FREQ=DAILY", "jitter": "8d"}, "from 1s to 7d")):
    refused(400, words, "PUT", DAILY, body)
assert redis("HGET", "mix-schedules", "daily:A").decode() == said["schedule"]
refused(400, "has the code", "PUT", "/api/v1/schedules/mix/x%3AA-members", {"schedule": "NOW"})
assert good(tcp, "DELETE", DAILY) == {"result": "unset", "list": "mix", "job": "daily:A"}
refused(404, "there is no job daily:A in mix", "DELETE", DAILY)
refused(404, "there is no job daily:A in mix", "GET", DAILY)
refused(404, "there is no list none", "PUT", "/api/v1/schedules/none/x%3AA", {"schedule": "STOP"})
assert good(unix, "PUT", "/api/v1/schedules/fresh/x%3AA", {"schedule": "STOP", "create": True})["next_ms"] == []
refused(409, "films is not a schedule", "PUT", "/api/v1/schedules/films/x%3AA", {"schedule": "STOP"})

title("wrong requests")
for body, words in (("{", "must be a JSON object"), ('{"items": []}', "has 0 entries"), ('{"items": "a"}', "an array"),
                    (json.dumps({"items": ["a"] * 1001}), "1001 entries"), ('{"item": ["a"]}', "unknown member item"),
                    ('{"items": [1]}', "items[0] must be a string"),
                    ('{"items": ["a"], "create": 1}', "create must be true or false")):
    for api in (unix, tcp):
        got, said = api.ask("POST", ITEMS, body, {"Content-Type": "application/json"})
        assert got == 400 and words in said["error"], (body, got, said)
refused(400, "at most 60s", "GET", JOBS + "/x?wait=61s")
refused(405, "use GET, POST", "PUT", ITEMS, {})
for method, path in (("POST", ITEMS), ("DELETE", ITEMS + "/a"), ("PUT", DAILY), ("DELETE", DAILY)):
    assert NO_TOKEN.ask(method, path)[0] == 401, path
big = {"items": ["x" * 1_000_000], "create": True}
assert good(tcp, "POST", "/api/v1/lists/big/items", big)["added"] == 1
assert NO_TOKEN.ask("POST", "/api/v1/lists/big/items", big)[0] == 401
for api in (unix, tcp):
    connection = api.open()
    connection.putrequest("POST", "/api/v1/lists/big/items")
    for name, value in (("Authorization", "Bearer " + (api.token or "")), ("Content-Type", "application/json"),
                        ("Content-Length", str(1 << 20 | 1))):
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
assert tcp.ask("POST", ITEMS, "{}", {"Content-Type": "text/plain"})[0] == 415

title("a reply that does not arrive: it is not known whether the request was carried out")
redis("CLIENT", "PAUSE", 30_000, "WRITE")
said = []
asked = threading.Thread(target=lambda: said.append(unix.ask("POST", IDLE, body, {"Idempotency-Key": "key-3"})))
body = {"jobs": [{"payload": "once", "id": "once"}]}
asked.start()
asked.join()
((status, answer),) = said
assert status == 503 and answer["applied"] == "unknown", (status, answer)
redis("CLIENT", "UNPAUSE")
first = good(tcp, "POST", IDLE, body, "key-3")
assert first["jobs"][0]["id"] == "once" and redis("HGET", "feed.items:idle", "once") == b"once"

title("without Redis: nothing is changed, and Retry-After says when to try again")
with Wire(os.environ["DIR"] + "/redis.sock") as wire:
    wire.send("SHUTDOWN", "NOSAVE")
end = time.monotonic() + 60
while unix.get("/api/v1/feeds")[0] != 503:
    assert time.monotonic() < end
    time.sleep(0.05)
for method, path, body in (("POST", ITEMS, {"items": ["a"]}), ("DELETE", ITEMS + "/a", None),
                           ("POST", IDLE, {"jobs": [{"payload": "x"}]}), ("DELETE", IDLE + "/x", None),
                           ("PUT", DAILY, {"schedule": "STOP"}), ("DELETE", DAILY, None)):
    connection = unix.open()
    connection.request(method, path, json.dumps(body) if body else None)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    assert answer.status == 503 and answer.headers["Retry-After"] == "1" and "applied" not in said, (path, said)
asked = {one[:2] for one in unix.asked | tcp.asked}
assert {(method, path) for method, path, _ in unix.document.operations()
        if path.startswith(("/api/v1/feeds/", "/api/v1/schedules/")) or method in ("PUT", "DELETE")} <= asked, asked

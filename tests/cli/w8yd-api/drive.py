"""Requests each path of the status API, in every documented way and in some invalid ways."""
import os
import re
import sys
import time
from urllib.parse import quote

from api_client import Api
from private_redis import Wire

port = int(sys.argv[1])
unix = Api(os.environ["SOCKET"])
tcp = Api(port, "0123456789abcdef")
TCP_ONLY_LOOKS = Api(port)


def wait_for(what, fact):
    end = time.monotonic() + 60
    while not (found := fact()):
        assert time.monotonic() < end, "waited too long for " + what
        time.sleep(0.05)
    return found


def refused(status, words, path, method="GET", body=None):
    for api in (unix, tcp):
        got, said = api.ask(method, path, body)
        assert got == status and words in said.get("error", ""), (path, got, said)


def runs_of(where):
    return {run["item"]: run for run in where["runs"]}


def begins(path):
    """Checks status and type of a page, or of the first bytes of a stream."""
    connection = tcp.open()
    connection.request("GET", path)
    answer = connection.getresponse()
    problems = tcp.document.check("GET", path, answer.status, answer.headers["Content-Type"], b"")
    assert not problems and answer.status == 200, problems
    begun = answer.read().decode() if path == "/" else ""
    answer.close()
    connection.close()
    return begun


def title(text):
    print(text, flush=True)


title("runs, finished and going on, of both hosts")
wait_for("two runs", lambda: len(unix.good("/api/v1/runs?list=work")["runs"]) == 2)
wait_for("a run there", lambda: any(
    host.get("runs") for host in unix.good("/api/v1/fleet/runs?host=there")["hosts"]))
past = runs_of(unix.good("/api/v1/runs"))
assert past["good"]["outcome"] == "succeeded" and past["bad"]["exit"] == 3, past
assert past["bad"]["stderr"] == "oops\n", past
for query, items in {
    "list=w*": {"good", "bad"}, "list=many": set(), "outcome=failed,crashed": {"bad"},
    "outcome=succeeded": {"good"}, "failed=yes": {"bad"}, "item=good": {"good"}, "host=h*re": {"good", "bad"},
    "host=there": set(),
}.items():
    assert set(runs_of(tcp.good("/api/v1/runs?" + query))) == items, query
bad = past["bad"]["run"]
(group,) = unix.good("/api/v1/errors?list=work&since=1d")["errors"]
assert group["message"] == "exit status 3: oops" and group["last_run"] == bad, group
refused(400, "?since= must be a duration", "/api/v1/errors?since=x")
for query, buckets in (("", 60), ("?list=work", 60), ("?list=work&span=day", 48)):
    assert len(unix.good("/api/v1/statistics" + query)["buckets"]) == buckets, query
refused(400, "?span= must be hour or day", "/api/v1/statistics?span=week")
for start in (bad, bad.lower()):
    found = unix.good(f"/api/v1/runs/{start}")
    assert found["state"] == "finished" and found["item"] == "bad", found
slow = next(one for one in unix.good("/api/v1/lists/work")["here"]["runs"] if one["item"] == "slow")["run"]
here = tcp.good(f"/api/v1/runs/{slow}")
assert here["state"] == "running" and here["host"] == "here" and here["list"] == "work", here
far = unix.good("/api/v1/fleet/runs?host=there")["hosts"][0]["runs"][0]["run"]
assert unix.good(f"/api/v1/runs/{far}")["host"] == "there"
assert unix.good(f"/api/v1/runs/{far}?list=far")["item"] == "distant"
refused(404, "neither active nor in the history", "/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV")
refused(404, "neither active nor in the history", f"/api/v1/runs/{far}?list=work")
refused(409, "several run IDs", "/api/v1/runs/0")

title("many runs, of one list and of several")
said = '"type":"ended","time_ms":%d,"run":"%026d","item":"i","outcome":"failed"}'
entry = '{"entered_ms":%d,' + said
lines = []
for number in range(130):
    # Of entries that were written together, only the newest has the time.
    begin = '{"entered_ms":%d,' % (1000 + number // 7) if number % 7 == 6 or number == 129 else "{"
    for name in ("many", "odd/name?"):
        lines.append(("LPUSH", name + ":runs", begin + said % (5, 2 * number + (name == "many"))))


def redis(*commands):
    with Wire(os.environ["DIR"] + "/redis.sock", timeout=60) as wire:
        for words in commands:
            wire.ask(*words)


redis(*lines)
for path, count in (("/api/v1/runs?list=many&limit=40", 130), ("/api/v1/runs?list=*n?*&limit=17", 260)):
    found, parts = unix.all_of(path, "runs")
    ids = [run["run"] for run in found]
    assert len(ids) == len(set(ids)) == count and parts > 3, (path, len(ids), len(set(ids)), parts)
first = unix.good("/api/v1/runs?list=many&limit=10")
redis(("LPUSH", "many:runs", entry % (9999, 9, 777777)))
second = unix.good("/api/v1/runs?list=many&limit=10&after=" + first["next"])
assert not {run["run"] for run in first["runs"]} & {run["run"] for run in second["runs"]}

title("items: their states, part by part, of every kind of work")
states = {item["item"]: item["state"] for item in unix.good("/api/v1/lists/work/items")["items"]}
assert states == {"good": "delayed", "bad": "quarantined", "slow": "running"}, states
for state, items in {"delayed": ["good"], "quarantined": ["bad"], "running": ["slow"], "free": []}.items():
    said = tcp.good("/api/v1/lists/work/items?state=" + state)
    assert [item["item"] for item in said["items"]] == items and said["next"] is None, said
found, parts = unix.all_of("/api/v1/lists/many/items?limit=1000", "items")
assert len({item["item"] for item in found}) == len(found) == 9000 and parts in (9, 10), (len(found), parts)
found, parts = unix.all_of("/api/v1/lists/many/items?search=0042", "items")
assert [item["item"] for item in found] == ["item 00042"] + [f"item 0042{n}" for n in range(10)], found
assert parts > 1
found, parts = unix.all_of("/api/v1/lists/many/items?search=item&limit=999", "items")
assert len({item["item"] for item in found}) == len(found) == 9000, (len(found), parts)
# The list is rotated while a client reads it.
first = unix.good("/api/v1/lists/many/items?limit=1000")
redis(*[("LMOVE", "many:list", "many:list", "RIGHT", "LEFT")] * 300)
seen, after = {item["item"] for item in first["items"]}, first["next"]
while after:
    said = unix.good("/api/v1/lists/many/items?limit=1000&after=" + after)
    assert not seen & {item["item"] for item in said["items"]}
    seen |= {item["item"] for item in said["items"]}
    after = said["next"]
assert len(seen) == 9000, len(seen)
# The list has an item twice, and the second copy is the last item of a page.
redis(("LSET", "many:list", "8999", "item 00005"), ("RPUSH", "many:list", "behind it"))
found, parts = unix.all_of("/api/v1/lists/many/items?limit=900", "items")
assert len(found) == 9001 and parts == 11 and found[-1]["item"] == "behind it", (len(found), parts)
redis(("RPOP", "many:list"))
jobs, _ = unix.all_of("/api/v1/lists/mix/items?limit=2", "items")
states = {job["item"]: job["state"] for job in jobs}
assert len(jobs) == len(states) and states == {
    "q1:A": "queued", "q2:A": "queued", "at 1:A": "scheduled", "rule:B": "scheduled", "stop:A": "stopped",
    "bad:A": "bad", "died:A": "died", "lost:A": "orphaned"}, states
assert [job["item"] for job in unix.good("/api/v1/lists/mix/items?state=bad")["items"]] == ["bad:A"]
jobs, _ = unix.all_of("/api/v1/lists/thumbs/items?limit=1", "items")
assert sorted(job["state"] for job in jobs) == ["claimed", "queued", "queued", "queued", "stalled"], jobs
assert sorted(job["position"] for job in jobs if job["state"] == "queued") == [1, 2, 3], jobs
assert unix.good("/api/v1/lists/thumbs/items?state=stalled")["items"][0]["state"] == "stalled"
assert unix.good("/api/v1/lists/odd%2Fname%3F/items")["items"][0]["item"] == "one"

title("one item")
item = unix.good("/api/v1/lists/work/items/bad")
assert item["state"] == "quarantined" and [run["run"] for run in item["runs"]] == [bad], item
job = unix.good("/api/v1/lists/mix/items/rule%3AB")
assert job["description"] and len(job["next_ms"]) == 5 and job["next_ms"][0] == job["due_ms"], job
for job in jobs:
    one = tcp.good("/api/v1/lists/thumbs/items/" + quote(job["item"], safe=""))
    assert one["state"] == job["state"] and one.get("position") == job.get("position"), (one, job)
refused(404, "there is no item none in work", "/api/v1/lists/work/items/none")
refused(404, "there is no job none in mix", "/api/v1/lists/mix/items/none")
refused(404, "there is no job none in thumbs", "/api/v1/lists/thumbs/items/none")
refused(404, "there is no list none", "/api/v1/lists/none/items")

title("why")


def why(path, words):
    for api in (unix, tcp):
        said = api.good(path)
        assert words in " ".join(one["text"] for one in said["reasons"]), (path, said)


why("/api/v1/lists/work/items/slow/why", "runs on here")
why("/api/v1/lists/work/items/bad/why", "quarantined")
why("/api/v1/lists/work/items/good/why", "is delayed")
why("/api/v1/lists/mix/items/rule%3AB/why", "due")
why("/api/v1/lists/thumbs/items/" + quote(jobs[0]["item"], safe="") + "/why", "")
why("/api/v1/lists/work/why", "")
why("/api/v1/lists/mix/why", "")
why("/api/v1/lists/thumbs/why", "")
refused(404, "none", "/api/v1/lists/work/items/none/why")
refused(404, "none", "/api/v1/lists/none/why")
begins(f"/api/v1/runs/{slow}/logs")

title("schedules and feeds")
(one,) = unix.good("/api/v1/schedules")["schedules"]
assert (one["list"], one["halted"], one["timeline"], one["late"]) == ("mix", False, 2, 0), one
assert one["queues"] == [{"code": "A", "queued": 2}], one
said = unix.good("/api/v1/schedules?list=mix")
assert {job["item"] for job in said["jobs"]} == set(states), said
rules = {job["item"]: job for job in said["jobs"]}
assert rules["rule:B"]["rule"].startswith("DTSTART") and len(rules["rule:B"]["next_ms"]) == 5, rules
assert rules["at 1:A"]["next_ms"] == [4102444800000], rules
assert [job["item"] for job in tcp.good("/api/v1/schedules?list=mix&state=stopped")["jobs"]] == ["stop:A"]
(feed,) = tcp.good("/api/v1/feeds")["feeds"]
assert (feed["list"], feed["queued"], feed["claimed"], feed["stalled"], feed["published"]) == (
    "thumbs", 3, 1, 1, 5), feed
assert feed["oldest_ms"] > 1_600_000_000_000, feed
refused(404, "work is not a schedule", "/api/v1/schedules?list=work")

title("requests that are wrong")
for path, words in {
    "/api/v1/runs?lists=a": "unknown parameter lists",
    "/api/v1/runs?limit=0": "?limit= must be a number from 1 to 1000",
    "/api/v1/runs?limit=1001": "?limit= must be a number from 1 to 1000",
    "/api/v1/runs?limit=ten": "?limit= must be a number from 1 to 1000",
    "/api/v1/runs?outcome=good": "?outcome= must be a comma-separated list of succeeded",
    "/api/v1/runs?failed=no": "?failed= must be yes",
    "/api/v1/runs?after=x": "?after= must be the",
    "/api/v1/lists/work/items?state=queued": "?state= may be one of free, running",
    "/api/v1/lists/mix/items?state=free": "?state= may be one of running, queued",
    "/api/v1/lists/thumbs/items?state=free": "?state= may be one of running, delayed",
    "/api/v1/lists/work/items?after=AAAA.BBBB": "?after= must be the",
    "/api/v1/schedules?list=mix&state=free": "?state= may be one of",
    "/api/v1/schedules?state=bad": "name the schedule with ?list=",
    "/api/v1/feeds?after=%00": "?after= must be the",
    "/api/v1/status?lists=all": "?lists= must be no or count",
    "/api/v1/lists?x=1": "this path has no parameters",
}.items():
    refused(400, words, path)
runs_after = unix.good("/api/v1/runs?list=many&limit=1")["next"]
refused(400, "?after= must be the", "/api/v1/feeds?after=" + runs_after)
for path in ("/api/v1/runs", "/api/v1/lists/work/ring", "/api/v1/schedules", "/api/v1/feeds"):
    refused(405, "use GET", path, "POST", {})
for path in ("/api/v1/lists/work/pause", f"/api/v1/runs/{slow}/cancel"):
    refused(405, "use POST", path)
for body, words in (("{", "must be a JSON object"), ("[]", "must be a JSON object"), ('{"why": 1}', "unknown member why"),
                    ('{"reason": 1}', "reason must be a string"), ('{"for": "soon"}', "for must be a duration"),
                    ('{"for": 10}', "for must be a duration"), ('{"reason": "a", "reason_base64": "YQ=="}', "not both")):
    for api in (unix, tcp):
        got, said = api.ask("POST", "/api/v1/lists/work/pause", body, {"Content-Type": "application/json"})
        assert got == 400 and words in said["error"], (body, got, said)
refused(400, "quarantine must be true", f"/api/v1/runs/{slow}/cancel", "POST", {"quarantine": "yes"})
refused(400, "a reason is allowed only", f"/api/v1/runs/{slow}/cancel", "POST", {"reason": "why"})
assert tcp.ask("POST", "/api/v1/lists/work/pause", "reason=x", {"Content-Type": "text/plain"})[0] == 415
assert tcp.ask("POST", "/api/v1/lists/work/pause", {"reason": "x" * 300_000})[0] == 413
assert TCP_ONLY_LOOKS.ask("POST", "/api/v1/lists/work/pause", {})[0] == 401
assert TCP_ONLY_LOOKS.ask("POST", "/no/such/path", {})[0] == 401
assert tcp.ask("GET", "/api/v1/runs", headers={"Host": "evil.example"})[0] in (403, 421)
assert unix.good("/api/v1/lists/work")["pause"] is None

title("changes")
problems = unix.good("/api/v1/fleet/problems")["problems"]
# The two hosts have different configs, so one of them is outdated a minute after the other applied its own.
outdated = [problem for problem in problems if problem["kind"] == "config_outdated"]
assert {problem["host"] for problem in outdated} <= {"here"}, problems
problems = [problem for problem in problems if problem not in outdated]
assert len(problems) == 1, problems
assert problems[0]["text"].startswith("no host serves odd/name?: here: not found (/"), problems
both = unix.good("/api/v1/problems")
assert problems[0] in both["problems"] and both["max_age_ms"] >= 900 and "fleet_error" not in both, both
own = unix.good("/api/v1/status?lists=count")["problems"]
assert {problem["kind"] for problem in own} <= {problem["kind"] for problem in both["problems"]}, (own, both)
refused(404, "there is no host nobody", "/api/v1/fleet/hosts/nobody/forget", "POST", {})
status, said = tcp.ask("POST", "/api/v1/lists/work/pause", {"reason": "new disks", "for": "10m", "by": "jo"})
assert status == 200 and said["result"] == "paused" and said["until_ms"] - said["since_ms"] == 600_000, said
pause = unix.good("/api/v1/lists/work")["pause"]
assert (pause["reason"], pause["by"]) == ("new disks", "jo") and pause["until_ms"], pause
assert unix.ask("POST", "/api/v1/lists/work/resume")[1]["result"] == "resumed"
assert unix.ask("POST", "/api/v1/lists/work/resume", {})[1]["result"] == "was not paused"
refused(404, "there is no list none", "/api/v1/lists/none/pause", "POST", {})
many = "/api/v1/lists/many/items/item%2000001"
assert unix.ask("POST", many + "/quarantine", {"reason": "odd"})[1]["result"] == "quarantined"
item = unix.good(many)
assert (item["state"], item["reason"], item["by"]) == ("quarantined", "odd", "the status API of here"), item
assert tcp.ask("POST", many + "/quarantine")[1]["result"] == "was quarantined already"
assert tcp.ask("POST", many + "/release")[1]["result"] == "released"
assert tcp.ask("POST", many + "/next")[1]["result"] == "is the next to be claimed"
assert unix.good(many)["state"] == "free"
refused(404, "not in the list", "/api/v1/lists/many/items/none/quarantine", "POST", {})
refused(409, "is a schedule", "/api/v1/lists/mix/items/q1%3AA/quarantine", "POST", {})
refused(409, "is a feed of jobs", "/api/v1/lists/thumbs/items/1/release", "POST", {})
refused(409, "is running", "/api/v1/lists/work/items/slow/release", "POST", {})
refused(409, "is running already", "/api/v1/lists/work/items/slow/next", "POST", {})
assert unix.ask("POST", many + "/rerun")[1]["result"] == "was free"
for change in ("release", "quarantine", "retry"):
    refused(404, "has no group of errors", "/api/v1/lists/many/errors/00000000/" + change, "POST", {})
refused(409, "has ended", f"/api/v1/runs/{bad}/cancel", "POST", {})
refused(404, "there is no run", "/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel", "POST", {})
status, said = tcp.ask("POST", f"/api/v1/runs/{slow}/cancel", {"quarantine": True, "reason": "stuck", "by": "jo"})
assert status == 200 and "SIGTERM" in said["text"], said
wait_for("its end", lambda: unix.get(f"/api/v1/runs/{slow}")[1].get("state") == "finished")
item = unix.good("/api/v1/lists/work/items/slow")
assert (item["state"], item["reason"], item["by"]) == ("quarantined", "stuck", "jo"), item
status, said = unix.ask("POST", f"/api/v1/runs/{far[:25]}/cancel")
assert status == 200 and said["all_done"] and said["hosts"][0]["host"] == "there", said
wait_for("its end there", lambda: unix.get(f"/api/v1/runs/{far[:25]}?list=far")[1].get("state") == "finished")

title("what there was before")
for path in ("/healthz", "/readyz", "/api/v1/status", "/api/v1/status?lists=no", "/api/v1/status?lists=count",
             "/api/v1/lists", "/api/v1/lists/odd%2Fname%3F", "/api/v1/config", "/api/v1/fleet",
             "/api/v1/fleet?lists=no", "/api/v1/fleet/runs", "/api/v1/fleet/logs?list=far"):
    assert unix.good(path) and tcp.good(path), path
assert unix.ask("POST", "/api/v1/config/compare", {"salt": "s", "secrets": [{"key": "url.password", "digest": "d"}]}
                )[1] == {"secrets": ["none"]}
refused(400, "the body must be", "/api/v1/config/compare", "POST", {"salt": 1})
refused(400, "the body must be", "/api/v1/cancel", "POST", {})
refused(404, "no such run", "/api/v1/cancel", "POST", {"run": slow})
refused(400, "the body must be", "/api/v1/run", "POST", {})
for order in ("quiet", "resume", "reload", "quiet?all=yes", "resume?all=yes", "reload?host=there"):
    status, said = tcp.ask("POST", "/api/v1/" + order, {"by": "jo"})
    assert status == 200, (order, status, said)
refused(404, "none", "/api/v1/quiet?host=none", "POST", {})
refused(400, "exactly one of ?host=NAME and ?all=yes is required", "/api/v1/quiet?host=a&all=yes", "POST", {})
refused(404, "no such path", "/api/v1/nothing")
assert unix.ask("POST", "/api/v1/lists/work/items/none/run")[0] in (404, 409)
ring = unix.good("/api/v1/lists/work/ring")
assert sorted(ring["ring"]) == ["d", "q", "q"] and ring["length"] == 3, ring
refused(400, "most= must be a number", "/api/v1/lists/work/ring?most=0")
page = ""
for path in ("/", "/page/", "/metrics", "/api/v1/events?run=none", "/api/v1/live"):
    if path == "/page/":
        path = "/" + re.search(r"page/[^\"']+", page).group()
    begun = begins(path)
    if path == "/":
        page = begun
assert tcp.ask("POST", "/api/v1/drain?host=there", {})[0] == 200

title("a run whose settlement is pending")
assert unix.ask("POST", "/api/v1/lists/work/items", {"items": ["slow again"]})[1]["added"] == 1
last = wait_for("its run", lambda: runs_of(unix.good("/api/v1/lists/work")["here"]).get("slow again"))["run"]
with Wire(os.environ["DIR"] + "/redis.sock") as wire:
    wire.ask("CLIENT", "PAUSE", 60_000, "WRITE")
    open(os.environ["DIR"] + "/go", "w").close()
    wait_for("its end", lambda: unix.good(f"/api/v1/runs/{last}")["state"] != "running")
    here = unix.good(f"/api/v1/runs/{last}")
    assert (here["state"], here["item"], here["host"]) == ("settling", "slow again", "here"), here
    wire.ask("CLIENT", "UNPAUSE")
wait_for("its record", lambda: unix.good(f"/api/v1/runs/{last}")["state"] == "finished")

title("without Redis")
with Wire(os.environ["DIR"] + "/redis.sock") as wire:
    wire.send("SHUTDOWN", "NOSAVE")
wait_for("its end", lambda: unix.get("/api/v1/feeds")[0] == 503)
for path in ("/api/v1/runs", "/api/v1/lists/work/items", "/api/v1/lists/work/items/good", "/api/v1/schedules",
             "/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV"):
    refused(503, "no reply from Redis", path)
refused(503, "no reply from Redis", "/api/v1/lists/work/pause", "POST", {})
# A server that shuts down accepts no new connections, and closes the old ones when it exits.
wait_for("the status to say so", lambda: unix.good("/api/v1/status")["redis"]["connected"] is False)
assert unix.get("/readyz")[0] == 503
asked = unix.asked | tcp.asked
# The case w8yd-producers requests these.
PRODUCERS = {("POST", "/api/v1/lists/{list}/items"), ("DELETE", "/api/v1/lists/{list}/items/{item}")} | {
    (method, path) for method, path, _ in unix.document.operations()
    if path.startswith(("/api/v1/feeds/", "/api/v1/schedules/"))}
print("not asked:", ", ".join(sorted(
    f"{method} {path}" for method, path, _ in unix.document.operations()
    if path not in ("/", "/page/{name}", "/metrics", "/api/v1/events", "/api/v1/live",
                    "/api/v1/runs/{run}/logs") and not any((method, path) == one[:2] for one in asked)
    and (method, path) not in PRODUCERS)) or "nothing")

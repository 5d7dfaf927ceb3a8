#!/usr/bin/env python3
"""Compares the output of the status API and of each subcommand of w8yctl for a fixed world with files.

    recorded_world.py --bin BUILD [--record]

The world has fixed keys, a fixed config and a clock that starts at a fixed time, for Redis and for the
programs of w8y. Their output is compared with the files in `recorded`: `host` with a w8yd, `alone` without
one. `--record` replaces them. `alone` has only the output that differs from `host`, and output that an
earlier command printed, too, is replaced by "as FILE: COMMAND". Values that differ between two worlds (process IDs, random IDs, elapsed
seconds, counters) are masked, and members of JSON objects are sorted.
"""
import argparse
import concurrent.futures
import contextlib
import difflib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from private_redis import Redis, wait_for  # noqa: E402
from world import CONFIG, NOW_S, RUNS, fill  # noqa: E402

RECORDED = HERE / "recorded"
LIST, ITEM = "/api/v1/lists/films", "/api/v1/lists/films/items/"
GETS = [
    "/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/status?lists=no", "/api/v1/lists",
    *(f"/api/v1/lists/{name}" for name in ("films", "paused", "mix", "encode", "mails", "no-program",
                                           "none")),
    LIST + "/items", LIST + "/items?state=delayed", LIST + "/items?search=a", LIST + "/items?limit=2",
    LIST + "/items?state=nonsense", "/api/v1/lists/mix/items", "/api/v1/lists/encode/items",
    *(ITEM + name for name in ("apple", "banana", "cherry", "damson", "elder", "%ff%00x", "none")),
    "/api/v1/lists/mix/items/backup:A", "/api/v1/lists/encode/items/job1",
    *(ITEM + name + "/why" for name in ("apple", "banana", "cherry", "damson", "elder", "none")),
    "/api/v1/lists/mix/items/backup:A/why", "/api/v1/lists/mix/items/broken:A/why",
    "/api/v1/lists/encode/items/job1/why", "/api/v1/lists/encode/items/job3/why",
    *(f"/api/v1/lists/{name}/why" for name in ("films", "paused", "mix", "encode", "no-program")),
    "/api/v1/runs", "/api/v1/runs?list=films&failed=yes", "/api/v1/runs?list=films&limit=1",
    "/api/v1/runs?item=apple", "/api/v1/runs?outcome=crashed", "/api/v1/runs?host=web2",
    f"/api/v1/runs/{RUNS[0]}", f"/api/v1/runs/{RUNS[0]}?list=films", "/api/v1/runs/01NONE",
    "/api/v1/errors", "/api/v1/errors?list=films&limit=1", "/api/v1/errors?since=soon",
    "/api/v1/statistics?span=week", "/api/v1/statistics?list=none",
    "/api/v1/schedules", "/api/v1/schedules?list=mix&state=scheduled", "/api/v1/feeds",
    "/api/v1/config", "/api/v1/config?list=films", "/api/v1/fleet", "/api/v1/fleet?lists=no",
    "/api/v1/fleet?list=films", "/api/v1/fleet?limit=1", "/api/v1/fleet/runs", LIST + "/ring",
    LIST + "/ring?most=3", "/api/v1/nothing",
    # A list that is only in Redis, and refused requests.
    "/api/v1/lists/loose/items", "/api/v1/lists/loose/items/a", "/api/v1/runs?list=loose",
    *(LIST + "/items?" + query for query in ("limit=0", "limit=x", "after=nonsense")),
    *("/api/v1/runs?" + query for query in ("outcome=odd", "failed=no", "list=no*such", "list=none",
                                            "list=f*&outcome=failed,crashed", "after=ZmxlZXQ.MQ")),
    "/api/v1/runs/01", f"/api/v1/runs/{RUNS[0].lower()}",
    "/api/v1/lists/encode/items?state=free", "/api/v1/lists/encode/items/none",
    "/api/v1/lists/mix/items/none:A", "/api/v1/schedules?list=films", "/api/v1/schedules?state=bad",
    "/api/v1/fleet?lists=maybe", LIST + "/ring?most=0", "/api/v1/lists/mix/ring", "/api/v1/lists/none/ring",
]
# Queries that are read page by page, one entry per page.
PAGES = [
    "/api/v1/runs?limit=1", "/api/v1/runs?list=films&limit=1", "/api/v1/runs?failed=yes&limit=1",
    *(f"/api/v1/lists/{name}/items?limit=1" for name in ("films", "mix", "encode")),
    LIST + "/items?state=free&limit=1", LIST + "/items?search=a&limit=1", "/api/v1/schedules?limit=1",
    "/api/v1/schedules?list=mix&limit=1", "/api/v1/feeds?limit=1",
]
READS = [
    ["--version"], ["--help"], ["status"], ["lists"], ["lists", "films"], ["lists", "mix"],
    ["lists", "encode"], ["lists", "none"], ["lists", "--state=ineligible"], ["--wide", "lists"], ["fleet"],
    ["--wide", "fleet"], ["fleet", "plan", "other.toml"], ["runs"], ["runs", "films"],
    ["runs", "--failed"], ["runs", "films", "--since=2h"], ["runs", "--host=web2"], ["errors"], ["errors", "films", "--limit=1"], ["show", RUNS[0]],
    ["show", RUNS[1]], ["show", RUNS[2]], ["show", "01NONE"], ["show", RUNS[0], "--list=films"],
    ["why", "films"], ["why", "mix"], ["why", "encode"], ["why", "paused"], ["why", "no-program"],
    *(["why", "films", item] for item in ("apple", "banana", "cherry", "damson", "elder", "none")),
    ["why", "mix", "backup:A"], ["why", "mix", "broken:A"], ["why", "encode", "job1"],
    ["why", "encode", "job3"], ["items", "films"], ["items", "films", "--state=delayed"],
    ["items", "films", "--limit=2"], ["items", "none"], ["items", "mix"], ["items", "encode"],
    *(["schedule", "-k", "mix", *words] for words in (
        ["tell", "backup:A"], ["tell", "none:A"], ["statuses"], ["schedules"], ["next", "backup:A"],
        ["list"], ["control"])),
    ["schedule", "next", "RRULE:FREQ=DAILY;BYHOUR=3"],
    ["feed", "list"], ["feed", "config", "news"], ["feed", "ids", "news"], ["feed", "get", "news", "1"],
    ["feed", "all", "news"], ["feed", "get", "news", "none"], ["sorted", "ids", "ranking"],
    ["sorted", "get", "ranking", "2"], ["sorted", "all", "ranking"], ["queue", "ids", "mails"],
    ["job", "ids", "encode"], ["job", "failures", "encode"], ["job", "show", "encode", "job1"],
    ["job", "show", "encode", "none"], ["job", "wait", "encode", "none"], ["nonsense"], ["items"],
]
CHANGES = [
    ["add", "films", "fig", "apple"], ["add", "--allow-duplicates", "films", "apple"], ["add", "none", "x"],
    ["quarantine", "films", "apple", "cherry", "none", "--reason=to look at it"],
    ["items", "films"], ["release", "films", "apple", "banana", "none"], ["release", "films", "--all"],
    ["remove", "films", "fig", "none"], ["remove", "films", "--state=delayed"], ["items", "films"],
    ["pause", "films", "--reason=new disks"], ["pause", "films", "--for=1h"], ["lists", "films"],
    ["resume", "films"], ["resume", "films"], ["run", "films", "none"], ["run", "--next", "films", "apple"],
    ["run", "--next", "films", "none"], ["items", "films"], ["cancel", RUNS[0]],
    ["cancel", RUNS[3]], ["quiet"], ["status"], ["resume", "--host=web1"],
    *(["schedule", "-k", "mix", *words] for words in (
        ["set", "new:A", "RRULE:FREQ=DAILY;BYHOUR=3;BYMINUTE=0;BYSECOND=0"], ["set", "new:A", "FREQ=DALY"],
        ["tell", "new:A"], ["unset", "new:A"], ["unset", "none:A"], ["control", "RESUME"],
        ["control", "HALT"])),
    ["feed", "create", "other", "--type=feed"], ["feed", "publish", "other", "text", "--id=a"],
    ["feed", "retract", "other", "a", "none"], ["feed", "delete", "other", "--yes"],
    ["sorted", "append", "ranking", "four"], ["sorted", "move", "ranking", "4", "--begin"],
    ["sorted", "retract", "ranking", "4"], ["queue", "put", "mails", "mail"], ["queue", "get", "mails"],
    ["job", "fail", "encode", "job1"], ["job", "requeue", "encode", "none"],
    ["job", "stall", "encode", "job1"], ["job", "retry", "encode", "job3"],
    ["job", "retract", "encode", "job3"], ["job", "maintain", "encode"], ["job", "ids", "encode"],
]
POSTS = [
    ("/api/v1/config/compare", {"config": '[lists.films]\ncommand = ["false"]\n'}),
    ("/api/v1/config/compare", {"config": "[lists"}), (LIST + "/pause", {"reason": "disks"}),
    (LIST + "/resume", {}), (LIST + "/resume", {}), (ITEM + "apple/quarantine", {"reason": "x"}),
    (ITEM + "apple/release", {}), (ITEM + "none/release", {}), (ITEM + "none/run", {}),
    (ITEM + "banana/next", {}), (ITEM + "none/next", {}), ("/api/v1/lists/encode/items/job1/next", {}),
    ("/api/v1/runs/01NONE/cancel", {}), ("/api/v1/cancel", {"run": "01NONE"}), ("/api/v1/quiet", {}),
    ("/api/v1/resume", {}), ("/api/v1/reload", {}), ("/api/v1/quiet?host=web9", {}),
    *((LIST + "/pause", body) for body in ({"reason": 1}, {"for": "soon"}, {"for": 5}, {"odd": 1}, [])),
    (LIST + "/pause", {"reason": "a", "reason_base64": "YQ=="}), ("/api/v1/lists/none/pause", {}),
    ("/api/v1/lists/encode/items/job1/quarantine", {}), ("/api/v1/lists/mix/items/backup:A/release", {}),
    (ITEM + "apple/quarantine", {"reason": "x"}), (ITEM + "none/quarantine", {}),
    (f"/api/v1/runs/{RUNS[0]}/cancel", {}), (f"/api/v1/runs/{RUNS[0]}/cancel", {"reason": "x"}),
    (f"/api/v1/runs/{RUNS[0]}/cancel", {"quarantine": "yes"}), ("/api/v1/runs//cancel", {}),
]
MASKS = [(re.compile(pattern), mask) for pattern, mask in (
    (r"web1-[0-9a-f]{8}", "web1-<id>"),
    (r"/tmp/[\w./-]*?w8y-recorded-[\w]+", "<dir>"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b", "<uuid>"),
    # Times since the start of the world.
    (rf"\b{str(NOW_S)[:-2]}\d\d\d\d\d\b", "<now>"),
    (r"2025-11-24[T ]16:0[01]:\d\d(\.\d+)?(Z|\+00:00)?", "<now>"),
    (r"\b\d+(\.\d+)? ?m?s ago", "<seconds> ago"),
    (r"(?<=, )up \d+m?s\b", "up <seconds>"),
    (r"\b(176[34]\d{4})\d{5}\b", r"\1<ms>"),
    (r"\b(1764\d{4})\d\d\b", r"\1<s>"),
    (r"\b(\d+m)\d+s\b", r"\1<s>"),
    (r"\bfor \d+m?s\b|(?<=  )\d+s\b", "for <s>"),
    (r"\b\d+ms\b", "<ms>ms"),
    (r'("next"): "ZmxlZXQ[^"]*"', r'\1: "<fleet cursor>"'),
    (r'("\w*(?:age|left|remaining|free_in)_ms"): (\d*)\d{5}\b', r"\1: \2<ms>"),
    (r'("(?:longest_wait|max_age)_ms"): \d+', r"\1: <ms>"),
    (r'("age_ms"): \d{1,4}\b(?!<)', r"\1: <ms>"),
    (r'commit="[^"]*"', 'commit="<commit>"'),
    # Metrics that count work.
    (r"(?m)^((?:process|w8y_redis|w8y_loop|\w+_seconds)\w*(?:\{[^}]*\})?) \S+$", r"\1 <n>"),
    (r"(?m)^w8y_slots_used \d+$", "w8y_slots_used <n>"),
    (r'("commands_sent"|"used"): \d+', r"\1: <n>"),
    (r'("clock_offset_ms"): -?\d+', r"\1: <n>"),
    # slots: a claim in flight has one
    (r"\b\d/10\b", "<n>/10"),
    (r"(?m)^(running(?: here)? +\d+), \d+ of (?=\d+ slots)", r"\1, <n> of "),
)]
# Statistics of lists, which w8yd reads periodically: not compared where keys change.
FIGURES = {"items", "items_at_ms", "items_estimated", "longest_wait_ms", "fleet_slots"}
WIDTH = 120
# The order of the lines is the order of a hash table, which differs between servers.
UNORDERED = ("schedule -k mix statuses", "schedule -k mix schedules")


def without_figures(value):
    if isinstance(value, list):
        return [without_figures(each) for each in value]
    if isinstance(value, dict):
        return {name: without_figures(each) for name, each in value.items() if name not in FIGURES}
    return value


def pretty(value, masked, indent="", name=None):
    """JSON with sorted members, on as few lines as fit; masked first, so that no mask changes the lines."""
    prefix = "" if name is None else f"{json.dumps(name)}: "
    if not isinstance(value, (dict, list)):
        return masked(prefix + json.dumps(value, ensure_ascii=False))
    inner = indent + " "
    if isinstance(value, list):
        begin, end, parts = "[", "]", [pretty(each, masked, inner) for each in value]
    else:
        begin, end, parts = "{", "}", [pretty(value[each], masked, inner, each) for each in sorted(value)]
    line = prefix + begin + ", ".join(parts) + end
    if "\n" not in line and len(indent) + len(line) <= WIDTH:
        return line
    lines = [""]
    for part in parts:
        if "\n" in part or "\n" in lines[-1] or len(inner) + len(lines[-1]) + len(part) + 2 > WIDTH:
            lines.append("")
        lines[-1] += f"{part}, "
    return prefix + begin + "\n" + "\n".join(inner + line.rstrip() for line in lines if line)[:-1] + end


class Web2(threading.Thread):
    """The host web2, which runs cherry: replies to commands of the fleet."""

    RUN = {"list": "films", "run": RUNS[3], "item": "cherry", "state": "running", "pid": 4712,
           "started_ms": (NOW_S - 930) * 1000, "attempt": 1, "fence": 1003, "lease_lost": False,
           "progress": {"numerator": 3.0, "denominator": 10.0}, "age_ms": 930_000}
    LIST = {"state": "running", "reason": "", "running": 1, "concurrency": 3, "fleet_concurrency": 1, "weight": 1,
            "host_state": "running", "slots": {"limit": 8, "used": 1}, "poll_within_ms": 1500}

    def __init__(self, redis):
        super().__init__(daemon=True)
        self.wire = redis.wire()
        self.answers = redis.wire()
        self.wire.ask("SUBSCRIBE", "w8y-fleet:control")
        self.wire.socket.settimeout(None)
        self.start()

    def run(self):
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                order = json.loads(self.wire.read()[2])
                if order.get("all") or order.get("host") in ("web2", "web2-00000002"):
                    self.answers.ask("PUBLISH", f"w8y-fleet:reply:{order['id']}", json.dumps(self.answer(order)))

    def answer(self, order):
        answer = {"host": "web2", "host_id": "web2-00000002", "result": "done", "text": "done"}
        if order["command"] in ("runs", "logs"):
            runs = RUNS[3].startswith(order.get("run", "")) and order.get("list", "films") == "films"
            answer |= {"text": "1 run", "runs": [self.RUN], "omitted_runs": 0} if runs else {"text": "0 runs"}
            if order.get("list") == "films":
                answer["list"] = self.LIST
        return answer

    def close(self):
        self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.join()
        self.wire.close()
        self.answers.close()


class World:
    """Context manager: a Redis with the fixed keys and, if `with_host`, a w8yd."""

    def __init__(self, programs, with_host):
        self.bin = programs / "src/app"
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="w8y-recorded-"))
        library = programs / "tests/faults/libclock_jump.so"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC",
                    "USER": "alice", "COLUMNS": "120", "LD_PRELOAD": str(library),
                    "CLOCK_JUMP": str(self.home / "clock")}
        self.process = None
        self.config_hash = None
        self.with_host = with_host

    def __enter__(self):
        (self.home / "clock").write_bytes(struct.pack("=q", NOW_S - int(time.time())))
        clock = ["env", *(f"{name}={self.env[name]}" for name in ("LD_PRELOAD", "CLOCK_JUMP"))]
        # A thread of jemalloc waits until a time of day by the kernel's clock, and would never sleep.
        self.redis = Redis(self.home / "redis", "--jemalloc-bg-thread", "no", within=clock)
        with self.redis.wire() as wire:
            fill(wire)
        self.web2 = Web2(self.redis)
        config = CONFIG.replace("@REDIS@", self.redis.url).replace("@DIR@", str(self.home))
        (self.home / "w8y.toml").write_text(config)
        (self.home / "other.toml").write_text(config.replace("concurrency = 3", "concurrency = 5"))
        if self.with_host:
            with open(self.home / "w8yd.log", "wb") as log:
                self.process = subprocess.Popen(
                    [self.bin / "w8yd", "--config", self.home / "w8y.toml"], env=self.env, stderr=log,
                    stdout=log, cwd=self.home)
            wait_for(lambda: "info: ready" in (self.home / "w8yd.log").read_text(), what="w8yd")
            status = self.http("GET", "/api/v1/status?lists=no")
            self.config_hash = re.search('"config_hash": "([0-9a-f]+)"', status).group(1)
            for path, figure in (("lists/films", "longest_wait_ms"), ("lists/films", "fleet_slots"),
                                 ("lists/mix", "died"), ("status", '"kind": "died"')):
                wait_for(lambda p=path, f=figure: f in self.http("GET", "/api/v1/" + p), what=figure)
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.web2.close()
        self.redis.kill()
        shutil.rmtree(self.home)

    def masked(self, text):
        for length in (64, 16, 8) if self.config_hash else ():
            text = text.replace(self.config_hash[:length], "<hash>")
        for pattern, mask in MASKS:
            text = pattern.sub(mask, text)
        if self.process:
            text = re.sub(rf'(\bpid"?:? ){self.process.pid}\b', r"\1<pid>", text)
        return text

    def http(self, method, path, body=None):
        command = ["curl", "-s", "-i", "-m", "20", "--unix-socket", str(self.home / "w8yd.sock"),
                   "-X", method]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        done = subprocess.run([*command, f"http://localhost{path}"], capture_output=True, timeout=60,
                              check=True)
        head, _, text = done.stdout.partition(b"\r\n\r\n")
        status = head.split(b"\r\n")[0].decode()
        kind = re.search(rb"(?i)content-type: ([^\r\n]*)", head)
        answer = text.decode("utf-8", "backslashreplace")
        if path == "/metrics":
            answer = "\n".join(sorted(line for line in answer.splitlines() if "redis_commands_total{" not in line))
        if kind and b"json" in kind.group(1):
            answer = pretty(json.loads(answer), self.masked)
        return self.masked(f"{status}, {kind.group(1).decode() if kind else ''}\n{answer.rstrip()}\n")

    def pages(self, path):
        """Return the names of the entries of each page, one page per line."""
        text, after = "", ""
        for _ in range(50):
            url = f"http://localhost{path}{after and '&after=' + after}"
            done = subprocess.run(["curl", "-s", "-m", "20", "--unix-socket", str(self.home / "w8yd.sock"), url],
                                  capture_output=True, timeout=60, check=True)
            page = json.loads(done.stdout)
            things = next(value for value in page.values() if isinstance(value, list))
            names = [thing.get("run") or thing.get("item") or thing.get("item_base64") or thing["list"]
                     for thing in things]
            text += f"{' '.join(name[:26] for name in names) or '-'}\n"
            after = page["next"]
            if not after:
                return text
        return text + "and so on\n"

    def ctl(self, words, figures=True):
        done = subprocess.run([self.bin / "w8yctl", "--config", self.home / "w8y.toml", *words],
                              env=self.env, capture_output=True, timeout=60, check=False, cwd=self.home,
                              stdin=subprocess.DEVNULL)
        text = lambda raw: raw.decode("utf-8", "backslashreplace")  # noqa: E731
        answer = text(done.stdout)
        if words[0] == "--json" and answer.startswith("{"):
            value = json.loads(answer)
            answer = pretty(value if figures else without_figures(value), self.masked) + "\n"
        if " ".join(words).endswith(UNORDERED):
            answer = "".join(sorted(answer.splitlines(True)))
        errors = "".join(f"! {line}\n" for line in text(done.stderr).splitlines())
        if not figures:
            answer = re.sub("(?m)^longest wait .*\n", "", answer)
        text = self.masked(f"exit {done.returncode}\n{answer}{errors}")
        return text if words[0] == "--json" else re.sub("(?<=\\S) {3,}", "  ", text)


def read(programs, with_host):
    with World(programs, with_host) as world:
        if with_host:
            yield "get", {f"GET {path}": world.http("GET", path) for path in GETS}
            yield "pages", {f"GET {path}": world.pages(path) for path in PAGES}
        yield "read", {" ".join(words): world.ctl(words) for words in READS}
        yield "read-json", {" ".join(words): world.ctl(["--json", *words]) for words in READS[2:]}


def change(programs, with_host):
    with World(programs, with_host) as world:
        yield "change", {f"{number}: {' '.join(words)}": world.ctl(words, figures=False)
                         for number, words in enumerate(CHANGES, 1)}


def change_json(programs, with_host):
    with World(programs, with_host) as world:
        yield "change-json", {f"{number}: {' '.join(words)}": world.ctl(["--json", *words], figures=False)
                              for number, words in enumerate(CHANGES, 1)}


def post(programs, with_host):
    with World(programs, with_host) as world:
        yield "post", {f"{number}: POST {path} {json.dumps(body)}": world.http("POST", path, body)
                       for number, (path, body) in enumerate(POSTS, 1)}


WORLDS = [("host", read), ("host", change), ("host", change_json), ("host", post), ("alone", read),
          ("alone", change), ("alone", change_json)]


def text_of(name, answers, seen):
    """Return the content of a file. `seen`: the command of each long output so far."""
    text = ""
    for question, answer in answers.items():
        first, _, rest = answer.partition("\n")
        earlier = seen.setdefault(rest, f"as {name}: {question}") if rest.count("\n") > 2 else None
        if earlier and earlier != f"as {name}: {question}":
            answer = f"{first}\n{earlier}\n"
        text += f"=== {question}\n{answer}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    passed, failed = 0, 0
    seen, host = {}, {}
    ask = lambda world: list(world[1](options.bin.resolve(), world[0] == "host"))  # noqa: E731
    # Two at a time: each world must end before its heartbeats expire, also on a busy machine.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as threads:
        for (part, _), files in zip(WORLDS, threads.map(ask, WORLDS)):
            for name, answers in files:
                file = RECORDED / f"{part}-{name}.txt"
                if part == "host":
                    host[name] = answers
                else:
                    answers = {question: answer for question, answer in answers.items()
                               if host[name].get(question) != answer}
                text = text_of(file.stem, answers, seen)
                if options.record:
                    file.parent.mkdir(exist_ok=True)
                    file.write_bytes(text.encode())
                    continue
                recorded = file.read_bytes().decode() if file.exists() else ""
                passed, failed = passed + (text == recorded), failed + (text != recorded)
                sys.stdout.writelines(difflib.unified_diff(
                    recorded.splitlines(True), text.splitlines(True), str(file), "now"))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

"""Tests of the clients with a w8yd, over its unix socket and over TCP."""
import base64
import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import kit
from private_redis import Redis, die_with_parent, free_port, wait_for
from test_clients import Program, data

TOKEN = "0123456789abcdef"
CONFIG = """
[redis]
url = "{redis}"
[supervisor]
host = "alone"
status = ["unix:{folder}/w8yd.sock", "127.0.0.1:{port}"]
status_token_file = "{folder}/token"
drain_timeout = "100ms"
[lists.work]
command = ["true", "{{}}"]
concurrency = 0
[lists.images]
source = "job"
command = ["{folder}/image"]
result = "stdout"
concurrency = 4
max_failures = 1
[lists.longs]
source = "job"
executor = "{folder}/long"
max_line = "4MiB"
[lists.mix]
source = "schedule"
queues = "A"
command = ["true"]
"""
IMAGE = """#!/bin/sh
IFS= read -r item
case $item in
  fail) echo "no such image" >&2; exit 3 ;;
  gate\\ *) until [ -e "${item#gate }" ]; do sleep 0.02; done ;;
esac
printf 'done %s' "$item"
"""
LONG = """#!/bin/sh
case $1 in
  --caps) echo '{"type": "caps", "caps": ["single"]}'; exit ;;
esac
printf '{"type": "complete", "text": "'
head -c 1500000 /dev/zero | tr '\\0' x
printf '"}\\n'
"""


def has_paths():
    paths = json.loads((kit.source / "openapi.json").read_text())["paths"]
    return "/api/v1/feeds/{feed}/jobs" in paths


class Daemon:
    """A w8yd with its Redis, for all tests of a class."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="w8y-clients-")
        self.folder = Path(self.directory.name)
        self.redis = Redis(self.folder / "redis")
        self.port = free_port()
        (self.folder / "w8yd.toml").write_text(
            CONFIG.format(redis=self.redis.url, folder=self.folder, port=self.port))
        token = self.folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        for name, text in (("image", IMAGE), ("long", LONG)):
            program = self.folder / name
            program.write_text(text)
            program.chmod(0o755)
        self.start()

    def start(self):
        with (self.folder / "w8yd.log").open("ab") as log:
            self.w8yd = subprocess.Popen([kit.w8yd, "--config", self.folder / "w8yd.toml"], stderr=log, stdout=log,
                                         preexec_fn=die_with_parent)

    def stop(self):
        self.w8yd.send_signal(signal.SIGTERM)
        self.w8yd.wait(kit.LIMIT)

    def close(self):
        self.w8yd.kill()
        self.w8yd.wait()
        self.redis.kill()
        self.directory.cleanup()


class Real(Program):
    over_tcp = False

    @classmethod
    def setUpClass(cls):
        if not has_paths():
            raise unittest.SkipTest("openapi.json has no paths that add work")
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.redis = cls.daemon.redis

    def setUp(self):
        super().setUp()
        daemon = self.daemon
        self.address, self.options = f"unix:{daemon.folder}/w8yd.sock", {}
        if self.over_tcp:
            self.address, self.options = f"http://127.0.0.1:{daemon.port}", {"token": TOKEN}
        self.client = self.start(self.address, **self.options)

    def get(self, *call):
        return self.value(self.client, *call)

    def fails(self, name, *call):
        error = self.error(self.client, *call)
        self.assertEqual(error["error"], name, error)
        return error

    def test_items(self):
        items = ["one", "ü", data(b"\xff\0"), "a/b c"]
        self.redis.ask("DEL", "work:list")
        self.assertEqual(self.get("add", "work", items), [True] * 4)
        self.assertEqual(self.get("add", "work", ["one", "two"]), [False, True])
        self.assertEqual(self.redis.ask("LRANGE", "work:list", 0, -1),
                         [b"one", "ü".encode(), b"\xff\0", b"a/b c", b"two"])
        self.assertEqual(self.get("add", "work", ["two"], {"allow_duplicates": True}), [True])
        for item in [*items, "two"]:
            self.get("remove", "work", item)
        self.assertEqual(self.redis.ask("EXISTS", "work:list"), 0)
        self.assertIn("one", self.fails("NotFound", "remove", "work", "one")["text"])

    def test_reruns_of_items(self):
        self.redis.ask("DEL", "work:list", "work:reruns", "work:lock:resting")
        self.get("add", "work", ["resting", "running", "parked"])
        self.redis.ask("SET", "work:lock:resting", "delay:cooldown", "PX", 600_000)
        self.redis.ask("SET", "work:lock:running", "run:other:1:0123456789ABCDEFGHJKMNPQRS", "PX", 600_000)
        self.redis.ask("SET", "work:lock:parked", "quarantine:manual")
        self.get("rerun", "work", "resting")
        self.assertEqual(self.redis.ask("EXISTS", "work:lock:resting"), 0)
        self.get("rerun", "work", "running")
        marks = self.redis.ask("HGETALL", "work:reruns")
        self.assertEqual(dict(zip(marks[::2], marks[1::2])),
                         {b"resting": b"", b"running": b"run:other:1:0123456789ABCDEFGHJKMNPQRS"})
        self.assertIn("release", self.fails("Refused", "rerun", "work", "parked")["text"])
        self.fails("NotFound", "rerun", "work", "absent")
        self.assertIn("NOW", self.fails("Refused", "rerun", "mix", "report:A")["text"])
        self.redis.ask("DEL", "work:lock:running", "work:lock:parked", "work:reruns")

    def test_many_items(self):
        self.redis.ask("DEL", "work:list")
        items = [f"item {number}" for number in range(2500)]
        self.assertEqual(self.get("add", "work", items), [True] * 2500)
        self.assertEqual(self.redis.ask("LLEN", "work:list"), 2500)
        self.assertEqual(self.get("add", "work", items), [False] * 2500)

    def test_unknown_lists(self):
        name = f"unknown{time.time_ns()}"
        self.fails("NotFound", "add", name, ["a"])
        self.assertEqual(self.get("add", name, ["a"], {"create": True}), [True])
        self.fails("NotFound", "put", name + "x", "a")
        self.fails("NotFound", "schedule", name + "x", "a:A", "STOP")
        self.fails("NotFound", "why", name + "x")
        self.fails("Refused", "add", "images", ["a"])

    def test_jobs(self):
        job = self.get("put", "images", "cat")
        self.assertEqual(self.get("wait", "images", job, {"timeout": kit.LIMIT}), data(b"done cat"))
        self.assertEqual(self.get("wait", "images", job), data(b"done cat"))  # the kept result
        self.assertEqual(self.get("job", "images", job)["state"], "finished")
        jobs = self.get("put_many", "images", ["a", data(b"\xff"), "c"], {"high": True})
        results = self.ask(self.client, *[("wait", "images", job, {"timeout": kit.LIMIT}) for job in jobs])
        self.assertEqual(results, [{"value": data(b"done " + item)} for item in (b"a", b"\xff", b"c")])

    def test_failed_jobs(self):
        job = self.get("put", "images", "fail")
        error = self.fails("JobFailed", "wait", "images", job, {"timeout": kit.LIMIT})
        self.assertNotEqual(error["reason"], "")
        self.get("retract", "images", job)
        self.fails("NotFound", "wait", "images", job)
        self.fails("NotFound", "retract", "images", job)

    def test_truncated_results(self):
        job = self.get("put", "longs", "x")
        error = self.fails("ResultTruncated", "wait", "longs", job, {"timeout": kit.LIMIT})
        self.assertGreater(base64.b64decode(error["result"]["bytes"]).count(b"x"), 100_000)

    def test_more_waits_than_w8yd_serves(self):
        gate = self.folder / "gate"
        jobs = self.get("put_many", "images", [f"gate {gate}"] * 60)
        self.client.stdin.write(json.dumps([["wait", ["images", job], {}] for job in jobs]) + "\n")
        self.client.stdin.flush()
        wait_for(lambda: self.redis.ask("ZCARD", "feed.claimed:images") == 4, what="the runs")
        gate.touch()
        self.assertEqual(json.loads(self.client.stdout.readline()), [{"value": data(f"done gate {gate}".encode())}] * 60)

    def test_ids(self):
        gate = self.folder / "gate"
        self.assertEqual(self.get("put", "images", f"gate {gate}", {"id": f"my {self.folder}"}), f"my {self.folder}")
        self.fails("Exists", "put", "images", "x", {"id": f"my {self.folder}"})
        self.fails("WaitTimeout", "wait", "images", f"my {self.folder}", {"timeout": 0.2})
        gate.touch()
        self.assertEqual(self.get("wait", "images", f"my {self.folder}", {"timeout": kit.LIMIT}),
                         data(f"done gate {gate}".encode()))

    def test_reruns_of_jobs(self):
        first, second, job = self.folder / "first", self.folder / "second", f"my {self.folder}"
        again = {"id": job, "rerun": True}
        self.assertEqual(self.get("put", "images", f"gate {first}", again), job)
        wait_for(lambda: self.redis.ask("ZSCORE", "feed.claimed:images", job) is not None, what="the run")
        self.assertEqual(self.get("put", "images", f"gate {second}", again), job)
        first.touch()
        self.fails("WaitTimeout", "wait", "images", job, {"timeout": 0.2})
        second.touch()
        self.assertEqual(self.get("wait", "images", job, {"timeout": kit.LIMIT}),
                         data(f"done gate {second}".encode()))
        self.assertIn("id", self.fails("Invalid", "put", "images", "x", {"rerun": True})["text"])

    def test_reruns_of_stalled_jobs(self):
        job = f"bad {self.folder}"
        self.get("put", "images", "fail", {"id": job})
        self.fails("JobFailed", "wait", "images", job, {"timeout": kit.LIMIT})
        self.fails("Refused", "put", "images", "x", {"id": job, "rerun": True})
        self.get("retract", "images", job)

    def test_results_that_are_not_kept(self):
        job = self.get("put", "images", "x", {"keep_result": False})
        wait_for(lambda: not self.redis.ask("HEXISTS", "feed.items:images", job), what="the end of the job")
        self.fails("NotFound", "wait", "images", job)

    def test_schedules(self):
        times = self.get("schedule", "mix", "report:A", "0 6 1 1 *", {"tz": "Europe/Berlin"})
        self.assertEqual(len(times), 5)
        self.assertGreater(times[0], time.time() * 1000)
        self.assertIn(b"BYHOUR=6", self.redis.ask("HGET", "mix-schedules", "report:A"))
        self.get("unschedule", "mix", "report:A")
        self.assertIsNone(self.redis.ask("HGET", "mix-schedules", "report:A"))
        self.fails("NotFound", "unschedule", "mix", "report:A")
        self.fails("Invalid", "schedule", "mix", "report:A", "FREQ=SOMETIMES")
        self.assertIsNone(self.redis.ask("HGET", "mix-schedules", "report:A"))

    def test_why(self):
        self.get("add", "work", ["stays"])
        self.assertTrue(self.get("why", "work", "stays")["reasons"])
        self.assertTrue(self.get("why", "work")["reasons"])

    def test_an_outage_of_redis(self):
        self.redis.kill()
        self.client.stdin.write(json.dumps([["add", ["work", ["after the outage"]], {}]]) + "\n")
        self.client.stdin.flush()
        self.redis.start()
        self.assertEqual(json.loads(self.client.stdout.readline()), [{"value": [True]}])
        self.assertEqual(self.redis.ask("LRANGE", "work:list", 0, -1), [b"after the outage"])

    def test_a_restart_of_w8yd(self):
        self.get("add", "work", ["x"])
        self.daemon.stop()
        self.client.stdin.write(json.dumps([["add", ["work", ["after the restart"]], {}]]) + "\n")
        self.client.stdin.flush()
        self.daemon.start()
        self.assertEqual(json.loads(self.client.stdout.readline()), [{"value": [True]}])


class Tcp(Real):
    over_tcp = True

    def test_without_the_token(self):
        for options in ({}, {"token": "wrong"}):
            client = self.start(self.address, **options)
            self.assertEqual(self.error(client, "add", "work", ["denied"])["error"], "Denied")


class SyncOverUnix(Real, unittest.TestCase):
    program = [sys.executable, kit.tests / "client_program.py", "sync"]


class AsyncioOverTcp(Tcp, unittest.TestCase):
    program = [sys.executable, kit.tests / "client_program.py", "asyncio"]


class NodeOverUnix(Real, unittest.TestCase):
    program = ["node", kit.tests / "client_program.js"]


class NodeOverTcp(Tcp, unittest.TestCase):
    program = ["node", kit.tests / "client_program.js"]


class Examples(Program, unittest.TestCase):
    """The two programs in etc/examples, and the config in their comments."""

    @classmethod
    def setUpClass(cls):
        Real.setUpClass.__func__(cls)

    def run_it(self, program, *args, **more):
        environment = {**self.environment(), "W8YD": f"unix:{self.daemon.folder}/w8yd.sock"}
        return subprocess.run([kit.source / "examples" / program, *args], env=environment, capture_output=True,
                              text=True, timeout=kit.LIMIT, check=False, **more)

    def test_checksums(self):
        done = self.run_it("checksums.py", "images", "/a", "/b c")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done /a\ndone /b c\n", ""))
        done = self.run_it("checksums.py", "none", "/a")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("checksums.py: ", done.stderr)

    def test_add_lines(self):
        self.redis.ask("DEL", "work:list")
        for added in (1500, 0):
            done = self.run_it("add-lines.js", "work", input="\n".join(f"line {i}" for i in range(1500)) + "\n")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"work: {added} of 1500 added\n", ""))
        done = self.run_it("add-lines.js", "none", input="x\n")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("add-lines.js: ", done.stderr)


class ExampleConfigs(unittest.TestCase):
    def test_configs_in_comments(self):
        for name in ("checksums.py", "add-lines.js"):
            lines = [line.removeprefix(" *").strip() for line in
                     (kit.source / "examples" / name).read_text().splitlines()]
            begin = next(number for number, line in enumerate(lines) if line.startswith("[lists."))
            config = "\n".join(lines[begin:lines.index("", begin)])
            said = subprocess.run([kit.known_keys, "--check"], input=config + "\0", text=True, check=True,
                                  capture_output=True, timeout=kit.LIMIT).stdout
            self.assertEqual(said.strip(), "", name)

    def test_usage(self):
        for name in ("checksums.py", "add-lines.js"):
            modules = Program()
            with tempfile.TemporaryDirectory() as folder:
                modules.folder = Path(folder)
                done = subprocess.run([kit.source / "examples" / name], env=modules.environment(), timeout=kit.LIMIT,
                                      capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: ", done.stderr)

"""Tests of the clients, each with a server that is not w8yd: requests, errors, retries and connections."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import fake_w8yd
import kit
from fake_w8yd import CLOSE, HANG, THEN_CLOSE, FakeW8yd, reply

UNAVAILABLE = reply(503, {"error": "Redis is unavailable"}, Retry_After=0)
UNKNOWN = reply(503, {"error": "no reply of Redis", "applied": "unknown"}, Retry_After=0)


def data(value):
    return {"bytes": base64.b64encode(value).decode()}


class Program:
    """Starts client_program.* with a client."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="w8y-clients-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self):
        modules = self.folder / "node_modules"
        modules.mkdir(exist_ok=True)
        if not (modules / "w8y-client").exists():
            (modules / "w8y-client").symlink_to(kit.source / "clients/node")
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(kit.source / "clients/python"),
                "NODE_PATH": str(modules)}

    def start(self, address, **options):
        options = {"timeout": 30, "retry_for": 30, **options}
        program = subprocess.Popen([*self.program, address, json.dumps(options)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(program.wait, kit.LIMIT)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stdin.close)
        return program

    def ask(self, program, *calls):
        """Makes the calls at once. Each is a name and arguments, and a dict of options."""
        requests = [[name, args[:-1], args[-1]] if args and isinstance(args[-1], dict) and "bytes" not in args[-1]
                    else [name, args, {}] for name, *args in calls]
        program.stdin.write(json.dumps(requests) + "\n")
        program.stdin.flush()
        return json.loads(program.stdout.readline())

    def value(self, program, *call):
        answer, = self.ask(program, call)
        self.assertIn("value", answer, answer)
        return answer["value"]

    def error(self, program, *call):
        answer, = self.ask(program, call)
        self.assertIn("error", answer, answer)
        return answer


class Fake(Program):
    def setUp(self):
        super().setUp()
        self.server = FakeW8yd(self.folder / "w8yd.sock")
        self.addCleanup(self.server.close)

    def begin(self, *replies, **options):
        """Starts the client. The server sends the last reply again and again."""
        self.server.replies = list(replies)
        return self.start(self.server.address, **options)

    def only(self):
        request, = self.server.requests
        return request

    # ---- requests

    def test_add(self):
        client = self.begin(reply(200, {"added": 1, "items": [{"index": 0, "result": "added", "item": "a"},
                                                              {"index": 1, "result": "exists", "item": "b"}]}))
        self.assertEqual(self.value(client, "add", "my list/ü", ["ü", data(b"\xff\0")]), [True, False])
        request = self.only()
        self.assertEqual((request.method, request.path), ("POST", "/api/v1/lists/my%20list%2F%C3%BC/items"))
        self.assertEqual(request.body, {"items": ["ü", {"item_base64": "/wA="}]})
        self.assertEqual(request.headers["host"], "localhost")
        self.assertEqual(request.headers["content-type"], "application/json")
        self.assertRegex(request.headers["idempotency-key"], r"^[0-9a-f-]{32,36}$")
        self.assertNotIn("authorization", request.headers)

    def test_add_with_options(self):
        client = self.begin(reply(200, {"added": 1, "items": [{"index": 0, "result": "added", "item": "a"}]}))
        self.value(client, "add", "work", ["a"], {"allow_duplicates": True, "create": True})
        self.assertEqual(self.only().body, {"items": ["a"], "allow_duplicates": True, "create": True})

    def test_add_of_nothing_sends_nothing(self):
        client = self.begin(reply())
        self.assertEqual(self.value(client, "add", "work", []), [])
        self.assertEqual(self.server.requests, [])

    def test_one_item_is_not_a_list(self):
        client = self.begin(reply())
        self.assertIn("must be a list", self.error(client, "add", "work", "one")["text"])
        self.assertIn("must be a list", self.error(client, "put_many", "jobs", "one")["text"])
        self.assertEqual(self.server.requests, [])

    def test_add_of_many_is_divided_into_requests(self):
        sizes = (1000, 1000, 500)
        client = self.begin(*(reply(200, {"items": [{"result": "added"}] * size}) for size in sizes))
        self.assertEqual(self.value(client, "add", "work", [str(i) for i in range(2500)]), [True] * 2500)
        self.assertEqual([len(request.body["items"]) for request in self.server.requests], list(sizes))
        self.assertEqual(sum((request.body["items"] for request in self.server.requests), []),
                         [str(i) for i in range(2500)])
        self.assertEqual(len({request.headers["idempotency-key"] for request in self.server.requests}), 3)
        self.assertEqual({request.connection for request in self.server.requests}, {0})

    def test_a_request_is_shorter_than_one_MiB(self):
        client = self.begin(*(reply(200, {"items": [{"result": "added"}] * size}) for size in (4, 4, 1)))
        items = ["x" * 200_000] * 9
        self.assertEqual(self.value(client, "add", "work", items), [True] * 9)
        for request in self.server.requests:
            self.assertLess(int(request.headers["content-length"]), 1 << 20)

    def test_invalid_entries_have_their_index(self):
        client = self.begin(
            reply(200, {"items": [{"result": "added"}] * 1000}),
            reply(200, {"items": [{"result": "added"}, {"result": "invalid", "error": "too long"}]}))
        error = self.error(client, "add", "work", ["x"] * 1002)
        self.assertEqual((error["error"], error["entries"]), ("Invalid", {"1001": "too long"}))
        self.assertIn("entry 1001: too long", error["text"])

    def test_remove(self):
        client = self.begin(reply(200, {"result": "removed", "list": "work", "item": "a/b"}))
        self.assertIsNone(self.value(client, "remove", "work", "a/b"))
        self.assertEqual((self.only().method, self.only().path), ("DELETE", "/api/v1/lists/work/items/a%2Fb"))
        self.assertIsNone(self.only().body)

    def test_rerun(self):
        client = self.begin(reply(200, {"result": "was free", "list": "work", "item": "a/b"}))
        self.assertIsNone(self.value(client, "rerun", "work", "a/b"))
        request = self.only()
        self.assertEqual((request.method, request.path), ("POST", "/api/v1/lists/work/items/a%2Fb/rerun"))
        self.assertEqual((request.headers["content-type"], request.body), ("application/json", {}))

    def test_put(self):
        client = self.begin(reply(200, {"added": 1, "jobs": [{"index": 0, "result": "added", "id": "0a"}]}))
        self.assertEqual(self.value(client, "put", "images", data(b"\xfe")), "0a")
        self.assertEqual(self.value(client, "put", "images", "ü",
                                    {"id": "x", "high": True, "keep_result": "2h", "create": True}), "0a")
        self.assertEqual(self.value(client, "put", "images", "", {"keep_result": False}), "0a")
        first, second, third = self.server.requests
        self.assertEqual((first.method, first.path), ("POST", "/api/v1/feeds/images/jobs"))
        self.assertEqual(first.body, {"jobs": [{"payload_base64": "/g=="}]})
        self.assertEqual(second.body, {"jobs": [{"payload": "ü", "id": "x", "high": True, "keep_result": "2h"}],
                                       "create": True})
        self.assertEqual(third.body, {"jobs": [{"payload": "", "keep_result": False}]})

    def test_put_of_an_id_that_is_in_use(self):
        client = self.begin(reply(200, {"added": 0, "jobs": [{"index": 0, "result": "exists", "id": "x"}]}))
        error = self.error(client, "put", "images", "a", {"id": "x"})
        self.assertEqual(error["error"], "Exists")
        self.assertIn("x", error["text"])

    def test_put_runs_a_job_of_the_feed_again(self):
        client = self.begin(reply())
        for result in ("added", "replaced", "runs_again"):
            self.server.replies = [reply(200, {"added": 0, "jobs": [{"index": 0, "result": result, "id": "x"}]})]
            self.assertEqual(self.value(client, "put", "images", "a", {"id": "x", "rerun": True}), "x")
            self.assertEqual(self.server.requests[-1].body, {"jobs": [{"payload": "a", "id": "x", "rerun": True}]})
        self.server.replies = [reply(200, {"added": 0, "jobs": [{"index": 0, "result": "stalled", "id": "x"}]})]
        error = self.error(client, "put", "images", "a", {"id": "x", "rerun": True})
        self.assertEqual(error["error"], "Refused")
        self.assertRegex(error["text"], "x.*is stalled; .*w8yctl job retry")

    def test_put_many(self):
        client = self.begin(*(reply(200, {"jobs": [{"result": "added", "id": f"{part}-{i}"} for i in range(size)]})
                              for part, size in enumerate((1000, 1))))
        ids = self.value(client, "put_many", "images", ["x"] * 1001)
        self.assertEqual((ids[0], ids[999], ids[1000], len(set(ids))), ("0-0", "0-999", "1-0", 1001))

    def test_schedule(self):
        client = self.begin(reply(200, {"result": "set", "list": "mix", "job": "a:A", "schedule": "x",
                                        "next_ms": [1795262400000, 1795348800000]}))
        times = self.value(client, "schedule", "mix", "a:A", "FREQ=DAILY")
        self.assertEqual(times, [1795262400000, 1795348800000])
        request = self.only()
        self.assertEqual((request.method, request.path), ("PUT", "/api/v1/schedules/mix/a%3AA"))
        self.assertEqual(request.body, {"schedule": "FREQ=DAILY"})
        self.value(client, "schedule", "mix", "a:A", "0 6 * * *",
                   {"tz": "Europe/Berlin", "jitter": "1m", "create": True})
        self.assertEqual(self.server.requests[1].body, {"schedule": "0 6 * * *", "tz": "Europe/Berlin",
                                                        "jitter": "1m", "create": True})

    def test_other_requests(self):
        client = self.begin(reply(200, {"state": "free", "reasons": []}))
        for call, method, path in (
                (("unschedule", "mix", "a:A"), "DELETE", "/api/v1/schedules/mix/a%3AA"),
                (("retract", "images", "0a"), "DELETE", "/api/v1/feeds/images/jobs/0a"),
                (("job", "images", data(b"\xff")), "GET", "/api/v1/feeds/images/jobs/%FF"),
                (("why", "work"), "GET", "/api/v1/lists/work/why"),
                (("why", "work", "a b"), "GET", "/api/v1/lists/work/items/a%20b/why")):
            self.value(client, *call)
            request = self.server.requests[-1]
            self.assertEqual((request.method, request.path), (method, path))
            self.assertNotIn("idempotency-key", request.headers)

    def test_tcp_with_a_token(self):
        server = FakeW8yd()
        self.addCleanup(server.close)
        server.replies = [reply(200, {"state": "idle", "reasons": []})]
        self.value(self.start(server.address, token="s3cret"), "why", "work")
        self.value(self.start(server.address + "/behind/"), "why", "work")
        first, second = server.requests
        self.assertEqual(first.headers["authorization"], "Bearer s3cret")
        self.assertEqual(first.headers["host"], server.address[len("http://"):])
        self.assertNotIn("authorization", second.headers)
        self.assertEqual(second.path, "/behind/api/v1/lists/work/why")

    def test_wrong_addresses(self):
        for address in ("", "w8yd", "unix:w8yd.sock", "ftp://host", "http://user:word@host", "http://host/?x"):
            with self.subTest(address):
                error = json.loads(self.start(address).stdout.readline())[0]
                self.assertIn("use unix:/PATH or http://HOST:PORT", error["text"])
        error = json.loads(self.start("http://host", token="two\nlines").stdout.readline())[0]
        self.assertIn("the token has", error["text"])

    # ---- results of jobs

    def test_wait(self):
        queued = reply(200, {"feed": "images", "id": "0a", "state": "queued"})
        client = self.begin(queued)
        for last, value in (({"result": '{"a": 1}'}, data(b'{"a": 1}')), ({"result_base64": "/w=="}, data(b"\xff")),
                            ({"result": ""}, data(b"")), ({}, None)):
            with self.subTest(last):
                self.server.requests.clear()
                self.server.replies = [queued, reply(200, {"feed": "images", "id": "0a", "state": "finished", **last})]
                self.assertEqual(self.value(client, "wait", "images", "0a"), value)
                self.assertEqual([(request.method, request.path) for request in self.server.requests],
                                 [("GET", "/api/v1/feeds/images/jobs/0a?wait=60000ms")] * 2)

    def test_wait_raises_the_failure(self):
        client = self.begin(reply(200, {"id": "0a", "state": "stalled", "reason": "disk full", "run": "01HV"}))
        error = self.error(client, "wait", "images", "0a")
        self.assertEqual((error["error"], error["reason"], error["run"]), ("JobFailed", "disk full", "01HV"))
        self.assertIn("disk full", error["text"])

    def test_wait_for_a_truncated_result(self):
        client = self.begin(reply(200, {"id": "0a", "state": "finished", "result": "ab", "result_truncated": True}))
        error = self.error(client, "wait", "images", "0a")
        self.assertEqual((error["error"], error["result"]), ("ResultTruncated", data(b"ab")))

    def test_wait_ends_after_its_timeout(self):
        client = self.begin(reply(200, {"id": "0a", "state": "running"}))
        error = self.error(client, "wait", "images", "0a", {"timeout": 0.3})
        self.assertEqual(error["error"], "WaitTimeout")
        self.assertIn("running", error["text"])
        first = int(re.search(r"wait=(\d+)ms", self.server.requests[0].path)[1])
        self.assertTrue(200 < first <= 300, first)
        count = len(self.server.requests)
        self.assertEqual(self.error(client, "wait", "images", "0a", {"timeout": 0})["error"], "WaitTimeout")
        self.assertEqual([request.path for request in self.server.requests[count:]],
                         ["/api/v1/feeds/images/jobs/0a"])

    def test_wait_outlasts_an_outage(self):
        finished = reply(200, {"id": "0a", "state": "finished", "result": "x"})
        for options in ({"timeout": 60}, {}):
            client = self.begin(*[UNAVAILABLE] * 3, CLOSE, finished, retry_for=0)
            self.assertEqual(self.value(client, "wait", "images", "0a", options), data(b"x"))

    # ---- errors

    def test_errors_are_types(self):
        client = self.begin(reply())
        for status, name in ((400, "Invalid"), (401, "Denied"), (403, "Denied"), (404, "NotFound"),
                             (409, "Refused"), (413, "Invalid"), (415, "Invalid"), (421, "Denied"),
                             (422, "Invalid"), (500, "UnexpectedReply")):
            with self.subTest(status):
                self.server.replies = [reply(status, {"error": f"why {status}"})]
                error = self.error(client, "add", "work", ["a"])
                self.assertEqual((error["error"], error["text"], error["status"]), (name, f"why {status}", status))
        self.assertEqual(len(self.server.requests), 10)

    def test_replies_of_other_servers(self):
        client = self.begin(reply(200, b"<html>hello</html>"), retry_for=0)
        error = self.error(client, "why", "work")
        self.assertEqual((error["error"], error["status"]), ("UnexpectedReply", 200))
        self.assertIn("<html>", error["text"])
        self.server.replies = [reply(502, b"bad gateway")]
        error = self.error(client, "remove", "work", "a")
        self.assertEqual((error["error"], error["status"], error["maybe_applied"]), ("Unavailable", 502, True))

    def test_chunked_and_interim_replies(self):
        client = self.begin(fake_w8yd.chunked({"state": "idle", "reasons": []}))
        for _ in range(2):
            self.assertEqual(self.value(client, "why", "work"), {"state": "idle", "reasons": []})
        self.assertEqual({request.connection for request in self.server.requests}, {0})

    def test_long_replies(self):
        client = self.begin(reply(200, {"reasons": [], "text": "x" * 3_000_000}))
        self.assertEqual(len(self.value(client, "why", "work")["text"]), 3_000_000)

    # ---- retries

    def test_repeats_while_redis_is_unavailable(self):
        added = reply(200, {"items": [{"result": "added"}]})
        removed = reply(200, {"result": "removed"})
        client = self.begin(added)
        for answer, call in ((added, ("add", "work", ["a"])), (removed, ("remove", "work", "a"))):
            self.server.requests.clear()
            self.server.replies = [UNAVAILABLE, UNAVAILABLE, answer]
            self.value(client, *call)
            self.assertEqual(len(self.server.requests), 3)
            self.assertEqual(len({request.headers.get("idempotency-key") for request in self.server.requests}), 1)

    def test_waits_as_long_as_the_reply_demands(self):
        client = self.begin(reply(503, {"error": "busy"}, Retry_After=1), reply(200, {"reasons": []}))
        begin = time.monotonic()
        self.value(client, "why", "work")
        self.assertGreaterEqual(time.monotonic() - begin, 1)

    def test_gives_up_after_retry_for(self):
        client = self.begin(reply(503, {"error": "Redis is unavailable"}, Retry_After=3600), retry_for=10)
        error = self.error(client, "add", "work", ["a"])
        self.assertEqual((error["error"], error["status"], error["maybe_applied"]), ("Unavailable", 503, False))
        self.assertEqual(error["text"], "Redis is unavailable")
        self.assertEqual(len(self.server.requests), 1)

    def test_repeats_what_may_be_executed_only_with_a_key(self):
        for lost in (UNKNOWN, CLOSE, THEN_CLOSE(b"HTTP/1.1 200 OK\r\nContent-Le")):
            with self.subTest(lost):
                self.server.requests.clear()
                client = self.begin(lost, reply(200, {"items": [{"result": "added"}]}))
                self.assertEqual(self.value(client, "add", "work", ["a"]), [True])
                first, second = self.server.requests
                self.assertEqual(first.headers["idempotency-key"], second.headers["idempotency-key"])
                self.assertEqual(first.body, second.body)
                self.server.requests.clear()
                self.server.replies = [lost, reply(200, {"result": "was free"})]
                self.assertIsNone(self.value(client, "rerun", "work", "a"))
                self.assertEqual(len(self.server.requests), 2)
                for call in (("remove", "work", "a"), ("schedule", "mix", "a:A", "NOW"), ("retract", "images", "0a"),
                             ("unschedule", "mix", "a:A")):
                    self.server.requests.clear()
                    self.server.replies = [lost, reply(200, {"next_ms": []})]
                    error = self.error(client, *call)
                    self.assertEqual((error["error"], error["maybe_applied"]), ("Unavailable", True))
                    self.assertEqual(len(self.server.requests), 1)

    def test_a_reply_that_does_not_come(self):
        client = self.begin(HANG, timeout=0.3, retry_for=0)
        error = self.error(client, "add", "work", ["a"])
        self.assertEqual((error["error"], error["maybe_applied"], error["status"]), ("Unavailable", True, None))
        self.assertIn("time limit exceeded", error["text"])

    def test_no_server(self):
        address = f"unix:{self.folder}/none.sock"
        error = self.error(self.start(address, retry_for=0), "remove", "work", "a")
        self.assertEqual((error["error"], error["maybe_applied"]), ("Unavailable", False))
        self.assertIn(f"cannot connect to {address}", error["text"])

    def test_a_server_that_starts_later(self):
        path = self.folder / "later.sock"
        client = self.start(f"unix:{path}")
        client.stdin.write(json.dumps([["remove", ["work", "a"], {}]]) + "\n")
        client.stdin.flush()
        server = FakeW8yd(path)
        self.addCleanup(server.close)
        server.replies = [reply(200, {"result": "removed"})]
        self.assertEqual(json.loads(client.stdout.readline()), [{"value": None}])

    # ---- connections

    def test_connections_are_kept(self):
        client = self.begin(reply(200, {"result": "removed"}))
        for _ in range(20):
            self.value(client, "remove", "work", "a")
        self.assertEqual({request.connection for request in self.server.requests}, {0})

    def test_a_kept_connection_that_is_closed_is_replaced(self):
        client = self.begin(THEN_CLOSE(reply(200, {"result": "removed"})), retry_for=0)
        for call in ("remove", "retract", "unschedule", "remove"):
            self.value(client, call, "work", "a")
            self.assertTrue(self.server.closed.wait(kit.LIMIT))
            self.server.closed.clear()
        self.assertEqual([request.connection for request in self.server.requests], [0, 1, 2, 3])

    def test_a_kept_connection_that_ends_with_the_request_is_replaced_at_once(self):
        fine = reply(200, {"reasons": [], "items": [{"result": "added"}]})
        for call in (("why", "work"), ("add", "work", ["a"])):
            client = self.begin(fine, CLOSE, fine, retry_for=0)
            self.value(client, "why", "work")
            self.value(client, *call)
        client = self.begin(fine, CLOSE, fine, retry_for=0)
        self.value(client, "why", "work")
        self.assertTrue(self.error(client, "remove", "work", "a")["maybe_applied"])

    def test_a_reply_with_close_ends_its_connection(self):
        client = self.begin(reply(200, {"result": "removed"}, Connection="close"), retry_for=0)
        for _ in range(3):
            self.value(client, "remove", "work", "a")
        self.assertEqual([request.connection for request in self.server.requests], [0, 1, 2])

    def test_calls_at_the_same_time_have_their_own_connections(self):
        self.server.gate = threading.Barrier(8)
        client = self.begin(reply(200, {"id": "0a", "state": "finished", "result": "x"}))
        self.assertEqual(self.ask(client, *[("wait", "images", "0a")] * 8), [{"value": data(b"x")}] * 8)
        self.assertEqual(len({request.connection for request in self.server.requests}), 8)


class Sync(Fake, unittest.TestCase):
    program = [sys.executable, kit.tests / "client_program.py", "sync"]

    def test_a_forked_process_has_connections_of_its_own(self):
        self.server.replies = [reply(200, {"result": "removed"})]
        script = ("import os, sys, w8y_client\n"
                  "client = w8y_client.Client(sys.argv[1])\n"
                  "client.remove('work', 'a')\n"
                  "pid = os.fork()\n"
                  "client.remove('work', 'a')\n"
                  "if pid: os.waitpid(pid, 0)\n")
        subprocess.run([sys.executable, "-c", script, self.server.address], check=True, timeout=kit.LIMIT,
                       env=self.environment())
        self.assertEqual(sorted(request.connection for request in self.server.requests), [0, 0, 1])


class Asyncio(Fake, unittest.TestCase):
    program = [sys.executable, kit.tests / "client_program.py", "asyncio"]

    def run_script(self, script):
        return subprocess.run([sys.executable, "-W", "error", "-c", script, self.server.address], check=True,
                              timeout=kit.LIMIT, env=self.environment(), capture_output=True, text=True).stdout

    def test_a_client_outlives_its_event_loop(self):
        self.server.replies = [reply(200, {"result": "removed"})]
        self.run_script("import asyncio, sys, w8y_client\n"
                        "client = w8y_client.AsyncClient(sys.argv[1])\n"
                        "for _ in range(2): asyncio.run(client.remove('work', 'a'))\n")
        self.assertEqual([request.connection for request in self.server.requests], [0, 1])

    def test_a_cancelled_call_closes_its_connection(self):
        self.server.replies = [HANG, reply(200, {"result": "removed"})]
        self.run_script("import asyncio, sys, w8y_client\n"
                        "async def main():\n"
                        "    async with w8y_client.AsyncClient(sys.argv[1]) as client:\n"
                        "        try:\n"
                        "            await asyncio.wait_for(client.why('work'), 0.5)\n"
                        "        except asyncio.TimeoutError:\n"
                        "            await client.remove('work', 'a')\n"
                        "asyncio.run(main())\n")
        self.assertEqual([request.connection for request in self.server.requests], [0, 1])


class Node(Fake, unittest.TestCase):
    program = ["node", kit.tests / "client_program.js"]

    def test_idle_connections_do_not_keep_a_process_alive(self):
        self.server.replies = [reply(200, {"result": "removed"})]
        subprocess.run(["node", "--input-type=module", "-e",
                        "import { Client } from 'w8y-client';\n"
                        "await new Client(process.argv[1]).remove('work', 'a');\n", self.server.address],
                       check=True, timeout=kit.LIMIT, env=self.environment(), cwd=self.folder)
        self.assertEqual(len(self.server.requests), 1)

    def test_put_many_ignores_options_of_one_job(self):
        self.server.replies = [reply(200, {"jobs": [{"result": "added", "id": "0a"}]})]
        client = self.start(self.server.address)
        self.value(client, "put_many", "images", ["x"], {"id": "a", "rerun": True})
        self.assertEqual(self.server.requests[0].body, {"jobs": [{"payload": "x"}]})

    def test_types_name_what_is_exported(self):
        folder = kit.source / "clients/node"
        types = (folder / "w8y-client.d.ts").read_text()
        script = ("const all = require('w8y-client');\n"
                  "console.log(JSON.stringify([Object.keys(all), Object.getOwnPropertyNames(all.Client.prototype)]))")
        exported, methods = json.loads(subprocess.run(["node", "-e", script], check=True, capture_output=True,
                                                      timeout=kit.LIMIT, env=self.environment()).stdout)
        self.assertEqual(sorted(re.findall(r"(?m)^export class (\w+)", types)), sorted(exported))
        client = re.search(r"(?ms)^export class Client \{\n(.*?)^\}", types)[1]
        self.assertEqual(re.findall(r"(?m)^  (\w+)\(", client), methods)


class Manual(Program, unittest.TestCase):
    def test_examples_of_the_page_work(self):
        server = FakeW8yd()
        self.addCleanup(server.close)
        server.replies = [reply(200, {"items": [{"result": "added"}], "jobs": [{"result": "added", "id": "0a"}],
                                      "state": "finished", "result": "done", "next_ms": []})]
        page = (kit.source / "man/w8y-clients.7").read_text()
        examples = re.findall(r"(?ms)^\.Bd -literal.*?$\n(.*?)^\.Ed", page.partition(".Sh EXAMPLES")[2])
        self.assertEqual(len(examples), 3)
        for code in examples:
            with self.subTest(code):
                code = re.sub("unix:/run/w8y/w8yd.sock|http://127.0.0.1:9158", server.address, code)
                program = [sys.executable, "-c"] if "import" in code else ["node", "-e"]
                done = subprocess.run([*program, code], env={**self.environment(), "TOKEN": "s3cret"}, check=False,
                                      capture_output=True, text=True, timeout=kit.LIMIT)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("done", done.stdout)


class Installation(Program, unittest.TestCase):
    """The directories of the clients can be installed with pip and npm, without a network."""

    def test_pip(self):
        target = self.folder / "target"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", target,
                        kit.source / "clients/python"], check=True, timeout=kit.LIMIT,
                       env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PIP_ROOT_USER_ACTION": "ignore"})
        self.assertTrue((target / "w8y_client/py.typed").is_file())
        subprocess.run([sys.executable, "-c", "import w8y_client; w8y_client.Client()"], check=True,
                       timeout=kit.LIMIT, cwd=self.folder,
                       env={**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"})

    def test_npm(self):
        if not shutil.which("npm"):
            self.skipTest("there is no npm")
        subprocess.run(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund",
                        kit.source / "clients/node"], check=True, timeout=kit.LIMIT, cwd=self.folder,
                       env={**os.environ, "HOME": str(self.folder)})
        subprocess.run(["node", "-e", "new (require('w8y-client').Client)()"], check=True, timeout=kit.LIMIT,
                       cwd=self.folder)

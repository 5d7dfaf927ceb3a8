"""Tests that each kit passes, regardless of its language. All tests/kits/program.* accept the same items."""
import json
import os
import select
import signal
import subprocess
import sys
import unittest

import kit

GONE = 128 + signal.SIGPIPE
UNICODE = 'ü "quoted" \\ /\b\f\r\t\u2028 \U0001f600'.encode()


class Kit(kit.Executor):
    # ---- the command line

    def test_caps(self):
        for args in (["--caps"], ["--extra", "--caps"]):
            ended = self.call(*args)
            self.assertEqual((ended.returncode, ended.stderr), (0, b""))
            self.assertEqual(json.loads(ended.stdout),
                             {"type": "caps", "caps": ["single", "stream", "gpu"], "concurrency": 1,
                              "version": "7"})

    def test_wrong_usage(self):
        for args in ((), ("work",), ("work", "id"), ("work", "id", "x"), ("work", "id", ""),
                     ("work", "id", "-1"), ("--stream",)):
            with self.subTest(args=args):
                ended = self.call(*args)
                self.assertEqual((ended.returncode, ended.stdout), (2, b""))
                self.assertIn(b"usage", ended.stderr)

    # ---- single

    def test_single(self):
        for item in (b"a:0", b"", UNICODE, bytes(range(256)), b"\0\n", b"big " + bytes(3_000_000)):
            with self.subTest(item[:20]):
                last, = self.single(item)
                self.assertEqual(last, {
                    "type": "complete", "name": "work", "run": "01HV", "length": len(item),
                    "fence": 1732147200000123, "attempt": 3, "sum": sum(item),
                    "hex": item[:100].hex()})

    def test_single_reads_only_the_length(self):
        last, = self.single(b"abcdef", 3)
        self.assertEqual((last["length"], last["hex"]), (3, b"abc".hex()))

    def test_single_cut_short(self):
        last, = self.single(b"abc", 6)
        self.assertIn("3 bytes of 6", last["error"])

    def test_single_errors(self):
        last, = self.single(b'fail with "quotes"\n')
        self.assertEqual(last, {"type": "complete", "error": 'with "quotes"\n'})
        self.assertEqual(self.errors, b"")
        last, = self.single(b"crash why")
        self.assertIn("why", last["error"])
        self.assertIn(b"why", self.errors)
        last, = self.single(b"text \xff")
        self.assertIn("UTF-8", last["error"])

    def test_single_messages(self):
        self.check_said(self.single(b"say"))

    def test_single_stray_output(self):
        self.assertEqual(self.single(b"stray"), [{"type": "complete"}])
        self.assertGreaterEqual(self.errors.count(b"stray"), 2)

    def begin_single(self, item):
        started = kit.Stream([*self.command, "work", "id", str(len(item))], self.settings())
        self.addCleanup(started.close)
        started.process.stdin.write(item)
        return started

    def test_single_sigterm(self):
        started = self.begin_single(f"gate {self.folder}/gate".encode())
        self.assertEqual(started.next(), {"type": "print", "content": "waits"})
        started.process.terminate()
        completed, status, errors = started.end()
        self.assertEqual((completed, status, errors), ({}, 128 + signal.SIGTERM, ""))

    # ---- stream

    def check_said(self, messages, **more):
        said = [
            {"type": "progress", "numerator": 1, "denominator": 4, **more},
            {"type": "update", "data": {"a": [1, None, "ü"]}, **more},
            {"type": "print", "content": '"quotes"\nü\t\u2028', **more},
            {"type": "complete", "nested": {"id": 1}, **more},
        ]
        self.assertEqual(messages, said)

    def test_stream_items(self):
        stream = self.stream()
        for number, item in enumerate((b"a:0", b"", UNICODE, bytes(range(256)), b"\0\n\x1f",
                                       b"big " + bytes(3_000_000), b"big " + b"\xff" * 3_000_000)):
            stream.item(f"01HV{number}", item, fence=1732147200000123 + number, attempt=number)
            self.assertEqual(stream.complete(), {
                "type": "complete", "id": f"01HV{number}", "run": f"01HV{number}", "name": "work",
                "length": len(item), "fence": 1732147200000123 + number, "attempt": number,
                "sum": sum(item), "hex": item[:100].hex()})
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_escapes(self):
        stream = self.stream()
        stream.write(b' { "later" : [ { "id" : null } , 1e5 ] , "item" : "\\u00fc\\ud83d\\ude00\\/\\b'
                     b'\\f\\n\\r\\t\\\\\\"\\u0000" , "id" : "\\u0041", "type":"\\u0069tem" } \r\n')
        item = 'ü\U0001f600/\b\f\n\r\t\\"\0'.encode()
        done = stream.complete()
        self.assertEqual((done["id"], done["hex"], done["name"]), ("A", item.hex(), "work"))
        self.assertEqual((done["fence"], done["attempt"]), (0, 1))
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_payload(self):
        stream = self.stream()
        stream.item("1", b"job", payload="ü")
        self.assertEqual(stream.complete()["payload"], "ü".encode().hex())
        stream.item("2", b"job", payload_base64="AP8=")
        self.assertEqual(stream.complete()["payload"], "00ff")
        stream.item("3", b"job", payload_base64="AP8")
        self.assertIn("cannot be read", stream.complete()["error"])
        stream.send(type="item", id="4", item_base64="!")
        self.assertIn("cannot be read", stream.complete()["error"])
        stream.send(type="item", id="5", item=7)
        self.assertIn("cannot be read", stream.complete()["error"])

    def test_stream_lines_of_w8yd(self):
        """Reads each form in which w8yd writes an item."""
        stream = self.stream()
        for number, (given, item, payload, fence) in enumerate((
                (b'"item":"a b~/\x7f","fence":1732147200000123,', b"a b~/\x7f", None, 1732147200000123),
                (b'"item":"","fence":7,', b"", None, 7),
                (b'"item":"a\\"\\\\\\u0001","fence":7,', b'a"\\\1', None, 7),
                ('"item":"ü","fence":7,'.encode(), "ü".encode(), None, 7),
                (b'"item_base64":"/w==","fence":7,', b"\xff", None, 7),
                (b'"item":"a","payload":"x","fence":7,', b"a", b"x", 7),
                (b'"item":"a","payload_base64":"/w==","fence":7,', b"a", b"\xff", 7),
                (b'"item":"a",', b"a", None, 0))):
            with self.subTest(given):
                stream.write(b'{"type":"item","id":"%d","name":"na me",%b"attempt":2}\n' % (number, given))
                expected = {"type": "complete", "id": str(number), "run": str(number), "name": "na me",
                            "length": len(item), "fence": fence, "attempt": 2, "sum": sum(item),
                            "hex": item.hex()}
                if payload is not None:
                    expected["payload"] = payload.hex()
                self.assertEqual(stream.complete(), expected)
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_incomplete_last_line(self):
        stream = self.stream()
        stream.write(b'{"type":"item","id":"1","item":"a:0"}\n{"type":"item","id":"2","item":"a')
        completed, status, _ = stream.end()
        self.assertEqual((completed.keys(), status), ({"1"}, 0))

    def test_stream_order_of_messages(self):
        stream = self.stream(8)
        for number in range(40):
            stream.item(str(number), b"say")
        completed, status, errors = stream.end()
        self.assertEqual((len(completed), status, errors), (40, 0, ""))
        for number in range(40):
            self.check_said([message for message in stream.messages if message["id"] == str(number)],
                            id=str(number))

    def test_stream_messages(self):
        stream = self.stream()
        stream.item("1", b"say")
        stream.complete()
        self.check_said(stream.messages, id="1")

    def test_stream_errors(self):
        stream = self.stream()
        stream.item("1", b"fail why")
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1", "error": "why"})
        stream.item("2", b"crash why")
        self.assertIn("why", stream.complete()["error"])
        stream.item("3", b"text \xff")
        self.assertIn("UTF-8", stream.complete()["error"])
        stream.item("4", "text ü".encode())
        self.assertEqual(stream.complete(), {"type": "complete", "id": "4", "text": "text ü"})
        self.assertEqual({message["id"] for message in stream.messages if message["type"] == "print"}, {"2"})
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_no_unicode(self):
        stream = self.stream()
        stream.item("1", b"odd")
        last = stream.complete()
        self.assertRegex(stream.messages[0]["content"], "^\ufffd+\\|$")
        self.assertEqual([set(text) for pair in last.items() for text in pair if "|" in text],
                         [{"\ufffd", "|"}] * 2)

    def test_stream_unknown(self):
        stream = self.stream()
        for line in (b"\n", b"garbage\n", b"{}\n", b"[]\n", b"\xff\n", b'{"type":"item"}\n', b"[" * 100_000,
                     b"\n", b'{"type":"later","id":"1","item":"x"}\n', b'{"type":"cancel","id":"none"}\n',
                     b'{"type":7,"id":"1"}\n', b'"text"\n', b"null\n", b'{"type":"item","id":"\\ud8',
                     b'00","item":"x"\n'):
            stream.write(line)
        stream.item("1", b"a:0")
        self.assertEqual(stream.complete()["hex"], b"a:0".hex())
        completed, status, errors = stream.end()
        self.assertEqual((completed, status), ({}, 0))
        self.assertIn("not a message", errors)

    def test_stream_stray_output(self):
        stream = self.stream()
        stream.item("1", b"stray")
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1"})
        stream.item("2", b"a:0")  # no child process has read it
        self.assertEqual(stream.complete()["id"], "2")
        said = [message["content"] for message in stream.messages if message["type"] == "print"]
        completed, status, errors = stream.end()
        self.assertEqual((completed, status), ({}, 0))
        self.assertGreaterEqual(said.count("stray") + errors.count("stray"), 2)
        self.assertIn("stray", said)

    def test_stream_long_lines(self):
        stream = self.stream()
        stream.item("1", b"long")
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1"})
        said = [message["content"] for message in stream.messages[:-1]]
        self.assertEqual("".join(said), "x" * 20000 + "y" * 20000)
        self.assertLess(max(map(len, said)), 20000)
        self.assertFalse([text for text in said if len(set(text)) != 1])
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_one_at_a_time(self):
        stream = self.stream()
        gate = self.folder / "gate"
        stream.item("1", f"gate {gate}".encode())
        stream.item("2", b"a:0")
        gate.touch()
        self.assertEqual([stream.complete()["id"] for _ in "12"], ["1", "2"])

    def test_stream_out_of_order(self):
        stream = self.stream(4)
        gates = [self.folder / str(number) for number in range(4)]
        for number, gate in enumerate(gates):
            stream.item(str(number), f"gate {gate}".encode())
        for number in (2, 0, 3, 1):
            gates[number].touch()
            self.assertEqual(stream.complete(), {"type": "complete", "id": str(number)})

    def test_stream_more_than_it_takes(self):
        stream = self.stream(2)
        gate = self.folder / "gate"
        for number in range(50):
            stream.item(str(number), f"gate {gate}".encode())
        gate.touch()
        completed, status, _ = stream.end()
        self.assertEqual((len(completed), status), (50, 0))

    def test_stream_cancel(self):
        stream = self.stream(2)
        never = f"gate {self.folder}/never".encode()
        for run_id, item in (("1", never), ("2", b"stubborn"), ("3", never), ("4", b"a:0")):
            stream.item(run_id, item)
        stream.cancel("3")  # not started yet
        stream.cancel("1")
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1", "error": "cancelled"})
        self.assertEqual(stream.complete(), {"type": "complete", "id": "3", "error": "cancelled"})
        self.assertEqual(stream.complete()["id"], "4")
        stream.cancel("2")
        stream.cancel("2")
        self.assertEqual(stream.complete(), {"type": "complete", "id": "2", "stopped": True})
        stream.cancel("2")  # after its end
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_stream_end_of_file_finishes_what_is_open(self):
        stream = self.stream(2)
        gate = self.folder / "gate"
        for run_id in "123":
            stream.item(run_id, f"gate {gate}".encode())
        stream.process.stdin.close()
        gate.touch()
        completed, status, errors = stream.end()
        self.assertEqual((completed.keys(), status, errors), (set("123"), 0, ""))

    def test_stream_end_of_file_at_once(self):
        self.assertEqual(self.stream().end(), ({}, 0, ""))

    def test_stream_lines_are_whole(self):
        stream = self.stream(8)
        for number in range(8):
            stream.item(str(number), b"flood")
        completed, status, _ = stream.end()
        self.assertEqual((len(completed), status, len(stream.messages)), (8, 0, 8 * 201))

    def test_stream_sigterm(self):
        stream = self.stream(2)
        stream.item("0", b"a:0")
        stream.complete()  # now it handles signals
        for run_id in "123":
            stream.item(run_id, f"gate {self.folder}/never".encode())
        stream.item("4", b"say")
        stream.cancel("1")
        stream.complete()  # now it has all items
        stream.process.terminate()
        completed, status, errors = stream.end()
        self.assertEqual((status, errors), (128 + signal.SIGTERM, ""))
        self.assertTrue({"2", "3"} <= completed.keys())

    # ---- closed outputs

    def test_closed_stdout(self):
        for item in (b"a:0", b"say"):
            stream = self.stream()
            stream.process.stdout.close()
            stream.item("1", item)
            status = stream.process.wait(kit.LIMIT)
            self.assertIn(status, (GONE, -signal.SIGPIPE))
            self.assertEqual(stream.process.stderr.read(), b"")

    def test_closed_stdout_while_others_run(self):
        stream = self.stream(2)
        stream.item("1", b"stubborn")
        stream.process.stdout.close()
        stream.item("2", b"say")
        self.assertIn(stream.process.wait(kit.LIMIT), (GONE, -signal.SIGPIPE))
        self.assertEqual(stream.process.stderr.read(), b"")

    def test_closed_stdout_single(self):
        started = self.begin_single(b"gate " + str(self.folder / "gate").encode())
        started.process.stdout.close()
        (self.folder / "gate").touch()
        self.assertIn(started.process.wait(kit.LIMIT), (GONE, -signal.SIGPIPE))
        self.assertEqual(started.process.stderr.read(), b"")


class Script:
    """Tests of the kits for Python and Node."""

    def test_stream_messages_of_a_function_that_blocks(self):
        stream = self.stream()
        gate = self.folder / "gate"
        stream.item("1", f"block {gate}".encode())
        self.assertEqual([stream.next()["content"] for _ in "12"], ["before", "after"])
        gate.touch()
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1"})

    def test_stream_output_after_the_end(self):
        stream = self.stream()
        gate = self.folder / "gate"
        stream.item("1", f"late {gate}".encode())
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1"})
        gate.touch()
        self.assertTrue(select.select([stream.process.stderr], [], [], kit.LIMIT)[0])
        self.assertEqual(stream.end(), ({}, 0, "late\n"))
        self.assertEqual(len(stream.messages), 1)

    def test_stream_start_of_a_long_result(self):
        stream = self.stream()
        stream.item("01HV", b"text " + b"x" * 100_000)
        stream.next()
        start = stream.line[:4096]
        self.assertIn(b'"id":"01HV"', start)
        self.assertIn(b'"type":"complete"', start)

    def test_stream_result_that_is_no_json(self):
        stream = self.stream()
        stream.item("1", b"no-json")
        self.assertIn("error", stream.complete())
        said = "\n".join(message["content"] for message in stream.messages[:-1])
        self.assertIn("TypeError", said)
        self.assertEqual(stream.end(), ({}, 0, ""))


class Loop:
    """Tests of the kits that run items in an event loop."""

    def test_stream_batches(self):
        stream = self.stream(16)
        stream.item("0", b"a:0")
        stream.complete()  # now it has started
        line = b'{"type":"item","id":"%d","name":"work","item":"text x","fence":1,"attempt":1}\n'
        stream.write(b"".join(line % number for number in range(16)))  # fewer than PIPE_BUF bytes
        received = os.read(stream.process.stdout.fileno(), 65536)
        self.assertEqual([json.loads(text) for text in received.splitlines()],
                         [{"type": "complete", "id": str(number), "text": "text x"} for number in range(16)])
        self.assertEqual(stream.end(), ({}, 0, ""))


class Cpp(Kit, unittest.TestCase):
    command = property(lambda self: [kit.program])

    def test_values(self):
        last, = self.single(b"values")
        self.assertEqual(last, {"type": "complete", "list": ["a", "b"], "none": None, "yes": True,
                                "half": 0.5, "negative": -7, "nan": None,
                                "raw": [-500.0, "\U0001f600é/", {"": {}}, [], True]})


class Python(Script, Kit, unittest.TestCase):
    command = property(lambda self: [sys.executable, kit.tests / "program.py"])
    environment = property(lambda self: {"PYTHONPATH": str(kit.source / "kits/python")})


class PythonTasks(Loop, Python):
    """The same with a coroutine function."""

    environment = property(lambda self: {"PYTHONPATH": str(kit.source / "kits/python"), "TASKS": "1"})

    def test_stream_many_tasks(self):
        stream = self.stream(10_000)
        line = b'{"type":"item","id":"%d","name":"work","item":"sleep 1","fence":1,"attempt":1}\n'
        stream.write(b"".join(line % number for number in range(10_000)))
        completed, status, errors = stream.end()
        self.assertEqual((len(completed), status, errors), (10_000, 0, ""))

    def test_stream_message_of_a_thread(self):
        stream = self.stream()
        stream.item("1", b"thread")
        self.assertEqual(stream.next(), {"type": "print", "content": "in a thread", "id": "1"})
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1"})

    def test_stream_of_a_file(self):
        items = self.folder / "items"
        items.write_text('{"type":"item","id":"1","item":"sleep 0.05"}\n')
        with items.open("rb") as file:
            ended = subprocess.run([*self.command, "--stream", "work"], stdin=file, capture_output=True,
                                   timeout=kit.LIMIT, env=self.settings(), check=True)
        self.assertEqual(json.loads(ended.stdout), {"type": "complete", "id": "1"})


class Node(Loop, Script, Kit, unittest.TestCase):
    command = property(lambda self: ["node", kit.tests / "program.js"])
    environment = property(lambda self: {"KIT": str(kit.source / "kits/node/w8y-executor.js")})

    def test_messages_before_an_exit(self):
        stream = self.stream(2)
        stream.write(b'{"type":"item","id":"1","item":"a:0"}\n{"type":"item","id":"2","item":"exit"}\n')
        self.assertEqual(stream.next(), {"type": "print", "content": "last words", "id": "2"})
        self.assertEqual(stream.end(), ({}, 3, ""))

    def test_from_an_es_module(self):
        ended = self.call_module(b"right")
        self.assertEqual(json.loads(ended.stdout), {"type": "complete", "esm": True}, ended.stderr)
        ended = self.call_module(b"wrong")
        self.assertEqual(json.loads(ended.stdout), {"type": "complete", "error": "wrong"})

    def call_module(self, item):
        program = kit.Executor()
        program.command = ["node", kit.tests / "module.mjs"]
        return program.call("work", "id", "5", item=item)

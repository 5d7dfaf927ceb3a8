"""Tests of the examples: the statements in their comments, and some items."""
import re
import subprocess
import sys
import unittest

import kit


class Example(kit.Executor):
    def setUp(self):
        super().setUp()
        self.text = self.folder / 'some "text" \\ ü'
        self.text.write_text("one\ntwo\n")
        self.result = {"lines": 2, "bytes": 8}

    def test_stream(self):
        stream = self.stream()
        for run_id, path in (("1", self.text), ("2", "/no/such/file"), ("3", self.text)):
            stream.item(run_id, str(path).encode())
        stream.item("4", b"\xff")
        completed, status, errors = stream.end()
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(completed["1"], {"type": "complete", "id": "1", **self.result})
        self.assertEqual(completed["3"], {"type": "complete", "id": "3", **self.result})
        for run_id in "24":
            self.assertIsInstance(completed[run_id]["error"], str)
        self.assertIn("progress", {message["type"] for message in stream.messages})

    def test_caps(self):
        ended = self.call("--caps")
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        self.assertIn(b'"concurrency":4', ended.stdout)

    def test_config_in_comment(self):
        text = re.sub(r"(?m)^(#| \*|//)?( {1,4}|$)", "", self.written.read_text())
        config = re.search(r"(?ms)^\[lists\..*?$(?=\n\n)", text)[0].replace("\n *", "\n")
        said = subprocess.run([kit.known_keys, "--check"], input=config + "\0", text=True, check=True,
                              capture_output=True, timeout=kit.LIMIT).stdout
        self.assertEqual(said.strip(), "")


class ExampleOfKit(Example):
    def test_single(self):
        *_, last = self.single(str(self.text).encode())
        self.assertEqual(last, {"type": "complete", **self.result})
        for item in (b"", b"x", b"\0", b"/\0", b"\xff", b"/no/such/file"):
            *_, last = self.single(item)
            self.assertIsInstance(last["error"], str)


class Cpp(ExampleOfKit, unittest.TestCase):
    command = property(lambda self: [kit.example])
    written = property(lambda self: kit.source / "kits/cpp/example.cpp")


class Python(ExampleOfKit, unittest.TestCase):
    command = property(lambda self: [sys.executable, self.written])
    written = property(lambda self: kit.source / "kits/python/example.py")


class Node(ExampleOfKit, unittest.TestCase):
    command = property(lambda self: ["node", self.written])
    written = property(lambda self: kit.source / "kits/node/example.js")


class Shell(Example, unittest.TestCase):
    command = property(lambda self: [self.written])
    written = property(lambda self: kit.source / "executors/stream.sh")

    def setUp(self):
        super().setUp()
        said = subprocess.run(["sha256sum"], stdin=self.text.open(), capture_output=True, text=True,
                              check=True).stdout
        self.result = {"sha256": said.split()[0]}

    def stream(self, at_once=1):
        started = kit.Stream([*self.command, "--stream", "work"], self.settings(at_once))
        self.addCleanup(started.close)
        return started

    def test_wrong_usage(self):
        for args in ((), ("work", "id", "1"), ("--stream",), ("--caps", "x")):
            ended = self.call(*args)
            self.assertEqual((ended.returncode, ended.stdout), (2, b""))

    def test_cancel(self):
        stream = self.stream()
        slow = self.folder / "tools/sha256sum"
        slow.parent.mkdir()
        slow.write_text("#!/bin/sh\nexec sleep 100\n")
        slow.chmod(0o755)
        stream.close()
        self.environment = {"PATH": f"{slow.parent}:{self.settings()['PATH']}"}
        stream = self.stream()
        for run_id in "12":
            stream.item(run_id, str(self.text).encode())
            self.assertEqual(stream.next()["type"], "progress")
        for run_id in "21":
            stream.cancel(run_id)
            self.assertEqual(stream.next(),
                             {"type": "complete", "id": run_id, "error": "cancelled"})
        self.assertEqual(stream.end(), ({}, 0, ""))

    def test_escapes(self):
        stream = self.stream()
        path = self.folder / "tab\tand\nline"
        path.write_bytes(self.text.read_bytes())
        stream.item("1", str(path).encode())
        self.assertEqual(stream.complete(), {"type": "complete", "id": "1", **self.result})
        stream.item("2", b"/\x01")
        self.assertIn("bytes", stream.complete()["error"])
        stream.send(type="later", id="3", item=str(path))
        stream.item("../x", str(path).encode())
        self.assertEqual(stream.end(), ({}, 0, ""))

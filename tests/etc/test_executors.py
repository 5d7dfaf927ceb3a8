"""Tests of the example executors, called like w8yd calls them."""
import json
import os
import random
import re
import signal
import subprocess
import unittest
import zlib

import place

# Replaces a program: writes its last argument, and prints a log line.
CONVERT = '#!/bin/sh\nfor last; do :; done\necho converting >&2\nprintf small >"$last"\n'
# A program that never ends by itself.
SLOW_CONVERT = '#!/bin/sh\nfor last; do :; done\n>"$last"\nexec sleep 600\n'

GARBAGE = [
    b"\0", b"\n", b"\xff\xfe\xfd", b"../../etc/passwd", b"etc/passwd", b"/no/such/file",
    b"/tmp", b"-rf", b"$(id)", b'"}\n{"type":"complete"}\n', b"a" * 5000,
    random.Random(1).randbytes(4096),
]  # fmt: skip


class Executor(place.Folder):
    """Tests that each executor passes. A run is (exit status, messages, standard error)."""

    version = "1.0"

    def setUp(self):
        super().setUp()
        self.environment = {"PATH": os.environ["PATH"], "W8Y_FENCE": "1732147200000123"}

    def call(self, *args, item=b""):
        return subprocess.run([*self.command, *args], input=item, capture_output=True, timeout=60,
                              env=self.environment, cwd="/")

    def run_item(self, item, length=None):
        ended = self.call("work", "01HV0000000000000000000000",
                          str(len(item) if length is None else length), item=item)
        messages = [json.loads(line) for line in ended.stdout.decode().splitlines()]
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for message in messages:
            self.assertIn(message["type"], ("complete", "progress", "update", "print"))
        self.assertEqual([m["type"] for m in messages].count("complete"), 1)
        self.assertEqual(messages[-1]["type"], "complete")
        return messages

    def assert_fails(self, item, length=None):
        outcome = self.run_item(item, length)[-1]
        self.assertIsInstance(outcome.get("error"), str, outcome)

    def begin(self):
        """Starts a process in its own group, like w8yd. It waits for its item."""
        process = subprocess.Popen([*self.command, "work", "id", "5"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment, cwd="/", start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def assert_ends(self, process):
        os.killpg(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertNotIn(b"complete", out)

    def test_caps(self):
        ended = self.call("--caps")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        caps = json.loads(ended.stdout)
        self.assertEqual((caps["type"], caps["caps"]), ("caps", ["single"]))
        self.assertEqual(caps.get("version"), self.version)

    def test_garbage(self):
        for item in GARBAGE:
            with self.subTest(item=item[:40]):
                self.assert_fails(item)

    def test_item_cut_short(self):
        self.assert_fails(b"[1", length=6)


class ExecutorOfOurs(Executor):
    def test_wrong_usage(self):
        for args in ((), ("work",), ("work", "id"), ("work", "id", "x"), ("work", "id", ""),
                     ("work", "id", "-1"), ("work", "id", "1", "2")):
            with self.subTest(args=args):
                ended = self.call(*args)
                self.assertEqual((ended.returncode, ended.stdout), (2, b""))
                self.assertIn(b"usage", ended.stderr)

    def test_sigterm(self):
        process = self.begin()
        place.wait_for(lambda: place.catches(process.pid, signal.SIGTERM), what="it catches SIGTERM")
        self.assert_ends(process)

    def test_empty_item(self):
        self.assert_fails(b"")


class TextStats(ExecutorOfOurs, unittest.TestCase):
    command = property(lambda self: [place.source / "executors/textstats.py"])

    def test_run(self):
        text = self.write("text", "one two\nthree\n\n" * 1000)
        messages = self.run_item(os.fsencode(text))
        self.assertEqual(messages[0]["type"], "progress")
        self.assertEqual(messages[-1],
                         {"type": "complete", "lines": 3000, "words": 3000, "bytes": 15000})


class Checksum(ExecutorOfOurs, unittest.TestCase):
    command = property(lambda self: [place.checksum])

    def test_run(self):
        for size in (0, 1, 65536, 200000):
            data = random.Random(size).randbytes(size)
            file = self.folder / str(size)
            file.write_bytes(data)
            self.assertEqual(self.run_item(os.fsencode(file))[-1],
                             {"type": "complete", "crc32": f"{zlib.crc32(data):08x}", "bytes": size})


class Superman(Executor, unittest.TestCase):
    """An executor by superman's conventions, without the extensions of w8y."""

    command = property(lambda self: [place.source / "executors/superman.py"])
    version = None

    def test_run(self):
        messages = self.run_item(b"[3, 1, 2]")
        self.assertEqual(messages[-1], {"type": "complete", "data": [1, 2, 3]})
        self.assertEqual({m["type"] for m in messages}, {"print", "progress", "update", "complete"})

    def test_workload_without_length(self):
        for args in (("sort", "id"), ("sort", "id", "0")):
            ended = self.call(*args)
            self.assertEqual(ended.returncode, 0)
            self.assertEqual(json.loads(ended.stdout.splitlines()[-1])["data"], [])

    def test_lines_are_compact(self):
        ended = self.call("sort", "id", "5", item=b"[2,1]")
        self.assertNotIn(b" ", ended.stdout.replace(b"bytes to sort", b"").replace(b"5 ", b""))


class Resize(ExecutorOfOurs, unittest.TestCase):
    command = property(lambda self: [place.source / "executors/resize.sh", "--size", "64x64"])

    def setUp(self):
        super().setUp()
        self.write("tools/convert", CONVERT, 0o755)
        self.write("tools/magick", CONVERT, 0o755)
        self.write("in/album/a.png", "image")
        self.environment |= {"PATH": f"{self.folder}/tools:{os.environ['PATH']}",
                             "IMAGES": str(self.folder / "in"),
                             "THUMBNAILS": str(self.folder / "out")}

    def made(self):
        return {path.name for path in (self.folder / "out").rglob("*") if path.is_file()}

    def test_run(self):
        messages = self.run_item(b"album/a.png")
        self.assertEqual(messages[-1], {"type": "complete", "bytes": 5})
        self.assertEqual((self.folder / "out/album/a.png").read_text(), "small")
        self.assertEqual(self.made(), {"a.png"})

    def test_without_imagemagick(self):
        self.environment["PATH"] = str(self.folder)
        ended = self.call("--caps")
        self.assertEqual((ended.returncode, ended.stdout), (1, b""))

    def test_path_out_of_the_folder(self):
        self.write("secret.png", "image")
        for item in (b"../secret.png", b"album/../../secret.png", b"/secret.png", b"album/..", b".."):
            with self.subTest(item):
                self.assert_fails(item)

    def test_image_that_is_none(self):
        self.write("tools/magick", "#!/bin/sh\nexit 1\n", 0o755)
        self.assert_fails(b"album/a.png")
        self.assertEqual(self.made(), set())

    def test_sigterm_leaves_nothing_behind(self):
        self.write("tools/magick", SLOW_CONVERT, 0o755)
        self.write("in/x.png", "image")
        process = self.begin()
        process.stdin.write(b"x.png")
        process.stdin.close()
        process.stdin = None
        place.wait_for(self.made, what="it has begun to write")
        self.assert_ends(process)
        self.assertEqual(self.made(), set())


class Comments(unittest.TestCase):
    def test_configs_are_right(self):
        for path in sorted((place.source / "executors").iterdir()):
            text = re.sub(r"(?m)^(#|//)?( {1,4}|$)", "", path.read_text())
            config = re.search(r"(?ms)^\[lists\..*?$(?=\n\n)", text)[0]
            with self.subTest(path.name):
                self.assertIn("executor = ", config)
                self.assertEqual(place.mistakes(config), "")

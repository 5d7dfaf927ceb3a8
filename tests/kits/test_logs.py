"""Tests that the output of a run belongs to the run, with a w8yd and several items at once in one process."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kit
from private_redis import Redis, die_with_parent, wait_for

ITEMS = ("good1", "good2", "bad1", "bad2")
CONFIG = """
[redis]
url = "{redis}"
[supervisor]
host = "alone"
status = ["unix:{folder}/w8yd.sock"]
drain_timeout = "100ms"
[lists.talk]
executor = "{folder}/executor"
mode = "stream"
concurrency = 4
cooldown = "1h"
backoff = {{ min = "1h", max = "1h" }}
keep_output = true
"""


class Logs:
    """`program` is the command of the executor, `env` its environment, `traceback` a part of each traceback."""

    env = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="w8y-logs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.redis = Redis(self.folder / "redis")
        self.addCleanup(self.redis.kill)
        self.gate = self.folder / "gate"
        self.config = self.folder / "w8yd.toml"
        self.config.write_text(CONFIG.format(redis=self.redis.url, folder=self.folder))
        # w8yd starts `--caps` without the variables of `env`.
        env = {"AT_ONCE": "4", "PYTHONDONTWRITEBYTECODE": "1", **self.env,
               **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}
        executor = self.folder / "executor"
        executor.write_text("#!/bin/sh\n" + "".join(f"export {name}={shlex.quote(env[name])}\n" for name in env) +
                            f'exec {shlex.join(self.program)} "$@"\n')
        executor.chmod(0o755)
        self.log = self.folder / "w8yd.log"
        with self.log.open("wb") as log:
            w8yd = subprocess.Popen([kit.w8yd, "--config", self.config], stderr=log, preexec_fn=die_with_parent)
        self.addCleanup(w8yd.wait, kit.LIMIT)
        self.addCleanup(w8yd.terminate)
        wait_for(lambda: (self.folder / "w8yd.sock").exists() or w8yd.poll() is not None, kit.LIMIT, "w8yd")
        self.assertIsNone(w8yd.poll(), self.log.read_text())

    def ctl(self, *words, check=True):
        return subprocess.run([kit.w8yctl, "--config", self.config, *words], check=check, capture_output=True,
                              text=True, timeout=kit.LIMIT).stdout

    def run_of(self, name):
        lock = self.redis.ask("GET", f"talk:lock:talk {name} {self.gate}")
        return lock.decode().split(":")[3] if lock else None

    def log_of(self, run):
        return self.ctl("logs", run, check=False).splitlines()  # its lock exists before the run

    def begin(self):
        """Starts all items. Returns their runs, and the lines that each has written before the gate."""
        for name in ITEMS:
            self.redis.ask("RPUSH", "talk:list", f"talk {name} {self.gate}")
        runs = {name: wait_for(lambda name=name: self.run_of(name), kit.LIMIT, name) for name in ITEMS}
        so_far = {name: [f"{name} 1", f"{name} 2", "", *(f"{name} {i}" for i in (3, 4, 5, 6))] for name in ITEMS}
        for name, run in runs.items():
            wait_for(lambda name=name, run=run: f"{name} 6" in self.log_of(run), kit.LIMIT, name)
            self.assertEqual(self.log_of(run), so_far[name])
        return runs, so_far

    def record_of(self, run):
        return json.loads(self.ctl("--json", "show", run))

    def wait_for_records(self):
        wait_for(lambda: sum(self.redis.ask("LLEN", f"talk:{kind}") for kind in ("runs", "failed-runs"))
                 == len(ITEMS), kit.LIMIT, "the ends of the runs")

    def test_output_before_a_crash_belongs_to_its_run(self):
        runs, so_far = self.begin()
        pids = {self.record_of(run)["pid"] for run in runs.values()}
        self.assertEqual(len(pids), 1)
        os.kill(pids.pop(), signal.SIGKILL)
        self.wait_for_records()
        for name, run in runs.items():
            record = self.record_of(run)
            self.assertEqual((record["outcome"], record["stderr"].splitlines()), ("crashed", so_far[name]))

    def test_output_belongs_to_its_run(self):
        runs, so_far = self.begin()
        self.gate.touch()
        self.wait_for_records()
        for name, run in runs.items():
            lines = self.log_of(run)
            whole = [*so_far[name], f"{name} 7", "ü"]
            record = self.record_of(run)
            self.assertEqual(record["stderr"].splitlines(), lines)
            shown = self.ctl("show", run).partition("log output:\n")[2]
            self.assertEqual([line[2:] for line in shown.splitlines()], lines)
            if name.startswith("good"):
                self.assertEqual((lines, record["outcome"]), (whole, "succeeded"))
                continue
            self.assertEqual((lines[:len(whole)], record["outcome"]), (whole, "failed"))
            self.assertIn(f"{name} is bad", record["reason"])
            traceback = "\n".join(lines[len(whole):])
            self.assertRegex(traceback, f"^{self.traceback}")
            self.assertIn(f"{name} is bad", traceback)
            self.assertFalse([other for other in ITEMS if other != name and other in traceback])
        self.assertNotRegex(self.log.read_text(), "child output.* pid=")


class Cpp(Logs, unittest.TestCase):
    program = property(lambda self: [str(kit.program)])
    traceback = r"std::_Nested_exception<std::out_of_range>: bad. is bad\ncaused by std::invalid_argument: the cause"


class Python(Logs, unittest.TestCase):
    program = property(lambda self: [sys.executable, str(kit.tests / "program.py")])
    env = property(lambda self: {"PYTHONPATH": str(kit.source / "kits/python")})
    traceback = r"Traceback [^$]*program\.py.*, in talk"


class PythonTasks(Python):
    env = property(lambda self: {"PYTHONPATH": str(kit.source / "kits/python"), "TASKS": "1"})


class Node(Logs, unittest.TestCase):
    program = property(lambda self: [shutil.which("node"), str(kit.tests / "program.js")])
    env = property(lambda self: {"KIT": str(kit.source / "kits/node/w8y-executor.js")})
    traceback = r"TypeError: bad. is bad\n +at talk .*program\.js"

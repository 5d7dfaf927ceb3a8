"""Paths, which run_kits.py sets, and an executor that is started like w8yd starts it."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

source = program = example = known_keys = support = w8yd = w8yctl = None  # paths
tests = Path(__file__).resolve().parent
LIMIT = 60  # s; limit of each wait


class Executor:
    """Base of test cases. `command` starts the executor."""

    environment = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="w8y-kits-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def settings(self, at_once=1):
        return {"PATH": os.environ["PATH"], "AT_ONCE": str(at_once), "PYTHONDONTWRITEBYTECODE": "1",
                "W8Y_FENCE": "1732147200000123", "W8Y_ATTEMPT": "3", **self.environment,
                **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}

    def call(self, *args, item=b""):
        return subprocess.run([*self.command, *args], input=item, capture_output=True, timeout=LIMIT,
                              env=self.settings(), cwd="/")

    def single(self, item, length=None):
        """Returns all messages of a run that succeeds."""
        length = len(item) if length is None else length
        ended = self.call("--extra", "work", "01HV", str(length), item=item)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        messages = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual([m["type"] for m in messages].index("complete"), len(messages) - 1)
        self.errors = ended.stderr
        return messages

    def stream(self, at_once=1):
        started = Stream([*self.command, "--extra", "--stream", "work"], self.settings(at_once))
        self.addCleanup(started.close)
        return started


class Stream:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, cwd="/", bufsize=0,
                                        start_new_session=True)
        self._received = b""
        self.line = b""  # the last received line
        self.messages = []  # all received messages

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        self.process.wait()

    def write(self, line):
        line = memoryview(line)
        while line:
            line = line[self.process.stdin.write(line):]

    def send(self, **message):
        self.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def item(self, run_id, item, **more):
        try:
            bytes_of_item = {"item": item.decode()}
        except UnicodeDecodeError:
            bytes_of_item = {"item_base64": base64.b64encode(item).decode()}
        self.send(type="item", id=run_id, name="work", **bytes_of_item,
                  **{"fence": 12, "attempt": 1, **more})

    def cancel(self, run_id):
        self.send(type="cancel", id=run_id)

    def next(self):
        """Returns the next message, or None at end of file."""
        deadline = time.monotonic() + LIMIT
        while b"\n" not in self._received:
            readable = select.select([self.process.stdout], [], [], deadline - time.monotonic())[0]
            received = os.read(self.process.stdout.fileno(), 1 << 20) if readable else b""
            if not readable:
                raise AssertionError("it says nothing")
            if not received:
                if self._received:
                    raise AssertionError(f"half a line: {self._received[:80]}")
                return None
            self._received += received
        self.line, _, self._received = self._received.partition(b"\n")
        self.messages.append(json.loads(self.line.decode()))
        return self.messages[-1]

    def complete(self):
        """Returns the next `complete` message."""
        while message := self.next():
            if message["type"] == "complete":
                return message
        raise AssertionError("end of file")

    def end(self):
        """Closes standard input. Returns the completed runs, the exit status and the standard error."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        completed = {}
        while message := self.next():
            if message["type"] == "complete":
                completed[message["id"]] = message
        errors = self.process.stderr.read().decode()
        return completed, self.process.wait(LIMIT), errors

#!/usr/bin/env python3
"""An executor for w8yd in Python: counts lines, words and bytes of a file.

    [lists.texts]
    executor = "/opt/acme/bin/textstats.py"
    progress_timeout = "1m"

The item is the path of the file. w8yd calls

    textstats.py --caps              and wants one JSON object that says what this can do;
    textstats.py NAME ID LENGTH      with an item of LENGTH bytes on standard input.

The part above the line knows w8yd, the part below it knows the work: to write an executor of your
own, replace what is below.
"""
import json
import os
import signal
import sys
import time

CAPS = {"type": "caps", "caps": ["single"], "version": "1.0"}


class ItemError(Exception):
    """The item is at fault: the run has failed, and its text is the reason."""


class Run:
    """One run for one item, and what it has to say."""

    def __init__(self, name, run_id, item):
        self.name = name  # the list's prefix
        self.id = run_id  # new for each run
        self.item = item  # bytes
        # A number that only grows. Whoever remembers the highest one seen for an item can turn
        # away a writer that was cut off and came back late.
        self.fence = int(os.environ.get("W8Y_FENCE", "0"))
        self._last_progress = 0.0

    @staticmethod
    def say(kind, **members):
        # One line, and at once: what stays in a buffer is no sign of life.
        print(json.dumps({"type": kind, **members}), flush=True)

    def progress(self, numerator, denominator):
        """Call it as often as you like: it says so four times a second at most."""
        now = time.monotonic()
        if now - self._last_progress >= 0.25:
            self._last_progress = now
            self.say("progress", numerator=numerator, denominator=denominator)

    def update(self, data):
        """Any JSON, for whoever listens to the list's events."""
        self.say("update", data=data)


def read_item(length):
    item = sys.stdin.buffer.read(length)
    if len(item) != length:
        raise ItemError(f"got {len(item)} bytes of {length}")
    return item


def main(args):
    if args == ["--caps"]:
        print(json.dumps(CAPS))
        return 0
    if len(args) != 3 or not args[2].isdecimal():
        print("usage: textstats.py --caps | NAME ID LENGTH", file=sys.stderr)
        return 2
    # Timeout, shutdown, cancel: SIGTERM comes first, SIGKILL after `kill_grace`. Like this, every
    # `finally` and `with` on the way out is carried out. w8yd knows why the run ended, so the exit
    # status makes no difference.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    name, run_id, length = args
    try:
        run = Run(name, run_id, read_item(int(length)))
        # All but "type" is kept as the run's result.
        Run.say("complete", **work(run))
    except ItemError as error:
        # Exit status 0 and an "error": failed. What is not caught here ends in a traceback on
        # standard error, which is the log, and exit status 1: crashed.
        Run.say("complete", error=str(error))
    return 0


# ---- the work


def work(run):
    path = os.fsdecode(run.item)
    if "\0" in path or not path.startswith("/"):
        raise ItemError("the item is not an absolute path")
    try:
        with open(path, "rb") as file:
            return count(run, file)
    except OSError as error:
        raise ItemError(error.strerror) from error


def count(run, file):
    size = os.fstat(file.fileno()).st_size
    lines = words = done = 0
    for line in file:
        lines += 1
        words += len(line.split())
        done += len(line)
        run.progress(done, max(size, done))
    return {"lines": lines, "words": words, "bytes": done}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

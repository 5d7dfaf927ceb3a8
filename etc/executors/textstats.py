#!/usr/bin/env python3
"""An executor for w8yd in Python: counts lines, words and bytes of a file.

    [lists.texts]
    executor = "/opt/acme/bin/textstats.py"
    progress_timeout = "1m"

The item is the path of the file. w8yd calls

    textstats.py --caps              to read the capabilities, one JSON object;
    textstats.py NAME ID LENGTH      to run one item of LENGTH bytes on standard input.

The code above the line "the work" is the same for every executor. To write an executor of your own,
replace the code below it.
"""
import json
import os
import signal
import sys
import time

CAPS = {"type": "caps", "caps": ["single"], "version": "1.0"}


class ItemError(Exception):
    """The run has failed because of its item. The text is the reason."""


class Run:
    """One run of one item, and its messages."""

    def __init__(self, name, run_id, item):
        self.name = name  # of the list
        self.id = run_id  # new for each run
        self.item = item  # bytes
        # Fencing token: it grows with each claim. A store that keeps the highest token of an item can
        # refuse a writer whose run was replaced by a newer one.
        self.fence = int(os.environ.get("W8Y_FENCE", "0"))
        self._last_progress = 0.0

    @staticmethod
    def say(kind, **members):
        # One line, flushed at once: progress in a buffer does not count as progress.
        print(json.dumps({"type": kind, **members}), flush=True)

    def progress(self, numerator, denominator):
        """Reports progress, at most four times per second; you can call it more often."""
        now = time.monotonic()
        if now - self._last_progress >= 0.25:
            self._last_progress = now
            self.say("progress", numerator=numerator, denominator=denominator)

    def update(self, data):
        """Sends any JSON to the subscribers of the list's events."""
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
    # w8yd sends SIGTERM at a timeout, a shutdown or a cancel, and SIGKILL after `kill_grace`. With
    # sys.exit(), Python executes every `finally` and `with`. w8yd ignores the exit status then.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    name, run_id, length = args
    try:
        run = Run(name, run_id, read_item(int(length)))
        # w8yd stores all members except "type" as the result of the run.
        Run.say("complete", **work(run))
    except ItemError as error:
        # Exit status 0 and an "error" mean failed. Any other exception means crashed: it prints a
        # traceback to standard error, which w8yd logs, and the exit status is 1.
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

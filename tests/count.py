#!/usr/bin/env python3
"""Adds up what the tests of one or more builds said: `N passed, M failed`.

Usage: count.py FAILED_BUILDS TESTLOG.json...

A test program that counts its cases (doctest, or a line "N passed, M failed") counts as many; any
other counts as one. One that failed without saying so (killed, timed out) counts as one failure.
What was left out is told before, with the reason.
"""
import json
import re
import sys

DOCTEST = re.compile(r"^\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed", re.M)
SKIPPED = re.compile(r"skipped: |: can't be tried here$")
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
# A case of doctest that failed, to the next line of signs; of Python's unittest, to the next rule; a
# case of tests/cli, to the next one's name.
FAILED = (
    re.compile(r"^[^\n]*:\d+:\nTEST (?:CASE|SUITE):(?:(?!^={9}).)*?\b(?:ERROR|FATAL ERROR): "
               r"(?:(?!^={9}).)*", re.M | re.S),
    re.compile(r"^(?:FAIL|ERROR): (?:(?!^={9}).)*", re.M | re.S),
    re.compile(r"^--- \S+\n(?:(?!^--- \S+(?:: |\n)|^\d+ passed).)*", re.M | re.S),
    re.compile(r"^failed: (?:(?!^\d+ passed).)*", re.M | re.S),
)
MOST_LINES = 25  # of each


def count(test):
    output = re.sub(r"\x1b\[[0-9;]*m", "", test.get("stdout", "") or "")
    passed = failed = 0
    for match in list(DOCTEST.finditer(output)) + list(PLAIN.finditer(output)):
        passed += int(match[1])
        failed += int(match[2])
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if test["result"] == "SKIP":
        return 0, 0
    if passed + failed == 0:
        return (1, 0) if good else (0, 1)
    if not good and failed == 0:
        failed = 1
    return passed, failed


def skipped(test):
    """What it says that it left out, and why."""
    output = test.get("stdout", "") or ""
    said = [line.strip() for line in output.splitlines() if SKIPPED.search(line)]
    return said or (["skipped"] if test["result"] == "SKIP" else [])


def what_failed(test):
    """The parts of what it said that tell of failures, each cut to MOST_LINES."""
    said = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    output = re.sub(r"\x1b\[[0-9;]*m", "", said)
    for pattern in FAILED:
        if found := pattern.findall(output):
            break
    else:
        found = ["\n".join(output.splitlines()[-MOST_LINES:])]
    for part in found:
        lines = part.strip().splitlines()
        if len(lines) > MOST_LINES:
            lines[MOST_LINES // 2:-(MOST_LINES // 2)] = ["…"]
        yield "\n".join("    " + line for line in lines)


def main():
    failures = []
    passed, failed = 0, int(sys.argv[1])
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                p, f = count(test)
                passed += p
                failed += f
                for what in skipped(test):
                    print(f"{test['name']}: {what}")
                if f:
                    failures.append(f"failed: {test['name']} ({path})")
                    failures.extend(what_failed(test))
    # At the end, where who has the end of the log only finds it.
    print("\n".join(failures), end="\n" if failures else "")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())

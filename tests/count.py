#!/usr/bin/env python3
"""Adds up the test results of one or more builds: `N passed, M failed`.

Usage: count.py FAILED_BUILDS TESTLOG.json...

A test program that prints its number of cases (doctest, or a line "N passed, M failed") counts as that many.
Any other counts as one. A program that failed without a printed failure (killed, timeout) counts as one failure.
Skipped tests are printed first, with the reason.
"""
import json
import re
import sys

DOCTEST = re.compile(r"^\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed", re.M)
SKIPPED = re.compile(r"skipped: |: cannot be tried here$")
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
# Text of a failed case. A case of doctest ends at the next line of signs, a case of Python's unittest at the next
# rule, and a case of tests/cli at the next name.
FAILED = (
    re.compile(r"^[^\n]*:\d+:\nTEST (?:CASE|SUITE):(?:(?!^={9}).)*?\b(?:ERROR|FATAL ERROR): "
               r"(?:(?!^={9}).)*", re.M | re.S),
    re.compile(r"^(?:FAIL|ERROR): (?:(?!^={9}).)*", re.M | re.S),
    re.compile(r"^--- \S+\n(?:(?!^--- \S+(?:: |\n)|^\d+ passed).)*", re.M | re.S),
    re.compile(r"^failed: (?:(?!^\d+ passed).)*", re.M | re.S),
)
MOST_LINES = 25  # lines per failure


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
    """Returns the skipped parts that the test printed, with their reasons."""
    output = test.get("stdout", "") or ""
    said = [line.strip() for line in output.splitlines() if SKIPPED.search(line)]
    return said or (["skipped"] if test["result"] == "SKIP" else [])


def what_failed(test):
    """Returns the parts of the output that describe failures, each truncated to MOST_LINES."""
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
    # Printed last, where a reader who has only the end of the log finds it.
    print("\n".join(failures), end="\n" if failures else "")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())

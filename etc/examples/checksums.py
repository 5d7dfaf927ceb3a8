#!/usr/bin/env python3
"""Puts a job for each file into a feed, and prints the results, in the order of the files.

    checksums.py FEED FILE...

    [lists.checksums]
    source = "job"
    command = ["xargs", "-0", "sha256sum"]
    result = "stdout"
    max_failures = 3

The payload of a job is the path of its file, and the command reads it on its standard input. The client is
installed with `pip install /usr/share/w8y/clients/python`; W8YD is an address other than its default.
"""
import os
import sys

from w8y_client import DEFAULT_ADDRESS, Client, Error


def main(feed, *files):
    status = 0
    with Client(os.environ.get("W8YD", DEFAULT_ADDRESS)) as w8y:
        jobs = w8y.put_many(feed, [os.fsencode(os.path.abspath(file)) for file in files])
        for file, job in zip(files, jobs):
            try:
                print((w8y.wait(feed, job, timeout=600) or b"").decode(errors="replace"))
            except Error as error:
                print(f"checksums.py: {file}: {error}", file=sys.stderr)
                status = 1
    return status


if len(sys.argv) < 2:
    print("usage: checksums.py FEED FILE...", file=sys.stderr)
    sys.exit(2)
try:
    sys.exit(main(*sys.argv[1:]))
except Error as e:
    print(f"checksums.py: {e}", file=sys.stderr)
    sys.exit(1)

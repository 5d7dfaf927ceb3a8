#!/usr/bin/env python3
"""An executor by superman's conventions, which w8yd runs as it is: sorts an array of JSON.

    [lists.sort]
    executor = "/opt/acme/bin/superman.py"
    cwd = "temp"                # a fresh folder for each run, as superman gave it

Its rules: three arguments, the function's name, the job's id and the length of the workload on
standard input, which may be missing or zero; standard output is one compact JSON object per line;
a job ends with "complete" and either "data" or "error"; and the exit status is 0 once that is said.
Whatever only w8yd has (the W8Y_ variables, "cooldown") is left alone here.

With w8yd the name is the list's prefix, the id is the run's, and the workload is the item.
"""
import json
import sys


def say(**message):
    print(json.dumps(message, separators=(",", ":")), flush=True)


def perform(workload):
    say(type="print", content=f"{len(workload)} bytes to sort")
    array = json.loads(workload)
    if not isinstance(array, list):
        raise ValueError("the workload is not an array")
    say(type="progress", numerator=1, denominator=2)
    array.sort()
    say(type="update", data={"sorted": len(array)})
    return array


def main(args):
    if "--caps" in args:
        say(type="caps", caps=["single"])
        return
    length = int(args[2]) if len(args) > 2 else 0
    workload = sys.stdin.buffer.read(length) if length > 0 else b"[]"
    try:
        say(type="complete", data=perform(workload))
    except (ValueError, TypeError, RecursionError) as error:
        # No JSON, or values that have no order.
        say(type="complete", error=str(error))


main(sys.argv[1:])

#!/usr/bin/env python3
"""An executor with superman's conventions, which w8yd runs unchanged: sorts a JSON array.

    [lists.sort]
    executor = "/opt/acme/bin/superman.py"
    cwd = "temp"                # a new directory for each run, as with superman

The conventions:
  - It has three arguments: name of the function, ID of the job, and length of the workload on standard
    input. The length may be missing or zero.
  - Standard output is one compact JSON object per line.
  - A job ends with "complete" and either "data" or "error". The exit status is then 0.
  - It uses nothing that only w8yd has, such as the W8Y_ variables and "cooldown".

With w8yd, the name is the name of the list, the ID is that of the run, and the workload is the item.
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
        # The workload is not JSON, or its values have no order.
        say(type="complete", error=str(error))


main(sys.argv[1:])

"""Checks responses of the status API about lists of a fleet."""
import json
import sys


def same(alpha, beta):
    """Compares the members that are of all hosts."""
    rows = []
    for path in (alpha, beta):
        with open(path, encoding="utf-8") as file:
            response = json.load(file)
        lists = [{name: one[name] for name in ("list", "state", "reason", "hosts", "serving_hosts", "running", "slots")}
                 for one in response["lists"]]
        rows.append((lists, response["fleet"]["running"], response["fleet"]["hosts"]))
        print([one["list"] for one in response["lists"] if one["here"] is None] or "all lists are here")
    print("the same numbers" if rows[0] == rows[1] else rows)


def sums(path):
    """Each response with counts has the length of the list as their sum, and the same number of runs."""
    counted = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            response = json.loads(line)
            for one in response.get("lists", [response]):
                items = one.get("items")
                if one["list"] != "work" or not items:
                    continue
                counted += 1
                parts = sum(count for state, count in items.items() if state != "length")
                assert parts == items["length"] == 8, one
                assert one["running"] == items["running"], one
    print("all add up" if counted >= 6 else counted)


{"same": same, "sums": sums}[sys.argv[1]](*sys.argv[2:])

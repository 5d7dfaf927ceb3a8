#!/usr/bin/env python3
"""A stream executor: answers each item by what it was given."""
import base64
import json
import sys

if sys.argv[1:] == ["--caps"]:
    print('{"caps":["stream"],"concurrency":64}')
    sys.exit()
for line in sys.stdin:
    item = json.loads(line)
    if item.get("type") != "item":
        continue
    data = item["payload"].encode() if "payload" in item else \
        base64.b64decode(item["payload_base64"])
    print(json.dumps({"type": "update", "id": item["id"], "data": item["item"]}))
    print(json.dumps({"type": "complete", "id": item["id"], "name": sys.argv[2],
                      "bytes": sum(data)}), flush=True)

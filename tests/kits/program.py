"""Executor with the kit for Python whose items are commands. test_kits.py sends the items."""
import os
import subprocess
import sys
import time

import w8y_executor


def described(item):
    result = {"name": item.name, "run": item.id, "length": len(item.bytes), "fence": item.fence,
              "attempt": item.attempt, "sum": sum(item.bytes), "hex": item.bytes[:100].hex()}
    if item.payload is not None:
        result["payload"] = item.payload.hex()
    return result


def stray():
    print("stray")
    sys.stdout.flush()
    os.write(1, b"stray\n")
    subprocess.run(["sh", "-c", "echo stray; cat"], check=True)


def work(item):
    word, _, rest = item.bytes.decode("latin-1").partition(" ")
    if word == "fail":
        raise w8y_executor.Failed(rest)
    if word == "crash":
        raise ValueError(rest)
    if word == "text":
        return {"text": item.text}
    if word == "gate":
        item.print("waits")
        while not os.path.exists(rest):
            time.sleep(0.005)
            item.check()
        return None
    if word == "stubborn":
        while not item.wait(10):
            pass
        return {"stopped": True}
    if word == "say":
        item.progress(1, 4)
        item.update({"a": [1, None, "ü"]})
        item.print('"quotes"\nü\t\u2028')
        return {"type": "x", "id": "y", "nested": {"id": 1}}
    if word == "odd":
        item.print("\udcff|")
        return {"\udcff|": "\ud800|"}
    if word == "flood":
        for i in range(200):
            item.update(str(i) * 5000)
        return None
    if word == "stray":
        stray()
        return None
    return described(item)


w8y_executor.serve(work, caps=["gpu"], concurrency=int(os.environ.get("AT_ONCE", "1")), version="7")

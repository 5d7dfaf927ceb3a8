"""Executor with the kit for Python whose items are commands. test_kits.py sends the items."""
import asyncio
import contextlib
import contextvars
import logging
import os
import subprocess
import sys
import threading
import time

import w8y_executor

logger = logging.getLogger("program")
# These refer to the streams as they are before serve().
logger.addHandler(logging.StreamHandler())
out = sys.stdout


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


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.005)


def in_thread(function):
    thread = threading.Thread(target=contextvars.copy_context().run, args=(function,), daemon=True)
    thread.start()
    return thread


async def tasks(name):
    async def one():
        await asyncio.sleep(0)
        print(name, 5, file=out)
    await asyncio.gather(one())


def begin_talk(name):
    print(name, 1)
    sys.stderr.write(f"{name} ")
    sys.stderr.write("2\n\n")
    logger.error("%s 3", name)
    sys.stdout.buffer.write(f"{name} 4\n".encode())


def go_on_talking(name):
    in_thread(lambda: print(name, 6)).join()
    print(name, end=" ", flush=True)


def end_talk(name):
    print("7\nü", end="")
    if name.startswith("bad"):
        raise ValueError(f"{name} is bad")


def talk(name, path):
    begin_talk(name)
    asyncio.run(tasks(name))
    go_on_talking(name)
    wait_for(path)
    end_talk(name)


async def talk_in_task(name, path):
    begin_talk(name)
    await tasks(name)
    go_on_talking(name)
    while not os.path.exists(path):
        await asyncio.sleep(0.005)
    end_talk(name)


def late(path):
    wait_for(path)
    print("late")


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
    if word == "talk":
        return talk(*rest.split())
    if word == "late":
        in_thread(lambda: late(rest))
        return None
    if word == "long":
        print("x" * 20000 + "\n" + "y" * 20000, end="")
        return None
    if word == "no-json":
        return {"a": {1, 2}}
    if word == "block":
        item.print("before")
        time.sleep(0.02)
        item.print("after")
        wait_for(rest)
        return None
    if word == "stray":
        stray()
        return None
    return described(item)


async def work_in_task(item):
    word, _, rest = item.bytes.decode("latin-1").partition(" ")
    if word == "gate":
        item.print("waits")
        while not os.path.exists(rest):
            await asyncio.sleep(0.005)
        return None
    if word == "stubborn":
        while not item.cancelled:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(10)
        return {"stopped": True}
    if word == "talk":
        return await talk_in_task(*rest.split())
    if word == "thread":
        await asyncio.to_thread(item.print, "in a thread")
        return None
    if word == "sleep":
        await asyncio.sleep(float(rest))
        return None
    return work(item)


w8y_executor.serve(work_in_task if os.environ.get("TASKS") else work, caps=["gpu"],
                   concurrency=int(os.environ.get("AT_ONCE", "1")), version="7")

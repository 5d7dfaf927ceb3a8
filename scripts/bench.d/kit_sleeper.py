"""kit_sleeper.py CONCURRENCY SECONDS: an executor of the Python kit. Each run is a coroutine that sleeps for SECONDS."""
import asyncio
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "etc" / "kits" / "python"))

import w8y_executor  # noqa: E402

concurrency, seconds = int(sys.argv[1]), float(sys.argv[2])


async def work(_):
    if seconds > 0:
        await asyncio.sleep(seconds)


w8y_executor.serve(work, concurrency=concurrency)

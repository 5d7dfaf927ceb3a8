"""kit_executor.py CONCURRENCY [LOG]: an executor of the kit for Python that completes each item at once. With LOG,
the payload of a job is the time in µs at which it was put, and the executor logs how long ago that was."""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE / "peers"), str(HERE.parents[1] / "etc" / "kits" / "python")]

import peer  # noqa: E402
import w8y_executor  # noqa: E402

concurrency, log = sys.argv[1:3]


def logged(item):
    peer.note(log, item.payload)


w8y_executor.serve(logged if log.startswith("/") else lambda item: None, concurrency=int(concurrency))

"""kit_executor.py CONCURRENCY: an executor of the kit for Python that completes each item at once."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "etc" / "kits" / "python"))

import w8y_executor  # noqa: E402

w8y_executor.serve(lambda item: None, concurrency=int(sys.argv[1]))

#!/usr/bin/env python3
"""An executor for w8yd with the kit for Python: counts lines and bytes of a file.

    [lists.texts]
    executor = "/opt/acme/bin/example.py"
    concurrency = 4

The item is the path of the file. w8y_executor.py is in the same directory.
"""
import os

import w8y_executor


def work(item):
    path = item.text
    if "\0" in path or not path.startswith("/"):
        raise w8y_executor.Failed("the item is not an absolute path")
    lines = done = 0
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            for line in file:
                lines += 1
                done += len(line)
                item.progress(done, max(size, done))  # raises Cancelled if the item is cancelled
    except OSError as error:
        raise w8y_executor.Failed(error.strerror) from error
    return {"lines": lines, "bytes": done}


w8y_executor.serve(work, concurrency=4, version="1.0")

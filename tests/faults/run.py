#!/usr/bin/env python3
"""The fault matrix: runs its rows and prints a table with the figures of each.

Usage: run.py BUILD_FOLDER [--scale N] [ROW...]
"""
import argparse
import sys
import time
import traceback

import rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--sanitized", action="store_true",
                        help="the build has sanitizers: memory is not compared")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    rows.SANITIZED = options.sanitized
    passed = failed = 0
    for row in rows.ROWS:
        if options.rows and row.__name__ not in options.rows:
            continue
        began = time.monotonic()
        try:
            figures = row(options.build, options.scale)
            text = ", ".join(f"{name} {value}" for name, value in figures.items())
            passed += 1
        except Exception as error:  # a row that breaks is a row that failed
            traceback.print_exc()
            text = f"FAILED: {error}"
            failed += 1
        print(f"{row.__doc__.strip():62} {text} ({time.monotonic() - began:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())

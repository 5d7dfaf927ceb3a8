#!/usr/bin/env python3
"""Tests of the executor kits and of the clients. Programs that use each kit are started, and get items, as from
w8yd."""
import argparse
import sys
import unittest
from pathlib import Path

import kit

parser = argparse.ArgumentParser()
parser.add_argument("--source", type=Path, required=True, help="the folder etc/")
parser.add_argument("--program", type=Path, required=True, help="program.cpp, compiled")
parser.add_argument("--example", type=Path, required=True, help="the example in C++, compiled")
parser.add_argument("--known-keys", type=Path, required=True)
parser.add_argument("--support", type=Path, required=True, help="the folder tests/support")
parser.add_argument("--w8yd", type=Path, required=True)
parser.add_argument("--w8yctl", type=Path, required=True)
parser.add_argument("--only", metavar="PATTERN", help="run the tests whose name contains the pattern")
options, rest = parser.parse_known_args()
for name, value in vars(options).items():
    if isinstance(value, Path):
        setattr(kit, name, value.resolve())
sys.path.insert(0, str(kit.support))

loader = unittest.TestLoader()
if options.only:
    loader.testNamePatterns = [f"*{options.only}*"]
suite = loader.loadTestsFromNames(["test_kits", "test_examples", "test_logs", "test_clients", "test_clients_w8yd"])
result = unittest.TextTestRunner(verbosity=1, failfast="--failfast" in rest).run(suite)
for test, reason in result.skipped:
    print(f"skipped: {test.id()}: {reason}")
sys.exit(0 if result.wasSuccessful() else 1)

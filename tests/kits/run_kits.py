#!/usr/bin/env python3
"""Tests of the executor kits. Programs that use each kit are started, and get items, as from w8yd."""
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
options, rest = parser.parse_known_args()
for name, value in vars(options).items():
    setattr(kit, name, value.resolve())

suite = unittest.defaultTestLoader.loadTestsFromNames(["test_kits", "test_examples"])
result = unittest.TextTestRunner(verbosity=1, failfast="--failfast" in rest).run(suite)
for test, reason in result.skipped:
    print(f"skipped: {test.id()}: {reason}")
sys.exit(0 if result.wasSuccessful() else 1)

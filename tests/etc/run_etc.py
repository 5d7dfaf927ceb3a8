#!/usr/bin/env python3
"""Tests of the files of etc/: example executors, man pages, completions, the systemd unit, and,
with W8Y_TEST_INSTALL=1, the installation."""
import argparse
import sys
import unittest
from pathlib import Path

import place

MODULES = ("executors", "manual", "completions", "security", "service", "bench", "facts", "mutants", "metrics", "tour",
           "package", "lists_from_mysql", "migrate", "redis_page", "installed")

parser = argparse.ArgumentParser()
parser.add_argument("--source", type=Path, required=True, help="the folder etc/")
parser.add_argument("--build", type=Path, required=True, help="the build's folder")
parser.add_argument("--known-keys", type=Path, required=True)
parser.add_argument("--checksum", type=Path, required=True)
parser.add_argument("--unit", type=Path, nargs="+", required=True, help="and its additions")
parser.add_argument("--manual", type=Path, nargs="+", required=True)
parser.add_argument("--programs", type=Path, nargs="+", required=True)
parser.add_argument("--modules", choices=MODULES, nargs="+", default=MODULES, help="default: all")
options, rest = parser.parse_known_args()
modules = vars(options).pop("modules")
for name, value in vars(options).items():
    resolved = [path.resolve() for path in value] if isinstance(value, list) else value.resolve()
    setattr(place, name, resolved)

suite = unittest.defaultTestLoader.loadTestsFromNames([f"test_{name}" for name in modules])
result = unittest.TextTestRunner(verbosity=1, failfast="--failfast" in rest).run(suite)
for test, reason in result.skipped:
    print(f"skipped: {test.id()}: {reason}")
sys.exit(0 if result.wasSuccessful() else 1)

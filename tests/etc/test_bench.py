"""Tests that scripts/bench is complete. They measure nothing."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import place


class Bench(unittest.TestCase):
    def setUp(self):
        self.root = place.source.parent
        self.scripts = self.root / "scripts"

    def scenarios(self):
        folder = self.scripts / "benchlib" / "scenarios"
        return {file.stem for file in folder.glob("*.py")} - {"__init__"}

    def test_lists_every_scenario_in_a_line(self):
        help_text = place.says(sys.executable, self.scripts / "bench", "--help")
        listing = help_text.partition("scenarios:\n")[2]
        listed = dict(re.findall(r"(?m)^  ([a-z_]+) +(\S.*)$", listing))
        self.assertEqual(set(listed), self.scenarios())

    def test_its_page_names_every_scenario_and_its_figures(self):
        page = (self.scripts / "benchlib" / "README.md").read_text()
        named = re.findall(r"(?m)^\| `([a-z_]+)` \|", page)
        # One table describes each scenario, the other has its results.
        self.assertEqual(sorted(named), sorted(2 * list(self.scenarios())))

    def test_finds_the_scripts_that_its_clients_run(self):
        sys.path.insert(0, str(self.scripts))
        self.addCleanup(sys.path.remove, str(self.scripts))
        from benchlib.programs import Programs  # pylint: disable=import-outside-toplevel

        text = "".join(file.read_text() for file in (self.scripts / "benchlib").rglob("*.py"))
        names = re.findall(r"""\blua\(["'](\w+)["']\)""", text) + ["claim", "settle"]
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                script = Path(Programs(Path(folder), Path(folder)).lua(name)).read_text()
                self.assertNotIn("-- include", script, name)

    def test_a_pair_of_builds_has_a_ratio_above_1_if_the_present_one_is_better(self):
        sys.path.insert(0, str(self.scripts))
        self.addCleanup(sys.path.remove, str(self.scripts))
        from benchlib.before import Pairs, is_worse  # pylint: disable=import-outside-toplevel

        pairs = Pairs(before=[100.0, 100.0], now=[200.0, 50.0])
        self.assertEqual(pairs.ratios(("spawn", "concurrency 1", "w8yd", "runs/s")), [2.0, 0.5])
        self.assertEqual(pairs.ratios(("once", "unix socket", "w8y", "µs")), [0.5, 2.0])
        self.assertEqual(pairs.ratios(("leases", "100 runs", "least PTTL", "ms")), [2.0, 0.5])
        self.assertTrue(is_worse([0.9] * 9))
        self.assertFalse(is_worse([0.96] * 9))
        # A quarter of the pairs is better: load on the machine caused the difference.
        self.assertFalse(is_worse([0.9] * 6 + [1.1] * 3))

    def test_refuses_a_scenario_that_there_is_not(self):
        told = subprocess.run([sys.executable, self.scripts / "bench", "no-such-thing"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(told.returncode, 2)
        self.assertIn("no such scenario: no-such-thing", told.stderr)

    def test_builds_what_it_measures(self):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            shutil.copytree(self.scripts, home / "scripts")
            tools = home / "tools"
            tools.mkdir()
            # Nothing is installed, and the build fails. Therefore nothing is measured.
            for name, does in {"dpkg-query": "echo install ok installed", "meson": "",
                               "ninja": "exit 1"}.items():
                (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{home}/calls\n{does}\n')
                (tools / name).chmod(0o755)
            told = subprocess.run(
                [sys.executable, home / "scripts" / "bench", "once"], capture_output=True, text=True,
                timeout=60, check=False,
                env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
            calls = (home / "calls").read_text()
            build = f"{home.resolve()}/build/gcc"
            self.assertIn(f"meson setup {build} {home.resolve()}\n", calls)
            self.assertIn(f"ninja -C {build} --quiet src/app/w8yd src/app/w8y src/app/w8yctl "
                          "tests/schedule/next-times\n", calls)
            self.assertEqual((told.returncode, told.stdout), (1, ""))

    def test_its_programs_compile_without_a_warning(self):
        for source in sorted((self.scripts / "bench.d").glob("*.c")):
            with self.subTest(source.name), tempfile.TemporaryDirectory() as folder:
                made = subprocess.run(
                    ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-c", "-o",
                     Path(folder) / "made.o", source],
                    capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(made.stderr, "")


if __name__ == "__main__":
    unittest.main()

"""Tests of the known-bad edits that scripts/mutate plants."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "mutants"))
import mutants  # pylint: disable=wrong-import-position


class Mutants(unittest.TestCase):
    def test_each_edit_fits_the_sources(self):
        self.assertEqual([], mutants.misfits(ROOT))

    def test_names_are_different_and_each_edit_has_a_sentence(self):
        listed = subprocess.run([ROOT / "scripts" / "mutate", "--list"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout.splitlines()
        names = [line.split()[0] for line in listed]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 60)
        for line in listed:
            self.assertTrue(line.endswith("."), line)

    def test_an_unknown_name_is_an_error(self):
        done = subprocess.run([ROOT / "scripts" / "mutate", "no-such-edit"], stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("no edit has the name no-such-edit", done.stderr)


if __name__ == "__main__":
    unittest.main()

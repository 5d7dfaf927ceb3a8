"""Checks that each test named in a manual page exists, and that each statement of w8y-security(7) names a test."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MANUAL = ROOT / "etc/man"
PAGE = MANUAL / "w8y-security.7"


class Claims(unittest.TestCase):
    def test_named_tests_are_there(self):
        named = [one for page in MANUAL.iterdir()
                 for one in re.findall(r'^\.\\" test: (\S+?)(?:: (.*))?$', page.read_text(), re.M)]
        self.assertGreater(len(named), 100)
        for path, words in named:
            with self.subTest(path=path, words=words):
                place = ROOT / path
                if place.is_dir() and not words:
                    self.assertTrue((place / "cmd").is_file() or (place / "meson.build").is_file())
                    continue
                files = place.glob("*.py") if place.is_dir() else [place]
                text = "\n".join(file.read_text() for file in files)
                self.assertTrue(text)
                if words:
                    self.assertTrue(words in text, "not there")

    def test_every_paragraph_of_claims_has_a_test(self):
        """Each section has at least one test."""
        sections = re.split(r"^\.Ss ", PAGE.read_text(), flags=re.M)[1:]
        without = [text.splitlines()[0] for text in sections if '\\" test:' not in text]
        self.assertEqual(without, [])


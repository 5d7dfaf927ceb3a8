"""The commands of the README, the tour and the two guides work as they are printed."""
import re
import tomllib
import unittest

import guide
import place

PAGES = ("README.md", "etc/doc/tour.md", "etc/doc/concepts.md", "etc/doc/quickstart.md")


class Readme(guide.Guide, unittest.TestCase):
    page = "README.md"

    def test_has_at_most_1500_words(self):
        self.assertLessEqual(len(self.text.split()), 1500)


class Tour(guide.Guide, unittest.TestCase):
    page = "etc/doc/tour.md"

    def test_its_executor_is_one(self):
        program = self.folder / "executor.py"
        program.write_text(re.search(r"(?ms)^```python\n(#!.*?)^```$", self.text)[1])
        program.chmod(0o755)
        ctl = next(path for path in place.programs if path.name == "w8yctl")
        place.says(ctl, "check-executor", program)


class Concepts(guide.Guide, unittest.TestCase):
    page = "etc/doc/concepts.md"
    varies = [(r"(?m)^fence \d+$", "fence N"), (r"(?m)^\d{4}$", "MILLISECONDS")]


class Quickstart(guide.Guide, unittest.TestCase):
    page = "etc/doc/quickstart.md"
    varies = [
        (r"\bfeed-\d+ succeeded (\S+) (alpha|beta)\b", r"ITEM succeeded \1 HOST"),
        (r"\bby w8yd on (alpha|beta)\b", "by w8yd on HOST"),
        (r"(?:a cycle takes \w+|an item has waited for \w+|, and )+", "TOO LONG"),
        (r"\bneeds \d+ slots\b", "needs SLOTS"),
        (r"\brunning \d+/10\b", "running N/10"),
    ]


class Configs(unittest.TestCase):
    def test_each_config_that_is_shown_is_right(self):
        for page in PAGES:
            text = (place.source.parent / page).read_text()
            blocks = re.findall(r"(?ms)^```toml\n(.*?)^```$", text)
            blocks += re.findall(r"(?ms)<<'EOF'\n(\n?\[.*?)^EOF$", text)
            self.assertTrue(blocks, page)
            for block in blocks:
                with self.subTest(page, config=block):
                    self.assertTrue(tomllib.loads(block))
                    self.assertEqual(place.mistakes(block), "")


if __name__ == "__main__":
    unittest.main()

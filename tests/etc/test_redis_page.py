"""The examples in w8y-redis(7) exist for each kind of work in each language. Those for redis-cli, Python and Node
work."""
import json
import re
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

import place

LANGUAGES = {"redis-cli": None, "Python": "In Python", "Node": "In Node", "Go": "In Go", "PHP": "In PHP", "Ruby": "In Ruby"}
SECTIONS = ("CIRCULAR LISTS", "SCHEDULES", "JOBS")
RUN = ("redis-cli", "Python", "Node")
WAKE_UPS = {"CIRCULAR LISTS": "added", "SCHEDULES": "timeline", "JOBS": "queued"}


def plain(mdoc):
    for escaped, text in ((r"\(aq", "'"), (r"\(dq", '"'), (r"\(ti", "~"), (r"\e", "\\")):
        mdoc = mdoc.replace(escaped, text)
    return mdoc


def sections():
    parts = re.split(r"(?m)^\.Sh (.*)$", place.page("w8y-redis.7").read_text())
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(text):
    """Returns each literal block with the text before it."""
    return [(before, plain(code)) for before, code in
            re.findall(r"(?ms)(.*?)^\.Bd -literal.*?$\n(.*?)^\.Ed", text)]


def shell(code):
    return re.sub(r"(?m)^\$ ", "", code)


def examples():
    """Returns [section, language, code] of each example."""
    found = []
    for section in SECTIONS:
        for before, code in blocks(sections()[section]):
            language = next((name for name, words in LANGUAGES.items() if words and re.search(rf"(?m)^{words}\b", before)),
                            "redis-cli")
            found.append([section, language, shell(code)])
    return found


class RedisPage(place.Folder, unittest.TestCase):
    def test_shows_each_language_for_each_kind(self):
        shown = {(section, language) for section, language, _ in examples()}
        self.assertEqual(shown, {(section, language) for section in SECTIONS for language in LANGUAGES})

    def test_examples_of_other_languages_use_the_same_keys(self):
        keys = {}
        for section, language, code in examples():
            named = set(re.findall(r"\b(?:work|bike|feed\.\w+|news)[:-][\w:-]+", code))
            keys.setdefault((section, language), []).append(named)
        for (section, language), (first, *_) in keys.items():
            with self.subTest(section=section, language=language):
                self.assertEqual(first, keys[section, "redis-cli"][0])

    def test_examples_work_with_the_permissions_that_it_names(self):
        namespace = ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        possible = subprocess.run([*namespace, "true"], capture_output=True, text=True, check=False)
        if possible.returncode != 0:
            self.skipTest(f"no network of its own can be made here: {possible.stderr.strip()}")
        shells = [code for section, language, code in examples() if (section, language) == ("SCHEDULES", "redis-cli")]
        _, once, unset = shells
        (_, permissions), = blocks(sections()["PERMISSIONS"])
        first = {}
        for section, language, code in examples():
            if language in RUN:
                first.setdefault((section, language), code)
        given = {"examples": [[*of, code] for of, code in first.items()], "once": once, "unset": unset,
                 "permissions": [shlex.split(line) for line in permissions.replace("\\\n", "").splitlines()]}
        path = self.write("examples.json", json.dumps(given))
        w8yd = next(path for path in place.programs if path.name == "w8yd")
        done = subprocess.run([*namespace, sys.executable, Path(__file__).parent / "redis_page.py", w8yd, self.folder,
                               path], capture_output=True, text=True, timeout=270, check=False)
        log = self.folder / "log"
        self.assertEqual(done.returncode, 0, done.stderr + (log.read_text() if log.exists() else ""))
        results = json.loads(done.stdout)
        for section in SECTIONS:
            for language in RUN:
                with self.subTest(section=section, language=language):
                    self.check(section, results[f"{section}: {language}"])
        self.assertEqual(results["once"], 0)
        self.assertEqual(results["not necessary"], {section: [] for section in SECTIONS})

    def check(self, section, result):
        self.assertEqual(result["wake_up"], WAKE_UPS[section])
        runs, state = {
            "CIRCULAR LISTS": (["one", "two"], {"items": ["one", "two"]}),
            "SCHEDULES": (["mail:A"], {"schedule": "FREQ=DAILY;BYHOUR=6;BYMINUTE=0;BYSECOND=0", "status": "TML:",
                                       "hour": [6, 0, 0], "left": 0}),
            "JOBS": (["the payload"], {"publishes": "1", "remains": 0}),
        }[section]
        self.assertEqual((result["runs"], result["state"]), (runs, state))


if __name__ == "__main__":
    unittest.main()

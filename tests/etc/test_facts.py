"""Tests of scripts/facts with a small repository."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import place

FILES = {
    "src/core/a.hpp": "#pragma once\n#include <nlohmann/json.hpp>\n",
    "src/core/b.hpp": '#include "core/a.hpp"\n\n/* of\n   two lines */\nint b();  // code\n',
    "src/core/b.cpp": '#include "core/b.hpp"\nint b() { return 1; }\n',
    "src/app/c.cpp": "// one\nint c(X& x) { return x->circular(); }\n",
    "src/source/d.cpp": "SourceKind d();\n",
    "src/store/e.lua": "-- why\nreturn 1\n",
    "src/page.js": "// not counted\n",
    "tests/f.py": "# why\nf = 1\n",
    "tests/fuzz/corpus/g": "1\n2\n",
}
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@localhost"]


class Facts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        (self.home / "scripts").mkdir()
        shutil.copy(place.source.parent / "scripts" / "facts", self.home / "scripts")
        for name, text in FILES.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-C", self.home, *IDENTITY, *words], check=True, timeout=60)

    def commit(self):
        self.git("add", "src", "tests")
        self.git("commit", "--quiet", "--message", "all")

    def facts(self, *words):
        return json.loads(place.says(sys.executable, self.home / "scripts" / "facts", "--json", *words))

    def test_counts_lines_comments_and_files_that_reach_json(self):
        expected = {
            "source: lines": 14, "source: lines of code": 9, "source: lines of comments": 4,
            "tests: lines": 2, "tests: lines of code": 1, "tests: lines of comments": 1,
            ".cpp files that reach JSON": 1, "files that name the kinds": 1,
        }
        self.assertEqual(self.facts(), expected)
        self.assertEqual(self.facts("HEAD"), expected)

    def test_a_revision_is_read_from_git_and_not_from_the_checkout(self):
        (self.home / "src/app/c.cpp").write_text("int c();\n")
        self.git("rm", "--quiet", "src/core/b.cpp")
        self.commit()
        now, before = self.facts(), self.facts("HEAD~")
        self.assertEqual((before["source: lines"], now["source: lines"]), (14, 11))
        self.assertEqual((before[".cpp files that reach JSON"], now[".cpp files that reach JSON"]),
                         (1, 0))
        self.assertEqual((before["files that name the kinds"], now["files that name the kinds"]),
                         (1, 0))

    def test_refuses_an_unknown_revision(self):
        made = subprocess.run([sys.executable, self.home / "scripts" / "facts", "no-such"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((made.returncode, made.stdout), (2, ""))
        self.assertIn("git knows no revision no-such", made.stderr)


if __name__ == "__main__":
    unittest.main()

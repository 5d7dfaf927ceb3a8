#!/usr/bin/env python3
"""Optimized programs have the build flags that w8y-security(7) names.

Usage: hardening.py BUILD PROGRAM...

hardening-check examines the dynamic programs. It can not examine a static program such as w8y, which
imports no function that hardening-check searches for. It can not examine control flow protection on
Debian 12 either: crt1.o and libhiredis.a have no mark for it, and one object without the mark removes
the mark from the program. For these, the test examines the objects of the build.
"""
import json
import platform
import re
import subprocess
import sys
import unittest
from pathlib import Path

BUILD, *PROGRAMS = (Path(name).resolve() for name in sys.argv[1:])
MARK = "x86 feature: IBT, SHSTK"
x86 = platform.machine() in ("x86_64", "i686")


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    return done.stdout + done.stderr


def program(name):
    return next(path for path in PROGRAMS if path.name == name)


def libraries():
    """The static libraries below src, as the build defines them now."""
    targets = json.loads((BUILD / "meson-info/intro-targets.json").read_text())
    found = [Path(name) for target in targets if target["type"] == "static library"
             for name in target["filename"] if Path(name).is_relative_to(BUILD / "src")]
    assert len(found) > 10
    return [path for path in found if path.exists()]  # only libraries that the programs need are built


def objects_of(name):
    return sorted((BUILD / f"src/app/{name}.p").glob("*.o"))


def imports(files):
    return set(re.findall(r"^ +U (\w+)$", output("nm", "-u", *files), re.M))


class Hardening(unittest.TestCase):
    def findings(self, path, *options):
        """Result by name of the check: "Stack protected" -> "yes"."""
        done = subprocess.run(["hardening-check", "--nocfprotection", *options, path],
                              capture_output=True, text=True, timeout=300)
        found = dict(re.findall(r"^ ([A-Z][^:]+): (.*)$", done.stdout, re.M))
        self.assertGreater(len(found), 4, done.stdout + done.stderr)
        # The exit status is ignored: in Debian 13 it includes checks for other processors.
        return found

    def test_dynamic_programs(self):
        for name in ("w8yd", "w8yctl", "w8y-tls"):
            found = self.findings(program(name))
            for check in ("Position Independent Executable", "Stack protected",
                          "Fortify Source functions", "Read-only relocations", "Immediate binding"):
                with self.subTest(name, check=check):
                    self.assertRegex(found[check], "^yes")

    def test_static_program(self):
        """PIE would make each start slower: w8y-security(7) has the measurements."""
        path = program("w8y")
        found = self.findings(path, "--nopie", "--nobindnow", "--nostackprotector", "--nofortify")
        self.assertRegex(found["Read-only relocations"], "^yes")
        headers = output("readelf", "-lW", path)
        self.assertNotRegex(headers, r"\b(INTERP|DYNAMIC)\b")  # no symbol is bound later
        relro = headers.splitlines()[-1]
        self.assertRegex(relro, r"\.got\b")
        self.assertNotIn(".got.plt", headers)  # -z now makes it part of .got

    def test_objects_of_static_program(self):
        self.assertIn("__stack_chk_fail", imports(objects_of("w8y")))
        fortified = {name for name in imports(libraries()) if re.fullmatch(r"__\w+_chk", name)}
        self.assertGreater(len(fortified), 1, fortified)

    @unittest.skipUnless(x86, "x86 only")
    def test_stack_clash_protection(self):
        """close_listed() has a frame of more than a page. hardening-check knows only probes in a loop."""
        library = next(path for path in libraries() if path.name == "libw8y-process.a")
        code = output("objdump", "-d", "--no-show-raw-insn", library)
        self.assertRegex(code, r"\bor[lq] +\$0x0,")

    @unittest.skipUnless(x86, "x86 only")
    def test_control_flow_protection(self):
        for library in libraries():
            with self.subTest(library.name):
                members = output("ar", "t", library).split()
                notes = output("readelf", "-nW", library)
                self.assertGreater(len(members), 0)
                self.assertEqual(notes.count(MARK), len(members))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

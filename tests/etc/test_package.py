"""Tests that etc/debian and etc/container are complete and agree with the rest of the repository.
scripts/package builds and tests the package and the image."""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

import yaml

import place
import test_installed

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/package"))
import dockerfile  # noqa: E402


def version():
    return re.search(r"(?m)^  version: '([^']+)',$", (ROOT / "meson.build").read_text())[1]


def changelog(text, number=None):
    return subprocess.run([sys.executable, ROOT / "scripts/package.d/changelog.py", number or version(),
                           "A B <a@example.org>", "86400"], input=text, capture_output=True, text=True,
                          timeout=60, check=False)


class Version(unittest.TestCase):
    def test_programs_say_it(self):
        for program in place.programs:
            self.assertEqual(place.says(program, "--version"), f"{program.name} {version()}\n")

    def test_stands_nowhere_else(self):
        # Output of programs in the manual and in the guides may name any version.
        other = [path for path in (ROOT / "etc").rglob("*")
                 if path.is_file() and path.parent.name not in ("man", "doc")
                 and version().encode() in path.read_bytes()]
        self.assertEqual(other, [])
        for name in ("kits", "clients"):
            self.assertNotIn("version", json.loads((ROOT / f"etc/{name}/node/package.json").read_text()))

    def test_changelog_is_one_of_debian(self):
        made = changelog((ROOT / "CHANGELOG.md").read_text())
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertTrue(made.stdout.startswith(f"w8y ({version()}) "))
        self.assertLessEqual(max(map(len, made.stdout.splitlines())), 80)
        parsed = place.says("dpkg-parsechangelog", "-l-", "-S", "Version", input=made.stdout)
        self.assertEqual(parsed.strip(), version())

    def test_changelog_of_several_versions(self):
        text = ("# Changelog\n\n## 2.0, not released yet\n\n### Programs\n\n- Two.\n\n### Page\n\n- Three.\n\n"
                "## 1.0, 2026-01-02\n\n- One,\n  long.\n")
        made = changelog(text, "2.0")
        self.assertEqual(made.stdout, """w8y (2.0) UNRELEASED; urgency=medium

  [ Programs ]
  * Two.

  [ Page ]
  * Three.

 -- A B <a@example.org>  Fri, 02 Jan 1970 00:00:00 +0000

w8y (1.0) unstable; urgency=medium

  * One, long.

 -- A B <a@example.org>  Fri, 02 Jan 2026 12:00:00 +0000

""")

    def test_changelog_of_another_version_is_refused(self):
        for text in ("", "## 9.9, not released yet\n- x\n", f"## {version()}\n- x\n"):
            made = changelog(text)
            self.assertEqual((made.returncode, made.stdout), (1, ""))
            self.assertIn("CHANGELOG.md: ", made.stderr)


class Debian(unittest.TestCase):
    folder = ROOT / "etc/debian"

    def test_builds_with_the_libraries_that_scripts_install(self):
        control = (self.folder / "control").read_text()
        asked = set(re.findall(r"(?m)^ ([\w.+-]+-dev)\b", control)) - {"systemd-dev"}
        listed = re.search(r"(?s)^build_packages=\((.*?)\)", (ROOT / "scripts/common.sh").read_text(), re.M)[1]
        installed = {name for name in listed.split() if name.endswith("-dev")}
        of_tests = {"doctest-dev", "liblua5.1-0-dev"}
        self.assertEqual(asked, installed - of_tests)

    def test_moves_what_is_installed(self):
        moved = re.findall(r"debian/w8y/usr/(\S+)", (self.folder / "rules").read_text())
        self.assertGreater(len(moved), 2)
        installed = test_installed.OTHERS | test_installed.EXECUTABLE
        for name in moved:
            if name.endswith("vendor-completions"):
                continue
            self.assertTrue(any(path == name or path.startswith(name + "/") for path in installed), name)

    def test_installs_documents_that_are_there(self):
        for name in (self.folder / "docs").read_text().split():
            self.assertTrue((ROOT / name).is_file(), name)

    def test_scripts_parse_and_leave_room_for_debhelper(self):
        scripts = sorted(self.folder.glob("w8y.p*"))
        self.assertEqual([path.suffix for path in scripts], [".postinst", ".postrm", ".prerm"])
        for path in scripts:
            place.says("sh", "-n", path)
            self.assertIn("\n#DEBHELPER#\n", path.read_text())

    def test_the_account_and_the_directories_are_the_units(self):
        unit = place.unit[0].read_text()
        users = (ROOT / "etc/systemd/sysusers.conf").read_text()
        directories = (ROOT / "etc/systemd/tmpfiles.conf").read_text()
        user = re.search(r"(?m)^User=(\w+)$", unit)[1]
        self.assertRegex(users, rf"(?m)^u {user} ")
        for kind in ("Runtime", "State", "Logs"):
            self.assertRegex(unit, rf"(?m)^{kind}Directory=w8y$")
        # With run-as.conf, root owns them: no other file may give them to another user.
        self.assertNotRegex(directories, r"(?m)^[dDevQqzZ]")


class Container(unittest.TestCase):
    folder = ROOT / "etc/container"

    def setUp(self):
        self.stages = dockerfile.read((self.folder / "Dockerfile").read_text())
        self.last = self.stages[-1]

    def test_image_is_not_roots(self):
        user, _, group = self.last.last("USER").partition(":")
        self.assertTrue(int(user) > 0 and int(group) > 0)
        made = " ".join(text for name, _, text in self.last.steps if name == "RUN")
        self.assertIn(f"--uid {user} ", made)
        self.assertIn(f"--gid {group} ", made)

    def test_image_runs_our_programs(self):
        names = {program.name for program in place.programs}
        health = self.last.last("HEALTHCHECK").partition("CMD ")[2]
        for text in (self.last.last("ENTRYPOINT"), health):
            self.assertIn(dockerfile.words(text)[0], names)

    def test_images_are_exact_releases(self):
        compose = (self.folder / "compose.yaml").read_text()
        images = [stage.base for stage in self.stages] + re.findall(r"(?m)^ *image: (\S+:\S+)$", compose)
        self.assertEqual(len(images), 3)
        for image in images:
            self.assertRegex(image, r"^\w+:[0-9]+(\.[0-9]+)+-\w+$")

    def test_image_is_made_of_what_is_here(self):
        for stage in self.stages:
            for name, _, text in stage.steps:
                for script in re.findall(r"\bscripts/\w+", text) if name == "RUN" else ():
                    self.assertTrue((ROOT / script).is_file(), script)

    def test_mistakes_are_found(self):
        for text in ("RUN true", "FROM a\nRUM true", "FROM a\nCOPY --from=b / /", "FROM a\nADD x /"):
            self.assertRaises(ValueError, dockerfile.read, text)
        self.assertRaises(ValueError, dockerfile.words, "w8yd --check")

    def test_config_of_compose_is_right(self):
        self.assertEqual(place.mistakes((self.folder / "w8y.toml").read_text()), "")

    def test_compose_fits_the_image(self):
        services = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"]
        w8yd = services["w8yd"]
        context = (self.folder / w8yd["build"]["context"]).resolve()
        self.assertEqual(context, ROOT)
        self.assertTrue((context / w8yd["build"]["dockerfile"]).is_file())
        for volume in w8yd["volumes"]:
            self.assertTrue((self.folder / volume.split(":")[0]).is_file(), volume)
        self.assertLessEqual(set(w8yd["depends_on"]), services.keys())
        user, _, group = self.last.last("USER").partition(":")
        self.assertIn(f"/run/w8y:uid={user},gid={group},", w8yd["tmpfs"][0])
        # As in the unit, which has its own test.
        stop = re.search(r"(?m)^TimeoutStopSec=(\d+s)$", place.unit[0].read_text())[1]
        self.assertEqual(w8yd["stop_grace_period"], stop)
        url = re.search(r'(?m)^url = "redis://(\w+):6379"$', (self.folder / "w8y.toml").read_text())[1]
        self.assertIn(url, services)

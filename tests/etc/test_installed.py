"""`meson install` into an empty directory puts each file into its directory, and no other files."""
import json
import os
import re
import subprocess
import tomllib
import unittest
from pathlib import Path

import place

EXECUTABLE = {
    "bin/w8y", "bin/w8yd", "bin/w8yctl", "libexec/w8y/w8y-tls",
    "share/doc/w8y/examples/add-lines.js",
    "share/doc/w8y/examples/checksums.py",
    "share/doc/w8y/examples/lists-from-mysql",
    "share/doc/w8y/examples/resize.sh",
    "share/doc/w8y/examples/stream.sh",
    "share/doc/w8y/examples/superman.py",
    "share/doc/w8y/examples/textstats.py",
    "share/w8y/kits/node/example.js",
    "share/w8y/kits/python/example.py",
    "share/w8y/migrate/superman",
}  # fmt: skip
OTHERS = {
    "include/w8y-executor/executor.hpp",
    "include/w8y-executor/item.hpp",
    "include/w8y-executor/json.hpp",
    "lib/systemd/system/w8yd.service",
    "lib/sysusers.d/w8y.conf",
    "lib/tmpfiles.d/w8y.conf",
    "share/bash-completion/completions/w8y",
    "share/bash-completion/completions/w8yctl",
    "share/bash-completion/completions/w8yd",
    "share/doc/w8y/LICENSE",
    "share/doc/w8y/examples/checksum.cpp",
    "share/doc/w8y/examples/keda-scaledobject.yaml",
    "share/doc/w8y/examples/systemd/embedded.conf",
    "share/doc/w8y/examples/systemd/run-as.conf",
    "share/doc/w8y/grafana/w8y.json",
    "share/doc/w8y/openapi.json",
    "share/doc/w8y/prometheus/alerts.yml",
    "share/doc/w8y/w8y.toml",
    "share/fish/vendor_completions.d/w8y.fish",
    "share/fish/vendor_completions.d/w8yctl.fish",
    "share/fish/vendor_completions.d/w8yd.fish",
    "share/man/man1/w8y.1",
    "share/man/man1/w8yctl-feed.1",
    "share/man/man1/w8yctl-fleet.1",
    "share/man/man1/w8yctl-items.1",
    "share/man/man1/w8yctl-lists.1",
    "share/man/man1/w8yctl-runs.1",
    "share/man/man1/w8yctl-schedule.1",
    "share/man/man1/w8yctl.1",
    "share/man/man5/w8y.toml.5",
    "share/man/man7/w8y-api.7",
    "share/man/man7/w8y-clients.7",
    "share/man/man7/w8y-executor.7",
    "share/man/man7/w8y-fleet.7",
    "share/man/man7/w8y-keys.7",
    "share/man/man7/w8y-metrics.7",
    "share/man/man7/w8y-migrating.7",
    "share/man/man7/w8y-redis.7",
    "share/man/man7/w8y-security.7",
    "share/man/man7/w8y-stability.7",
    "share/man/man8/w8yd.8",
    "share/w8y/clients/node/package.json",
    "share/w8y/clients/node/w8y-client.d.ts",
    "share/w8y/clients/node/w8y-client.js",
    "share/w8y/clients/python/build_wheel.py",
    "share/w8y/clients/python/pyproject.toml",
    "share/w8y/clients/python/w8y_client.py",
    "share/w8y/kits/cpp/example.cpp",
    "share/w8y/kits/node/package.json",
    "share/w8y/kits/node/w8y-executor.js",
    "share/w8y/kits/python/w8y_executor.py",
    "share/w8y/w8y.schema.json",
    "share/zsh/site-functions/_w8y",
    "share/zsh/site-functions/_w8yctl",
    "share/zsh/site-functions/_w8yd",
    *(f"share/doc/w8y/{name}.md" for name in ("concepts", "quickstart", "tour")),
}


@unittest.skipUnless(os.environ.get("W8Y_TEST_INSTALL") == "1",
                     "needs the whole build; W8Y_TEST_INSTALL=1 asks for it")
class Installed(place.Folder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        place.says("meson", "install", "--no-rebuild", "-C", place.build, "--destdir", self.root)
        options = json.loads(place.says("meson", "introspect", "--buildoptions", place.build))
        self.prefix = next(o["value"] for o in options if o["name"] == "prefix")
        self.top = self.root / self.prefix.lstrip("/")

    def test_everything_is_in_its_place(self):
        names = {program.name for program in place.programs}
        expected = EXECUTABLE - {f"bin/{name}" for name in {"w8yctl"} - names} | OTHERS
        # Some distributions have /lib beside /usr/lib.
        found = {re.sub(r"^(\.\./)*lib", "lib", os.path.relpath(path, self.top)): path
                 for path in self.root.rglob("*") if not path.is_dir()}
        self.assertEqual(found.keys(), expected)
        for name, path in found.items():
            mode = 0o755 if name in EXECUTABLE else 0o644
            self.assertEqual(path.stat().st_mode & 0o777, mode, name)

    def test_texts_name_what_is_there(self):
        unit = next(self.root.rglob("w8yd.service")).read_text()
        program = re.search(r"(?m)^ExecStart=(\S+)", unit)[1]
        self.assertTrue((self.root / program.lstrip("/")).exists())
        sample = (self.top / "share/doc/w8y/w8y.toml").read_text()
        schema = re.match(r"#:schema (\S+)", sample)[1]
        self.assertTrue((self.root / schema.lstrip("/")).exists())
        page = (self.top / "share/man/man5/w8y.toml.5").read_text()
        for path in re.findall(rf"\.Pa ({re.escape(self.prefix)}/\S+)", page):
            self.assertTrue((self.root / Path(path.lstrip("/"))).exists(), path)

    def test_who_migrates_finds_the_example(self):
        made = place.says(self.top / "share/w8y/migrate/superman", "-", input='{"mysql": {}}')
        command = tomllib.loads(made)["lists_from"][0]["command"]
        self.assertEqual(Path(command[0]), (self.top / "share/doc/w8y/examples/lists-from-mysql").resolve())

    def test_programs_run(self):
        for name in sorted(program.name for program in place.programs):
            said = subprocess.run([self.top / "bin" / name, "--version"], capture_output=True,
                                  text=True, timeout=60, check=True)
            self.assertTrue(said.stdout.startswith(f"{name} "))

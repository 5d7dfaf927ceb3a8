"""Tests of the systemd unit: it verifies, agrees with the defaults of the config, and its ExecStop waits."""
import json
import re
import signal
import subprocess
import threading
import unittest

import place


def seconds(text):
    return int(re.fullmatch(r'"?(\d+)s"?', text)[1])


class Service(place.Folder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.unit, *self.additions = place.unit
        self.text = self.unit.read_text()

    def setting(self, name):
        return re.findall(rf"(?m)^{name}=(.*)$", self.text)

    def test_settings(self):
        self.assertEqual(self.setting("Type"), ["notify"])
        self.assertEqual(self.setting("KillMode"), ["control-group"])
        self.assertEqual(self.setting("Restart"), ["on-failure"])
        self.assertIn("78", self.setting("RestartPreventExitStatus")[0].split())
        self.assertEqual(self.setting("RuntimeDirectory"), ["w8y"])
        self.assertEqual(self.setting("StateDirectory"), ["w8y"])
        self.assertEqual(self.setting("Delegate"), ["yes"])
        self.assertEqual(self.setting("ProtectControlGroups"), [])
        self.assertRegex(self.setting("ExecStart")[0], r"^/\S+/w8yd$")
        self.assertNotRegex(self.text, r"@\w+@")

    def test_reload_waits_for_ready(self):
        """systemd runs ExecReload in active units only: with Type=notify, after READY=1."""
        self.assertEqual(self.setting("Type"), ["notify"])
        self.assertEqual(self.setting("ExecReload"), ["/bin/kill -USR2 $MAINPID"])

    def test_stop_takes_longer_than_a_drain(self):
        defaults = dict(line.split("\t")[1:] for line in place.says(place.known_keys).splitlines())
        drain = sum(seconds(defaults[key]) for key in ("drain_timeout", "kill_grace", "command_timeout"))
        self.assertGreater(seconds(self.setting("TimeoutStopSec")[0]), drain)

    def test_verifies(self):
        w8yd = next(path for path in place.programs if path.name == "w8yd")
        for addition in (None, *self.additions):
            with self.subTest(addition):
                unit = self.write("w8yd.service", self.with_program(self.text, w8yd))
                if addition:
                    self.write(f"w8yd.service.d/{addition.name}",
                               self.with_program(addition.read_text(), w8yd))
                verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit],
                                          capture_output=True, text=True, timeout=60)
                said = [line for line in verified.stderr.splitlines() if "w8yd" in line]
                self.assertEqual((verified.returncode, said), (0, []))

    def test_what_is_not_hardened_has_its_reason(self):
        """The unit names each finding of `systemd-analyze security`, with the cost of its remedy."""
        unit = self.write("w8yd.service", self.text)
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=50",
                               "--no-pager", "--json=short", unit],
                              capture_output=True, text=True, timeout=60)
        if "unrecognized option" in done.stderr:
            self.skipTest("systemd-analyze cannot look at a file here")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout[-500:])
        findings = [row for row in json.loads(done.stdout) if float(row["exposure"] or 0) > 0]
        self.assertGreater(len(findings), 5)
        for row in findings:
            # "RestrictNamespaces=~user", "RootDirectory=/RootImage=", "SystemCallFilter=~@mount"
            name = re.search(r"@[\w-]+|^\w+=", row["name"])[0]
            with self.subTest(row["name"]):
                self.assertIn(name, self.text)

    @staticmethod
    def with_program(text, program):
        return re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={program}", text)

    def stop(self, pid):
        script = re.fullmatch(r"-/bin/sh -c '(.*)'", self.setting("ExecStop")[0])[1]
        return subprocess.run(["/bin/sh", "-c", script.replace("$$", "$")], timeout=60,
                              env={"PATH": "/usr/bin:/bin", **({"MAINPID": str(pid)} if pid else {})},
                              capture_output=True, check=False)

    def test_stop_waits_for_the_drain(self):
        drained = self.folder / "drained"
        main = subprocess.Popen(["/bin/sh", "-c", f"trap 'sleep 0.3; >{drained}; exit' TERM; "
                                                  f"while :; do sleep 0.05; done"])
        threading.Thread(target=main.wait).start()  # reaps the process, which else stays as a zombie
        self.addCleanup(main.kill)
        place.wait_for(lambda: place.catches(main.pid, signal.SIGTERM), what="it catches SIGTERM")
        self.assertEqual(self.stop(main.pid).returncode, 0)
        self.assertTrue(drained.exists())

    def test_stop_of_what_has_ended(self):
        ended = self.stop(None)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, b"", b""))

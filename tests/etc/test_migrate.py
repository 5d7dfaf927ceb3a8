"""Tests of etc/migrate/superman: its output for a superman.toml, which w8yd must accept."""
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

import place

EVERYTHING = r"""
verbose = "fatal"
rollbar = "0123456789abcdef"
interval = "5 minutes"
colour = "red"

[reload]
interval = 1500

[gearman]
host = "passed.over"
servers = ["gear1.example.com:4731", "gear2.example.com", {host = "::1", port = 4730},
           {host = "gear3"}, "gear2.example.com:4730"]
debug = true

[mysql]
client = "mysql2"
host = "db.example.com"
port = 3307
user = "superman"
password = 'p"\ #;'
database = "fleet"
table = "archive.pure_gearman_functions"
ssl = { ca = "/etc/ca.pem" }

[worker]
timeout = "2 minutes"
max_buffer = "3gb"
user = "media"
group = 33
nice = 3

[worker.env]
PATH = "/usr/bin"
PORT = 80
SHARE = 1.0
PART = 0.5
DEBUG = true
TEXT = "a\"b\\c\nü\u007f"
"no-name" = "x"
W8Y_HOST = "x"

[influx]
host = "influx.example.com"
database = "jobs"
prefix = "gearman_"
"""
FUNCTIONS = {"functions": [
    {"id": 1, "ns": "Image", "method": "resize", "executor": "/opt/resize", "concurrency": 4},
    {"name": "plain-1", "ns": "not", "method": "taken", "executor": "/opt/a \"b\"", "concurrency": "2"},
    {"name": "ends:", "executor": "/opt/c"},
    {"name": "line\nü\"\\", "executor": "/opt/d", "concurrency": 0, "active": False, "speed": 3},
]}


class Migrate(place.Folder, unittest.TestCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.program = place.source / "migrate/superman"

    def call(self, text, *words, name="superman.toml"):
        self.write(name, text if isinstance(text, str) else json.dumps(text))
        return subprocess.run([sys.executable, self.program, name, *words], capture_output=True,
                              text=True, timeout=60, cwd=self.folder,
                              env={"PATH": os.environ["PATH"], "LANG": "C"})

    def makes(self, text, *words):
        """Returns the config, and the lines of standard error without their common prefix."""
        ended = self.call(text, *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.toml = ended.stdout
        return tomllib.loads(ended.stdout), self.notes(ended)

    def notes(self, ended):
        start = "migrate/superman: superman.toml"
        for line in ended.stderr.splitlines():
            self.assertTrue(line.startswith(start), line)
        return [line.removeprefix(start).removeprefix(": ") for line in ended.stderr.splitlines()]

    def refuses(self, text):
        ended = self.call(text)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        return self.notes(ended)

    def check(self, toml=None, path=""):
        """Runs w8yd --check on the config, with a `mariadb` that has one function."""
        w8yd = next(program for program in place.programs if program.name == "w8yd")
        config = self.write("w8y.toml", toml or self.toml)
        return subprocess.run([w8yd, "--config", config, "--check"], capture_output=True, text=True,
                              timeout=60, cwd="/", env={"PATH": f"{path}{os.environ['PATH']}"})

    def assert_right(self, *expected, path=""):
        ended = self.check(path=path)
        self.assertEqual(ended.returncode, 0, ended.stderr[:2000])
        for text in expected:
            self.assertIn(text, ended.stdout + ended.stderr)

    def test_everything(self):
        made, notes = self.makes(EVERYTHING)
        example = str(place.source / "examples/lists-from-mysql")
        self.assertEqual(made, {
            "gearman": {"servers": ["gear1.example.com:4731", "gear2.example.com:4730", "[::1]:4730",
                                    "gear3:4730"]},
            "supervisor": {"log_level": "error"},
            "defaults": {"source": "gearman", "mode": "single", "cwd": "temp", "timeout": "2m",
                         "max_line": "1GiB", "user": "media", "group": 33,
                         "env": {"PATH": "/usr/bin", "PORT": "80", "SHARE": "1", "PART": "0.5",
                                 "DEBUG": "true", "TEXT": "a\"b\\c\nü\x7f"}},
            "lists_from": [{"command": [
                example, "--defaults-extra-file=/etc/w8y-mysql.cnf", "--database=fleet",
                "--table=archive.pure_gearman_functions"]}]})
        # One line for each setting, with the remedy.
        self.assertEqual([note.partition(": ")[0] for note in notes], [
            "gearman.servers", "gearman.debug", "verbose", "worker.max_buffer", "worker.env.no-name",
            "worker.env.W8Y_HOST", "worker.nice", "mysql.ssl", "mysql.host, port, user, password",
            "interval", "reload.interval", "rollbar", "influx", "colour"])
        for name, text in (("mysql.host", "--option-file=/etc/w8y-mysql.cnf"),
                           ("interval", "OnUnitActiveSec=300"), ("interval", "SIGUSR2"),
                           ("reload.interval", "OnUnitActiveSec=2"), ("influx", "/metrics")):
            self.assertIn(text, next(note for note in notes if note.startswith(name)))
        self.assertNotIn(r'p\"', self.toml + "".join(notes))

    def test_functions(self):
        made, notes = self.makes(FUNCTIONS)
        self.assertEqual(made["lists"], {
            "Image::resize": {"executor": "/opt/resize", "concurrency": 4},
            "plain-1": {"executor": "/opt/a \"b\"", "concurrency": 2},
            "ends::": {"executor": "/opt/c"},
            "line\nü\"\\": {"executor": "/opt/d", "concurrency": 0, "enabled": False}})
        self.assertEqual(notes, [
            "functions[2].concurrency: is not there; 1 here",
            "functions[3].speed: is not known to be a setting of superman; skipped"])
        self.assertEqual(made["gearman"], {"servers": ["127.0.0.1:4730"]})
        # The limit of superman without a setting.
        self.assertEqual(made["defaults"]["max_line"], "128MiB")

    def test_nothing_to_say_about_what_is_the_same(self):
        made, notes = self.makes('verbose = "warn"\n[gearman]\nhost = "g"\nport = 1\n[worker]\ntimeout = '
                                 '0\nmax_buffer = 1024\n[[functions]]\nname = "f"\nexecutor = "/x"\n'
                                 'concurrency = 1\n')
        self.assertEqual(notes, [])
        self.assertEqual(made, {
            "gearman": {"servers": ["g:1"]}, "supervisor": {"log_level": "warn"},
            "defaults": {"source": "gearman", "mode": "single", "cwd": "temp", "max_line": "1KiB"},
            "lists": {"f": {"executor": "/x", "concurrency": 1}}})

    def test_times_and_sizes(self):
        for text, expected in (("30000", "30s"), ('"1500"', "1500ms"), ('"1.5h"', "90m"), ('"2 days"', "2d"),
                               ('"1w"', "7d"), ('".5 secs"', "500ms"), ('"3 Hrs"', "3h"), ("250.0", "250ms")):
            made, _ = self.makes(f"functions = []\nworker.timeout = {text}\n")
            self.assertEqual(made["defaults"]["timeout"], expected)
        for text, expected in (("1000", "1000B"), ('"1.5MB"', "1536KiB"), ('"10 kb"', "10KiB"),
                               ('"2048"', "2KiB"), ('"1GB"', "1GiB")):
            made, _ = self.makes(f"functions = []\nworker.max_buffer = {text}\n")
            self.assertEqual(made["defaults"]["max_line"], expected)

    def test_functions_go_before_the_table(self):
        made, notes = self.makes(FUNCTIONS | {"mysql": {"host": "db"}})
        self.assertNotIn("lists_from", made)
        self.assertIn("mysql: is beside functions, which superman uses instead; skipped", notes)

    def test_another_database(self):
        made, notes = self.makes({"mysql": {"client": "pg"}})
        self.assertNotIn("lists_from", made)
        self.assertTrue(notes[0].startswith('mysql.client: is "pg", which lists-from-mysql cannot ask'))

    def test_mistakes_have_their_place(self):
        for text, expected in (
                ("a = 1\nb = = 2\n", r":2:5: is not valid TOML: .*"),
                ('{"a": 1,\n "b" 2}', r":2:6: is not valid JSON: .*"),
                ("[1]", r".*"), ("[] ", r".*"), ("nothing", r"is not valid TOML: .*")):
            notes = self.refuses(text)
            self.assertEqual(len(notes), 1)
            self.assertRegex(notes[0], rf"^{expected}$")
        self.assertEqual(self.refuses({
            "verbose": "loud", "interval": "soon", "reload": 3,
            "gearman": {"servers": [3, "a b", {"port": "x"}, "::1"]},
            "worker": {"timeout": [], "max_buffer": "much", "user": "", "group": -1, "env": {"A": []}},
            "functions": [{"ns": "a", "executor": "x", "concurrency": 1.5}, 3,
                          {"name": "a", "executor": "/x", "concurrency": 1},
                          {"name": "a", "executor": "/x", "concurrency": 100001}]}), [
            'gearman.servers[0]: is 3; must be "host:port" or a table with host and port',
            'gearman.servers[1]: is "a b"; must be "host:port" or a table with host and port',
            'gearman.servers[2]: is {"port": "x"}; must be "host:port" or a table with host and port',
            'gearman.servers[3]: is "::1"; must be "host:port" or a table with host and port',
            'verbose: is "loud"; must be one of trace, debug, info, warn, error, fatal',
            'worker.timeout: is []; must be such as "30s", or milliseconds',
            'worker.max_buffer: is "much"; must be such as "128mb", or bytes',
            'worker.user: is ""; must be a name or a number',
            "worker.group: is -1; must be a name or a number",
            "worker.env.A: is []; must be a text or a number",
            "functions[0].name: is not there, nor both ns and method",
            'functions[0].executor: is "x"; must be an absolute path',
            "functions[0].concurrency: is 1.5; must be a whole number from 0 to 100000",
            "functions[1]: is 3; must be a table",
            'functions[3].name: is "a", as that of functions[2]; must be there once',
            "functions[3].concurrency: is 100001; must be a whole number from 0 to 100000",
            "reload: is 3; must be a table",
            'interval: is "soon"; must be such as "30s", or milliseconds'])
        self.assertEqual(self.refuses({"verbose": "info"}), [
            "functions: is not there, nor mysql: there is nothing to serve"])
        self.assertEqual(self.refuses({"mysql": {"table": "a b"}}), [
            'mysql.table: is "a b"; must have letters, digits, _ and $ only, or lists-from-mysql cannot '
            "ask for it"])

    def test_files(self):
        ended = subprocess.run([sys.executable, self.program, "-"], input=json.dumps(FUNCTIONS),
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("migrate/superman: standard input: functions[2].concurrency", ended.stderr)
        for name, expected in (("/no/such/file", "/no/such/file: No such file or directory"),
                               ("/", "/: Is a directory")):
            ended = subprocess.run([sys.executable, self.program, name], capture_output=True, text=True,
                                   timeout=60)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr),
                             (1, "", f"migrate/superman: {expected}\n"))
        (self.folder / "bytes").write_bytes(b"a = '\xff'")
        ended = subprocess.run([sys.executable, self.program, self.folder / "bytes"], text=True,
                               capture_output=True, timeout=60)
        self.assertIn("bytes: is not valid UTF-8 at byte 5", ended.stderr)

    def test_a_name_can_not_leave_its_comment(self):
        ended = self.call(FUNCTIONS, name="a\n[lists.x]\n#.toml")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("x", tomllib.loads(ended.stdout)["lists"])

    def test_option_file(self):
        file = self.folder / "login.cnf"
        made, notes = self.makes(EVERYTHING, f"--option-file={file}")
        self.assertIn(f"--defaults-extra-file={file}", made["lists_from"][0]["command"])
        self.assertFalse([note for note in notes if "password" in note])
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(file.read_text(), '[client]\nhost = "db.example.com"\nport = "3307"\n'
                         'user = "superman"\npassword = "p\\"\\\\ #;"\n')
        if shutil.which("my_print_defaults"):
            said = place.says("my_print_defaults", f"--defaults-file={file}", "client")
            self.assertIn('--password=p"\\ #;\n', said)
        ended = self.call(EVERYTHING, f"--option-file={file}")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn(f"{file}: is there already", ended.stderr)

    def test_w8yd_takes_functions(self):
        self.makes(FUNCTIONS)
        self.assert_right("Image::resize: ", "plain-1: ", "ends:: ")

    def test_w8yd_takes_what_the_table_says(self):
        stand_in = Path(__file__).with_name("stand_in_mariadb.py").read_text()
        self.write("tools/mariadb", stand_in, 0o755)
        columns = ["id", "name", "active", "concurrency", "executor"]
        rows = [[1, "ends:", 1, 3, "/bin/sh"], [2, "line\n\x7fü🎉", 1, 5, "/bin/sh"]]
        rows += [[number, f"f{number}", 1, 1, "/bin/sh"] for number in range(3, 101)]
        self.write("tools/tables.json", json.dumps({"password": "secret", "tables": {"fleet": {
            "gearman_functions": {"columns": [[name, "text"] for name in columns], "rows": rows}}}}))
        # If the test runs as root, no other user may be able to write the program.
        program = self.write("lists-from-mysql", (place.source / "examples/lists-from-mysql").read_text(),
                             0o755)
        self.makes({"mysql": {"user": "superman", "password": "secret", "database": "fleet"}},
                   f"--lists-from={program}", f"--option-file={self.folder}/login.cnf")
        self.toml = self.toml.replace("[[lists_from]]\n", '[[lists_from]]\ntimeout = "2m"\n')
        path = f"{self.folder}/tools:"
        self.assert_right("ends:: ", "f100: ", path=path)
        # An error in the table is a config error with its row.
        tables = json.loads((self.folder / "tools/tables.json").read_text())
        tables["tables"]["fleet"]["gearman_functions"]["rows"][1][1] = None
        self.write("tools/tables.json", json.dumps(tables))
        ended = self.check(path=path)
        self.assertEqual(ended.returncode, 78)
        self.assertIn('lists-from-mysql" exits with status 1: lists-from-mysql: table gearman_functions, '
                      "row 2: has no name", ended.stderr)

    def test_what_it_says_is_there(self):
        """Keys in messages are in the manual, and all written keys are known."""
        known = {line.split("\t")[1] for line in place.says(place.known_keys).splitlines()}
        for text in (EVERYTHING, FUNCTIONS):
            self.makes(text)
            for key in re.findall(r"(?m)^(\w+) = ", self.toml):
                self.assertIn(key, known)

"""Tests of the example that prints lists from superman's table: with a replacement of the client `mariadb`,
and, with W8Y_TEST_LONG=1, with the real client and a MariaDB for the test."""
import getpass
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import place

PASSWORD = "p#\"\\ 'ü"
COLUMNS = {"id": "int(11)", "ns": "varchar(600)", "method": "varchar(600)", "name": "varchar(600)",
           "active": "tinyint(4)", "concurrency": "int(11)", "executor": "varchar(600)"}


def row(number, name, *, ns=None, method=None, active=1, concurrency=1, executor="/opt/x"):
    return [number, ns, method, name, active, concurrency, executor]


class Asked(place.Folder):
    """Tests that pass with the replacement and with the real client."""

    def setUp(self):
        super().setUp()
        self.program = place.source / "examples/lists-from-mysql"
        self.fill("fleet", "gearman_functions", [])

    def call(self, *words, path=None):
        return subprocess.run([sys.executable, self.program, *words], capture_output=True, text=True,
                              timeout=60, cwd="/",
                              env={"PATH": path or self.path(), "LANG": "C.UTF-8"})

    def ask(self, *words):
        return self.call(f"--defaults-extra-file={self.option_file()}", *(words or ("--database=fleet",)))

    def lists(self, *words):
        ended = self.ask(*words)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return json.loads(ended.stdout)["lists"]

    def refuses(self, *words):
        """Returns the lines of standard error."""
        ended = self.ask(*words)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        lines = ended.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("lists-from-mysql: "), line)
        return [line.partition(": ")[2] for line in lines]

    def option_file(self, password=PASSWORD):
        escaped = password.replace("\\", "\\\\").replace('"', '\\"')
        text = f'[client]\nuser = "superman"\npassword = "{escaped}"\n'
        return self.write("option-file", text + self.more_options(), 0o600)

    def test_its_text_says_who_can_choose_executors(self):
        sentence = "Everyone who can write to the table chooses which programs run"
        for text in (self.call("--help").stdout, self.program.read_text()):
            self.assertIn(sentence, " ".join(text.split()))

    def test_no_rows(self):
        self.assertEqual(self.lists(), {})

    def test_a_row(self):
        self.fill("fleet", "gearman_functions",
                  [row(7, None, ns="Image", method="resize", concurrency=4, executor="/opt/resize")])
        self.assertEqual(self.lists(), {"Image::resize": {
            "source": "gearman", "function": "Image::resize", "mode": "single",
            "executor": "/opt/resize", "concurrency": 4}})

    def test_names(self):
        names = ["plain", "NULL", "\\N", "tab\there", "line\nhere", "quote\"'`\\here", "ümläut", "🎉",
                 " ", "a", "a:", ":", "a::b", "{tag}", "%s", "\x7f\x01", "n" * 500]
        self.fill("fleet", "gearman_functions",
                  [row(number, name, ns="not", method="taken") for number, name in enumerate(names)])
        lists = self.lists()
        self.assertEqual([one["function"] for one in lists.values()], names)
        for prefix, one in lists.items():
            # w8yd removes a final colon from the key prefix.
            self.assertEqual(prefix[:-1] if prefix.endswith(":") else prefix, one["function"])

    def test_which_rows_count(self):
        self.fill("fleet", "gearman_functions", [
            row(1, "idle", active=0), row(2, "none", concurrency=0), row(3, "less", concurrency=-1),
            row(4, "null", concurrency=None), row(5, "unknown", active=None), row(6, "", active=0),
            row(7, "runs", active=2), row(8, "runs", active=0)])
        self.assertEqual(list(self.lists()), ["runs"])

    def test_an_empty_name_is_none(self):
        self.fill("fleet", "gearman_functions", [row(1, "", ns="a", method="b")])
        self.assertEqual(list(self.lists()), ["a::b"])

    def test_every_mistake_is_told_with_its_row(self):
        self.fill("fleet", "gearman_functions", [
            row(1, "good"), row(2, None), row(3, None, ns="a"), row(4, "", method="b"),
            row(5, "nul\0"), row(6, "many", concurrency=100001), row(7, "good"),
            row(8, "line\nhere", executor="x"), row(9, "none", executor=None),
            row(10, "nowhere", executor="")])
        table = "table gearman_functions, row"
        mistakes = [
            f"{table} 2: has no name, nor both ns and method",
            f"{table} 3: has no name, nor both ns and method",
            f"{table} 4: has no name, nor both ns and method",
            f"{table} 5: has a NUL byte in its name, which Gearman has no way to say",
            f"{table} 6 ('many'): concurrency is 100001; must be from 1 to 100000",
            f"{table} 7 ('good'): is row 1's function too; must be there once",
            f"{table} 8 ('line\\nhere'): executor is 'x'; must be an absolute path",
            f"{table} 9 ('none'): executor is None; must be an absolute path",
            f"{table} 10 ('nowhere'): executor is ''; must be an absolute path",
        ]
        # w8yd shows the last line.
        self.assertEqual(self.refuses(), mistakes + [f"9 errors, the first: {mistakes[0]}"])

    def test_a_concurrency_that_is_no_number(self):
        self.fill("fleet", "gearman_functions",
                  [row(1, "a", concurrency="4x"), row(2, "b", concurrency="2.00"),
                   row(3, "c", concurrency="1.5"), row(4, "d", concurrency="x")],
                  COLUMNS | {"concurrency": "varchar(20)"})
        self.assertEqual(self.refuses()[:-1], [
            "table gearman_functions, row 1 ('a'): concurrency is '4x'; must be a whole number",
            "table gearman_functions, row 3 ('c'): concurrency is '1.5'; must be a whole number"])

    def test_other_columns(self):
        self.fill("fleet", "named", [[1, "x", 1, 2, "/x"]],
                  {name: COLUMNS[name] for name in ("id", "name", "active", "concurrency", "executor")})
        self.assertEqual(list(self.lists("--database=fleet", "--table=named")), ["x"])
        self.fill("fleet", "Parted", [[1, "a", "b", 1, 2, "/x", "more"]],
                  {"ID": "int(11)", "ns": "varchar(20)", "method": "varchar(20)", "active": "int(11)",
                   "Concurrency": "int(11)", "executor": "varchar(20)", "note": "varchar(20)"})
        if self.columns_in_any_case:
            self.assertEqual(list(self.lists("--table=fleet.Parted")), ["a::b"])
        self.fill("fleet", "half", [], {"id": "int(11)", "ns": "int(11)", "active": "int(11)"})
        self.assertEqual(self.refuses("--table=fleet.half"), [
            "table fleet.half: has no column concurrency and no executor and no name (or ns and method); "
            "it has active, id, ns"])

    def test_what_the_server_refuses(self):
        self.assertEqual(self.refuses("--table=fleet.none"), [
            "mariadb: ERROR 1146 (42S02) at line 1: Table 'fleet.none' doesn't exist (exit status 1)"])
        self.assertIn("ERROR 1049 (42000): Unknown database 'nowhere'",
                      self.refuses("--database=nowhere")[0])
        ended = self.call(f"--defaults-extra-file={self.option_file('wrong')}", "--database=fleet")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("ERROR 1045 (28000): Access denied for user 'superman'", ended.stderr)

    def test_ten_thousand_rows(self):
        self.fill("fleet", "gearman_functions",
                  [row(number, f"function-{number}", concurrency=number) for number in range(1, 10001)])
        lists = self.lists()
        self.assertEqual(list(lists), [f"function-{number}" for number in range(1, 10001)])
        self.assertEqual(lists["function-9876"]["concurrency"], 9876)


class StandIn(Asked, unittest.TestCase):
    columns_in_any_case = False  # the replacement is case-sensitive

    def setUp(self):
        self.tables = {}
        super().setUp()

    def path(self):
        if not (self.folder / "tools").exists():
            stand_in = Path(__file__).with_name("stand_in_mariadb.py").read_text()
            self.write("tools/mariadb", stand_in, 0o755)
        self.write("tools/tables.json", json.dumps({"password": PASSWORD, "tables": self.tables}))
        return f"{self.folder}/tools:{os.environ['PATH']}"

    def more_options(self):
        return ""

    def option_file(self, password=PASSWORD):
        # The replacement does not support escapes in option files.
        return self.write("option-file", f'[client]\nuser = "superman"\npassword = "{password}"\n', 0o600)

    def fill(self, database, table, rows, columns=None):
        columns = columns or COLUMNS
        self.tables.setdefault(database, {})[table] = {"columns": list(columns.items()), "rows": rows}

    def calls(self):
        return [json.loads(line) for line in (self.folder / "tools/calls").read_text().splitlines()]

    def test_nothing_secret_is_an_argument(self):
        self.lists()
        calls = self.calls()
        self.assertEqual(len(calls), 2)
        for call in calls:
            self.assertEqual(call[0], f"--defaults-extra-file={self.folder}/option-file")
            self.assertNotIn(PASSWORD, " ".join(call))

    def test_table_that_would_be_more_than_a_name(self):
        path = self.path()
        for table in ("", "a b", "a`b", "a;DROP TABLE b", "a.b.c", ".a", "a.", "ü", "a\n", "x" * 65):
            ended = self.call(f"--table={table}", path=path)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), table)
            self.assertIn("is no table; must be TABLE or DATABASE.TABLE", ended.stderr)
        self.assertFalse((self.folder / "tools/calls").exists())

    def test_option_file_that_is_not_there_or_is_everybodys(self):
        ended = self.call("--defaults-extra-file=/no/such/file")
        self.assertEqual(ended.stderr, "lists-from-mysql: /no/such/file: No such file or directory\n")
        for mode, status in ((0o604, 1), (0o602, 1), (0o640, 0), (0o600, 0)):
            file = self.option_file()
            file.chmod(mode)
            ended = self.call(f"--defaults-extra-file={file}", "--database=fleet")
            self.assertEqual(ended.returncode, status, ended.stderr)
            if status:
                self.assertEqual(ended.stderr, f"lists-from-mysql: {file}: anybody can read or write it; "
                                 "must have mode 600, or 640 for w8yd's group\n")

    def test_no_client(self):
        empty = self.folder / "empty"
        empty.mkdir()
        ended = self.call("--database=fleet", path=str(empty))
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("mariadb cannot be started: No such file or directory", ended.stderr)

    def test_answers_that_nobody_expects(self):
        path = self.path()
        columns = "".join(f"{name}\n" for name in COLUMNS)
        for says, exits, complains, expected in (
                ("", 3, "", "mariadb: no reason given (exit status 3)"),
                ("", 1, "Could not open it\nAborted\n", "mariadb: Could not open it (exit status 1)"),
                ("x\n" * 3, 0, "", "has no column id and no concurrency"),
                (columns, 0, "", "mariadb: line 1 of its answer has 1 cells; must have 6")):
            self.write("tools/tables.json",
                       json.dumps({"says": says, "exits": exits, "complains": complains}))
            ended = self.call("--database=fleet", path=path)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertIn(expected, ended.stderr)


@unittest.skipUnless(os.environ.get("W8Y_TEST_LONG") == "1", "W8Y_TEST_LONG=1 asks for it")
class MariaDb(Asked, unittest.TestCase):
    columns_in_any_case = True

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="w8y-mariadb-")
        cls.addClassCleanup(folder.cleanup)
        cls.home = Path(folder.name)
        me = f"--user={getpass.getuser()}"
        place.says("mariadb-install-db", "--no-defaults", f"--datadir={cls.home}/data", me,
                   "--auth-root-authentication-method=normal", "--skip-test-db")
        log = (cls.home / "log").open("w")
        cls.addClassCleanup(log.close)
        server = subprocess.Popen(
            ["mariadbd", "--no-defaults", me, f"--datadir={cls.home}/data", "--skip-networking",
             f"--socket={cls.home}/socket", f"--pid-file={cls.home}/pid",
             "--innodb-buffer-pool-size=16M"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.kill)
        place.wait_for(lambda: cls.sql("SELECT 1", check=False) == 0, what="MariaDB answers")
        name = PASSWORD.replace("\\", "\\\\").replace("'", "''")
        cls.sql(f"CREATE USER superman@localhost IDENTIFIED BY '{name}'; CREATE DATABASE fleet; "
                "GRANT SELECT ON *.* TO superman@localhost")

    @classmethod
    def sql(cls, text, check=True):
        return subprocess.run(
            ["mariadb", "--no-defaults", "--user=root", f"--socket={cls.home}/socket",
             "--default-character-set=utf8mb4", "--batch"], input=text, text=True, timeout=60,
            check=check, stdout=subprocess.DEVNULL,
            stderr=None if check else subprocess.DEVNULL).returncode

    def path(self):
        return os.environ["PATH"]

    def more_options(self):
        # A host's option files may have these. The options of the program override them.
        return f"socket = {self.home}/socket\n[mariadb-client]\nsafe-updates\nxml\nhtml\ntable\n"

    def fill(self, database, table, rows, columns=None):
        columns = columns or COLUMNS
        shape = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
        self.sql(f"CREATE OR REPLACE TABLE {database}.{table} ({shape}) CHARACTER SET utf8mb4")
        for first in range(0, len(rows), 1000):
            values = ", ".join("(" + ", ".join(map(literal, one)) + ")"
                               for one in rows[first:first + 1000])
            self.sql(f"INSERT INTO {database}.{table} VALUES {values}")


def literal(value):
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    return f"X'{value.encode().hex()}'"

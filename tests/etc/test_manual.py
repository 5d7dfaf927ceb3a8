"""Tests of the man pages: well formed, complete, and without names that do not exist."""
import json
import re
import socket
import subprocess
import unittest

import place
from api_client import UnixConnection

SECTIONS = {
    "Top level": "",
    "[[lists_from]]": "lists_from",
    "[redis]": "redis",
    "[gearman]": "gearman",
    "[supervisor]": "supervisor",
    "[lists.PREFIX] and [defaults]": "lists",
    "backoff": "lists.backoff",
    "rlimits": "lists.rlimits",
    r"[hosts.\(dqPATTERN\(dq]": "hosts.PATTERN",
    r"[hosts.\(dqPATTERN\(dq.lists.PREFIX]": "hosts.PATTERN.lists",
}
NO_OPTIONS = {"caps", "stream"}  # options of executors


def plain(mdoc):
    return mdoc.replace(r"\(dq", '"').replace(r"\-", "-")


def keys_of_page(text):
    """Returns {section: {key: default in TOML, or ""}}."""
    keys, section = {}, None
    for line in text.splitlines():
        if line.startswith((".Ss ", ".Sh ")):
            section = SECTIONS.get(line[4:])
        elif section is not None and (found := re.match(r"\.It Ic (\S+)(?: = (.*))?$", line)):
            keys.setdefault(section, {})[found[1]] = plain(found[2] or "")
    return keys


def known_keys():
    keys = {}
    for line in place.says(place.known_keys).splitlines():
        section, name, fallback = line.split("\t")
        keys.setdefault(section, {})[name] = fallback
    return keys


def main_page_of(program):
    return place.page(f"{program.name}.{8 if program.name == 'w8yd' else 1}").read_text()


def group_pages_of(program):
    """Returns the pages of groups of subcommands, such as w8yctl-items.1."""
    return sorted(path for path in place.manual if re.fullmatch(rf"{program.name}-[a-z]+\.[18]", path.name))


def page_of(program):
    """Returns all pages of a program as one text."""
    return "\n".join([main_page_of(program), *(path.read_text() for path in group_pages_of(program))])


def commands_of_page(text):
    return set(re.findall(r"(?m)^\.It Cm ([a-z-]+)", text))


def options_of_page(text):
    return set(re.findall(r"(?:Fl |, )-([a-z][a-z0-9-]+)", text)) - NO_OPTIONS


class Pages(unittest.TestCase):
    def test_mandoc_finds_nothing(self):
        for path in place.manual:
            self.assertEqual(place.says("mandoc", "-T", "lint", "-W", "warning", path), "")

    def test_man_finds_nothing(self):
        for path in place.manual:
            shown = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True,
                                   timeout=60)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertIn("SEE ALSO", re.sub(r".\x08", "", shown.stdout))

    def test_nothing_is_left_to_fill_in(self):
        for path in place.manual:
            self.assertNotRegex(path.read_text(), r"@\w+@")


class Options(unittest.TestCase):
    def test_long_options(self):
        for program in place.programs:
            text = page_of(program)
            known = set().union(*map(place.long_options, place.help_texts(program).values()))
            with self.subTest(program.name):
                self.assertEqual(options_of_page(text), known)

    def test_short_options(self):
        for program in place.programs:
            text = page_of(program)
            for short in re.findall(r"(?m)^ +-(\w),--", place.says(program, "--help")):
                with self.subTest(program.name, option=short):
                    self.assertRegex(text, rf"(?m)^\.It Fl {short}\b")

    def test_commands(self):
        for program in place.programs:
            if commands := place.commands_of(place.says(program, "--help")):
                pages = [path.read_text() for path in group_pages_of(program)]
                self.assertEqual(commands_of_page(main_page_of(program)), commands)
                self.assertEqual(set().union(*map(commands_of_page, pages)), commands)

    def test_main_page_refers_to_group_pages(self):
        for program in place.programs:
            for path in group_pages_of(program):
                self.assertIn(f"\n.Xr {path.stem} {path.suffix[1:]} ,\n", main_page_of(program))

    def test_options_of_commands(self):
        for program in place.programs:
            text = "\n".join(path.read_text() for path in group_pages_of(program))
            for command, help_text in place.help_texts(program).items():
                if not command:
                    continue
                group = place.commands_of(help_text)
                own = rf"(?! (?:{'|'.join(group)})\b)" if group else ""
                lines = re.findall(rf"(?m)^\.It Cm {command}\b{own}.*$", text)
                with self.subTest(program.name, command=command):
                    self.assertTrue(lines)
                    self.assertEqual(options_of_page("\n".join(lines)),
                                     place.long_options(help_text) - {"help"})


class ConfigPage(unittest.TestCase):
    def setUp(self):
        self.text = place.page("w8y.toml.5").read_text()

    def test_keys_and_defaults(self):
        shown, known = keys_of_page(self.text), known_keys()
        self.assertEqual(shown.keys(), known.keys())
        for section, keys in known.items():
            with self.subTest(section):
                self.assertEqual(shown[section], keys)

    def test_examples_are_right(self):
        examples = re.findall(r"(?ms)^\.Bd -literal.*?$\n(.*?)^\.Ed", self.text)
        self.assertGreaterEqual(len(examples), 3)
        for example in examples:
            self.assertEqual(place.mistakes(example), "", example)


class KeysPage(unittest.TestCase):
    def test_names_every_key_that_is_used(self):
        text = place.page("w8y-keys.7").read_text()
        named = set(re.findall(r"(?m)^\.It Li work:(\w+)", text))
        headers = "\n".join(path.read_text() for path in place.source.parent.glob("src/**/keys.hpp"))
        used = set(re.findall(r'key_prefix \+ "(\w+)"', headers))
        self.assertGreater(len(used), 8)
        self.assertEqual(used - named, set())


class MigratingPage(unittest.TestCase):
    """Keys and commands of w8y in w8y-migrating(7) exist. Those of other programs are not tested."""

    def setUp(self):
        self.text = place.page("w8y-migrating.7").read_text()

    def test_names_keys_that_are_there(self):
        known = {key for keys in known_keys().values() for key in keys}
        named = set(re.findall(r"(?m)^\.Ic (\w+)", self.text))
        self.assertGreater(len(named), 25)
        self.assertEqual(named - known, set())

    def test_examples_are_right(self):
        examples = re.findall(r"(?ms)^\.Bd -literal.*?$\n(.*?)^\.Ed", self.text)
        self.assertEqual(len(examples), len(re.findall(r"(?m)^\.Sh FROM", self.text)))
        for example in examples:
            self.assertEqual(place.mistakes(example), "", example)

    def test_names_commands_and_options_that_are_there(self):
        ctl = next(path for path in place.programs if path.name == "w8yctl")
        texts = place.help_texts(ctl)
        used = re.findall(r"(?m)^\.Ql w8yctl (.*?)(?: [.,;:])?$", self.text)
        self.assertGreater(len(used), 15)
        for words in (line.split() for line in used):
            words = [word for word in words if word not in ("-k", "cron")]
            name = " ".join(words[:2]) if " ".join(words[:2]) in texts else words[0]
            with self.subTest(" ".join(words)):
                self.assertIn(name, texts)
                options = {word[2:] for word in words if word.startswith("--")}
                self.assertLessEqual(options, place.long_options(texts[name]))

    def test_rules_are_what_the_lines_of_a_crontab_mean(self):
        ctl = next(path for path in place.programs if path.name == "w8yctl")
        rules = dict(re.findall(r'(?m)^\.It Li "(.*?)".*\n\.Li (FREQ\S+)$', self.text))
        expected = {
            "* * * * *": "2026-11-20T10:08:00Z",
            "*/5 * * * *": "2026-11-20T10:10:00Z",
            "0 * * * *": "2026-11-20T11:00:00Z",
            "30 4 * * *": "2026-11-21T04:30:00Z",
            "0 0 * * *": "2026-11-21T00:00:00Z",
            "0 9 * * 1-5": "2026-11-23T09:00:00Z",
            "0 0 * * 0": "2026-11-22T00:00:00Z",
            "0 0 1 * *": "2026-12-01T00:00:00Z",
            "0 0 1 1 *": "2027-01-01T00:00:00Z",
        }
        friday = ("DTSTART:20260101T000000\nRRULE:", "--after", "1795169222", "-n", "1")
        # The schedule starts in the past, so that it does not depend on today.
        found = {line: place.says(ctl, "schedule", "next", "--rule", friday[0] + rule, *friday[1:]).strip()
                 for line, rule in rules.items()}
        self.assertEqual(found, expected)


def members(json_value):
    """Returns the names of all members at any depth, except in tables with arbitrary names."""
    if isinstance(json_value, list):
        return set().union(*map(members, json_value))
    if not isinstance(json_value, dict):
        return set()
    inner = (value for name, value in json_value.items() if name not in ("states", "settings"))
    return set(json_value) | set().union(*map(members, inner))


class ApiPage(place.Folder, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.text = place.page("w8y-api.7").read_text()

    def test_names_every_path_and_no_other(self):
        named = set()
        for method, path in re.findall(r"(?m)^\.It Li (GET|POST|PUT|DELETE) (.*)$", self.text):
            named.add((method, re.sub(r" Ns (?:Aq Ar \w+|Ao Ar \w+ Ac Ns Li )", "*", path)))
        api = json.loads((place.source / "openapi.json").read_text())
        known = {(method.upper(), re.sub(r"\{\w+\}", "*", path))
                 for path, methods in api["paths"].items() for method in methods
                 if path != "/" and not path.startswith("/page/")}  # described in another section
        self.assertGreater(len(known), 10)
        self.assertEqual(named, known)

    def ask(self, method, path, body=None):
        connection = UnixConnection(str(self.folder / "w8yd.sock"))
        self.addCleanup(connection.close)
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def listens(self):
        """Returns whether w8yd accepts connections, which it does a moment after it created its socket."""
        with socket.socket(socket.AF_UNIX) as sock:
            return sock.connect_ex(str(self.folder / "w8yd.sock")) == 0

    def run_w8yd(self):
        """Starts w8yd with an active list, a list with a failure, and a paused list."""
        config = self.write("w8y.toml", f"""
            [supervisor]
            status = ["unix:{self.folder}/w8yd.sock"]
            [lists.runs]
            command = ["sleep", "600"]
            [lists.fails]
            command = ["false"]
            """)
        w8yd = next(path for path in place.programs if path.name == "w8yd")
        log = (self.folder / "log").open("w")
        self.addCleanup(log.close)
        daemon = subprocess.Popen([w8yd, "--config", config, f"--embedded={self.folder}/redis"],
                                  stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        place.wait_for(self.listens, what="w8yd listens")
        place.wait_for(lambda: self.ask("GET", "/readyz")[0] == 200, what="w8yd is ready")
        for command in (["RPUSH", "runs:list", "a"], ["RPUSH", "fails:list", "a"],
                        ["SET", "fails:paused", "why"]):
            place.says("redis-cli", "-s", self.folder / "redis/redis.sock", *command)
            if command[0] == "RPUSH":
                state = "runs" if command[1].startswith("runs") else "last_error"
                prefix = command[1].partition(":")[0]
                place.wait_for(lambda: self.ask("GET", f"/api/v1/lists/{prefix}")[1]["here"][state],
                               what=state)

    def test_names_every_member(self):
        self.run_w8yd()
        status, answer = self.ask("GET", "/api/v1/status")
        self.assertEqual(status, 200)
        found = members(answer)
        for method, path, body, expected in (
                ("GET", "/healthz", None, 200), ("GET", "/readyz", None, 200),
                ("GET", "/api/v1/lists/none", None, 404), ("POST", "/healthz", None, 405),
                ("POST", "/api/v1/cancel", "no", 400), ("POST", "/api/v1/quiet", None, 200),
                ("POST", "/api/v1/cancel", '{"run": "none"}', 404),
                ("POST", "/api/v1/reload", None, 200)):
            status, answer = self.ask(method, path, body)
            self.assertEqual(status, expected, answer)
            found |= members(answer)
        # Words that the page marks as literals.
        named = set(re.findall(r"[a-z_]+", " ".join(re.findall(
            r"(?m)^\.(?:It )?Li (.*)$", self.text)).replace(r"\(dq", " ")))
        self.assertGreater(len(found), 50)
        self.assertEqual(found - named, set())
        statuses = set(re.findall(r"(?m)^\.It (\d{3})$", self.text))
        self.assertLessEqual({"400", "404", "405"}, statuses)

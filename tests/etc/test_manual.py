"""The man pages: well formed, complete, and with nothing in them that isn't so."""
import re
import subprocess
import unittest

import place

SECTIONS = {
    "Top level": "",
    "[redis]": "redis",
    "[supervisor]": "supervisor",
    "[lists.PREFIX] and [defaults]": "lists",
    "backoff": "lists.backoff",
    "rlimits": "lists.rlimits",
}
NO_OPTIONS = {"caps", "stream"}  # of executors


def plain(mdoc):
    return mdoc.replace(r"\(dq", '"').replace(r"\-", "-")


def keys_of_page(text):
    """{section: {key: default in TOML, or ""}}"""
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


def page_of(program):
    return place.page(f"{program.name}.{8 if program.name == 'w8yd' else 1}").read_text()


def options_of_page(text):
    return set(re.findall(r"(?:Fl |, )-([a-z][a-z0-9-]+)", text)) - NO_OPTIONS


class Pages(unittest.TestCase):
    @place.needs("mandoc")
    def test_mandoc_finds_nothing(self):
        for path in place.manual:
            self.assertEqual(place.says("mandoc", "-T", "lint", "-W", "warning", path), "")

    @place.needs("man")
    @place.needs("groff")
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
                described = set(re.findall(r"(?m)^\.It Cm ([a-z-]+)", page_of(program)))
                self.assertEqual(described, commands)

    def test_options_of_commands(self):
        for program in place.programs:
            text = page_of(program)
            for command, help_text in place.help_texts(program).items():
                if not command:
                    continue
                lines = re.findall(rf"(?m)^\.It Cm {command}\b.*$", text)
                with self.subTest(program.name, command=command):
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

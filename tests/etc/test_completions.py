"""Tests of the completions: they parse, have exactly the existing options, and bash's version completes."""
import re
import unittest

import place

# Splits a line like readline does; the text after the last space is completed.
BASH_TRY = r"""
. /usr/share/bash-completion/bash_completion
compopt() { :; }
try() {
    local line=$1 word
    COMP_WORDS=()
    for word in $line; do
        while [[ $word =~ ^([^=:]*)([=:])(.*)$ ]]; do
            [[ ${BASH_REMATCH[1]} ]] && COMP_WORDS+=("${BASH_REMATCH[1]}")
            COMP_WORDS+=("${BASH_REMATCH[2]}")
            word=${BASH_REMATCH[3]}
        done
        [[ $word ]] && COMP_WORDS+=("$word")
    done
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_LINE=$line COMP_POINT=${#line} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
    local name=${COMP_WORDS[0]}
    . "$source/completions/$name.bash"
    "_$name" "$name" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}
PATH=$tools:$PATH
while IFS= read -r line; do try "$line"; done
"""

LISTS = r"""#!/bin/sh
[ "$*" = "feed list" ] && printf 'news\na b\n'
case "$*" in
    "fleet --no-lists --runs --json")
        echo '{"hosts":[{"host":"a","runs":[{"run":"01KFA","list":"work"},{"run": "01KFB"}]}]}' ;;
    "runs --limit=50 --json") echo '{"runs":[{"run":"01KFA"},{"run":"01KEZ","item":"x"}]}' ;;
    "items --limit=500 --json -- work")
        echo '{"items":[{"item":"apple","state":"free"},{"item": "a b"},{"item":"avocado"}]}' ;;
    "fleet --no-lists") printf 'HOST   STATE\nalpha  running\nbeta  quiet\n' ;;
esac
[ "$*" = "lists --json" ] || exit 2
echo '{"lists":[{"caps":["a"],"list":"work"},{"list":"a b"},{"list":"feeds","reason":"x"}]}'
"""


class Completions(place.Folder, unittest.TestCase):
    def files(self, pattern):
        found = sorted((place.source / "completions").glob(pattern))
        self.assertEqual(len(found), 3)
        return found

    def test_bash_parses(self):
        for path in self.files("*.bash"):
            place.says("bash", "-n", path)

    def test_zsh_parses(self):
        for path in self.files("_*"):
            place.says("zsh", "-f", "-n", path)

    def test_fish_parses(self):
        for path in self.files("*.fish"):
            place.says("fish", "--no-config", "-n", path)

    def test_options_and_commands(self):
        for program in place.programs:
            texts = place.help_texts(program)
            known = set().union(*map(place.long_options, texts.values()))
            folder = place.source / "completions"
            name = program.name
            offered = {
                "bash": set(re.findall(r"--([a-z][a-z0-9-]*)", (folder / f"{name}.bash").read_text())),
                "zsh": set(re.findall(r"--([a-z][a-z0-9-]*)", (folder / f"_{name}").read_text())),
                "fish": set(re.findall(r"-l ([a-z][a-z0-9-]*)", (folder / f"{name}.fish").read_text())),
            }
            for shell, options in offered.items():
                with self.subTest(shell, program=name):
                    self.assertEqual(options, known)
            for command in texts.keys() - {""}:
                for path in (f"{name}.bash", f"_{name}", f"{name}.fish"):
                    with self.subTest(path, command=command):
                        self.assertRegex((folder / path).read_text(), rf"(?<![\w-]){command.split()[-1]}(?![\w-])")

    def test_bash_completes(self):
        self.write("tools/w8yctl", LISTS, 0o755)
        cases = {
            "w8y --k": "--key-prefix= --key-expiry=",
            "w8y --lock-key=": "lock proc",
            "w8y --lock-key p": "proc",
            "w8y -u un": "unix://",
            "w8y -ck work w8y-no-such-": "",
            f"w8y -u redis://h:1 -k a ls {self.folder}/to": f"{self.folder}/tools",
            f"w8y --redis-url=redis://h:1 -- ls {self.folder}/to": f"{self.folder}/tools",
            "w8yd --c": "--config= --check",
            f"w8yd --embedded={self.folder}/to": f"{self.folder}/tools",
            "w8yctl re": "resume reload rerun remove release",
            "w8yctl items ": "work feeds",
            "w8yctl --json items --state=free f": "feeds",
            "w8yctl items --state d": "delayed died",
            "w8yctl lists --state=in": "ineligible",
            "w8yctl release --state ": "delayed quarantined",
            "w8yctl add work ": "",
            "w8yctl add --cr": "--create",
            "w8yctl help qui": "quiet",
            "w8yctl pause --fo": "--for=",
            "w8yctl schedule s": "set statuses schedules",
            "w8yctl schedule -k bike control ": "HALT RESUME",
            "w8yctl schedule set --a": "--after=",
            "w8yctl schedule dispatch --t": "--timefile=",
            "w8yctl sorted m": "move",
            "w8yctl job put --w": "--wide --wait",
            "w8yctl feed create --kind=s": "sorted_feed",
            "w8yctl feed publish n": "news",
            "w8yctl cancel ": "01KFA 01KFB",
            "w8yctl show ": "01KFA 01KFB 01KEZ",
            "w8yctl logs 01KE": "01KEZ",
            "w8yctl logs wo": "work",
            "w8yctl why f": "feeds",
            "w8yctl why work ": "apple avocado",
            "w8yctl --wide run work ap": "apple",
            "w8yctl release work apple a": "apple avocado",
            "w8yctl quiet --host ": "alpha beta",
            "w8yctl runs --host=b": "beta",
        }
        said = place.says("bash", "--norc", "-c", BASH_TRY, input="\n".join(cases) + "\n",
                          env={"PATH": "/usr/bin:/bin", "source": str(place.source),
                               "tools": str(self.folder / "tools")})
        self.assertEqual(dict(zip(cases, said.split("\n"))), cases)

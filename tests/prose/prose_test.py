#!/usr/bin/env python3
"""Tests prose.py with samples, and then checks the prose of the repository.

Usage: prose_test.py [ROOT]
"""
import pathlib
import sys
import tempfile
import unittest

import prose
import texts

# For each entry of words.toml: a text that it must find, and texts that it must not find.
SAMPLES = {
    "whoever": ["Whoever claims first has it.", "Each client has it."],
    "who-verb": ["for who waits", "the host that waits", "users who can log in"],
    "he": ["as often as he likes", "the host", "He.said is a name"],
    "us": ["the lock is still ours", "at most 50 us", "status"],
    "is-told": ["the handler is told once", "the handler is notified once"],
    "tell-of": ["what it tells of lists", "the untold offer"],
    "hear-of": ["it hears of changes", "the hearing of"],
    "so-many": ["after so many seconds", "so long as it runs", "so many that none fits"],
    "old-phrase": ["the connection is made anew", "a new connection"],
    "mend": ["a fault is mended", "a recommended value"],
    "becomes-of": ["what became of the job", "what it became"],
    "come-round": ["items come round", "it comes rounded"],
    "be-had": ["no thread can be had", "it had been there"],
    "stands-in": ["it stands in the log", "it stands for all"],
    "of-first": ["Of the host, as Unix time.", "The name of the host.", "members of a list"],
    "is-no": ["what is no JSON fails", "there is no list"],
    "riddle": ["What is read last wins.", "Prints what is read.", "What is running?"],
    "inversion": ["So does a host.", "So that a host waits.", "It refused is."],
    "test-name": [],
    "times-as": ["so many times as long", "20 times as long", "ten times as many"],
    "must": ["it has to wait", "it has total control", "it has to do with time"],
    "latter": ["the latter wins", "the later one wins"],
    "contraction": ["it can't start", "it cannot start", "the host's name"],
    "spelling": ["the run was canceled", "the run was cancelled", "a colour", "it serializes"],
    "rests": ["a list at rest", "the rest of the list", "RESTS"],
    "park": ["parked items", "sparks"],
    "trouble": ["no trouble", "troubleshoot"],
    "beat": ["after a beat", "after a heartbeat"],
    "lap": ["a lap takes 1 s", "overlap"],
    "folder": ["in a folder", "in a folder/x"],
    "figures": ["The figures.", "Figure 1", "it configures"],
    "sight": ["not in sight", "insight"],
    "nowhere": ["a job that is nowhere", "now here"],
    "news": ["no news", "newsletter"],
    "mistake": ["a mistake", "mistakenly"],
    "visit": ["two visits", "visitor"],
    "grab": ["a grab", "GRAB", "GRAB_JOB"],
    "seldom": ["more seldom", "less often"],
    "patience": ["out of patience", "a timeout"],
    "debt": ["it owes a debt", "the payload", "own"],
    "asleep": ["it is asleep", "it sleeps"],
    "promise": ["a promise", "promising"],
    "scene": ["a scene", "a scenario"],
    "lane": ["a lane", "a plane"],
    "begin": ["it begins", "it starts", "begin()", "it begins with #"],
    "rights": ["its rights", "the right side", "copyrights"],
    "in-line": ["it waits in line", "it waits in line-buffered mode"],
    "give-back": ["it gives the item back", "it hands the item back"],
    "away": ["Redis is away", "a way"],
    "set-free": ["it sets an item free", "the item is free"],
    "put-aside": ["it puts them aside", "an aside"],
    "look-after": ["it looks after them", "looks"],
    "left-out": ["it is left out", "the left output"],
    "under-way": ["it is under way", "under ways"],
    "plain-way": ["the plain way", "a plain command"],
    "unwritten": ["an unwritten end", "written"],
    "judge": ["it is judged", "judgement"],
    "gather": ["it gathers lines", "together"],
    "refused-list": ["the list is refused", "the command is refused"],
    "order": ["orders to the fleet", "in the order of the fleet"],
    "what": ["prints what it reads", "what is wrong", "somewhat"],
    "whatever": ["whatever it is", "however"],
    "nobody": ["nobody waits", "no body"],
    "we": ["as we do", "week"],
    "those-who": ["those who wait", "those hosts"],
    "of-it": ["a part of it.", "a part of its list"],
    "such": ["of such lists", "such as", "no such list"],
    "is-there": ["until it is there", "is there a list"],
    "is-to": ["it is to run", "it is to the left"],
    "few": ["a few items", "few items"],
    "besides": ["and besides", "beside"],
    "go-on": ["it goes on", "on it goes"],
    "tell": ["it tells all", "teller"],
    "say": ["it says so", "essay"],
    "hear": ["it hears all", "heart"],
    "ask": ["it asks Redis", "task", "mask"],
    "answer": ["an answer", "answerable"],
    "question": ["a question", "questionable"],
    "look": ["a look", "it is looked up"],
    "know": ["it knows", "it is known"],
    "want": ["it wants one", "wanton"],
    "note": ["it is noted", "notable", "release notes"],
    "take": ["it takes an item", "takes effect", "takes 5 ms", "mistaken for"],
    "work": ["a list that is worked on", "kinds of work", "it works"],
    "end": ["it ends the run", "the run ends", "ends the pause"],
    "beginning": ["from the beginning", "from the start"],
    "back": ["Redis is back", "backup"],
    "line": ["it leaves the line", "a line of text"],
    "place": ["a free place", "in place of it", "placeholder"],
    "turn": ["a turn takes 1 s", "in turn", "turns it off"],
    "rest": ["after a rest", "the rest of it"],
    "thing": ["one thing", "something"],
    "word": ["two words", "in other words", "password"],
    "rule": ["a rule", "a recurrence rule", "as a rule"],
    "hint": ["a hint", "hinted"],
    "ring": ["a ring", "string"],
    "execution": ["an execution", "executions-old"],
    "gone": ["it is gone", "bygone"],
    "over": ["it is over", "it is over the limit", "over 5"],
    "behind": ["this host is behind", "its clock is behind", "is behind the proxy"],
    "silent": ["a silent host", "silently"],
    "cut": ["it is cut", "cute"],
    "give-up": ["it is given up", "given upper case"],
}

# Files: path, text, and the hits as (line, phrase).
FILES = [
    ("src/core/a.hpp", "/// Its handler is\n/// told once.\nint told = 1;  // no trouble\n",
     [(1, "is told"), (3, "trouble")]),
    ("src/core/a.hpp", "int a;  ///< no trouble that is\n        ///< told\nint b;  ///< is\nint c;  ///< told\n",
     [(1, "trouble"), (1, "is told"), (4, "told")]),
    ("src/core/a.hpp", "// `is told`, is_told(), told_, --told, x/told, \"told\", P:told, a.told, TOLD\n", []),
    ("src/core/a.hpp", "// - is\n// - told\n", [(2, "told")]),
    ("src/core/a.hpp", "/* One\n * folder. */\n", [(2, "folder")]),
    ("src/core/a.cpp",
     'log("a folder");\nlog("folder");\nlog("is "\n    "told");\n' "char c = '\"'; int folder = 1'000;\n",
     [(1, "folder"), (3, "is told")]),
    ("src/core/a.cpp", 'auto t = R"(a "folder" of\na folder)";\n', [(2, "folder")]),
    ("tests/unit/a.cpp", 'TEST_CASE("who has a folder") { log("in a folder"); }\n',
     [(1, "who"), (1, "who has"), (1, "folder")]),
    ("src/store/lua/a.lua", "-- A folder\nlocal folder = 'x'\n--[[ It is\ntold ]]\n",
     [(1, "folder"), (3, "is told")]),
    ("scripts/a.py",
     '"""A folder."""\n# A\n# folder\nfolder = re.compile(r"a folder")\nprint(f"the folder {folder}")\n',
     [(1, "folder"), (3, "folder"), (5, "folder")]),
    ("tests/etc/a.py", 'def a():\n    """A\n    folder."""\n    return "a folder"\n', [(3, "folder")]),
    ("scripts/a", "#!/bin/sh\n# A folder\necho '# a folder' # lap\n#folder=1\n", [(2, "folder"), (3, "lap")]),
    ("meson.build", "# A folder\nfolder = 'a folder'\n", [(1, "folder")]),
    ("etc/w8y.toml", "# A folder\n#folder = \"a folder\"\n", [(1, "folder")]),
    ("etc/page/a.js",
     "const folder = /a folder['\"]/;  // lap\nadd('Folder', `is ${folder} told`, 'lap', \"don\\'t lap\");\n",
     [(1, "lap"), (2, "Folder"), (2, "told"), (2, "don't"), (2, "lap")]),
    ("etc/man/a.7",
     ".Sh LAP\nThe handler is\ntold by\n.Ic told\nor\n.Fl told ,\nis\n.Em told\n.Bd -literal\na folder\n.Ed\n"
     ".\\\" test: folder\n.\\\" A folder\n.It Li lap Ns : folder\nbeats\n",
     [(1, "lap"), (2, "is told"), (7, "is told"), (13, "folder"), (14, "folder"), (15, "beats")]),
    ("README.md",
     "# A folder\n\nIs\n`told` is\ntold, [lap](folder).\n\n```\nfolder\n```\n\n| is | told |\n| a | beat |\n",
     [(1, "folder"), (4, "is told"), (5, "lap"), (11, "told"), (12, "beat")]),
    ("etc/openapi.json", '{"folder": 1,\n "description": "A folder."}\n', [(2, "folder")]),
    ("etc/prometheus/a.yml", "# A folder\nfolder: lap\nsummary: 'A lap'\n", [(1, "folder"), (3, "lap")]),
    ("etc/page/index.html", '<p class="lap">A\n<b>folder</b></p>\n', [(2, "folder")]),
    ("etc/page/a.css", "/* A folder */ .lap { }\n", [(1, "folder")]),
    ("tests/a.patch", "A folder.\n\n--- a/lap\n+++ b/lap\n+// a beat\n", [(1, "folder")]),
]


def hits(words, path, text):
    return [hit for paragraph in texts.paragraphs(path, text) for hit in words.hits(path, paragraph)]


class Samples(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.words = prose.load()

    def names(self, text):
        return [hit.entry.name for hit in hits(self.words, "CHANGELOG.md", text)]

    def test_each_entry_has_a_sample(self):
        self.assertEqual(sorted(entry.name for entry in self.words.entries), sorted(SAMPLES))

    def test_entries_find_their_samples_and_nothing_similar(self):
        for name, (sample, *similar) in ((name, texts_) for name, texts_ in SAMPLES.items() if texts_):
            with self.subTest(name):
                self.assertIn(name, self.names(sample))
                for text in similar:
                    self.assertNotIn(name, self.names(text), text)

    def test_files(self):
        for path, text, expected in FILES:
            with self.subTest(path=path, text=text):
                found = [(hit.line, hit.phrase) for hit in hits(self.words, path, text)]
                self.assertEqual(sorted(set(found)), sorted(set(expected)))

    def test_files_without_prose_are_skipped(self):
        for path in ("tests/fuzz/corpus/text/09", "LICENSE", "tests/cli/ctl-add/expected", "etc/page/icon.svg"):
            self.assertIsNone(texts.paragraphs(path, "a folder"))


class Patterns(unittest.TestCase):
    def test_first_words(self):
        self.assertEqual(prose.first_words("mend(s|ed)?"), ["mend", "mended", "mends"])
        self.assertEqual(prose.first_words("(a |the )?line of"), ["a", "line", "the"])
        self.assertEqual(prose.first_words("such(?! as)"), ["such"])
        for pattern in (r"\w+ x", "(a|b", "(a)?"):
            self.assertRaises(ValueError, prose.first_words, pattern)


class Records(unittest.TestCase):
    TOML = {"wrong": {"lap": {"find": ["laps?"], "use": "cycle"}},
            "counted": {"place": {"find": ["places?"], "use": "slot"}}}

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.directory.name)
        (self.root / "src/core").mkdir(parents=True)
        self.write("// a lap, a lap, a place\n")
        prose.record(self.root, prose.Words(self.TOML), here=self.root)

    def tearDown(self):
        self.directory.cleanup()

    def write(self, text):
        (self.root / "src/core/a.cpp").write_text(text, encoding="utf-8")

    def complaints(self, exceptions=""):
        return prose.check(self.root, prose.Words(self.TOML, exceptions), here=self.root)[0]

    def record(self, *adopted):
        prose.record(self.root, prose.Words(self.TOML), adopted, here=self.root)
        return [prose.read_record((self.root / name).read_text(encoding="utf-8")) for name in prose.RECORDS.values()]

    def test_the_recorded_numbers_pass(self):
        self.assertEqual(self.complaints(), [])

    def test_a_higher_number_fails_with_the_places(self):
        self.write("// a lap, a lap, a place\n\n// a place\n")
        self.assertEqual(self.complaints(), [
            "counts.txt: src/core: place: 2, recorded 1: use the better word\n"
            "  src/core/a.cpp:1: place -> slot ?\n  src/core/a.cpp:3: place -> slot ?"])

    def test_a_lower_number_fails_until_it_is_recorded(self):
        self.write("// a lap\n")
        self.assertEqual(len(self.complaints()), 2)
        self.assertEqual(self.record(), [{("src/core", "lap"): 1}, {}])
        self.assertEqual(self.complaints(), [])

    def test_record_raises_a_number_only_of_adopted_entries(self):
        self.write("// a lap, a lap, a lap, a place, a place\n")
        self.assertEqual(self.record(), [{("src/core", "lap"): 2}, {("src/core", "place"): 1}])
        self.assertEqual(self.record("lap"), [{("src/core", "lap"): 3}, {("src/core", "place"): 1}])
        self.assertRaises(ValueError, self.record, "laps")

    def test_exceptions_excuse_a_phrase_and_fail_when_they_are_not_needed(self):
        exception = "src/core/*.cpp | on the lap | it is a sample"
        self.write("// on the lap, a lap, a lap, a place\n")
        self.assertEqual(self.complaints(exception), [])
        self.write("// a lap, a lap, a place\n")
        self.assertIn("not needed", self.complaints(exception)[0])
        self.assertRaises(ValueError, self.complaints, "src | lap")
        self.assertIn("41 exceptions", "".join(self.complaints("\n".join([exception] * 41))))

    def test_long_records_are_wrapped_and_read_again(self):
        numbers = {(f"src/{d}", f"entry-{n}"): n for d in "ba" for n in range(1, 60)}
        prose.write_record(self.root / "record", "wrong", numbers)
        text = (self.root / "record").read_text(encoding="utf-8")
        self.assertEqual(prose.read_record(text), numbers)
        self.assertLessEqual(max(map(len, text.splitlines())), 118)
        for bad in ("  lap 1", "src\n  lap", "src\n  lap 1, lap 2", "src\n<<<<<<< a\n  lap x"):
            self.assertRaises(ValueError, prose.read_record, bad)


def main():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    bad = len({test.id() for test, _ in result.failures + result.errors})
    print(f"{max(0, result.testsRun - bad)} passed, {bad} failed")
    checked = prose.main(["--root", sys.argv[1]] if sys.argv[1:] else [])
    return 1 if bad or checked else 0


if __name__ == "__main__":
    sys.exit(main())

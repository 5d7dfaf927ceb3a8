#!/usr/bin/env python3
"""Checks the prose of the repository for phrases in words.toml: comments, messages, manual, Markdown.

  prose.py                compares the numbers with baseline.txt and counts.txt; fails if they differ
  prose.py --list PATH    lists all phrases in a directory or file; "?" marks a word that can be right
  prose.py --top          lists the files with the most phrases
  prose.py --record       writes numbers that have fallen
  prose.py --adopt NAME   writes the numbers of a new entry of words.toml

Both records hold one number per directory and entry. A number may only fall:

- A higher number fails, with file and line. Use the better word. If the phrase is right, raise the number by hand,
  so that the review sees it. exceptions.txt is for quotations and for names that others define.
- A lower number also fails until --record writes it. Otherwise the difference would admit new wrong phrases.
  The command takes one second, and the change of the record shows the progress.
- After a merge conflict in a record, keep either side and run --record.
- After a directory is renamed, rename its line in the records.
"""
import argparse
import bisect
import collections
import fnmatch
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib

import texts

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = {"wrong": "baseline.txt", "counted": "counts.txt"}
DIRECTORIES = (".ci", "etc", "include", "scripts", "src", "tests")
MAX_EXCEPTIONS = 40
MAX_PLACES = 50  # shown for one number

# A word of prose. A word inside a name, path, option, key or call is not prose: end_run, /end, --end, end:X, end().
WORD = re.compile(r"(?<![\w$@/\\#.:=>'’-])[A-Za-z]+(?![\w/(=<]|[.:-]\w|->|::)")
SENTENCE_END = re.compile(r"[.;:?!–] $")

Hit = collections.namedtuple("Hit", "path line phrase entry")


class Entry:
    """Entry of words.toml."""

    def __init__(self, severity, name, find, use, right=(), kinds=(), not_in=()):
        self.severity, self.name, self.use, self.kinds = severity, name, use, frozenset(kinds)
        self._right = re.compile("|".join(rf"(?:{phrase})" for phrase in right), re.I) if right else None
        self._not_in = tuple(not_in)
        self.patterns = [Pattern(self, pattern) for pattern in find]

    def applies(self, path, kind):
        return (not self.kinds or kind in self.kinds) and not any(is_below(path, place) for place in self._not_in)

    def is_right(self, text, start, end):
        return self._right is not None and any(right.start() <= start and end <= right.end()
                                               for right in self._right.finditer(text))


class Pattern:
    """One pattern of an entry. `words` are the words with which a match can start."""

    def __init__(self, entry, pattern):
        self.entry = entry
        self.at_start = pattern.startswith("^")
        pattern = pattern.removeprefix("^")
        self.words = first_words(pattern)
        flags = re.I if pattern == pattern.lower() else 0
        self.match = re.compile(rf"(?:{pattern})(?!\w|-\w)", flags).match


def first_words(pattern):
    """Returns the words with which a match can start: letters, spaces, "?" and groups with alternatives are expanded.

    Expansion ends at the first space outside a group, or at the first other character of a regular expression.
    """
    parts, alternatives, stack = [[""]], [], []
    for at, character in enumerate(pattern):
        if character == "(" and pattern[at + 1] != "?":
            stack.append((alternatives, parts))
            alternatives, parts = [], [[""]]
        elif character == "|" and stack:
            alternatives.append(parts)
            parts = [[""]]
        elif character == ")" and stack:
            group = [text for each in [*alternatives, parts] for text in _joined(each)]
            alternatives, parts = stack.pop()
            parts.append(group)
        elif character == "?" and parts[-1] != [""]:
            parts[-1] = [*parts[-1], ""]
        elif character.isalpha() or character == " " and stack:
            parts.append([character])
        else:
            break
    words = {text.split(" ")[0].lower() for text in _joined(parts)}
    if stack or "" in words:
        raise ValueError(f'words.toml: "{pattern}": the first word may only have letters, "?" and alternatives')
    return sorted(words)


def _joined(parts):
    return ["".join(choice) for choice in itertools.product(*parts)]


class Words:
    """All entries of words.toml, and the exceptions."""

    def __init__(self, words, exceptions=""):
        self.entries = [Entry(severity, name, **fields) for severity in RECORDS
                        for name, fields in words.get(severity, {}).items()]
        self._patterns = collections.defaultdict(list)
        for entry in self.entries:
            for pattern in entry.patterns:
                for word in pattern.words:
                    self._patterns[word].append(pattern)
        self.exceptions = [Excuse(line) for line in exceptions.splitlines() if line and line[0] != "#"]

    def hits(self, path, paragraph):
        """Returns the hits in one paragraph. A wrong phrase hides counted words inside it."""
        text, kind = paragraph.text, paragraph.kind
        found, seen = [], set()
        for word in WORD.finditer(text):
            patterns = self._patterns.get(word[0].lower())
            if not patterns or _is_name(text, word):
                continue
            start = word.start()
            for pattern in patterns:
                entry = pattern.entry
                if not entry.applies(path, kind) or (start, entry) in seen:
                    continue
                if pattern.at_start and start and not SENTENCE_END.search(text, start - 2, start):
                    continue
                match = pattern.match(text, start)
                if match and not entry.is_right(text, start, match.end()):
                    seen.add((start, entry))
                    found.append((start, match.end(), entry))
        wrong = [(start, end) for start, end, entry in found if entry.severity == "wrong"]
        return [Hit(path, paragraph.line(start), text[start:end], entry) for start, end, entry in found
                if not (entry.severity == "counted" and any(s <= start and end <= e for s, e in wrong))
                and not self._is_excepted(path, text, start, end)]

    def _is_excepted(self, path, text, start, end):
        # A list: each exception that applies must count as used.
        return any([exception.excuses(path, text, start, end) for exception in self.exceptions])


class Excuse:
    """Line of exceptions.txt: PATH | PHRASE | REASON."""

    def __init__(self, line):
        self.line = line
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 3 or not all(fields):
            raise ValueError(f'exceptions.txt: "{line}": write PATH | PHRASE | REASON')
        self._path, self._phrase, _ = fields
        self.used = False

    def excuses(self, path, text, start, end):
        if self._phrase not in text or not fnmatch.fnmatchcase(path, self._path):
            return False
        at = text.find(self._phrase)
        while at >= 0:
            if at <= start and end <= at + len(self._phrase):
                self.used = True
                return True
            at = text.find(self._phrase, at + 1)
        return False


def _is_name(text, word):
    """A constant such as GET, or one word in double quotes."""
    start, end = word.span()
    return len(word[0]) > 1 and word[0].isupper() or text[start - 1:start] == '"' == text[end:end + 1]


def files(root):
    """Returns the paths of all files under version control and of new files; without git, of all files."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=False)
        if listed.returncode == 0 and listed.stdout:
            return sorted(set(listed.stdout.split("\0")[:-1]))
    found = [path for path in root.iterdir() if path.is_file()]
    found += [path for name in DIRECTORIES for path in (root / name).rglob("*") if path.is_file()]
    return sorted(path.relative_to(root).as_posix() for path in found)


def scan(root, words, under=""):
    """Returns the paths of the files that have prose, and all hits in them."""
    read, hits = [], []
    for path in files(root):
        if not is_below(path, under):
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        paragraphs = texts.paragraphs(path, text)
        if paragraphs is None:
            continue
        read.append(path)
        for paragraph in paragraphs:
            hits += words.hits(path, paragraph)
    return read, hits


def is_below(path, place):
    return not place or path == place or path.startswith(place + "/")


def directory_of(path):
    """Returns the first two directories: "src/core" for src/core/config/x.cpp, "." for README.md."""
    return "/".join(path.split("/")[:-1][:2]) or "."


def counted(hits):
    """Returns {(directory, name of the entry): number} for each severity."""
    numbers = {severity: collections.Counter() for severity in RECORDS}
    for hit in hits:
        numbers[hit.entry.severity][directory_of(hit.path), hit.entry.name] += 1
    return numbers


def read_record(text):
    numbers, directory = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            directory = line
            continue
        for field in line.strip().rstrip(",").split(", "):
            name, _, value = field.partition(" ")
            if directory is None or not value.isdecimal() or (directory, name) in numbers:
                raise ValueError(f'record, line {number}: "{field}": write NAME NUMBER, each name once')
            numbers[directory, name] = int(value)
    return numbers


def write_record(path, severity, numbers):
    what = {"wrong": "wrong phrases (goal: none)", "counted": "words that can be right"}[severity]
    lines = [f"# Number of {what} by directory and entry of words.toml. Written by prose.py --record."]
    for directory in sorted({directory for directory, _ in numbers}):
        fields = [f"{name} {number}" for (at, name), number in sorted(numbers.items()) if at == directory and number]
        if fields:
            lines += [directory, *textwrap.wrap(", ".join(fields).replace(" ", "\0").replace(",\0", ", "), 118,
                                                initial_indent="  ", subsequent_indent="  ",
                                                break_long_words=False, break_on_hyphens=False)]
    path.write_text("\n".join(lines).replace("\0", " ") + "\n", encoding="utf-8")


def listed(hit):
    mark = "" if hit.entry.severity == "wrong" else " ?"
    return f"{hit.path}:{hit.line}: {hit.phrase} -> {hit.entry.use}{mark}"


def compare(hits, found, recorded):
    """Yields a complaint for each number that differs from its record."""
    places = collections.defaultdict(list)
    for hit in hits:
        places[directory_of(hit.path), hit.entry.name].append(hit)
    for key in sorted({*found, *recorded}):
        directory, name = key
        now, before = found.get(key, 0), recorded.get(key, 0)
        if now > before:
            shown = [f"  {listed(hit)}" for hit in places[key][:MAX_PLACES]]
            if now > MAX_PLACES:
                shown.append(f"  … {now - MAX_PLACES} more: prose.py --list {directory}")
            yield "\n".join([f"{directory}: {name}: {now}, recorded {before}: use the better word", *shown])
        elif now < before:
            yield f"{directory}: {name}: {now}, recorded {before}: run tests/prose/prose.py --record"


def check(root, words, here=HERE):
    """Returns the complaints, and the number of files read."""
    read, hits = scan(root, words)
    found, complaints = counted(hits), []
    for severity, name in RECORDS.items():
        recorded = read_record((here / name).read_text(encoding="utf-8"))
        of_severity = [hit for hit in hits if hit.entry.severity == severity]
        complaints += [f"{name}: {text}" for text in compare(of_severity, found[severity], recorded)]
    if len(words.exceptions) > MAX_EXCEPTIONS:
        complaints.append(f"exceptions.txt: {len(words.exceptions)} exceptions; at most {MAX_EXCEPTIONS}")
    complaints += [f"exceptions.txt: not needed any more, remove it: {exception.line}"
                   for exception in words.exceptions if not exception.used]
    return complaints, len(read)


def record(root, words, adopted=(), here=HERE):
    """Writes numbers that have fallen, and all numbers of adopted entries."""
    if unknown := set(adopted) - {entry.name for entry in words.entries}:
        raise ValueError(f"no entry of words.toml: {', '.join(sorted(unknown))}")
    found = counted(scan(root, words)[1])
    for severity, name in RECORDS.items():
        path = here / name
        before = read_record(path.read_text(encoding="utf-8")) if path.exists() else None
        numbers = {key: number if before is None or key[1] in adopted else min(number, before.get(key, 0))
                   for key, number in found[severity].items()}
        write_record(path, severity, numbers)


def print_top(hits, number=40):
    files_ = collections.defaultdict(collections.Counter)
    for hit in hits:
        files_[hit.path][hit.entry.severity] += 1
    totals = collections.Counter(hit.entry.severity for hit in hits)
    print(" wrong  counted")
    worst = sorted(files_.items(), key=lambda each: (-each[1]["wrong"], -each[1]["counted"], each[0]))
    for path, sums in worst[:number]:
        print(f"{sums['wrong']:6} {sums['counted']:8}  {path}")
    print(f"{totals['wrong']:6} {totals['counted']:8}  in {len(files_)} files")


def load(here=HERE):
    return Words(tomllib.loads((here / "words.toml").read_text(encoding="utf-8")),
                 (here / "exceptions.txt").read_text(encoding="utf-8"))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent.parent, help="repository (default: this)")
    parser.add_argument("--list", metavar="PATH", help="list all phrases in a directory or file")
    parser.add_argument("--wrong", action="store_true", help="with --list: only phrases that are always wrong")
    parser.add_argument("--top", action="store_true", help="list the files with the most phrases")
    parser.add_argument("--record", action="store_true", help="write numbers that have fallen")
    parser.add_argument("--adopt", metavar="NAME", action="append", default=[], help="write all numbers of an entry")
    chosen = parser.parse_args(arguments)
    words, root = load(), chosen.root.resolve()
    if chosen.record or chosen.adopt:
        record(root, words, chosen.adopt)
    if chosen.list or chosen.top:
        under = pathlib.PurePosixPath(chosen.list or ".").as_posix()
        read, hits = scan(root, words, "" if under == "." else under)
        if not read:
            print(f'prose.py: "{chosen.list}": no file with prose; give a path from the top of the repository')
            return 1
        if chosen.top:
            print_top(hits)
            return 0
        for hit in sorted(hits, key=lambda hit: (hit.path, hit.line)):
            if hit.entry.severity == "wrong" or not chosen.wrong:
                print(listed(hit))
        return 0
    complaints, read = check(root, words)
    for complaint in complaints:
        print(complaint)
    print(f"{read if not complaints else read - 1} passed, {1 if complaints else 0} failed")
    return 1 if complaints or not read else 0


if __name__ == "__main__":
    sys.exit(main())

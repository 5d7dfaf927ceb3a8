"""Reads the prose of source files: comments, string literals that are messages, names of tests.

A reader takes the path and the text of a file. It yields paragraphs as (kind, [(line number, text)]).
"""
import re

MASK = "¤"  # stands for code inside prose
STRINGS_IN = ("src/", "include/", "etc/", "scripts/")  # elsewhere, strings are data of tests
LABELS_IN = ("src/page/", "etc/page/")
HASHED = ("sh", "build", "toml", "conf", "service", "bash", "fish", "postinst", "postrm", "prerm")


_ITEM = re.compile(r"(?:[-*+•@]|\d+[.)]) |@\w|-- ")


def split(kind, lines):
    """Splits (line number, text) pairs at blank lines and at list items, and skips fenced code."""
    pieces, fenced = [], False
    for number, text in lines:
        bare = text.strip()
        if bare.startswith("```"):
            fenced = not fenced
            bare = ""
        elif fenced:
            continue
        if not bare or _ITEM.match(bare):
            if pieces:
                yield kind, pieces
            pieces = []
        if bare:
            pieces.append((number, bare))
    if pieces:
        yield kind, pieces


class _Comments:
    """Joins line comments that stand below each other in the same column."""

    def __init__(self):
        self._block, self._column = [], -1

    def add(self, number, column, alone, text):
        """Returns the finished block before this comment, if this comment starts a new one."""
        finished = []
        if not (alone and self._block and self._block[-1][0] == number - 1 and self._column == column):
            finished, self._block = self._block, []
        self._block.append((number, text))
        self._column = column
        return finished

    def rest(self):
        finished, self._block = self._block, []
        return finished


class _Strings:
    """Joins string literals that only white space separates. Only texts with a space, and labels, are messages."""

    def __init__(self, labels=False):
        self._pieces, self._end, self._kind, self._labels = [], -1, None, labels

    def add(self, kind, source, start, end, lines):
        finished = None
        if self._pieces and (kind != self._kind or source[self._end:start].strip()):
            finished = self.rest()
        self._kind, self._end = kind, end
        self._pieces += lines
        return finished

    def rest(self):
        pieces, self._pieces = self._pieces, []
        text = "".join(text for _, text in pieces)
        return (self._kind, pieces) if " " in text or self._labels and _LABEL.match(text) else None


_HOLE = re.compile(r"\$?\{[^{}]*\}")
_ESCAPE = re.compile(r"\\(?:[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|(.))", re.S)


def _message(number, text, raw=False):
    """Lines of a string literal, without escapes and without expressions in braces."""
    if not raw:
        text = _ESCAPE.sub(lambda escape: escape[1] or " ", text)
    text = _HOLE.sub(MASK, text)
    return [(number + i, line) for i, line in enumerate(text.split("\n"))]


_CPP = re.compile(r"""
    //[^\n]*
  | /\*.*?\*/
  | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
  | "(?:[^"\\\n]|\\.)*"
  | '(?<![\w]')(?:[^'\\\n]|\\.)+'
""", re.X | re.S)
_TEST_NAME = re.compile(r"\b(?:TEST_CASE|SUBCASE|TEST_SUITE)\w*\([^\")]*$")
_LINE_MARK = re.compile(r"//[/!]?<?")


def cpp(path, text):
    return _tokens(path, text, _CPP)


_JS = re.compile(r"""
    //[^\n]*
  | /\*.*?\*/
  | "(?:[^"\\\n]|\\.)*"
  | '(?:[^'\\\n]|\\.)*'
  | `(?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*`
  | /(?<=[(,=:\[!&|?{};\n]/)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])*/
  | /(?<=[(,=:\[!&|?{};\n]\ /)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])*/
""", re.X | re.S)
_LABEL = re.compile(r"[A-Z][a-z]+$")


def js(path, text):
    return _tokens(path, text, _JS)


_LUA = re.compile(r"""
    --\[\[.*?\]\]
  | --[^\n]*
  | "(?:[^"\\\n]|\\.)*"
  | '(?:[^'\\\n]|\\.)*'
""", re.X | re.S)


def lua(path, text):
    return _tokens(path, text, _LUA)


def _tokens(path, text, pattern):
    """Prose of languages whose comments start with // /* or --."""
    comments, strings = _Comments(), _Strings(path.startswith(LABELS_IN))
    messages = path.startswith(STRINGS_IN)
    number, counted = 1, 0
    for token in pattern.finditer(text):
        start, value = token.start(), token[0]
        number += text.count("\n", counted, start)
        counted = start
        head = value[:2]
        if head in ("//", "--") and not value.startswith("--[["):
            before = text[text.rfind("\n", 0, start) + 1:start]
            bare = value[2:] if head == "--" else value[_LINE_MARK.match(value).end():]
            yield from split("comment", comments.add(number, len(before), not before.strip(), bare))
        elif value.startswith(("/*", "--[[")):
            lines = value.strip("-[]/").split("\n")
            yield from split("comment", [(number + i, line.strip().lstrip("*").removesuffix("*"))
                                          for i, line in enumerate(lines)])
        elif head[0] in "\"'`R" and len(value) > 2:
            if not messages:
                if head[0] != '"' or not _TEST_NAME.search(text, max(0, start - 80), start):
                    continue
                kind = "test"
            else:
                kind = "message"
            raw = head[0] == "R"
            body = value[value.index("(") + 1:value.rindex(")")] if raw else value[1:-1]
            if finished := strings.add(kind, text, start, token.end(), _message(number, body, raw)):
                yield finished
    yield from split("comment", comments.rest())
    if finished := strings.rest():
        yield finished


_PYTHON = re.compile(r"""
    \#[^\n]*
  | (?P<triple>\"{3}|'{3})(?:[^\\]|\\.)*?(?P=triple)
  | "(?:[^"\\\n]|\\.)*"
  | '(?:[^'\\\n]|\\.)*'
""", re.X | re.S)


def python(path, text):
    comments, strings = _Comments(), _Strings()
    messages = path.startswith(STRINGS_IN)
    number, counted = 1, 0
    for token in _PYTHON.finditer(text):
        start, value = token.start(), token[0]
        number += text.count("\n", counted, start)
        counted = start
        before = text[text.rfind("\n", 0, start) + 1:start]
        if value[0] == "#":
            if value[1:2] in (" ", "#", ""):
                yield from split("comment", comments.add(number, len(before), not before.strip(), value.lstrip("#")))
            continue
        if value[:3] in ('"""', "'''"):
            if not before.strip() and text[:start].rstrip()[-1:] in ("", ":") or number < 4:
                yield from split("comment", [(number + i, line) for i, line in enumerate(value[3:-3].split("\n"))])
            continue
        prefix = before[-1:].lower() if before[-1:].isalpha() else ""
        if messages and prefix in ("", "f") and not before.rstrip().endswith("re.compile("):
            if finished := strings.add("message", text, start - len(prefix), token.end(),
                                       _message(number, value[1:-1])):
                yield finished
    yield from split("comment", comments.rest())
    if finished := strings.rest():
        yield finished


def hash_comments(path, text):
    """Comments from "# " to the end of the line. "#key = value" without a space is a setting, not prose."""
    comments = _Comments()
    for number, line in enumerate(text.split("\n"), 1):
        at = line.find("#")
        while at >= 0:
            before = line[:at]
            if line[at + 1:at + 2] in ("", " ") and (not before or before[-1] in " \t"):
                if not before.strip() or before.count('"') % 2 == before.count("'") % 2 == 0:
                    yield from split("comment", comments.add(number, at, not before.strip(), line[at + 1:]))
                    break
            at = line.find("#", at + 1)
    yield from split("comment", comments.rest())


def css(path, text):
    return _tokens(path, text, re.compile(r"/\*.*?\*/", re.S))

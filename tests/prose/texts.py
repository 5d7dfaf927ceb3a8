"""Finds the prose in a file: comments, messages, manual pages, Markdown, descriptions in JSON.

paragraphs() returns each paragraph as one line of text, so that a phrase is found even if the file wraps it.
Code inside prose becomes MASK: names in backticks, literal macros of mdoc, code blocks, links.
"""
import bisect
import re

import documents
import sources
from sources import MASK

_CODE = re.compile(r"(`+)[^`]{1,160}\1")
_SKIPPED = ("tests/fuzz/corpus/", "tests/operator/recorded/")


class Paragraph:
    """Text of one paragraph. `kind` is "comment", "message", "test" (name of a test), "manual" or "page"."""

    __slots__ = ("kind", "text", "_offsets", "_lines")

    def __init__(self, kind, pieces):
        self.kind = kind
        self._offsets, self._lines, texts, length = [], [], [], 0
        for line, text in pieces:
            text = " ".join(text.split())
            if not text:
                continue
            self._offsets.append(length)
            self._lines.append(line)
            texts.append(text)
            length += len(text) + 1
        self.text = " ".join(texts)
        if "`" in self.text:
            # The offsets stay: the mask is as long as the code that it replaces.
            self.text = _CODE.sub(lambda code: MASK + "_" * (len(code[0]) - 1), self.text)

    def line(self, offset):
        return self._lines[bisect.bisect_right(self._offsets, offset) - 1]


def paragraphs(path, text):
    """Returns the paragraphs of the file at `path` (relative to the root), or None if the file has no prose."""
    reader = _reader(path, text)
    if reader is None:
        return None
    found = []
    for kind, pieces in reader(path, text):
        paragraph = Paragraph(kind, pieces)
        if paragraph.text:
            found.append(paragraph)
    return found


def _reader(path, text):
    if path.startswith(_SKIPPED):
        return None
    name = path.rsplit("/", 1)[-1]
    ending = name.removesuffix(".in").rsplit(".", 1)[-1] if "." in name else ""
    if ending in _READERS:
        return _READERS[ending]
    if name in ("cmd", "Dockerfile", "meson_options.txt", "w8y.lintian-overrides") or ending in sources.HASHED:
        return sources.hash_comments
    if text.startswith("#!"):
        return sources.python if "python" in text[:40] else sources.hash_comments
    return None


_READERS = {
    **dict.fromkeys(("cpp", "hpp", "c", "h"), sources.cpp),
    **dict.fromkeys(("js", "mjs"), sources.js),
    "lua": sources.lua,
    "py": sources.python,
    "css": sources.css,
    "html": documents.html,
    "json": documents.json,
    **dict.fromkeys(("yml", "yaml"), documents.yaml),
    "md": documents.markdown,
    "patch": documents.patch,
    **{str(section): documents.mdoc for section in range(1, 9)},
}

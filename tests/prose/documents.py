"""Reads the prose of documents: manual pages, Markdown, HTML, and the descriptions in JSON and YAML.

The readers are like those of sources.py.
"""
import re

from sources import MASK, hash_comments, split

# --- Manual pages

_ESCAPES = re.compile(r"\\(?:\((..)|\[([^\]]*)\]|f.|(.))")
_SYMBOLS = {"aq": "'", "dq": '"', "en": "–", "em": "—", "-": "-", "e": "\\", "~": " ", " ": " ", "mu": "×"}
_BREAKS = frozenset("Pp Sh Ss Bl El It Bd Ed Dl D1 Nd Dd Dt Os".split())
_WITHOUT_TEXT = frozenset("Pp Bl El Bd Ed Dl D1 Dd Dt Os Lb Bk Ek Sm Ft Vt In Fn Fd Rs Re".split())
_LITERAL = frozenset("Ic Li Fl Cm Ar Va Pa Ql Ev Er Dv Fa Fn Lk Mt Xr Nm Sx Ad".split())
_PLAIN = frozenset("Dq Do Dc Qq Qo Qc Sq So Sc Pq Po Pc Bq Bo Bc Brq Aq Op Oo Oc Em Sy No Ns Ap An Ta Tn St".split())
_WORD = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_CLOSING = frozenset(".,:;)]?!")


def _unescape(text):
    if "\\" not in text:
        return text
    return _ESCAPES.sub(lambda escape: _SYMBOLS.get(escape[1] or escape[3] or "", ""), text)


def _macro_text(line):
    """Text of the arguments of a macro line. Literal arguments become one MASK."""
    out, literal, masked = "", False, False
    for quoted, bare in _WORD.findall(line):
        if bare in _LITERAL:
            literal, masked = True, bare != "Nm"
            out += f" {MASK}" if out[-1:] not in ("(", "") else MASK
        elif bare in _PLAIN:
            literal = False
        elif bare in _CLOSING:
            out += bare
        elif not literal:
            out += " " + _unescape(quoted or bare)
        elif not masked:
            literal = False
            out += " " + _unescape(quoted or bare)
    return out


def mdoc(path, text):
    pieces, notes, literal = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith('.\\"'):
            if not line.startswith('.\\" test:'):
                notes.append((number, line[3:]))
            continue
        if notes:
            yield from split("comment", notes)
            notes = []
        name, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", "")
        if literal:
            literal = name != "Ed"
            continue
        if not name:
            pieces.append((number, _unescape(line)))
            continue
        if name in _BREAKS:
            yield "manual", pieces
            pieces = []
            literal = name == "Bd" and ("-literal" in rest or "-unfilled" in rest)
        if name in _WITHOUT_TEXT:
            continue
        words = _macro_text(rest if name in _BREAKS else line[1:])
        if name in ("Sh", "Ss"):
            words = words.lower() if words.isupper() else words
        if name in _BREAKS:
            yield "manual", [(number, words)]
        else:
            pieces.append((number, words))
    yield "manual", pieces


# --- Markdown

_LINK = re.compile(r"\]\([^)]*\)|https?://\S+|<[^>\s][^>]*>")
_MARKDOWN_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) +")


def markdown(path, text):
    pieces, fence = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if fence or bare.startswith(("```", "~~~")):
            fence = "" if fence and bare == fence else fence or bare[:3]
            line = bare = ""
        if "](" in line or "<" in line or "://" in line:
            line = _LINK.sub(lambda link: "]" if link[0][0] == "]" else MASK, line)
        item = _MARKDOWN_ITEM.match(line)
        if not bare or item or bare[0] in "#|" or re.match(r"\[[^\]]+\]: ", bare):
            yield "page", pieces
            pieces = []
        if bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                if cell.strip(" -:"):
                    yield "page", [(number, cell)]
        elif bare.startswith("#"):
            yield "page", [(number, line.strip("# "))]
        elif bare and not re.match(r"\[[^\]]+\]: ", bare):
            pieces.append((number, line[item.end():] if item else line))
    yield "page", pieces


# --- Others

_YAML_TEXT = re.compile(r"""^\s*(?:summary|description):\s*(['"])(.*)\1\s*$""")


def yaml(path, text):
    yield from hash_comments(path, text)
    for number, line in enumerate(text.split("\n"), 1):
        if found := _YAML_TEXT.match(line):
            yield "message", [(number, found[2])]


_JSON_TEXT = re.compile(r'"(?:description|summary|title)":\s*"((?:[^"\\]|\\.)*)"')


def json(path, text):
    if not path.startswith("etc/"):
        return
    for found in _JSON_TEXT.finditer(text):
        yield "message", [(text.count("\n", 0, found.start(1)) + 1, found[1].replace("\\n", " ").replace('\\"', '"'))]


_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<!--.*?-->|<[^>]*>", re.S)
_ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|content)="([^"]*)"')


def html(path, text):
    for found in _ATTRIBUTE.finditer(text):
        yield "message", [(text.count("\n", 0, found.start()) + 1, found[1])]
    bare = _TAG.sub(lambda tag: "\n" * tag[0].count("\n") + "\0", text)
    number = 1
    for part in bare.split("\0"):
        yield "message", [(number + i, line) for i, line in enumerate(part.split("\n"))]
        number += part.count("\n")


def patch(path, text):
    """The description above a patch."""
    description = re.split(r"^(?:--- |diff )", text, maxsplit=1, flags=re.M)[0]
    return split("comment", list(enumerate(description.split("\n"), 1)))

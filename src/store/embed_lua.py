"""Makes a C++ file of Lua scripts: embed_lua.py OUTPUT SCRIPT.lua...

What several scripts have in common stands in the folder parts: a line `-- include parts/NAME.lua`
in a script stands for that file. Parts that are named here are only looked at for being there.

Comments, indentation and empty lines are left out, strings are kept as they are; a line stays a
line, so that what Redis says of "line 12" can be found (`--print SCRIPT.lua` shows it numbered).

Each is embedded in one that names its call (src/redis/script.hpp): it takes the last argument for
itself, and puts that before the reply.
"""

import hashlib
import pathlib
import re
import sys

TOKEN = re.compile(
    r"""
    (?P<comment>--(?:\[(?P<c>=*)\[.*?\](?P=c)\]|[^\n]*))
  | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[(?P<s>=*)\[.*?\](?P=s)\])
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
INCLUDE = re.compile(r"^-- include (?P<part>parts/\w+\.lua)\n", re.MULTILINE)


def strip(source):
    """The script without what only its readers need."""
    text = ""
    for match in TOKEN.finditer(source):
        if match["space"] is None and match["comment"] is None:
            text += match.group()
        elif "\n" in match.group() and match["comment"] is None:
            # No string ends in white space, so only what stood between tokens goes.
            text = text.rstrip() + "\n"
        elif text and not text[-1].isspace():
            text += " "
    return text.strip() + "\n"


def whole(path):
    """The script with its parts in place."""
    return INCLUDE.sub(
        lambda match: (path.parent / match["part"]).read_text(encoding="utf-8"),
        path.read_text(encoding="utf-8"),
    )


def named(text):
    """The script as it is called: on the same lines."""
    return f"local name=table.remove(ARGV) local function script() {text}end return {{name,(script())}}\n"


def literal(text):
    """A C++ string literal, a line of it for a line of the script."""
    lines = []
    for line in text.splitlines(keepends=True):
        escaped = "".join(
            {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "?": "\\?"}.get(c)
            or (c if " " <= c <= "~" else "".join(f"\\{b:03o}" for b in c.encode()))
            for c in line
        )
        lines.append(f'    "{escaped}"')
    return "\n".join(lines)


def render(paths):
    parts = [
        "// Made by embed_lua.py.",
        '#include "store/scripts.hpp"',
        "",
        "namespace w8y::store::scripts {",
    ]
    for path in paths:
        text = named(strip(whole(path)))
        sha1 = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        parts.append(f'\nconstinit const redis::Script {path.stem}{{\n    "{path.stem}",\n{literal(text)},\n    "{sha1}"}};')
    parts.append("\n}  // namespace w8y::store::scripts\n")
    return "\n".join(parts)


def main(arguments):
    if arguments[:1] == ["--print"]:
        for path in arguments[1:]:
            for number, line in enumerate(strip(whole(pathlib.Path(path))).splitlines(), 1):
                print(f"{number:4} {line}")
        return
    scripts = [pathlib.Path(name) for name in arguments[1:] if name.endswith(".lua")]
    pathlib.Path(arguments[0]).write_text(render([p for p in scripts if p.parent.name != "parts"]))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Makes a C++ file of Lua scripts: embed_lua.py OUTPUT SCRIPT.lua...

Code that several scripts share is in the directory parts: a line `-- include parts/NAME.lua` in a
script is replaced by that file. Parts on the command line are only dependencies of the build.

Comments, indentation and empty lines are removed, and strings are kept unchanged. A line stays a
line, so that "line 12" in an error of Redis can be found (`--print SCRIPT.lua` shows the numbers).

Each script is embedded in a function that returns the name of its call (src/redis/script.hpp): it
removes the last argument, the name, and returns it before the reply.
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
    """Returns the script without comments and indentation."""
    text = ""
    for match in TOKEN.finditer(source):
        if match["space"] is None and match["comment"] is None:
            text += match.group()
        elif "\n" in match.group() and match["comment"] is None:
            # No string ends in white space, so only white space between tokens is removed.
            text = text.rstrip() + "\n"
        elif text and not text[-1].isspace():
            text += " "
    return text.strip() + "\n"


def whole(path):
    """Returns the script with its parts included."""
    return INCLUDE.sub(
        lambda match: (path.parent / match["part"]).read_text(encoding="utf-8"),
        path.read_text(encoding="utf-8"),
    )


def named(text):
    """Returns the script in the wrapper that names its call, on the same lines."""
    return f"local name=table.remove(ARGV) local function script() {text}end return {{name,(script())}}\n"


def literal(text):
    """Returns a C++ string literal with one line for each line of the script."""
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

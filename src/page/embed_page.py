"""Makes a C++ file of the page: embed_page.py OUTPUT index.html FILE...

Each FILE with a known suffix is embedded plain and compressed. Its name contains a digest of all files, so that a
browser may cache a file of that name without limit. References to other files (`./dom.js` in a module,
`page/style.css` in index.html) are changed to these names. index.html is split into two parts at @LISTS@, where the
lists are inserted.
"""

import gzip
import hashlib
import pathlib
import re
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: Maximum number of bytes of all files, uncompressed.
MOST = 153_600


def literal(data):
    """A C++ string literal, some bytes a line."""
    lines = []
    for first in range(0, len(data), 64):
        part = data[first : first + 64]
        lines.append(
            '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in part) + '"'
        )
    return "\n    ".join(lines) or '""'


def view(data):
    return f"{{\n    {literal(data)},\n    {len(data)}}}"


def main(output, index, *files):
    index = pathlib.Path(index)
    paths = [path for path in map(pathlib.Path, files) if path.suffix in TYPES]
    paths.sort(key=lambda path: path.name)
    size = sum(path.stat().st_size for path in [index, *paths])
    if size > MOST:
        sys.exit(f"{index.parent}: the page has {size} bytes, and may have {MOST}")
    digest = hashlib.sha256()
    for path in [index, *paths]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    mark = digest.hexdigest()[:8]
    named = {path.name: f"{path.stem}.{mark}{path.suffix}" for path in paths}

    def rename(text, before):
        names = "|".join(map(re.escape, named))
        return re.sub(f"(?<={re.escape(before)})({names})\\b", lambda match: named[match[1]], text)

    head, lists = rename(index.read_text(encoding="utf-8"), "page/").split("@LISTS@")
    parts = [
        "// Made by embed_page.py.",
        '#include "page/page.hpp"',
        "",
        "namespace w8y::page {",
        "",
        f'const std::string_view page_mark = "{mark}";',
        f"const std::string_view page_head{view(head.encode())};",
        f"const std::string_view page_tail{view(lists.encode())};",
        "",
        "const std::vector<PageFile>& page_files() {",
        "  static const std::vector<PageFile> files{",
    ]
    for path in paths:
        data = rename(path.read_text(encoding="utf-8"), "./").encode()
        # Without a time, so that the same files result in the same program.
        packed = gzip.compress(data, 9, mtime=0)
        parts += [f'{{"{named[path.name]}", "{TYPES[path.suffix]}", {view(data)}, {view(packed)}}},']
    parts += ["  };", "  return files;", "}", "", "}  // namespace w8y::page", ""]
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Checks that each citation in the repository exists: manual pages of w8y and their sections, pages of
Markdown, sources that comments name, and paths in pages of Markdown.

Usage: citations.py ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ("src", "include", "tests", "etc", "scripts")
# "w8yd(8)", "w8y.toml(5), LISTS"; in a page of the manual ".Xr w8yd 8".
PAGE = re.compile(r"\b(w8y[\w.-]*)\(([1-9])\)(?:, ([A-Z][A-Z ]*[A-Z])\b)?")
CROSS_REFERENCE = re.compile(r"^\.Xr (w8y\S*) ([1-9])()", re.M)
MARKDOWN = re.compile(r"(?:\$\w+/)?([\w./-]*\w\.md)\b")
SECTION_REFERENCE = re.compile(r"\.Sx (.+?)(?: [.,;:)])?$")
# In a comment: "settlements.hpp", "(app/wiping_delete.cpp)".
SOURCE = re.compile(r"(?:[\w-]+/)*[a-z]\w*\.(?:cpp|hpp|lua)\b")
COMMENT = re.compile(r"(?://|--) (.*)")
# In Markdown: `src/core`, `tests/faults/rows_*.py`.
PATH = re.compile(r"`((?:src|include|tests|etc|scripts)/[^`\s]*)`")
# Manual pages of other projects. A list of the known ones finds misspelled names.
OTHERS = re.compile(r"^\.Xr (?!w8y)(\S+) (\d)", re.M)
KNOWN_OTHERS = {
    "cron 8", "curl 1", "logrotate 8", "mariadb 1", "nohup 1", "redis-cli 1", "redis-server 1",
    "sd_notify 3", "setrlimit 2", "sh 1", "systemctl 1", "systemd 1", "systemd-creds 1",
    "systemd.timer 5", "umask 2",
}  # fmt: skip


def page_of(path):
    """Returns "w8yd(8)" for w8yd.8."""
    name, number = path.name.removesuffix(".in").rsplit(".", 1)
    return f"{name}({number})"


def manual(root):
    """Returns {"w8yd(8)": the names of its sections}."""
    pages = {}
    for path in (root / "etc/man").iterdir():
        sections = re.findall(r"^\.S[hs] (.*)$", path.read_text(encoding="utf-8"), re.M)
        pages[page_of(path)] = {section.strip('"') for section in sections}
    return pages


def lost_sections(path, lines, pages):
    """Yields references to unknown sections. A section is in the same page, or in a page named within two lines."""
    for number, line in enumerate(lines):
        if not (found := SECTION_REFERENCE.match(line)):
            continue
        near = "\n".join(lines[max(0, number - 2):number + 3])
        named = [page_of(path)] + [f"{name}({n})" for name, n, _ in CROSS_REFERENCE.findall(near)]
        if not any(found[1] in pages.get(page, ()) for page in named):
            yield f"line {number + 1}: refers to the section {found[1]}, which is not in {named}"


def complaints(path, text, root, pages, names):
    references = PAGE.findall(text)
    if path.is_relative_to(root / "etc/man"):
        references += CROSS_REFERENCE.findall(text)
        for name, number in OTHERS.findall(text):
            if f"{name} {number}" not in KNOWN_OTHERS:
                yield f"refers to {name}({number}): add it to the known ones, if there is such a page"
        yield from lost_sections(path, text.splitlines(), pages)
    for name, number, section in references:
        page = f"{name}({number})"
        if page not in pages:
            yield f"cites {page}, which is not in etc/man"
        elif section and section not in pages[page]:
            yield f"cites {section} of {page}, which has no such section"
    if path.suffix in (".cpp", ".hpp", ".lua"):
        for line in text.splitlines():
            comment = "" if line.startswith("#include") else "".join(COMMENT.findall(line))
            for cited in SOURCE.findall(comment):
                if not any(str(name).endswith("/" + cited) for name in names):
                    yield f"names {cited}, which is gone"
    if path.suffix == ".md":
        for cited in PATH.findall(text):
            if not any(root.glob(cited.rstrip("/"))):
                yield f"names {cited}, which is not there"
    for cited in MARKDOWN.findall(text):
        if not any((folder / cited).is_file() for folder in (root, path.parent)):
            yield f"cites {cited}, which is neither beside it nor at this path from the top"


def files(root):
    """Returns the files under version control, or all files if there is no git repository."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True,
                                check=False)
        if listed.returncode == 0 and listed.stdout:
            return [root / name for name in listed.stdout.split("\0")[:-1]]
    top = [path for path in root.iterdir() if path.is_file()]
    return top + [path for folder in FOLDERS for path in (root / folder).rglob("*")]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = manual(root)
    read = wrong = 0
    names = sorted(files(root))
    for path in names:
        if not path.is_file() or path == pathlib.Path(__file__).resolve():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # file of a corpus
        read += 1
        found = list(complaints(path, text, root, pages, names))
        wrong += bool(found)
        for complaint in found:
            print(f"{path.relative_to(root)}: {complaint}")
    print(f"{read - wrong} passed, {wrong} failed")
    return 1 if wrong or not read else 0


sys.exit(main())

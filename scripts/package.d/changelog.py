#!/usr/bin/env python3
"""Writes the changelog of a Debian package from CHANGELOG.md.

    changelog.py VERSION MAINTAINER SECONDS <CHANGELOG.md >changelog

The newest part of CHANGELOG.md must be the part of VERSION. SECONDS since 1970 is the date of a part without a date.
The heading of a group ("### NAME") becomes "[ NAME ]".
"""
import datetime
import email.utils
import re
import sys
import textwrap

HEADING = re.compile(r"## (\S+), (not released yet|\d{4}-\d\d-\d\d)")


def parts(text):
    """Yields (version, date or None, entries) of each part, the newest first."""
    for part in re.split(r"(?m)^(?=## )", text)[1:]:
        heading, _, body = part.partition("\n")
        found = HEADING.fullmatch(heading)
        if not found:
            sys.exit(f'CHANGELOG.md: a heading is "## VERSION, YYYY-MM-DD" or "## VERSION, not '
                     f'released yet": {heading}')
        date = None
        if found[2][0].isdigit():
            date = datetime.datetime.fromisoformat(found[2] + "T12:00+00:00")
        entries = [" ".join(entry.split()) for entry in re.split(r"(?m)^(?=- |### )", body)[1:]]
        yield found[1], date, entries


def main():
    version, maintainer, seconds = sys.argv[1:]
    now = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    all_parts = list(parts(sys.stdin.read()))
    if not all_parts or all_parts[0][0] != version:
        sys.exit(f"CHANGELOG.md: the first part must be the part of {version}, the version in meson.build")
    for number, date, entries in all_parts:
        print(f"w8y ({number}) {'unstable' if date else 'UNRELEASED'}; urgency=medium\n")
        for at, entry in enumerate(entries):
            if entry.startswith("### "):
                print(("\n" if at else "") + f"  [ {entry[4:]} ]")
                continue
            print(textwrap.fill(entry[2:], 76, initial_indent="  * ", subsequent_indent="    ",
                                break_long_words=False, break_on_hyphens=False))
        print(f"\n -- {maintainer}  {email.utils.format_datetime(date or now)}\n")


main()

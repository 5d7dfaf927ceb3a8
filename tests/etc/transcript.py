"""Commands in a page of Markdown, and comparison of their output.

Commands are lines that start with "$ " in code blocks without a language. The lines below a command are its
output. A block whose first line is not a command is only shown.

Usage: transcript.py EXPECTED PRINTED VARIES, where VARIES is JSON: exits with 1 if the two files differ.
"""
import json
import re
import sys
from pathlib import Path

# Text that differs from one run of a command to the next.
VARIES = [
    (r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "RUN-ID"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]{2,5}\b", "TIME"),
    (r"\b\d+\.\d s ago\b", "DURATION ago"),
    (r"\b(?:\d+(?:\.\d+)?(?:ms|[smhd]))+\b", "DURATION"),
    (r"\b\d+\.\d+\.\d+\b", "VERSION"),
    (r"\b(run:\w+:|pid )\d+(?:\.\d+)?\b", r"\1PID"),
    (r"#\d+ [0-9a-f]{8}\b", "CONFIG"),
]


def commands(text):
    """Returns each command with the lines of its output."""
    found = []
    for language, block in re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text):
        if language or not block.startswith("$ "):
            continue
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                found[-1][1].append(line)
                continue
            command = line[2:].partition("  #")[0]
            if "<<'EOF'" in command:
                for more in lines:
                    command += "\n" + more
                    if more == "EOF":
                        break
            found.append((command, []))
    return found


def constant(lines, more=()):
    """Returns the lines with a word in place of each text that varies. Column widths vary, too."""
    text = "\n".join(" ".join(line.split()) for line in lines)
    for pattern, word in [*more, *VARIES]:
        text = re.sub(pattern, word, text)
    return text.splitlines()


def main(expected, printed, varies):
    expected, printed = (constant(Path(path).read_text().splitlines(), json.loads(varies))
                         for path in (expected, printed))
    return 0 if expected == printed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Parses a log as a log reader does: level, message, and names of fields of each line."""
import json
import re
import sys

FIELD = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|[^ "]*)')

for line in sys.stdin:
    line = line.rstrip("\n")
    if sys.argv[1] == "json":
        fields = json.loads(line)
        message = fields["msg"]
    elif sys.argv[1] == "logfmt":
        assert "".join(found[0] for found in FIELD.finditer(" " + line)) == " " + line, line
        fields = {found[1]: found[2] for found in FIELD.finditer(" " + line)}
        message = fields["msg"]
    else:
        start = re.match(r"\S+Z (\w+): ([^=]*?)(?= \w+=|$)", line)
        rest = line[start.end():]
        assert "".join(found[0] for found in FIELD.finditer(rest)) == rest, line
        fields = {found[1]: found[2] for found in FIELD.finditer(rest)}
        message = start[2]
    names = [name for name in fields if name not in ("time", "level", "msg")]
    print(sys.argv[1], message, *names)

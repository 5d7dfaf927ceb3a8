"""Runs commands with a pipe and with a terminal as standard output, and prints the form in which each shows escapes."""
import base64
import os
import pty
import re
import subprocess
import sys

W8YCTL, URL = sys.argv[1:]
# C0, DEL, C1, a byte that is not UTF-8, a direction mark, a backslash.
EVIL = b"\x1b]0;pwned\x07\x7f\xc2\x9b\xff\xe2\x80\xae\\"
ESCAPED = rb"\e]0;pwned\x07\x7f\u009b\xff\u202e" + b"\\\\"
CODED = base64.b64encode(EVIL + b":A").decode()


os.environ["NO_COLOR"] = "1"


def run(*words, stdout=subprocess.PIPE):
    return subprocess.run([W8YCTL, "--redis-url", URL, *words], stdout=stdout,
                          stderr=subprocess.PIPE, timeout=60, check=False)


def in_pipe(*words):
    return run(*words).stdout


def in_terminal(*words):
    """Returns the output on a terminal. The terminal driver writes a CR before each newline."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([W8YCTL, "--redis-url", URL, *words], stdout=theirs,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    os.close(theirs)
    got = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # end of the terminal
            break
        if not part:
            break
        got += part
    os.close(ours)
    process.communicate(timeout=60)
    return got.replace(b"\r\n", b"\n")


def has_hidden(out):
    """Returns whether there is an invisible mark, or a control character other than newline and tab."""
    marks = out.decode(errors="surrogateescape")
    return re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\udc80-\udcff]", marks) is not None


def verdict(out):
    if EVIL in out:
        return "raw"
    if ESCAPED in out and not has_hidden(out):
        return "escaped"
    return f"neither: {out!r}"


def modes(name, *words, before=lambda: None):
    results = []
    for each in (lambda: in_pipe(*words), lambda: in_terminal(*words),
                 lambda: in_terminal(*words, "--raw")):
        before()
        results.append(verdict(each()))
    print(f"{name}: pipe {results[0]}, terminal {results[1]}, terminal with --raw {results[2]}",
          flush=True)


def put(group, feed):
    assert run(group, "put", feed, EVIL).returncode == 0


def never(name, *words):
    """Runs a command that must always escape, on both of its outputs."""
    result = run(*words)
    outputs = (result.stdout, result.stderr, in_terminal(*words), in_terminal(*words, "--json"))
    bad = [out for out in outputs if has_hidden(out)]
    told = any(b"pwned" in out for out in outputs)
    print(f"{name}: {'escaped' if told and not bad else f'{told} {bad!r}'}", flush=True)


for kind, feed in (("queue", "q"), ("job", "j"), ("sorted_feed", "s"), ("feed", EVIL),
                   ("feed", "f")):
    assert run("feed", "create", feed, "--kind", kind).returncode == 0
assert run("schedule", "set", "--base64", CODED, "NOW").returncode == 0
run("schedule", "set", "bad:A", EVIL)
assert run("feed", "publish", "f", EVIL, "--id", EVIL).returncode == 0
assert run("feed", "config", "f", EVIL, EVIL).returncode == 0
assert run("sorted", "append", "s", EVIL).returncode == 0

modes("schedule schedules", "schedule", "schedules")
modes("schedule statuses", "schedule", "statuses")
modes("feed list", "feed", "list")
modes("feed all", "feed", "all", "f")
modes("feed ids", "feed", "ids", "f")
modes("feed get", "feed", "get", "f", EVIL)
modes("feed config", "feed", "config", "f")
modes("feed config of one", "feed", "config", "f", EVIL)
modes("feed publish", "feed", "publish", "f", "x", "--id", EVIL)
modes("sorted all", "sorted", "all", "s")
modes("sorted get", "sorted", "get", "s", "1")
modes("queue get", "queue", "get", "q", before=lambda: put("queue", "q"))
modes("job get", "job", "get", "j", before=lambda: put("job", "j"))

never("schedule tell", "schedule", "tell", "bad:A")
never("schedule list", "--wide", "schedule", "list")
never("an error about a feed", "feed", "get", EVIL, "none")
never("an error about a job", "schedule", "next", EVIL + b":none")
never("an error about an option", "--lock-key", EVIL, "schedule", "list")
never("an error about a word", "feed", EVIL)
never("an error about a file", "schedule", "set", "--file", EVIL)

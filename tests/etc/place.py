"""Paths, which run_etc.py sets, and functions that several tests need."""
import functools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from private_redis import wait_for  # noqa: E402,F401

source = build = known_keys = checksum = None  # paths
unit = manual = programs = None  # lists of paths


def page(name):
    return next(path for path in manual if path.name == name)


def says(*command, **more):
    """Returns the standard output of a program, which must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60,
                          **more).stdout


def catches(pid, signal):
    """Returns whether the process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (signal - 1) & 1


def mistakes(toml):
    """Returns the config errors that the parser reports, empty if there are none."""
    return says(known_keys, "--check", input=toml + "\0").strip()


def long_options(help_text):
    """Returns the long options in a help text, without their dashes."""
    return set(re.findall(r"(?m)^ +(?:-\w,? ?)?--([a-z][a-z0-9-]*)", help_text))


# Headings above subcommands: those of w8yctl --help, and that of a group.
HEADINGS = ["Inspect", "Items", "Hosts", "Schedules", "Feeds and jobs", "Subcommands"]


def commands_of(help_text):
    """Returns the subcommands in a help text. Each section of them starts with a heading."""
    parts = re.findall(rf"(?ms)^(?:{'|'.join(HEADINGS)}):\n(.*?)(?:\n\n|\Z)", help_text)
    return set(re.findall(r"(?m)^  ([a-z][a-z-]*)", "\n".join(parts)))


@functools.cache
def help_texts(program):
    """Returns the help texts of the program and of each of its commands, by name. "" is the program, and a
    command of a group has both names: "schedule set"."""
    texts = {"": says(program, "--help")}
    names = sorted(commands_of(texts[""]))
    for name in names:
        texts[name] = says(program, *name.split(), "--help")
        names += [f"{name} {own}" for own in sorted(commands_of(texts[name]))]
    return texts


class Folder:
    """Base of test cases with a temporary directory as attribute."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="w8y-etc-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

"""Measures the stations of one run, and compares them with src/README.md.

A station is a class, or the free functions of a file, that the item passes. The stations of the *way* are on the
call stack when the child is spawned and, on the way back, when the settlement is added, passed to the client,
written and confirmed. The stations *beside* the way receive the item as an argument and return.

A caller of w8y on the way that is not traced is an error, but not a call through a function of std. Beside the way,
only the files in meson.build are seen.

usage: stations.py PROGRAM SOURCE    runs PROGRAM KIND FILE for each kind
"""

import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

KINDS = {"circular": "item of a circular list", "job": "job of a feed"}
GOAL = 9
GOAL_LINES = 5000

# Types that carry the item, its run or its reply, each with its content. A function receives the item if it has an
# argument of one of these types. The functions of these types are no stations: stations pass the types on as values.
CARRIERS = {
    "Answer": "reply of Redis", "Reply": "reply of Redis",
    "ClaimReply": "items of a claim", "ClaimResult": "items of a claim", "JobClaimResult": "items of a claim",
    "ClaimedItem": "item as it is read", "FeedJob": "job as it is read", "ScanResult": "items of a claim",
    "Claim": "item", "ActiveRun": "claim", "RunId": "name of the run", "LeaseTerms": "lock of the item",
    "ChildOptions": "item as an argument", "SpawnRequest": "item as an argument", "Spawned": "child",
    "EndedRun": "claim and its end", "RunEnd": "end of the run", "Exited": "part of the variant ProcessEnd",
    "Succeeded": "part of the variant Outcome",
    "Settlement": "ended run", "JobSettlement": "ended run", "SettleCall": "item and its disposition",
    "EndCall": "job and its disposition", "Unsettled": "settlement",
}

# Callers that may be without a trace, since they receive no item: loop and transport receive bytes and events, timers
# callbacks.
CALLERS = r"(\w+ )?w8y::(loop|TimerQueue)::"


@dataclass(frozen=True)
class Function:
    """Function of the program."""

    name: str
    station: str
    of_file: bool  # whether its file is its station: a free function, or a class that only its file can use
    arguments: str
    file: str  # below src


class Entered(NamedTuple):
    function: Function
    caller: str  # its name


def parts_of(text):
    """Splits a demangled name at `::` outside of brackets. Returns the parts, and then the arguments."""
    parts, part, depth, at = [], "", 0, 0
    while at < len(text):
        here = text[at]
        if depth == 0 and text.startswith("(anonymous namespace)", at):
            at += len("(anonymous namespace)")
            continue
        if depth == 0 and here == "(":
            return parts + [part], text[at:]
        if here in "<({":
            depth += 1
        elif here in ">)}":
            depth -= 1
        if depth == 0 and text.startswith("::", at):
            parts.append(part)
            part = ""
            at += 2
            continue
        if depth == 0 and here == " " and not part.startswith("operator"):
            parts, part = [], ""  # that was the return type
        elif depth == 0 and here not in ">":
            part += here
        at += 1
    return parts + [part], ""


def parse(name, place):
    parts, arguments = parts_of(name)
    file = re.sub(r":.*", "", place)
    file = file[file.rindex("/src/") + 5:] if "/src/" in file else ""
    classes = [part for part in parts if part[:1].isupper()]
    station = classes[0] if classes else re.sub(r"\[.*", "", parts[-1])
    return Function(name, station, not classes or "(anonymous namespace)" in name, arguments, file)


def read_trace(program, path):
    """Returns the steps: ('+', Function, name of the caller), ('-', Function, '') or ('=', mark, '')."""
    steps = [line.split(" ") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    addresses = sorted({address for what, *values in steps if what != "=" for address in values})
    command = ["addr2line", "-f", "-C", "-e", program]
    output = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True, check=True)
    told = output.stdout.splitlines()
    names = {address: told[2 * i] for i, address in enumerate(addresses)}
    functions = {address: parse(told[2 * i], told[2 * i + 1]) for i, address in enumerate(addresses)}
    return [
        (what, first if what == "=" else functions[first], "".join(names[address] for address in more))
        for what, first, *more in steps
    ]


class Trace:
    def __init__(self, steps):
        self.steps = steps
        self.stacks = []  # the functions that are entered, after each step
        stack = ()
        for what, function, caller in steps:
            if what == "+":
                stack += (Entered(function, caller),)
            elif what == "-":
                stack = stack[:-1]
            self.stacks.append(stack)

    def find(self, pattern, first=0, last=None):
        """Returns the index of the first entry into a function in this range."""
        for i in range(first, len(self.steps) if last is None else last):
            what, function, _ = self.steps[i]
            if what == "+" and re.search(pattern, function.name):
                return i
        raise SystemExit(f"the trace has no {pattern}")

    def find_last(self, pattern, last):
        return max(i for i in range(last) if self.steps[i][0] == "+" and re.search(pattern, self.steps[i][1].name))

    def way(self, points):
        """Returns the stations on the stacks at these steps, in their order."""
        names = []
        for point in points:
            for function, caller in self.stacks[point]:
                self.check_caller(caller)
                if is_station(function):
                    names.append(function.station)
        return list(dict.fromkeys(names))

    def check_caller(self, caller):
        """Fails if the caller is a function of w8y that is not traced: its station would be missing."""
        if not re.match(r"(\w+ )?w8y::", caller) or re.match(CALLERS, caller):
            return
        if caller not in {step[1].name for step in self.steps if step[0] == "+"}:
            raise SystemExit(f"not traced: {caller}. Add its file to tests/trace/meson.build.")

    def beside(self, way, first, last):
        """Returns the other stations, which receive the item as an argument."""
        found = {}
        files = stems(self, first, last, way)
        for what, function, _ in self.steps[first:last]:
            if what != "+" or not is_station(function) or function.station in way or not carries(function):
                continue
            stem = function.file.rsplit(".")[0]
            if function.of_file and stem in files:
                continue
            files.add(stem)
            found.setdefault(function.station, None)
        return list(found)


def carries(function):
    return not CARRIERS.keys().isdisjoint(re.findall(r"\w+", function.arguments))


def is_station(function):
    return function.file and function.station not in CARRIERS and not function.station.startswith("operator")


def stems(trace, first, last, stations):
    """Returns the files, without suffixes, of the functions of these stations that were entered."""
    entered = {function for stack in trace.stacks[first : last + 1] for function, _ in stack}
    return {function.file.rsplit(".")[0] for function in entered if function.station in stations and function.file}


def measure(trace):
    """Returns for each way, out and back: first step, last step, and the steps whose call stacks show the way."""
    start = trace.find(r"ActiveRuns::start\(")
    reply = trace.find_last(r"Connection::handle\(", start)
    spawned = trace.find(r"process::spawn\(", start)

    exited = trace.find(r"Child::on_exited\(", trace.steps.index(("=", "started", "")))
    added = trace.find(r"Settlements<.*>::add\(", exited)
    called = trace.find(r"ServerClient::accepted\(", trace.find(r"Settlements<.*>::send_batch\(", added))
    written = trace.find(r"Connection::flush\(", called)
    confirmed = trace.find(r"Settlements<.*>::over\(", written)
    return (reply, spawned, [spawned]), (exited, confirmed, [added, called, written, confirmed])


def passed_files(source, trace, first, last, names):
    """Returns the files of these stations whose functions were entered, headers and sources."""
    return {path for stem in stems(trace, first, last, names) for path in source.glob(f"src/{stem}.[ch]pp")}


def run(program, source, kind, label):
    """Runs one item, prints the number of its stations and lines, and returns its lines of the document."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([program, kind, file.name], check=True)
        trace = Trace(read_trace(program, file.name))
    files, document = set(), []
    for direction, (first, last, points) in zip(("out", "back"), measure(trace)):
        way = trace.way(points)
        beside = trace.beside(way, first, last)
        files |= passed_files(source, trace, first, last, way + beside)
        if direction == "back":
            way.append("Settlements")  # which receives the confirmation
        print(f"{label}, {direction}: {len(way)} stations (goal {GOAL}), and {len(beside)} beside the way")
        document += [f"{label}, {direction}: {', '.join(way)}", f"  beside: {', '.join(beside)}"]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    print(f"{label}: {len(files)} files, {lines:,} lines (goal {GOAL_LINES:,})")
    return document


def check_carriers(source):
    """Fails if a type of CARRIERS no longer exists."""
    text = "".join(path.read_text(encoding="utf-8") for path in source.glob("src/**/*.hpp"))
    gone = [name for name in CARRIERS if not re.search(rf"(struct|class) {name}\b", text)]
    if gone:
        raise SystemExit(f"CARRIERS has types that do not exist: {', '.join(gone)}")


def main(program, source):
    check_carriers(source)
    measured = [line for kind, label in KINDS.items() for line in run(program, source, kind, label)]
    text = (source / "src/README.md").read_text(encoding="utf-8")
    section = text[text.index("### Stations\n") :]
    joined = []  # a line that continues is indented by four columns
    for line in section.split("```")[1].strip("\n").splitlines():
        joined[-1:] = [joined[-1] + " " + line.strip()] if line.startswith("    ") else joined[-1:] + [line]
    if joined == measured:
        return 0
    print()
    print('src/README.md, "Stations", differs. Measured:')
    print()
    for line in measured:
        print(textwrap.fill(line, 116, subsequent_indent="    "))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

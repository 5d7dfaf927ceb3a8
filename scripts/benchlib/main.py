"""Command line of scripts/bench."""
import argparse
import importlib
import json
import os
import pathlib
import pkgutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Dict, List, Optional

from . import before, host, scenarios
from .measure import Missing
from .programs import SCRIPTS, Programs
from .table import as_json, table


@dataclass
class Bench:
    """Arguments of a scenario."""

    programs: Programs
    folder: pathlib.Path  # temporary directory
    rounds: int
    quick: bool

    def say(self, text: str):
        print(f"  {text}", file=sys.stderr, flush=True)

    def want(self, name: str) -> Optional[str]:
        """Returns a reference, or None if it is missing (with a message) or if builds are compared."""
        if before.ALONE in os.environ:
            return None
        try:
            return self.programs.reference(name)
        except Missing as missing:
            self.say(f"without: {missing}")
            return None


def known() -> Dict[str, str]:
    """Returns the first line of each scenario by its name. Each is a file of benchlib/scenarios."""
    names = sorted(found.name for found in pkgutil.iter_modules(scenarios.__path__))
    return {name: (load(name).__doc__ or "").splitlines()[0] for name in names}


def load(name: str):
    return importlib.import_module(f"{scenarios.__name__}.{name}")


def parse(words: List[str]) -> argparse.Namespace:
    there = known()
    parser = argparse.ArgumentParser(
        prog="bench", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures w8y on this machine, and prints ratios to a reference. The bench measures both\n"
        "in the same run, in turn, round by round. It prints the median and (lowest–highest).",
        epilog="scenarios:\n" + "\n".join(f"  {name:<11}{text}" for name, text in there.items()))
    parser.add_argument("scenario", nargs="*", help="scenario (default: all)")
    parser.add_argument("--rounds", type=int, help="rounds per case (default: 7; --quick: 3)")
    parser.add_argument("--quick", action="store_true", help="use short rounds, to see that the bench works")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--build", type=pathlib.Path,
                        help="build directory to measure (default: build/gcc, which is built first)")
    parser.add_argument("--before", metavar="REV",
                        help="also build this revision, and measure both in turn (default: "
                        f"{before.ROUNDS} rounds of {', '.join(before.SCENARIOS)})")
    parser.add_argument("--setup", action="store_true", help="install the references (Debian)")
    options = parser.parse_args(words)
    for name in options.scenario:
        if name not in there:
            parser.error(f"no such scenario: {name} (there are: {', '.join(there)})")
    if options.before:
        options.scenario = options.scenario or before.SCENARIOS
        options.rounds = max(options.rounds or 0, before.ROUNDS)
    options.scenario = options.scenario or list(there)
    options.rounds = options.rounds or (3 if options.quick else 7)
    return options


def built() -> pathlib.Path:
    """Returns a release build of this checkout, after building it if it is missing or old."""
    print("building w8yd, w8y and w8yctl in build/gcc", file=sys.stderr, flush=True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", '. "$1" && shift && build_release "$@"',
                    "bench", str(SCRIPTS / "common.sh"), "src/app/w8yd", "src/app/w8y",
                    "src/app/w8yctl", "tests/schedule/next-times"], stdout=sys.stderr, check=True)
    return SCRIPTS.parent / "build" / "gcc"


def measure(options: argparse.Namespace) -> int:
    found = host.facts()
    print(host.say_facts(found), file=sys.stderr)
    results: List[Dict] = []
    trouble = False
    with tempfile.TemporaryDirectory(prefix="w8y-bench-") as temp:
        folder = pathlib.Path(temp)
        programs = Programs(options.build or built(), folder)
        for name in options.scenario:
            print(f"{name}: {(load(name).__doc__ or '').splitlines()[0]}", file=sys.stderr)
            try:
                rows = load(name).run(Bench(programs, folder / name, options.rounds, options.quick))
            except (Missing, RuntimeError, OSError, subprocess.CalledProcessError) as problem:
                print(f"bench: {name}: {problem}", file=sys.stderr)
                trouble = True
                continue
            results += as_json(name, rows)
            if not options.json:
                print(f"\n{name}\n{table(rows)}\n", flush=True)
    if options.json:
        print(json.dumps({"host": found, "rounds": options.rounds, "quick": options.quick,
                          "rows": results}, indent=1, ensure_ascii=False))
    return 1 if trouble else 0


def main() -> int:
    options = parse(sys.argv[1:])
    if options.setup:
        return host.setup()
    # Handled like an interrupt, so that all started processes end with their context managers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.before:
            return before.compare(options.before, options.scenario, options.rounds, options.quick)
        return measure(options)
    except subprocess.CalledProcessError:
        return 1  # the build has printed the error
    except KeyboardInterrupt:
        return 130

"""Compares another revision with the checkout: builds both, and measures them in turn."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

from .programs import SCRIPTS
from .table import columns, number

ROUNDS = 9
SCENARIOS = ["once", "spawn", "stream", "jobs", "leases", "contend"]
# Environment variable that is set while two builds are compared: the bench then measures no references.
ALONE = "W8Y_BENCH_ALONE"
MORE_IS_BETTER = ("/s", "per second", "of the mean")
COSTS = ("commands sent", "carried out")  # subjects for which a lower rate is better
MARGINS = ("least PTTL", "least margin, as w8yd says")

Name = Tuple[str, str, str, str]  # scenario, case, subject, unit


@dataclass
class Pairs:
    """Values of both builds, one per round."""

    before: List[float] = field(default_factory=list)
    now: List[float] = field(default_factory=list)

    def ratios(self, name: Name) -> List[float]:
        """Returns one ratio per round; above 1: the checkout is better."""
        more = (name[3].endswith(MORE_IS_BETTER) and not name[2].endswith(COSTS)) or name[2] in MARGINS
        both = [(b, n) for b, n in zip(self.before, self.now) if b > 0 and n > 0]
        return [n / b if more else b / n for b, n in both]


def checkout(revision: str) -> pathlib.Path:
    """Returns a directory below build that holds the files of a revision; a later call reuses it."""
    root = SCRIPTS.parent
    short = subprocess.run(["git", "-C", root, "rev-parse", "--short=12", f"{revision}^{{commit}}"],
                           stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    folder = root / "build" / "before" / short
    if not folder.exists():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(["git", "-C", root, "archive", short], stdout=subprocess.PIPE,
                               check=True).stdout
        subprocess.run(["tar", "-x", "-C", part], input=files, check=True)
        part.rename(folder)
    return folder


def build(source: pathlib.Path) -> pathlib.Path:
    """Builds the measured programs as a release, apart from the builds for tests; returns its directory."""
    folder = source / "build" / "bench"
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, source, "-Dtests=false"],
                       env={**os.environ, "CC": "gcc", "CXX": "g++"}, stdout=sys.stderr, check=True)
    subprocess.run(["ninja", "-C", folder, "--quiet", "src/app/w8yd", "src/app/w8y", "src/app/w8yctl"],
                   stdout=sys.stderr, check=True)
    return folder


def one_round(source: pathlib.Path, scenario: str, quick: bool) -> List[Dict]:
    words = [source / "scripts" / "bench", "--build", source / "build" / "bench", "--rounds", "1",
             "--json", scenario] + (["--quick"] if quick else [])
    done = subprocess.run(words, env={**os.environ, ALONE: "1"}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["rows"]


def is_worse(ratios: List[float]) -> bool:
    """Returns whether the median is below 0.95 and the upper quartile below 1."""
    upper = statistics.quantiles(ratios, n=4, method="inclusive")[2]
    return statistics.median(ratios) < 0.95 and upper < 1


def line(name: Name, pairs: Pairs) -> List[str]:
    ratios = pairs.ratios(name)
    if len(ratios) < 2:
        return [*name[:3], "", "", number(statistics.median(pairs.before or [0])),
                number(statistics.median(pairs.now or [0])), name[3], "not compared"]
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
    return [*name[:3], f"{quartiles[1]:.3f}", f"{quartiles[0]:.3f}–{quartiles[2]:.3f}",
            number(statistics.median(pairs.before)), number(statistics.median(pairs.now)), name[3],
            "WORSE" if is_worse(ratios) else ""]


def compare(revision: str, scenarios: List[str], rounds: int, quick: bool) -> int:
    sources = {"before": checkout(revision), "now": SCRIPTS.parent}
    for source in sources.values():
        print(f"building {source}", file=sys.stderr, flush=True)
        build(source)
    heads = ["scenario", "case", "", "ratio", "quartiles", revision, "now", "unit", ""]
    worse = False
    for scenario in scenarios:
        found: Dict[Name, Pairs] = {}
        for count in range(rounds):
            print(f"{scenario}: pair {count + 1} of {rounds}", file=sys.stderr, flush=True)
            # The order changes with each round.
            for which in sorted(sources, reverse=count % 2 == 1):
                for row in one_round(sources[which], scenario, quick):
                    name = (row["scenario"], row["case"], row["subject"], row["unit"])
                    getattr(found.setdefault(name, Pairs()), which).append(row["value"]["median"])
        # A scenario takes minutes, so its results are printed at once.
        lines = [line(name, pairs) for name, pairs in found.items()]
        worse = worse or any(one[-1] == "WORSE" for one in lines)
        print(columns([heads] + lines), flush=True)
    print(f"\n{rounds} pairs; a ratio above 1: the checkout is better")
    return 1 if worse else 0

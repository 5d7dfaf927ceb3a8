"""Next run of rules that started in 1990 and fire every second or minute.

The result of w8y is the time to read the text and to find the next time after the present date. The
reference is python-dateutil, which workers of Redbike use. It walks from DTSTART, for about 20 minutes if a
rule fires every second. Therefore its time is the time for a walk of 20,000 occurrences, multiplied to all
occurrences.
"""
import datetime
import subprocess
import sys
from typing import List

from ..measure import Goal, Missing, Row, Subject, in_turn, rows_of

START = datetime.datetime(1990, 1, 1)
AFTER = datetime.datetime(2026, 11, 21, 13)
WALK = 20_000
RULES = {
    "SECONDLY": 1,
    "MINUTELY": 60,
    "SECONDLY;INTERVAL=7;COUNT=2000000000": 7,
    "MINUTELY;INTERVAL=13;COUNT=200000000": 13 * 60,
}
# In a separate process, so that scripts/bench starts without dateutil.
DATEUTIL = """
import datetime, sys, time
from dateutil.rrule import rrulestr
start, walk = datetime.datetime(1990, 1, 1), datetime.timedelta(seconds=int(sys.argv[2]))
rule = rrulestr("DTSTART:19900101T000000\\nRRULE:FREQ=" + sys.argv[1])
since = time.perf_counter()
rule.after(start + walk)
print(time.perf_counter() - since)
"""


def unix(time: datetime.datetime) -> int:
    return int(time.replace(tzinfo=datetime.timezone.utc).timestamp())


def dateutil(rule: str, seconds: int) -> float:
    """Returns the time in µs."""
    done = subprocess.run([sys.executable, "-c", DATEUTIL, rule, str(WALK * seconds)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing("python3-dateutil is not installed")
    walks = (AFTER - START).total_seconds() / seconds / WALK
    return float(done.stdout) * walks * 1e6


def ours(program: str, rule: str) -> float:
    """Returns the time in µs."""
    question = f"{unix(AFTER)} {unix(AFTER)} DTSTART:19900101T000000\\nRRULE:FREQ={rule}\n"
    done = subprocess.run([program, "--ns"], input=question, capture_output=True, text=True,
                          check=True)
    return int(done.stdout) / 1e3


def run(bench) -> List[Row]:
    program = bench.programs.ours("tests/schedule/next-times")
    rows: List[Row] = []
    for rule, seconds in RULES.items():
        bench.say(rule)
        subjects = [
            Subject("dateutil", f"{WALK:,} occurrences, in multiples of the rule's own",
                    lambda rule=rule, seconds=seconds: dateutil(rule, seconds)),
            Subject("w8y", "reading the text too", lambda rule=rule: ours(program, rule)),
        ]
        found = rows_of(rule, "µs", {subject.name: subject.settings for subject in subjects},
                        in_turn(subjects, bench.rounds))
        found[1].goals.append(Goal("≤ 1 ms", found[1].value.median <= 1000))
        rows += found
    return rows

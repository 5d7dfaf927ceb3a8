#!/usr/bin/env python3
"""Compares the times of random recurrence rules with those of python-dateutil, and the local times
of each zone of this host with those of Python's zoneinfo.

Usage: compare.py PROGRAM [--rules N] [--seed N] [--show]

PROGRAM is tests/schedule/next_times of a build. There are 500 rules, or 10,000 with W8Y_TEST_LONG
in the environment. A rule that takes dateutil longer than PATIENCE is skipped. Skipped rules are
rare, and their number is printed.
"""
import argparse
import datetime
import os
import pathlib
import random
import signal
import subprocess
import sys
import warnings
import zoneinfo

from dateutil.rrule import rrulestr

UTC = datetime.timezone.utc
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
FREQUENCIES = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]
# dateutil computes some hours incorrectly in zones such as Morocco, where clocks change in summer.
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo",
         "Asia/Kolkata", "America/St_Johns"]
NOW = 1795266000
OCCURRENCES = 30
LAST_YEAR = 2036  # dateutil has no zone changes after this year
PATIENCE = 0.05  # s of processor time for dateutil per rule


class TooSlow(Exception):
    pass


def numbers(rng, least, most, signed=False, many=4):
    values = rng.sample(range(least, most + 1), min(most - least + 1, rng.randint(1, many)))
    return ",".join(str(-v if signed and rng.random() < 0.3 else v) for v in values)


def weekdays(rng, frequency):
    days = []
    nth = rng.random() < (0.4 if frequency in ("YEARLY", "MONTHLY") else 0.1)
    for day in rng.sample(DAYS, rng.randint(1, 4)):
        n = rng.choice([1, 2, 3, 4, 5, -1, -2]) if nth else ""
        if n and frequency == "YEARLY":
            n = rng.choice([n, 20, -20, 52, 53])
        days.append(rng.choice([f"{n}{day}", f"{n:+}{day}", f"{day}({n:+})"]) if n else day)
    return ",".join(days)


def rule(rng, start, zoned):
    frequency = rng.choice(FREQUENCIES)
    parts = [f"FREQ={frequency}"]

    def maybe(chance, name, value):
        if rng.random() < chance:
            parts.append(f"{name}={value()}")

    interval = rng.choice([2, 3, 4, 5, 7, 10, 15, 30, 36, 45, 90, 100, 1000, 86400])
    if frequency in ("YEARLY", "MONTHLY", "WEEKLY", "DAILY"):
        interval = rng.choice([2, 3, 4, 5, 6, 7, 12])
    maybe(0.4, "INTERVAL", lambda: interval)
    maybe(0.25, "BYMONTH", lambda: numbers(rng, 1, 12, many=6))
    maybe(0.15, "BYMONTHDAY", lambda: numbers(rng, 1, 31, True))
    maybe(0.1, "BYYEARDAY", lambda: numbers(rng, 1, 366, True, 30))
    maybe(0.1, "BYWEEKNO", lambda: numbers(rng, 1, 53, True, 8))
    maybe(0.3, rng.choice(["BYDAY", "BYWEEKDAY"]), lambda: weekdays(rng, frequency))
    maybe(0.25, "BYHOUR", lambda: numbers(rng, 0, 23))
    maybe(0.2, "BYMINUTE", lambda: numbers(rng, 0, 59))
    maybe(0.15, "BYSECOND", lambda: numbers(rng, 0, 59))
    maybe(0.2, "BYSETPOS", lambda: numbers(rng, 1, rng.choice([2, 4, 40]), True))
    maybe(0.2, "WKST", lambda: rng.choice(DAYS))
    if rng.random() < 0.2:
        parts.append(f"COUNT={rng.choice([1, 2, 5, 10, 25])}")
    elif rng.random() < 0.2:
        until = start + datetime.timedelta(seconds=rng.choice([100, 86400 * 3, 86400 * 800]))
        parts.append("UNTIL=" + until.strftime("%Y%m%dT%H%M%S") + ("Z" if zoned else ""))
    rng.shuffle(parts)
    return ";".join(parts)


def written(rng, time):
    return rng.choice([time.strftime("%Y%m%dT%H%M%S"), time.isoformat(),
                       time.isoformat() + ".250000"])


def schedule(rng):
    start = datetime.datetime(1990, 1, 1) + datetime.timedelta(
        seconds=rng.randrange(45 * 366 * 86400))
    if rng.random() < 0.3:
        start = start.replace(hour=rng.choice([0, 1, 2, 3]), minute=30, second=0)
    zone = rng.choice(ZONES) if rng.random() < 0.2 else None
    lines = [f"DTSTART{';TZID=' + zone if zone else ''}:{written(rng, start)}"]
    first = rule(rng, start, zone)
    lines.append(rng.choice(["", "RRULE:", "rrule:"]) + rng.choice([first, first.lower()]))
    if rng.random() < 0.1:
        lines.append("RRULE:" + rule(rng, start, zone))
    if rng.random() < 0.1:
        lines.append("EXRULE:" + rule(rng, start, zone))
    near = [(start + datetime.timedelta(days=d)).strftime("%Y%m%dT%H%M%S")
            for d in rng.sample(range(40), 3)]
    if rng.random() < 0.1 and not zone:
        lines.append("RDATE:" + ",".join(near))
    if rng.random() < 0.1:
        lines.append(f"EXDATE{';TZID=' + zone if zone else ''}:" + ",".join(near))
    return "\n".join(lines)


def too_slow(*_):
    raise TooSlow()


def by_dateutil(text):
    """Returns the first times of a rule, and whether they are all. None: dateutil refuses it."""
    times = []
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        try:
            for time in rrulestr(text):
                aware = time if time.tzinfo else time.replace(tzinfo=UTC)
                if time.tzinfo and time.year > LAST_YEAR:
                    return times, False
                times.append(int(aware.timestamp()))
                if len(times) == OCCURRENCES:
                    return times, False
            return times, True
        except ValueError:
            return None, True
        except IndexError:  # fault of dateutil, for BYMONTH with BYDAY=53MO
            return times, False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TooSlow:
        return times, False


def instants(rng, times):
    afters = [times[0] - 1, times[0]]
    for _ in range(6):
        at = rng.randrange(len(times))
        afters.append(times[at] + rng.choice([-1, 0, 1]))
        afters.append(rng.randint(min(times), max(times)))
    return afters


def expected(times, whole, after):
    """Returns the expected output. None: dateutil has not computed times up to `after`."""
    later = next((str(t) for t in times if t > after), None)
    return later if later or not whole else "-"


def complaint(text, times, whole, afters, answer):
    if answer.startswith("BAD"):
        return None if not times and whole else answer
    if times is None:
        return "dateutil refuses it"
    wanted = [expected(times, whole, after) for after in afters]
    wrong = [(a, w, g) for a, w, g in zip(afters, wanted, answer.split()) if w and w != g]
    return f"after, dateutil, ours: {wrong[:4]}" if wrong else None


def ask(program, questions, *options):
    lines = [question.replace("\n", "\\n") + "\n" for question in questions]
    return subprocess.run([program, *options], input="".join(lines), check=True,
                          capture_output=True, text=True).stdout.splitlines()


def wrong_zones(program, seed):
    """Checks zones with a file at times from 1950 to 2200. Returns the number of wrong zones."""
    names = [name for name in sorted(zoneinfo.available_timezones())
             if pathlib.Path("/usr/share/zoneinfo", name).is_file()]
    rng = random.Random(seed)
    times = sorted(rng.randrange(-631152000, 7258118400) for _ in range(150))
    questions = [f"{NOW} {','.join(map(str, times))} DTSTART;TZID={name}:20260101\nFREQ=DAILY"
                 for name in names]
    wrong = 0
    for name, answer in zip(names, ask(program, questions, "--zones"), strict=True):
        # Offsets are shown without seconds.
        wanted = [datetime.datetime.fromtimestamp(t, zoneinfo.ZoneInfo(name)).isoformat()[:25]
                  for t in times]
        if answer.split() != wanted:
            wrong += 1
            print(f"{name}: zoneinfo, ours: "
                  f"{[(w, g) for w, g in zip(wanted, answer.split()) if w != g][:3] or answer}")
    print(f"{len(names)} zones at {len(times)} times: {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rules", type=int, 
                        default=10_000 if os.environ.get("W8Y_TEST_LONG") else 500)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--show", action="store_true", help="print each rule")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, too_slow)
    cases, passed_over, refused = [], 0, 0
    for number in range(2 * options.rules):
        if len(cases) == options.rules:
            break
        # Each rule has a generator of its own, so that a skipped rule does not change the others.
        rng = random.Random(f"{options.seed} {number}")
        text = schedule(rng)
        times, whole = by_dateutil(text)
        if not times and not whole:
            passed_over += 1
            continue
        refused += not times
        cases.append((text, times, whole, instants(rng, times) if times else [0]))
    out = ask(options.program, [f"{NOW} {','.join(map(str, c[3]))} {c[0]}" for c in cases])
    wrong = 0
    for case, answer in zip(cases, out, strict=True):
        text, times, whole, afters = case
        if options.show:
            print(repr(text), answer)
        why = complaint(text, times, whole, afters, answer)
        if why:
            wrong += 1
            print(f"{text}\n  {why}")
    print(f"{sum(len(c[3]) for c in cases)} instants of {len(cases)} rules; {refused} that dateutil "
          f"refuses or that never fire; {passed_over} passed over")
    wrong += wrong_zones(options.program, options.seed)
    print(f"{len(cases) - wrong} passed, {wrong} failed")
    return 1 if wrong or len(cases) < options.rules else 0


sys.exit(main())

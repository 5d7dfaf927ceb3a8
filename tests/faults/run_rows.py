#!/usr/bin/env python3
"""Causes faults, and prints a table with the results of each row of the fault matrix."""
import argparse
import contextlib
import dataclasses
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
# ruff: noqa: E402
import rows_broken
import rows_clock
import rows_cluster
import rows_executors
import rows_feeds
import rows_fleet
import rows_gearman
import rows_hostile
import rows_hosts
import rows_jobs
import rows_large
import rows_locks
import rows_lost_responses
import rows_needs
import rows_network
import rows_partition
import rows_redbike
import rows_redis
import rows_reload
import rows_removals
import rows_replies
import rows_resources
import rows_schedule
import rows_waiting
import soak
from matrix import Late, Setup, Skip, problem, table_head, table_line, text_of
from private_redis import Redis, die_with_parent

MODULES = [rows_hosts, rows_locks, rows_redis, rows_replies, rows_hostile, rows_broken, rows_network,
           rows_clock, rows_reload, rows_resources, rows_needs, rows_executors, rows_schedule, rows_feeds,
           rows_jobs, rows_fleet, rows_redbike, rows_gearman, rows_large, rows_cluster, rows_waiting,
           rows_removals, rows_lost_responses, rows_partition]
ROWS = [row for module in MODULES for row in module.ROWS]


def seconds(text):
    match = re.fullmatch(r"(\d+)(s|m|h)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"a duration like 30s, 10m or 2h, not {text}")
    return int(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def server_version(program):
    """Returns the version that the program prints, empty if it is not a Redis."""
    if not shutil.which(program):
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return " ".join(said.stdout.split()[:3]) if " v=" in said.stdout else ""


def parse():
    parser = argparse.ArgumentParser(
        prog="scripts/faults", description=__doc__,
        epilog="Ends with the line `N passed, M failed`, and exit status 1 if a row failed.")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scale", type=int, default=5, metavar="N",
                        help="N times as many faults as the short form of the tests "
                        "(default %(default)s)")
    parser.add_argument("--soak", type=seconds, metavar="DURATION",
                        help="instead: random faults of all kinds for this time (10m, 2h); "
                        "checks that memory, descriptors and threads do not grow")
    parser.add_argument("--every", type=seconds, metavar="DURATION",
                        help="interval of the lines of the soak (default: a sixtieth of its time)")
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)), metavar="N",
                        help="seed of the random faults (default: a new one each time; printed)")
    parser.add_argument("--jobs", type=int, default=3, metavar="N",
                        help="number of rows at once, if they may run in parallel (default %(default)s)")
    parser.add_argument("--redis-server", default="redis-server", metavar="PROGRAM",
                        help="server of all rows: a redis-server of another "
                        "version, or a valkey-server (default %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the rows and exit")
    parser.add_argument("--sanitized", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="run only these rows")
    options = parser.parse_args()
    names = [row.name for row in ROWS]
    for name in options.rows:
        if name not in names:
            parser.error(f"no row {name}; there are {', '.join(names)}")
    return options


class Stopped(Exception):
    """A row was stopped: it exceeded its limit, or the whole program was stopped."""


def run_row(row, setup, pipe):
    """Runs a row in a separate process, so that changes of the process end with it."""
    def ended(*_):
        raise Stopped(f"stopped; its limit is {row.limit * setup.scale} s")

    die_with_parent()
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        figures = row.run(setup)
        lines = setup.lines
        if figures is not None or not lines:
            lines = [("passed", row.fault, figures or {}, row.promise)] + lines
    except Late as error:
        lines = setup.lines + [("late", row.fault, {"LATE": problem(error)}, row.promise)]
    except Skip as reason:
        lines = setup.lines + [("skipped", row.fault, f"skipped: {reason}", row.promise)]
    except Exception as error:  # a row with any exception has failed
        traceback.print_exc()
        lines = setup.lines + [("failed", row.fault, {"FAILED": problem(error)}, row.promise)]
    pipe.send(lines)


class Going:
    """An active row."""

    def __init__(self, row, setup):
        self.row, self.began = row, time.monotonic()
        self.pipe, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(
            target=run_row, args=(row, setup, theirs))
        self.process.start()
        theirs.close()
        self.ends = self.began + row.limit * setup.scale
        self.killed = False

    def result(self):
        """Returns the row's lines when it has ended, else None."""
        # First: a process that is no longer alive has sent its lines.
        is_alive = self.process.is_alive()
        if self.pipe.poll():
            with contextlib.suppress(EOFError):
                lines = self.pipe.recv()
                self.process.join()
                return lines
        if is_alive:
            if time.monotonic() > self.ends + 20:
                self.process.kill()
            elif time.monotonic() > self.ends and not self.killed:
                self.killed = True
                self.process.terminate()
            return None
        return [("failed", self.row.fault, {"FAILED": "it ended without a result"}, self.row.promise)]


class Table:
    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.failed = []
        print(table_head(), flush=True)

    def add(self, lines, took):
        for i, (state, fault, figures, promise) in enumerate(lines):
            self.counts["failed" if state == "late" else state] += 1
            if state in ("failed", "late"):
                self.failed.append(f"failed: {fault}: {text_of(figures)}")
            print(table_line(fault, text_of(figures), promise, f"{took:.1f}" if i == 0 else ""),
                  flush=True)

    def end(self):
        for line in self.failed:  # repeated at the end of the log, for readers of only that part
            print(line)
        if self.counts["skipped"]:
            print(f"{self.counts['skipped']} skipped")
        print(f"{self.counts['passed']} passed, {self.counts['failed']} failed")
        return 1 if self.counts["failed"] else 0


def run_rows(rows, setup, jobs):
    table = Table()
    waiting = [row for row in rows if not row.alone] + [row for row in rows if row.alone]
    going, again = [], set()
    try:
        while waiting or going:
            while waiting and may_start(waiting[0], going, jobs):
                going.append(Going(waiting.pop(0), dataclasses.replace(setup, lines=[])))
            for run in list(going):
                lines = run.result()
                if lines is None:
                    continue
                going.remove(run)
                late = [line for line in lines if line[0] == "late"]
                failed = any(state == "failed" for state, *_ in lines)
                if late and not failed and run.row.name not in again:
                    # A busy machine may be the cause, so the row runs again, alone. A row that is
                    # late again has failed.
                    print(f"again, alone: {late[0][1]}: {text_of(late[0][2])}", flush=True)
                    again.add(run.row.name)
                    waiting.append(dataclasses.replace(run.row, alone=True))
                else:
                    table.add(lines, time.monotonic() - run.began)
            time.sleep(0.02)
    finally:
        for run in going:
            run.process.terminate()
        for run in going:
            run.process.join(20)
    return table.end()


def may_start(row, going, jobs):
    if any(run.row.alone for run in going):
        return False
    return not going if row.alone else len(going) < jobs


def main():
    options = parse()
    if options.list:
        for row in ROWS:
            print(f"{row.name:20} {row.fault}: {row.promise}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    setup = Setup(options.build, options.scale, options.seed, options.sanitized)
    version = server_version(options.redis_server)
    if not version:
        sys.exit(f"scripts/faults: {options.redis_server} cannot run, or is not a redis-server")
    Redis.program = options.redis_server
    print(f"{version}, seed {options.seed}", flush=True)
    if options.soak:
        return soak.run(setup, options.soak, options.every or max(1, options.soak // 60))
    rows = [row for row in ROWS
            if row.name in options.rows
            or not options.rows and (row.sanitized or not options.sanitized)]
    return run_rows(rows, setup, options.jobs)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

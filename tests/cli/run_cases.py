#!/usr/bin/env python3
"""Runs test cases, each of which is a directory of readable files.

    run_cases.py --bin BUILD/src/app [-j N] [--keep] [--sanitized | CASE...]

A case is a directory beside this file:
    cmd          a shell script; helpers.sh lists its functions and variables
    expected     its standard output (2>&1 where a case is about messages)
    exit         its exit status, if it is not 0; 77: the case cannot run on this machine
    redis        redis-cli commands that fill the server before the run
    config.toml, executors/ and all other files are copied to the directory of the run, with those of common/
In these files @DIR@ is the directory of the case and @REDIS_URL@ its server. @HEAD@ is the start of a
config: [redis] with its URL, and [supervisor] with host and status.

In `expected`, <run> is a run ID, <time> a date and time with its zone, <n> a number, <duration> a duration,
<hex> hex digits, <version> the version of w8y, <gap> two or more spaces, and <any> any text on that
line. In a line with such a mask, two or more spaces are a <gap>, because the width of a column depends on
its contents.

Each case has its own redis-server on a unix socket, its own directory, its own process group, and 300
seconds. Cases share nothing, so they run in parallel. No two cases run programs as the same system account,
except nobody: no case counts or signals the processes of that account.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from private_redis import Redis  # noqa: E402

LIMIT_S = 300
SKIPPED = 77  # exit status of a case that cannot run here
OWN_FILES = {"cmd", "expected", "exit", "redis"}
MASKS = {
    "<run>": r"[0-9A-HJKMNP-TV-Z]{26}",
    "<time>": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:UTC|[+-]\d{4})",
    "<n>": r"-?\d+",
    "<duration>": r"\d+(?:\.\d+)?(?:us|ms|s|m|h|d)(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))*",
    "<hex>": r"[0-9a-f]+",
    "<version>": r"\d+\.\d+\.\d+",
    "<gap>": r" {2,}",
    "<any>": r".*",
}
HEAD = b"""[redis]
url = "@REDIS_URL@"

[supervisor]
host = "here"
status = ["unix:@DIR@/w8yd.sock"]
"""
MASK = re.compile("(" + "|".join(MASKS) + ")")


def pattern_of(line):
    if MASK.search(line):
        line = re.sub(" {2,}", "<gap>", line)
    parts = MASK.split(line)
    return re.compile("".join(MASKS.get(part) or re.escape(part) for part in parts))


def compare(expected, actual):
    """Returns a diff, empty if the output is as expected. A line that matches its mask is not a difference."""
    wanted = expected.splitlines(keepends=True)
    found = actual.splitlines(keepends=True)
    patterns = {line: pattern_of(line) for line in wanted}
    shown = []
    for number, line in enumerate(found):
        near = wanted[number : number + 1] + wanted
        shown.append(next((want for want in near if patterns[want].fullmatch(line)), line))
    return "".join(
        line if line.endswith("\n") else line + "\n\\ no newline at the end\n"
        for line in difflib.unified_diff(wanted, shown, "expected", "actual")
    )


class Server:
    """redis-server that ends with the case."""

    def __init__(self, folder):
        data = folder / "redis-data"
        data.mkdir()
        self.redis = Redis(folder, "--appendonly", "no", "--dir", str(data))

    def seed(self, commands):
        return subprocess.run(
            ["redis-cli", "-s", str(self.redis.socket)], input=commands,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False,
        )

    def stop(self):
        kill_group(self.redis.process)


def kill_group(process):
    """Kills the processes of one session. Its ID is the process ID of a child of this runner."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def environment(folder, programs):
    variables = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")
                 if name in os.environ}
    url = f"unix://{folder}/redis.sock"
    return variables | programs | {
        "DIR": str(folder), "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC",
        "MANUAL": str(HERE.parent.parent / "etc/man"),
        "OPENAPI": str(HERE.parent.parent / "etc/openapi.json"),
        "PYTHONPATH": str(HERE.parent / "support"), "PYTHONDONTWRITEBYTECODE": "1",
        "REDBIKE": str(HERE.parent / "faults/redbike_client.py"),
        "REDIS_URL": url, "W8Y_REDIS_URL": url, "SOCKET": f"{folder}/w8yd.sock",
        "XDG_RUNTIME_DIR": str(folder), "RUNTIME_DIRECTORY": str(folder),
    }


def fill(text, folder):
    return text.replace(b"@HEAD@\n", HEAD).replace(b"@DIR@", os.fsencode(folder)).replace(
        b"@REDIS_URL@", b"unix://" + os.fsencode(folder) + b"/redis.sock")


def copy_files(case, folder):
    """Copies all files except those that the runner itself reads."""
    for path in case.rglob("*"):
        name = path.relative_to(case)
        if path.is_dir():
            (folder / name).mkdir(exist_ok=True)
        elif str(name) not in OWN_FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(fill(path.read_bytes(), folder))
            shutil.copymode(path, folder / name)


def run_cmd(case, folder, programs):
    """Returns exit status (None: timeout), standard output and standard error."""
    script = HERE / "helpers.sh", case / "cmd"
    out, err = folder / "stdout", folder / "stderr"
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(
            ["sh", "-c", f'. "{script[0]}"; . "{script[1]}"'], cwd=folder,
            env=environment(folder, programs), stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=stderr, start_new_session=True,
        )
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        kill_group(process)
    return status, out.read_text(errors="backslashreplace"), err.read_text(errors="backslashreplace")


def verdict(case, folder, programs):
    """Returns the differences as text, empty if there are none."""
    copy_files(HERE / "common", folder)
    copy_files(case, folder)
    server = Server(folder)
    try:
        if (case / "redis").exists():
            seeded = server.seed(fill((case / "redis").read_bytes(), folder))
            if b"ERR" in seeded.stdout:
                return "the seed failed: " + seeded.stdout.decode(errors="backslashreplace")
        status, stdout, stderr = run_cmd(case, folder, programs)
    finally:
        server.stop()
    expected_exit = int((case / "exit").read_text()) if (case / "exit").exists() else 0
    if status == SKIPPED:
        return SKIPPED
    problems = []
    if status is None:
        problems.append(f"not over after {LIMIT_S} s")
    elif status != expected_exit:
        problems.append(f"exit status {status}, expected {expected_exit}")
    expected = (case / "expected").read_text() if (case / "expected").exists() else ""
    if difference := compare(expected, stdout):
        problems.append(difference)
    if problems and stderr:
        problems.append("standard error:\n" + stderr)
    return "\n".join(problems)


def shared_accounts(cases):
    """Returns the accounts that more than one case names. A case may stop or count all processes of its accounts."""
    users = {}
    for case in cases:
        for config in case.glob("*.toml"):
            for user in re.findall(r'^user *= *"([^"]*)"', config.read_text(), re.MULTILINE):
                users.setdefault(user, set()).add(case.name)
    return {user: sorted(names) for user, names in users.items()
            if user != "nobody" and len(names) > 1}


def sanitized_cases():
    """Returns the cases that the file under_sanitizers names; each must have a reason."""
    cases = []
    for line in (HERE / "under_sanitizers").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, reason = line.partition(": ")
        if not reason or not (HERE / name / "cmd").exists():
            sys.exit(f"under_sanitizers: not a case with a reason: {line}; write CASE: REASON or remove the line")
        cases.append(HERE / name)
    return sorted(cases)


def run_case(case, top, programs, keep):
    folder = top / case.name
    folder.mkdir()
    try:
        return verdict(case, folder, programs)
    except Exception as error:  # a case that cannot run has failed; the other cases continue
        return f"{type(error).__name__}: {error}"
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Runs test cases that are folders.")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where the programs are")
    parser.add_argument("-j", type=int, default=min(4, 2 * (os.cpu_count() or 1)), help="at once")
    parser.add_argument("--keep", action="store_true", help="leave the folders of the cases")
    parser.add_argument("--sanitized", action="store_true", help="run the cases that under_sanitizers names")
    parser.add_argument("cases", nargs="*", help="names; all, if there are none")
    arguments = parser.parse_args()

    cases = sorted(path.parent for path in HERE.glob("*/cmd"))
    for user, names in shared_accounts(cases).items():
        sys.exit(f"{' and '.join(names)} run programs as {user}: give each an account of its own")
    if arguments.sanitized:
        cases = sanitized_cases()
    elif arguments.cases:
        cases = [HERE / name.strip("/") for name in arguments.cases]
    binaries = arguments.bin.resolve()
    programs = {"W8Y": f"{binaries}/w8y", "W8YD": f"{binaries}/w8yd", "W8YCTL": f"{binaries}/w8yctl"}
    top = pathlib.Path(tempfile.mkdtemp(prefix="w8y-cli-"))
    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        results = {
            pool.submit(run_case, case, top, programs, arguments.keep): case for case in cases
        }
        for done in concurrent.futures.as_completed(results):
            problem = done.result()
            if problem == SKIPPED:
                skipped += 1
                print(f"--- {results[done].name}: cannot be tried here", flush=True)
            elif problem:
                failed += 1
                print(f"--- {results[done].name}\n{problem}", flush=True)
    if arguments.keep:
        print(f"the folders are in {top}")
    else:
        shutil.rmtree(top, ignore_errors=True)
    print(f"{len(cases) - failed - skipped} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Starts w8yd many times, and sends a signal at a different moment of each start."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from private_redis import Wire, die_with_parent, wait_for

W8YD, W8YCTL, HOME = os.environ["W8YD"], os.environ["W8YCTL"], pathlib.Path(os.environ["DIR"])
OFFSETS_MS = (0, 1, 2, 5, 10, 20, 50, 100, 200)
LARGE_OFFSETS_MS = (0, 200)
HELD = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)
SETTINGS = """
[redis]
url = "{url}"
[supervisor]
host = "here"
status = ["unix:{home}/w8yd.sock"]
log_file = "{home}/log"
drain_timeout = "100ms"
"""
LIST = '[lists.{name}]\ncommand = ["true"]\nhistory = 0\n'
ENDED = contextlib.suppress(FileNotFoundError, ProcessLookupError)


def mask(pid, which="SigBlk"):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{which}:\s*(\w+)", status)[1], 16)


def blocks(pid, number, which="SigBlk"):
    return mask(pid, which) >> (number - 1) & 1


def name_of(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


def descendants(pid):
    """Returns name and signal mask of each descendant by process ID. It skips a process that ends meanwhile."""
    found, children = {}, []
    with ENDED:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    for child in children:
        with ENDED:
            found[child] = (name_of(child), mask(child))
        found |= descendants(child)
    return found


class Host:
    """A w8yd in its own directory."""

    def __init__(self, name, lists=LIST.format(name="work"), options=(), blocked=()):
        self.home = HOME / name
        self.home.mkdir()
        text = SETTINGS.format(url=os.environ["REDIS_URL"], home=self.home)
        (self.home / "config.toml").write_text(text + lists)

        def prepare():
            die_with_parent()
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

        with open(self.home / "out", "w") as out:
            self.process = subprocess.Popen([W8YD, "--config", "config.toml", *options], cwd=self.home,
                                            stdout=out, stderr=out, preexec_fn=prepare)
        self.pid = self.process.pid

    def wait(self, fact, what):
        def alive_and():
            assert self.process.poll() is None, f"w8yd ended with {self.process.returncode}: {self.text()}"
            return fact()
        return wait_for(alive_and, what=f"{what}: {self.text()}")

    def wait_blocked(self, number=signal.SIGUSR2):
        """Waits until the signal is blocked. A short start may end before this process sees the block."""
        end = time.monotonic() + 60
        while not blocks(self.pid, number) and not blocks(self.pid, number, "SigCgt"):
            assert self.process.poll() is None and time.monotonic() < end, self.text()

    def text(self):
        return "".join(path.read_text() for name in ("out", "log", "log.old")
                       if (path := self.home / name).exists())

    def state(self):
        if not (self.home / "w8yd.sock").exists():
            return None
        done = subprocess.run([W8YCTL, "--socket", self.home / "w8yd.sock", "--json", "status"],
                              capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["state"] if done.returncode == 0 else None

    def wait_ready(self):
        self.wait(lambda: ": ready" in self.text(), "ready")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.text()


def send_at(host, number, offset_ms):
    """Sends the signal at this offset from the block, and waits for its effect."""
    host.wait_blocked(number)
    time.sleep(offset_ms / 1000)
    log = host.home / "log"
    if number == signal.SIGHUP and log.exists():
        log.rename(host.home / "log.old")
    assert host.process.poll() is None, f"ended before the signal: {host.text()}"
    host.process.send_signal(number)
    host.wait_ready()
    if number == signal.SIGUSR1:
        host.wait(lambda: host.state() == "quiet", "quiet")
    elif number == signal.SIGHUP:
        host.wait(log.exists, "the log opened again")
    else:
        host.wait(lambda: ": reloaded" in host.text(), "a reload")
    for held in HELD:
        assert not blocks(host.pid, held)
    host.end()
    assert host.text().count(": reloaded") == (number == signal.SIGUSR2), host.text()


def small(number):
    for offset in OFFSETS_MS:
        send_at(Host(f"{number.name}-{offset}"), number, offset)
    return f"{number.name}: alive, ready, handled"


def large(number):
    lists = "".join(LIST.format(name=f"list{i}") for i in range(2000))
    for offset in LARGE_OFFSETS_MS:
        send_at(Host(f"large-{number.name}-{offset}", lists), number, offset)
    return f"{number.name}, 2,000 lists: alive, ready, handled"


with concurrent.futures.ThreadPoolExecutor(3) as threads:
    for line in [*threads.map(small, HELD), *threads.map(large, HELD)]:
        print(line)

# All of them in one start: one reload, and the resume counts after the quiet.
host = Host("all")
host.wait_blocked()
for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGHUP, signal.SIGUSR2, signal.SIGCONT):
    host.process.send_signal(number)
host.wait_ready()
host.wait(lambda: host.state() == "running", "running")
host.end()
assert host.text().count(": reloaded") <= 2, host.text()
print("all at once: running")

# A parent that blocks the signals changes nothing, and no child inherits a block.
EXECUTOR = """#!/bin/sh
case $1 in
--caps)
  grep SigBlk /proc/self/status >@HOME@/probe
  grep SigBlk /proc/$PPID/status >@HOME@/probe-parent
  echo '{"type": "caps", "caps": ["stream"]}';;
*) exec sleep 1000;;
esac
"""
LISTS = """
[lists.stream]
executor = "@HOME@/executor"
kill_grace = "100ms"
[lists.single]
command = ["sleep", "1000"]
[lists.helped]
command = ["sleep", "1000"]
"""


def write_executor(host_name):
    path = HOME / f"{host_name}.sh"
    path.write_text(EXECUTOR.replace("@HOME@", str(HOME)))
    path.chmod(0o755)
    return LISTS.replace("@HOME@/executor", str(path)) + ('user = "nobody"\n' if os.geteuid() == 0 else "")


def sleepers(pid):
    return [child for child, (name, _) in descendants(pid).items() if name == "sleep"]


host = Host("masks", write_executor("masks"), ["--embedded", "redis"], [*HELD, signal.SIGTERM])
host.wait_ready()
assert not any(blocks(host.pid, number) for number in (*HELD, signal.SIGTERM)), "the parent's mask"
with Wire(host.home / "redis" / "redis.sock") as redis:
    for name in ("stream", "single", "helped"):
        redis.ask("RPUSH", f"{name}:list", "item")
host.wait(lambda: len(sleepers(host.pid)) == 3, "three runs")
children = descendants(host.pid)
names = {name for name, _ in children.values()}
assert {"redis-server", "sleep", *(["w8yd-spawn"] if os.geteuid() == 0 else [])} <= names, names
assert not any(blocked for _, blocked in children.values()), children
assert int((HOME / "probe").read_text().split()[1], 16) == 0
host.end()
print("children: no signal blocked")

subprocess.run([W8YD, "--config", host.home / "config.toml", "--check"], check=True, timeout=60,
               stdout=subprocess.DEVNULL)
assert int((HOME / "probe-parent").read_text().split()[1], 16) == 0
print("--check: no signal blocked")

# SIGTERM ends a w8yd that starts, and leaves nothing behind.
PROGRAM = HOME / "print-lists"
PROGRAM.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! >{HOME}/sleeper\nwait\n")
PROGRAM.chmod(0o755)
host = Host("term-lists", f'[[lists_from]]\ncommand = ["{PROGRAM}"]\ntimeout = "60s"\n')
sleeper = host.wait(lambda: (HOME / "sleeper").exists() and (HOME / "sleeper").read_text().strip(), "a program")
host.process.send_signal(signal.SIGTERM)
assert host.process.wait(60) == -signal.SIGTERM, host.text()
wait_for(lambda: not pathlib.Path(f"/proc/{sleeper}").exists(), what="the program's child gone")
for offset in OFFSETS_MS:
    host = Host(f"term-{offset}")
    host.wait_blocked()
    time.sleep(offset / 1000)
    host.process.send_signal(signal.SIGTERM)
    assert host.process.wait(60) in (0, -signal.SIGTERM), host.text()
    assert not (host.home / "w8yd.sock").exists(), f"after {offset} ms: {host.text()}"
print("SIGTERM: nothing left")

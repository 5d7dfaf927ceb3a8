#!/usr/bin/env python3
"""Builds the image of etc/container in root directories, without a container engine, and tests it.

    container.py BASE WORK

BASE is a root directory of Debian 12 that debootstrap has created; it is not changed. WORK is a directory for
the results. Needs root. CC and CXX are passed on to the build. A compiler "ccache gcc" has its cache
in CCACHE_DIR.
"""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dockerfile

SOURCE = Path(__file__).resolve().parent.parent.parent
CONTAINER = SOURCE / "etc/container"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT = 60 << 20  # of all layers, compressed
# Namespaces that end with this process, even if it is killed.
OWN = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]

# Removes documentation and translations like Debian's slim images do.
SLIM = r"""
cat >etc/dpkg/dpkg.cfg.d/docker <<END
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/info/*
path-exclude /usr/share/groff/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/linda/*
END
find usr/share/doc -type f ! -name copyright -delete
find usr/share/doc -type l ! -name copyright -delete
find usr/share/doc -depth -type d -empty -delete
rm -rf usr/share/man/* usr/share/locale/* usr/share/info/* usr/share/groff/* usr/share/lintian/*
rm -rf var/lib/apt/lists/* var/cache/apt/* var/log/apt var/log/*.log
"""


def say(text):
    print("==", text, flush=True)


def check(fact, what):
    if not fact:
        sys.exit(f"FAILED: {what}")
    print("ok:", what, flush=True)


def wait_for(fact, what):
    until = time.monotonic() + 60
    while not fact():
        if time.monotonic() > until:
            sys.exit(f"FAILED: waited too long for: {what}")
        time.sleep(0.05)


def compressed(folder):
    """Returns the size of the directory as a compressed layer of an image."""
    packed = subprocess.run(f"tar -C '{folder}' --sort=name --exclude=./proc/* -cf - . | gzip | wc -c",
                            shell=True, check=True, capture_output=True)
    return int(packed.stdout)


class Image:
    def __init__(self, base, work):
        self.base, self.work = base, work
        self.stages = dockerfile.read((CONTAINER / "Dockerfile").read_text())
        self.compiler = {name: os.environ[name] for name in ("CC", "CXX") if name in os.environ}

    def root(self, stage):
        return self.work / f"stage-{stage}"

    def slim_copy(self, root):
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", "--one-file-system", self.base, root], check=True)
        (root / "w8y").rmdir()  # where scripts/in mounts the checkout
        subprocess.run(["sh", "-ec", SLIM], cwd=root, check=True)

    def make(self):
        self.work.mkdir(parents=True, exist_ok=True)
        for stage in self.stages:
            # Any point release of Debian 12 is accepted: the base is the current root of debootstrap.
            assert re.fullmatch(r"debian:12\.[0-9]+-slim", stage.base), stage.base
            self.slim_copy(self.root(stage.name))
            if stage is self.stages[0]:
                self.bring_ccache(stage)
            self.take_steps(stage)

    def take_steps(self, stage):
        folder, environment = "/", {"PATH": PATH}
        for name, options, text in stage.steps:
            if name == "RUN":
                say(f"{stage.name}: {text}")
                self.run(stage, f"cd {folder} && {text}", environment, dockerfile.mount(options))
            elif name == "COPY":
                source, target = text.split()
                assert source == ".", "only the whole context is copied here"
                self.copy_context(self.root(stage.name) / target.lstrip("/"))
            elif name == "WORKDIR":
                folder = text
            elif name == "ENV":
                environment |= stage.environment()

    @staticmethod
    def copy_context(target):
        ignored = (CONTAINER / "Dockerfile.dockerignore").read_text().split()
        # A pattern of that file is relative to the context, unless it starts with **.
        patterns = [line[3:] if line.startswith("**/") else f"./{line}" for line in ignored]
        excludes = [f"--exclude={pattern}" for pattern in patterns]
        target.mkdir(parents=True)
        packed = subprocess.Popen(["tar", "-C", SOURCE, *excludes, "-cf", "-", "."], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-C", target, "-xf", "-"], stdin=packed.stdout, check=True)
        if packed.wait() != 0:
            sys.exit("FAILED: the context could not be read")

    def bring_ccache(self, stage):
        """Installs ccache for this test. The image's own build has none."""
        if self.compiler.get("CC", "").startswith("ccache "):
            (self.root(stage.name) / "ccache").mkdir()
            self.run(stage, "apt-get update -qq && apt-get install -y -qq ccache >/dev/null", {"PATH": PATH}, {})

    def run(self, stage, script, environment, mount):
        root = self.root(stage.name)
        steps = ['mount -t proc proc "$0/proc"', 'mount --rbind /dev "$0/dev"']
        if (root / "ccache").is_dir():
            environment = environment | self.compiler | {"CCACHE_DIR": "/ccache"}
            steps.append(f'mount --bind "{os.environ["CCACHE_DIR"]}" "$0/ccache"')
        if mount:
            assert mount["type"] == "bind", mount
            source = self.root(mount["from"]) / mount["source"].lstrip("/")
            steps += [f'mkdir -p "$0{mount["target"]}"', f'mount --bind "{source}" "$0{mount["target"]}"']
        pairs = [f"{name}={value}" for name, value in environment.items()]
        subprocess.run([*OWN, "bash", "-euc", "; ".join([*steps, 'exec chroot "$0" env -i "$@"']), root,
                        *pairs, "sh", "-c", script], check=True)


class Container:
    """w8yd of the image as the first process, in the environment of compose.yaml."""

    def __init__(self, image):
        self.stage = image.stages[-1]
        self.root = image.root(self.stage.name)
        self.tmp = image.work / "tmp"
        shutil.rmtree(self.tmp, ignore_errors=True)
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)
        user, _, group = self.stage.last("USER").partition(":")
        pairs = [f"{name}={value}" for name, value in self.stage.environment().items()]
        self.as_user = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs",
                        "--bounding-set=-all", "env", "-i", f"PATH={PATH}", *pairs]
        self.process = self.pid = None

    def start(self, config):
        steps = ['mount --bind "$0" "$0"', 'mount -t proc proc "$0/proc"', 'mount --rbind /dev "$0/dev"',
                 f'mount --bind "{self.tmp}" "$0/tmp"',
                 'mount -t tmpfs -o uid=900,gid=900,mode=0750 none "$0/run/w8y"',
                 f'mount --bind -o ro "{config}" "$0/etc/w8y.toml"',
                 f'mount --bind -o ro "{config.parent}/hosts" "$0/etc/hosts"',
                 'mount -o remount,bind,ro "$0"', 'exec chroot "$0" "$@"']
        self.process = subprocess.Popen([*OWN, "bash", "-euc", "; ".join(steps), self.root, *self.as_user,
                                         *dockerfile.words(self.stage.last("ENTRYPOINT"))])
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        wait_for(children.read_text, "the first process")
        self.pid = int(children.read_text())

    def execute(self, command):
        """Runs a command like `docker exec`. Returns its exit status and output."""
        done = subprocess.run(["nsenter", "--target", str(self.pid), "--mount", "--pid", "--root", "--wd=/",
                               *self.as_user, *command], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def states(self):
        """Returns the state of each process by pid: R, S, Z..."""
        found = {}
        for stat in Path(f"/proc/{self.pid}/root/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = stat.read_text().split(" (", 1)
            except OSError:
                continue
            found[int(pid)] = rest.rpartition(") ")[2][0]
        return found


# Lists in addition to compose.yaml's: runs of one leave an orphan process, runs of the other take 2 s.
MORE = r"""
[lists.orphans]
command = ["sh", "-c", '''setsid sh -c "sleep 0.2; cut -d' ' -f4 /proc/\$\$/stat >/tmp/parent" & echo left''', "{}"]
cooldown = "1h"

[lists.slow]
command = ["sh", "-c", "echo >/tmp/began; sleep 2; echo >/tmp/ended", "{}"]
cooldown = "1h"
"""


def own_network():
    """Moves this process and its later children to a new network, which has only a loopback device."""
    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(clone_newnet) != 0:
        sys.exit(f"no network of its own: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def redis(*command):
    done = subprocess.run(["redis-cli", "-e", *command], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def try_it(container, work):
    own_network()
    config = work / "w8y.toml"
    config.write_text((CONTAINER / "w8y.toml").read_text() + MORE)
    (work / "hosts").write_text("127.0.0.1 localhost redis\n")
    # The port of compose's Redis in the config. Only this network has it.
    server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "redis-server", "--bind", "127.0.0.1",
                               "--save", "", "--daemonize", "no"], stdout=subprocess.DEVNULL, cwd=work)
    try:
        wait_for(lambda: redis("PING"), "Redis")
        container.start(config)
        health = dockerfile.words(container.stage.last("HEALTHCHECK").partition("CMD ")[2])
        wait_for(lambda: container.execute(health)[0] == 0, f"success of {' '.join(health)}")
        check(True, f"the health check succeeds: {' '.join(health)}")
        check(container.execute(["id", "-u"])[1].strip() == "900", "it is not root")
        status, said = container.execute(["w8yctl", "schedule", "next", "--rule", "FREQ=DAILY", "-n", "1"])
        check(status == 0, f"it has what schedules take: {said.strip()}")
        redis("RPUSH", "work:list", "one")
        wait_for(lambda: "succeeded" in container.execute(["w8yctl", "runs", "work"])[1], "a run")
        redis("RPUSH", "orphans:list", "a", "b", "c")
        parent = container.tmp / "parent"
        wait_for(lambda: parent.exists() and parent.read_text() == "1\n", "an orphan of the first process")
        wait_for(lambda: "Z" not in container.states().values(), "an end of zombies")
        check(1 in container.states(), f"orphans are reaped; left: {container.states()}")
        redis("RPUSH", "slow:list", "a")
        wait_for((container.tmp / "began").exists, "a run that takes a while")
        os.kill(container.pid, signal.SIGTERM)
        check(container.process.wait(60) == 0, "after SIGTERM it ends with 0")
        check((container.tmp / "ended").exists(), "its run had the time that it took")
    finally:
        if container.process and container.process.poll() is None:
            container.process.kill()
        server.kill()
        server.wait()


def main():
    base, work = (Path(argument).resolve() for argument in sys.argv[1:])
    image = Image(base, work)
    image.make()
    root = image.root(image.stages[-1].name)
    image.slim_copy(work / "base")
    size, base_size = compressed(root), compressed(work / "base")
    check(size < LIMIT, f"compressed, it has {size / 2**20:.1f} MiB, of which Debian as it is "
                        f"made here has {base_size / 2**20:.1f}")
    check(not (root / "package").exists() or not any((root / "package").iterdir()), "the package itself is not in it")
    try_it(Container(image), work)


main()

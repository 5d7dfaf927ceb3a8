"""A host without free processes, descriptors or disk space."""
import contextlib
import os
import pathlib
import resource
import shutil
import subprocess
import threading
import time

from harness import World, now_us, wait_for
from matrix import Skip, in_time, row

BACK_S = 4.0
CONCURRENCY = 6
SETTINGS = dict(work_ms=150, concurrency=CONCURRENCY, key_expiry="2s")
PROMISE = f"items lost 0, failures counted 0; all run again ≤ {BACK_S:g} s; locks left 0"


def as_root(what):
    if os.geteuid() != 0:
        raise Skip(f"{what} needs root")


def shortage(setup, world, host, begin, end):
    """Removes a resource for some time while runs are active, and restores it."""
    items = world.fill([f"i{i}" for i in range(12)])
    world.wait_runs(10)
    backs, meanwhile, crashed = [], [], 0
    for _ in range(setup.scale):
        since = host.log_size()
        begin()
        begun = now_us()
        time.sleep(2.5)
        meanwhile.append(len(world.runs_since(begun + 300_000)))
        end()
        ended = now_us()
        wait_for(lambda ended=ended: {r.item for r in world.runs_since(ended)} == items, 60,
                 "all items to run again")
        backs.append((now_us() - ended) / 1e6)
        crashed += sum("outcome=crashed" in line for line in host.log(since).splitlines())
        # All slots are in use again.
        wait_for(lambda: len(world.locks()) >= CONCURRENCY, what="full concurrency")
    blamed = world.redis.ask("HGETALL", "work:failures")
    world.stop()
    world.check_items(items)
    locks = world.locks()
    assert not locks, f"locks left: {locks}"
    assert not world.overlaps(), world.overlaps()
    figures = {"all items run again after s": round(max(backs), 2),
               "runs meanwhile": max(meanwhile), "crashed": crashed,
               "locks left": 0, "items lost": 0}
    assert max(meanwhile) <= CONCURRENCY, f"nothing was short: {figures}"
    in_time(max(backs) <= BACK_S, figures)
    assert not blamed, f"failures counted: {blamed}"
    return figures


@row("no more processes (RLIMIT_NPROC)", PROMISE)
def no_processes(setup):
    as_root("running w8yd as another user")
    nobody = 61000 + os.getpid() % 4000  # the limit counts all processes of a user on the machine

    def become():
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)

    with World(setup) as world:
        home = world.home / "h"
        home.mkdir()
        os.chown(home, nobody, nobody)
        # Other users may have no access to the build directory.
        programs = world.home / "programs"
        programs.mkdir()
        world.w8yd = shutil.copy(world.w8yd, programs)
        world.executor = shutil.copy(world.executor, programs)
        host = world.host("h", how={"prepare": become}, witness=False, **SETTINGS)
        soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        soft = "unlimited" if soft == resource.RLIM_INFINITY else soft
        tasks = len(os.listdir(f"/proc/{host.process.pid}/task"))

        def limit(most):
            # The user itself sets the limit: root in a container may not change the limits of others.
            subprocess.run(["prlimit", f"--pid={host.process.pid}", f"--nproc={most}:"],
                           user=nobody, group=nobody, extra_groups=[], cwd="/", check=True)
        return shortage(setup, world, host, lambda: limit(tasks + 1),
                        lambda: limit(soft))


@row("no more descriptors (EMFILE)", PROMISE)
def no_descriptors(setup):
    with World(setup) as world:
        host = world.host("h", witness=False, **SETTINGS)
        _, hard = resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE)

        def limit(most):
            resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (most, hard))

        def begin():
            # Half of the highest descriptor in use: no run can start.
            limit(max(int(fd) for fd in os.listdir(f"/proc/{host.process.pid}/fd")) // 2)
        return shortage(setup, world, host, begin, lambda: limit(min(hard, 1024)))


@row("no more descriptors, and Redis killed", "it connects when descriptors are free again")
def no_sockets(setup):
    with World(setup) as world:
        items = world.fill(["a", "b"])
        host = world.host("h", work_ms=50, concurrency=2, key_expiry="2s")
        _, hard = resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE)
        world.wait_runs(3)
        resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (4, hard))
        world.redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(2)
        assert host.process.poll() is None, host.log()[-1000:]
        resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
        ended = now_us()
        first = wait_for(lambda: next(iter(world.runs_since(ended)), None), what="work to go on")
        back = (first.start - ended) / 1e6
        world.stop()
        world.check_items(items)
        assert not world.locks() and not world.overlaps()
        in_time(back <= BACK_S, f"work went on after {back} s")
        return {"work continues after s": round(back, 2), "items lost": 0, "locks left": 0}


@row("disk full (log and temporary directories)", PROMISE)
def no_disk(setup):
    as_root("mounting a small disk")
    with World(setup) as world:
        small = world.home / "small"
        small.mkdir()
        # The mount namespace removes the disk when w8yd ends.
        mount = ["unshare", "--mount", "sh", "-c",
                 f"mount -t tmpfs -o size=256k,nr_inodes=40,mode=755 none {small} && exec \"$@\"",
                 "sh"]
        if not shutil.which("unshare"):
            raise Skip("no unshare here")
        tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True,
                               check=False)
        if tried.returncode != 0:  # for example in a chroot
            raise Skip(f"no mount namespace can be made here: {tried.stderr.strip()}")
        host = world.host("h", witness=False, cwd="temp", **SETTINGS, how={
            "ready": False, "within": mount, "env": {"TMPDIR": str(small)},
            "supervisor": f'log_file = "{small}/w8yd.log"\nlog_level = "debug"'})
        inside = pathlib.Path(f"/proc/{host.process.pid}/root{small}")
        full = threading.Event()

        def filling():
            """Fills the blocks, and every inode that becomes free with a temporary directory."""
            with open(inside / "blocks", "wb") as filler, contextlib.suppress(OSError):
                filler.write(bytes(1 << 20))
            number = 0
            while full.is_set():  # without a pause, or w8yd would get the free inode first
                with contextlib.suppress(OSError):
                    (inside / f"filler{number}").touch(exist_ok=False)
                    number += 1

        def fill():
            full.set()
            threading.Thread(target=filling, daemon=True).start()

        def free():
            full.clear()
            time.sleep(0.05)
            for filler in [inside / "blocks", *inside.glob("filler*")]:
                filler.unlink()

        return shortage(setup, world, host, fill, free)


ROWS = [no_processes, no_descriptors, no_sockets, no_disk]

"""Prerequisites of a list disappear and return."""
import os
import shutil

from harness import World, now_us, wait_for
from matrix import in_time, row

BACK_S = 2.0
USER = "w8y-row"


class Needs:
    """A directory, a file and, if possible, a user, each for the list that needs it."""

    def __init__(self, world):
        self.world = world
        self.folder, self.file = world.home / "folder", world.home / "env"
        self.passwd = world.home / "passwd"
        self.kinds = ["folder", "file"]
        self.within = ()
        if os.geteuid() == 0 and shutil.which("unshare"):
            self.kinds.append("user")
            # The accounts of this machine, in a mount namespace that ends with w8yd.
            self.within = ["unshare", "--mount", "sh", "-c",
                           f"mount --bind {self.passwd} /etc/passwd && exec \"$@\"", "sh"]
        for kind in self.kinds:
            self.give(kind)

    def give(self, kind):
        if kind == "folder":
            self.folder.mkdir()
        elif kind == "file":
            self.file.write_text("A=1\n")
            self.file.chmod(0o600)
        else:
            self.passwd.write_text(self.accounts() + f"{USER}:x:61017:61017::/:/bin/sh\n")

    def take(self, kind):
        if kind == "folder":
            self.folder.rmdir()
        elif kind == "file":
            self.file.unlink()
        else:
            self.passwd.write_text(self.accounts())

    @staticmethod
    def accounts():
        with open("/etc/passwd", encoding="utf-8") as accounts:
            return accounts.read()

    def config(self):
        keys = {"folder": {"cwd": self.folder}, "file": {"env_file": self.file},
                "user": {"user": USER}}
        return "".join(
            self.world.list_config(kind, work_ms=30, witness=False, concurrency=2,
                                   max_failures=1, **keys[kind]) for kind in self.kinds)


def outcomes(world, kind):
    return {record["outcome"] for record in world.records(kind)}


@row("a directory, file or user that a list needs disappears",
     f"failures counted 0; ineligible meanwhile; served again ≤ {BACK_S:g} s", sanitized=True)
def needs_vanish(setup):
    with World(setup) as world:
        programs = world.home / "programs"  # other users may have no access to the build directory
        programs.mkdir()
        world.executor = shutil.copy(world.executor, programs / "journal")
        needs = Needs(world)
        items = {kind: world.fill([f"{kind}{i}" for i in range(6)], kind) for kind in needs.kinds}
        host = world.host("h", needs.config(), how={
            "within": needs.within, "supervisor": 'probe_interval = "500ms"'})

        def runs_since(kind, when):
            return [run for run in world.runs_since(when) if run.item.startswith(kind)]

        backs = []
        for _ in range(setup.scale):
            for kind in needs.kinds:
                wait_for(lambda kind=kind, now=now_us(): runs_since(kind, now), what=f"{kind} runs")
                since = host.log_size()
                needs.take(kind)
                wait_for(lambda kind=kind, since=since:
                         f"host ineligible for list list={kind} " in host.log(since),
                         what=f"{kind} to be refused")
                refused = now_us()
                others = [other for other in needs.kinds if other != kind]
                wait_for(lambda refused=refused, others=others:
                         all(runs_since(other, refused + 700_000) for other in others),
                         what="the others to go on")
                assert not runs_since(kind, refused), f"{kind} ran while it was refused"
                given = now_us()
                needs.give(kind)
                wait_for(lambda kind=kind, given=given: runs_since(kind, given),
                         what=f"{kind} to be back")
                backs.append((now_us() - given) / 1e6)
        world.stop()
        for kind in needs.kinds:
            world.check_items(items[kind], kind)
            assert not world.redis.ask("HGETALL", f"{kind}:failures"), f"{kind}: failures counted"
            assert not world.redis.ask("KEYS", f"{kind}:lock:*"), f"{kind}: locks left"
            assert outcomes(world, kind) == {"succeeded"}, outcomes(world, kind)
        assert not world.overlaps()
        in_time(max(backs) <= BACK_S, backs)
        return {"kinds": " ".join(needs.kinds), "failures counted": 0,
                "back after s": round(max(backs), 2), "items lost": 0}


ROWS = [needs_vanish]

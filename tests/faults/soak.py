"""Random faults of all kinds for a given time. Checks for lost items and for growth of w8yd."""
import collections
import statistics
import time

from harness import World, now_us, wait_for
from rows_redis import AOF
from soak_faults import Faults

SETTINGS = dict(key_expiry="2s", on_lease_loss="terminate", concurrency=2)
LONGEST_PAUSE_S = 15  # longest time without a run after any fault
MIB_MORE, SHARE_MORE = 0.5, 0.02  # allowed growth from the third quarter to the last

Sample = collections.namedtuple("Sample", "when mib descriptors threads")


class Soak:
    def __init__(self, setup, world):
        self.world = world
        self.items = {"work": world.fill([f"i{i}" for i in range(20)]),
                      "slow": world.fill([f"s{i}" for i in range(3)], "slow"),
                      "bad": world.fill([f"b{i}" for i in range(4)], "bad"),
                      "loud": world.fill(["l"], "loud")}
        self.config = (
            world.list_config(work_ms=80, **SETTINGS)
            + world.list_config("slow", work_ms=3000, **SETTINGS)
            + '[lists.bad]\ncommand = ["sh", "-c", "echo why >&2; exit 3"]\n'
              'backoff = { min = "500ms", max = "2s" }\nhistory = 100\n'
            + '[lists.loud]\ncommand = ["sh", "-c", "head -c 300000 /dev/urandom"]\n'
              'cooldown = "1s"\nhistory = 100\n')
        for name in ("steady", "first", "second"):
            world.host(name, self.config, how={"supervisor": 'log_level = "error"',
                                               "drain": "1s", "ready": False})
        self.began = time.monotonic()
        self.samples = collections.defaultdict(list)
        self.longest_pause = 0.0  # from the end of faults until the next run, s
        self.faults = Faults(self)

    def pause(self, seconds):
        """Sleeps, and checks the world repeatedly."""
        end = time.monotonic() + seconds
        while True:
            self.look()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.25))

    def look(self):
        now = time.monotonic()
        journal = self.world.record.read()
        if not self.faults.going and journal.marked is not None:
            pause = ((journal.after_mark or now_us()) - journal.marked) / 1e6
            self.longest_pause = max(self.longest_pause, pause)
            assert pause < LONGEST_PAUSE_S, \
                f"nothing ran for {pause:.1f} s after {self.faults.latest}"
        for host in self.world.hosts:
            if host.name in self.faults.away:
                continue
            assert host.process.poll() is None, \
                f"{host.name} ended with {host.process.returncode}: {host.log()[-2000:]}"
            self.samples[host.name].append(
                Sample(now - self.began, host.resident_mib(), host.descriptors(), host.threads()))
        overlaps = [pair for pair in journal.overlaps(now_us()) if not self.excused(*pair)]
        assert not overlaps, f"overlapping runs: {overlaps} after {self.faults.latest}"

    def excused(self, before, run):
        """Whether an overlap is allowed, because a stopped host cannot end its child."""
        return any(began <= run.start and before.start <= began
                   and run.start <= (ended or now_us()) + 200_000
                   for began, ended in self.faults.stops[before.host])

    def line(self):
        figures = []
        for host in self.world.hosts:
            recent = self.samples[host.name][-40:]
            if recent:
                figures.append(f"{host.name} {recent[-1].mib:6.1f} MiB "
                               f"{min(s.descriptors for s in recent):3} fds "
                               f"{recent[-1].threads:2} threads")
        print(f"{time.monotonic() - self.began:7.0f} s  {self.faults.done:5} faults "
              f"{self.world.record.count:7} runs   {' | '.join(figures)}", flush=True)

    def growth(self):
        """Returns the values of the last two quarters for the host that was never killed, and their limit: the
        median of memory, and the minimum of the others, which is their value between runs."""
        samples = self.samples["steady"]
        length = samples[-1].when
        third = [s for s in samples if length / 2 <= s.when < length * 3 / 4]
        last = [s for s in samples if s.when >= length * 3 / 4]
        mib = [statistics.median(s.mib for s in part) for part in (third, last)]
        return {"MiB": (mib[0], mib[1], MIB_MORE + SHARE_MORE * mib[0])} | {
            name: (min(getattr(s, name) for s in third), min(getattr(s, name) for s in last), 0)
            for name in ("descriptors", "threads")}

    def end(self):
        self.faults.end_all()
        for wrapper in self.world.wrappers:
            if wrapper.poll() is None:
                wrapper.terminate()
                wrapper.wait(20)
        self.world.stop()
        for prefix, items in self.items.items():
            self.world.check_items(items, prefix)
            wait_for(lambda prefix=prefix: not self.world.locks(prefix), limit=3,
                     what=f"no locks of runs in {prefix}")
        assert not self.world.children(), "children left"
        assert not self.world.record.fences_back, "a fence went back"


def run(setup, seconds, every):
    failures = []
    with World(setup, *AOF, forget=True) as world:
        soak = Soak(setup, world)
        try:
            wait_for(lambda: world.record.read().count > 10, what="the first runs")
            due = every
            while (now := time.monotonic() - soak.began) < seconds:
                soak.faults.next()
                soak.pause(world.random.uniform(0.1, 1.5))
                if now >= due:
                    soak.line()
                    due += every
            soak.faults.end_all()
            soak.pause(1)
            soak.line()
            growth = soak.growth()
            soak.end()
        except AssertionError as error:
            failures.append(str(error))
            growth = {}
        for name, (before, after, more) in growth.items():
            print(f"steady, {name}: third quarter {before:.1f}, last quarter {after:.1f}")
            if after > before + more and not (setup.sanitized and name == "MiB"):
                failures.append(f"{name} grow: {before:.1f} -> {after:.1f}")
        kinds = ", ".join(f"{name} {n}" for name, n in sorted(soak.faults.counts.items()))
        print(f"faults: {kinds}")
        print(f"runs {world.record.count}, items lost {'?' if failures else 0}, overlapping runs "
              f"{'?' if failures else 0} ({soak.faults.excusable} while their host was stopped), "
              f"longest pause {soak.longest_pause:.1f} s")
    for failure in failures:
        print(f"FAILED: {failure} (seed {setup.seed})")
    print(f"{0 if failures else 1} passed, {len(failures)} failed")
    return 1 if failures else 0

"""Hosts that wait for the same items, and prefetched items that wait on a host."""
import pathlib
import sys
import time

from harness import World, now_us, wait_for
from matrix import in_time, row
from netns import Cable
from proxy import Proxy
from rows_network import cut_off_host, cut_off_world

MOST_SCRIPTS = 4
LEAST_SHARE = 0.5
LEAST_MARGIN_MS = 50  # of 250: SIGKILL follows a quarter of key_expiry before the end of the lease


def scripts(redis):
    stats = redis.ask("INFO", "commandstats").decode()
    return sum(int(line.split("calls=")[1].split(",")[0]) for line in stats.splitlines()
               if line.startswith(("cmdstat_evalsha:", "cmdstat_eval:")))


def runs_of(world, since):
    counts = {host.name: 0 for host in world.hosts}
    for run in world.runs_since(since):
        counts[run.host] += 1
    return counts


@row("more hosts than items", f"scripts per run ≤ {MOST_SCRIPTS}; smallest share ≥ {LEAST_SHARE} of the "
     "mean", alone=True)
def contend(setup):
    with World(setup) as world:
        items = world.fill(["a", "b"])
        for i in range(6):
            world.host(f"h{i}", work_ms=15, concurrency=4, witness=False)
        wait_for(lambda: min(runs_of(world, 0).values()) > 0, what="a run of each host")
        begun, before = now_us(), scripts(world.redis)
        time.sleep(2 * setup.scale)
        per_run = (scripts(world.redis) - before) / len(world.runs_since(begun))
        counts = runs_of(world, begun)
        mean = sum(counts.values()) / len(counts)
        world.stop()
        world.check_items(items)
        assert not world.locks()
        assert not world.redis.ask("ZCARD", "work:waiting"), "somebody still stands in line"
        in_time(mean >= 4, f"only {mean} runs a host")
        assert per_run <= MOST_SCRIPTS, f"{per_run:.1f} scripts a run"
        in_time(min(counts.values()) >= LEAST_SHARE * mean, counts)
        return {"hosts": 6, "items": 2, "runs": sum(counts.values()),
                "scripts a run": round(per_run, 2),
                "least host": round(min(counts.values()) / mean, 2)}


@row("SIGKILL of a waiting host", "an item waits ≤ 1 s", alone=True)
def dead_in_line(setup):
    with World(setup) as world:
        items = world.fill(["a"])
        hosts = [world.host(f"h{i}", work_ms=20, concurrency=2, witness=False) for i in range(4)]
        gaps = []
        for round_ in range(3 * setup.scale):
            world.wait_runs(8)
            victim = next(host for host in hosts[round_ % 4:] + hosts
                          if world.runs()[-1].host != host.name)
            killed = victim.kill()
            world.wait_runs(8)
            times = sorted((r.start, r.end or r.start) for r in world.runs_since(killed - 100_000))
            # If the victim was running an item when it was killed, the item waits for the end of its lock.
            if not any(r.host == victim.name and r.end is None for r in world.runs()):
                gaps += [(b[0] - a[1]) / 1e6 for a, b in zip(times, times[1:])]
            victim.start()
        world.stop()
        world.check_items(items)
        worst = max(gaps, default=0)
        in_time(worst <= 1, f"the item waited {worst:.2f} s")
        return {"kills": 3 * setup.scale, "longest wait s": round(worst, 2)}


def rate_is_back(world, since, rate, limit):
    """Waits until a second has at least 90 % of the rate. Returns the seconds from `since` to its
    start."""
    def start_of_second():
        starts = [run.start for run in world.runs_since(since)]
        for i, start in enumerate(starts):
            last = i + max(int(0.9 * rate), 1) - 1
            if last < len(starts) and starts[last] - start <= 1_000_000:
                return start
        return None
    return (wait_for(start_of_second, limit, "the rate to be back") - since) / 1e6


@row("isolation (namespace), then SIGKILL, of all waiting hosts but three",
     "90 % of the rate ≤ 3 s after the end of their leases", alone=True, limit=240)
def dead_crowd(setup):
    # 100 hosts at the default scale.
    dead, alive, expiry = 20 * setup.scale - 3, 3, 2
    settings = dict(work_ms=50, concurrency=4, key_expiry=f"{expiry}s")
    with Cable() as cable, cut_off_world(setup, cable) as world:
        items = world.fill(["a", "b", "c"])
        far = [cut_off_host(world, cable, f"far{i}", **settings) for i in range(dead)]
        for i in range(alive):
            world.host(f"near{i}", **settings)

        def rate_of_all():
            hosts = {host.name for host in world.hosts}
            wait_for(lambda: hosts <= {run.host for run in world.runs_since(begun)}, 60, "a run of each host")
            measured = now_us()
            time.sleep(2)
            return len(world.runs_since(measured)) / 2

        begun = now_us()
        rate = rate_of_all()
        backs = []
        cable.cut()
        backs.append(rate_is_back(world, now_us(), rate, 30))
        cable.mend()
        begun = now_us()
        rate = rate_of_all()
        for host in far:
            host.process.kill()
        killed = now_us()
        for host in far:
            host.kill()
            world.hosts.remove(host)
        backs.append(rate_is_back(world, killed, rate, 30))
        world.stop()
        world.check_items(items)
        assert not world.overlaps(), world.overlaps()
        in_time(max(backs) <= expiry + 3, f"the rate was back after {max(backs):.1f} s")
        return {"hosts": dead + alive, "rate": round(rate), "back after s": " and ".join(
            f"{back:.1f}" for back in backs), "leases s": expiry}


@row("30,000 wake-ups", "claims ≤ 100 per host; an added item runs ≤ 1 s", alone=True)
def wake_flood(setup):
    with World(setup) as world:
        world.fill(["a"])
        world.redis.ask("SET", "work:lock:a", "mine")
        host = world.host("h", work_ms=5)
        wait_for(lambda: world.redis.ask("PUBSUB", "NUMSUB", "work:wake")[1] == 1,
                 what="the host to listen")
        before = scripts(world.redis)
        with world.redis.wire() as wire:
            for _ in range(30):
                for _ in range(1000):
                    wire.send("PUBLISH", "work:wake", "free")
                for _ in range(1000):
                    wire.read()
        claims = scripts(world.redis) - before
        added = now_us()
        world.redis.ask("RPUSH", "work:list", "b")
        world.redis.ask("PUBLISH", "work:wake", "added")
        run = wait_for(lambda: next(iter(world.runs_since(added)), None), what="b to run")
        late = (run.start - added) / 1e6
        assert host.process.poll() is None
        world.stop()
        assert claims <= 100, f"{claims} scripts for a flood of messages"
        in_time(late <= 1, f"what was added ran after {late:.2f} s")
        return {"scripts": claims, "added runs after s": round(late, 3)}


STREAM = """#!{python}
import json, os, sys, time
if "--caps" in sys.argv:
    print('{{"type":"caps","caps":["stream"]}}')
    sys.exit()
journal = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
def note(what, item):
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    os.write(journal, f"{{what}} {{now}} {{os.getpid()}} {{item}}\\n".encode())
short = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] != "item":
        continue
    pause = float(open(sys.argv[2]).read())
    if pause:
        note("start", message["item"])
        time.sleep(pause)
        note("end", message["item"])
    else:
        short += 1
        if short % 500 == 0:
            note("short", short)
    print(json.dumps({{"type": "complete", "id": message["id"]}}), flush=True)
"""


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def replace(file, text):
    """Replaces a file in one step, so that readers never see a part."""
    partial = file.with_suffix(".new")
    partial.write_text(text)
    partial.rename(file)


def stall(world, proxy, pause, journal):
    """Stalls Redis while prefetched items wait on the host, and makes runs long. Returns the time in ms that
    was left of each lease when the child of its item was done or dead."""
    size = journal.stat().st_size
    proxy.mode = "deaf"
    replace(pause, "0.09")
    time.sleep(0.1)
    begun = now_us()
    with world.redis.wire() as wire:
        asked = now_us()
        ends = {key.decode().split(":", 2)[2]: asked + 1000 * wire.ask("PTTL", key)
                for key in wire.ask("KEYS", "work:lock:*")}
    last = max(ends.values())
    pid, died = None, None
    while now_us() < last + 50_000:
        lines = journal.read_bytes()[size:].decode().splitlines()
        if lines and pid is None:
            pid = int(lines[-1].split()[2])
        if died is None and pid is not None and not alive(pid):
            died = now_us()
        time.sleep(0.001)
    over, started = {}, {}
    for line in journal.read_bytes()[size:].decode().splitlines():
        what, when, _, item = line.split(" ", 3)
        if what != "short":
            (started if what == "start" else over)[item] = int(when)
    margins = []
    for item, when in started.items():
        if when < begun or item not in ends:
            continue
        end = over[item] if over.get(item, 0) > when else died
        assert end is not None, f"the child of {item} is alive"
        margins.append((ends[item] - end) / 1000)
    replace(pause, "0")
    proxy.mode = "pass"
    return margins


@row("prefetched items, Redis stalls, terminate", "no child alive "
     f"{LEAST_MARGIN_MS} ms before the end of its lease", alone=True)
def claims_ahead(setup):
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(60)])
        program, journal, pause = (world.home / name for name in ("stream", "lines", "pause"))
        program.write_text(STREAM.format(python=sys.executable))
        program.chmod(0o755)
        journal.touch()
        pause.write_text("0")
        proxy = Proxy(world.home / "proxy.sock", world.redis.socket, setup.seed)
        world.host("one", how={"url": proxy.url, "drain": "100ms", "redis": (
            'connect_timeout = "1s"\ncommand_timeout = "1s"')}, config=(
            f'[lists.work]\nexecutor = "{program}"\nargs = ["{journal}", "{pause}"]\n'
            'mode = "stream"\nkey_expiry = "1s"\non_lease_loss = "terminate"\n'))
        margins, stalls = [], 0
        # If all prefetched items have run when Redis stalls, the stall shows nothing and is repeated.
        while stalls < 2 * setup.scale or len(margins) < 6 * setup.scale:
            at = journal.stat().st_size
            wait_for(lambda at=at: journal.stat().st_size > at + 60, what="short runs")
            margins += stall(world, proxy, pause, journal)
            stalls += 1
            in_time(stalls < 10 * setup.scale, "nothing is prefetched")
        world.stop()
        world.check_items(items)
        in_time(min(margins) > LEAST_MARGIN_MS,
                f"a child was alive {min(margins):.1f} ms before its lease's end")
        return {"stalls": stalls, "runs begun meanwhile": len(margins),
                "least margin before expiry ms": round(min(margins))}


ROWS = [contend, dead_in_line, dead_crowd, wake_flood, claims_ahead]

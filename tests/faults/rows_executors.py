"""Executors that misbehave."""
import signal
import time

from harness import World, now_us, wait_for
from matrix import in_time, row

# Executor of a list. Arguments: KIND, which selects its behaviour, then the arguments of the
# protocol.
SCRIPT = r"""#!/bin/sh
kind=$1
for last; do :; done
if [ "$last" = --caps ]; then
  case $kind in
    hangs) exec sleep 1000 ;;
    babbles) exec head -c 3000000 /dev/urandom ;;
    *) echo '{"type":"caps","caps":["single"]}'; exit 0 ;;
  esac
fi
case $kind in
  flood) yes 0123456789012345678901234567890123456789 >&2 & exec yes "not JSON" ;;
  endless) exec head -c $ENDLESS /dev/zero ;;
  stubborn) trap '' TERM; while :; do sleep 0.1; done ;;
  leaves) setsid sleep 4 </dev/null >/dev/null 2>&1 & exit 0 ;;
  clings) setsid sleep 4 & exit 0 ;;
  never-reads) sleep 0.2 ;;
  hurries) exit 0 ;;
  closes) exec >&- 2>&-; sleep 0.2 ;;
  garbage) exec head -c 100000 /dev/urandom ;;
  dies) kill -SEGV $$ ;;
esac
"""
OUTCOMES = {
    "flood": "timed out", "endless": "succeeded", "stubborn": "timed out", "leaves": "succeeded",
    "clings": "succeeded", "never-reads": "succeeded", "hurries": "succeeded",
    "closes": "succeeded", "garbage": "succeeded", "dies": "crashed"}
REFUSED = ("hangs", "babbles")
BIG_ITEM = "x" * 100_000  # more than a pipe holds


def write_program(path, text):
    """Writes a program in one step, like an installer."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(0o755)
    new.rename(path)


def hostile_lists(world, endless):
    program = world.home / "hostile"
    write_program(program, SCRIPT)
    config = ""
    for name in [*OUTCOMES, *REFUSED]:
        world.fill([BIG_ITEM if name in ("never-reads", "hurries") else name], name)
        config += (f'[lists.{name}]\nexecutor = "{program}"\nargs = ["{name}"]\n'
                   f'timeout = "{60 if name == "endless" else 2}s"\nkill_grace = "500ms"\n'
                   f'max_line = "64KiB"\nnice = 10\nenv = {{ ENDLESS = "{endless}" }}\n')
    return config


def rate(world, seconds):
    """Returns runs per second of the well-behaved list, and the largest resident memory of w8yd."""
    before, began = world.record.read().count, time.monotonic()
    most = 0.0
    while time.monotonic() < began + seconds:
        most = max(most, world.hosts[0].resident_mib())
        time.sleep(0.05)
    return (world.record.read().count - before) / (time.monotonic() - began), most


@row("executors that flood, never read, crash, …",
     "other lists not slowed; memory bounded; outcomes correct",
     alone=True, sanitized=True)
def hostile(setup):
    endless = 64 << 20 if setup.scale < 5 else 1 << 30
    with World(setup) as world:
        config = world.list_config(work_ms=20, concurrency=2, witness=False)
        items = world.fill([f"i{i}" for i in range(10)])
        how = {"supervisor": 'probe_timeout = "1s"'}
        host = world.host("h", config, how=how)
        world.wait_runs(5)
        alone, _ = rate(world, 2 * setup.scale)
        began = now_us()
        # The hostile lists have `nice`, because w8yd does not share out processor time.
        host.write(config + hostile_lists(world, endless))
        host.signal(signal.SIGUSR2)
        wait_for(lambda: world.last_outcome("dies"), what="the hostile lists to be served")
        beside, most = rate(world, 4 * setup.scale)
        outcomes = {}
        while outcomes != OUTCOMES:
            outcomes = {name: world.last_outcome(name) for name in OUTCOMES}
            wrong = {n: o for n, o in outcomes.items() if o is not None and o != OUTCOMES[n]}
            assert not wrong, wrong
            assert now_us() < began + 60_000_000 * setup.scale, outcomes
            most = max(most, host.resident_mib())
            time.sleep(0.05)
        for name in REFUSED:
            assert f"list={name} " in "\n".join(
                line for line in host.log().splitlines() if "host ineligible for list" in line), name
            assert world.last_outcome(name) is None
        world.stop()
        world.check_items(items)
        assert setup.sanitized or most < 64, f"{most} MiB"
        in_time(setup.sanitized or beside > alone * 0.2, f"{beside} runs/s, alone {alone}")
        return {"kinds": len(OUTCOMES) + len(REFUSED), "outcomes wrong": 0,
                "beside runs/s": round(beside), "alone": round(alone),
                "ratio": round(beside / alone, 2), "MiB at most": round(most, 1),
                "without newline MiB": endless >> 20}


@row("executor deleted, replaced, not +x",
     "serves again ≤ 2.5 s; no run of the old executor; locks left 0")
def changed_executor(setup):
    text = '#!/bin/sh\n[ "$1" = --caps ] && echo \'{"type":"caps","caps":["single"]}\' || ' \
           'echo "{\\"type\\":\\"complete\\",\\"version\\":%d}"\n'
    with World(setup) as world:
        program = world.home / "program"
        write_program(program, text % 0)
        config = (f'[lists.work]\nexecutor = "{program}"\nconcurrency = 2\n'
                  'backoff = { min = "200ms", max = "1s" }\ncooldown = "20ms"\n')
        items = world.fill([f"i{i}" for i in range(4)])
        world.host("h", config, how={"supervisor": 'probe_interval = "1s"'})
        backs, version = {"deleted": [], "not +x": [], "replaced": []}, 0

        def versions():
            return [entry for entry in world.redis.ask("LRANGE", "work:runs", 0, 7)
                    if b'"version"' in entry]

        def back(kind, since):
            new = b'"version":%d' % version
            wait_for(lambda: (found := versions()) and new in found[0].replace(b" ", b""),
                     what=kind)
            backs[kind].append((now_us() - since) / 1e6)

        for _ in range(setup.scale):
            back("replaced", now_us())
            backs["replaced"].clear()
            for kind in backs:
                if kind == "deleted":
                    program.unlink()
                elif kind == "not +x":
                    program.chmod(0o644)
                if kind != "replaced":
                    time.sleep(1.2)
                version += 1
                write_program(program, text % version)
                back(kind, now_us())
            time.sleep(0.3)
            assert all(b'"version":%d' % version in found.replace(b" ", b"")
                       for found in versions()), versions()
        world.stop()
        world.check_items(items)
        assert not world.locks(), world.locks()
        worst = {f"{kind}: back after s": round(max(times), 2) for kind, times in backs.items()}
        in_time(max(worst.values()) <= 2.5, worst)
        return worst | {"items lost": 0, "locks left": 0}


ROWS = [hostile, changed_executor]

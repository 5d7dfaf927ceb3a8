"""10,000 active runs of 1 s in one asyncio executor: rate, and memory of w8yd.

The rate is compared with the smaller of 10,000 runs per second and the rate of no-op runs, at concurrency 500 in
another process of the same script. The bench ends with an error if a lease is lost. In the second case, a proxy delays
all data between w8yd and Redis by 1 ms in each direction.
"""
import contextlib
from typing import List

from ..daemon import W8yd
from ..measure import Goal, Row, Spread, Subject, in_turn
from ..process_facts import memory
from ..processes import Background, wait_for
from ..redis import Redis
from ..working import rate

RUNS = 10_000
ITEMS = 2 * RUNS
NO_OP = 500
DELAY_US = 1000
MAX_BYTES = 4096


def host(bench, stack, redis: Redis, url: str, name: str, concurrency: int, seconds: int) -> W8yd:
    redis.fill(f"{name}:list", (f"item-{i}" for i in range(ITEMS)))
    script = bench.programs.script("kit_sleeper.py")
    return stack.enter_context(W8yd(
        bench.programs.ours("w8yd"), bench.folder / name, url,
        f'[lists.{name}]\nexecutor = "{bench.programs.interpreter("Python")}"\n'
        f'args = ["{script}", "{concurrency}", "{seconds}"]\nconcurrency = {concurrency}\n'))


def run_case(bench, case: str, delay_us: int, seconds: float) -> List[Row]:
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis(bench.folder / f"redis-{delay_us}"))
        url = redis.url
        if delay_us > 0:
            path = str(bench.folder / "delayed.sock")
            proxy = [bench.programs.bare("delay_proxy"), path, redis.socket, str(delay_us)]
            stack.enter_context(Background(proxy))
            wait_for("delay_proxy", 10, lambda: (bench.folder / "delayed.sock").exists())
            url = f"unix://{path}"
        no_op = host(bench, stack, redis, url, f"noop-{delay_us}", NO_OP, 0)
        no_op.quiet()
        long = host(bench, stack, redis, url, f"long-{delay_us}", RUNS, 1)
        long.quiet()
        idle = memory(long.pid).rss

        def leases() -> int:
            return long.status()["redis"]["leases"]

        long.go_on()
        wait_for(f"{RUNS} runs", 60, lambda: leases() == RUNS)
        each = (memory(long.pid).rss - idle) / RUNS
        long.quiet()
        taken = in_turn([Subject("no-op", "", lambda: rate(no_op, f"noop-{delay_us}", seconds)),
                         Subject("long", "", lambda: rate(long, f"long-{delay_us}", seconds, 3))], bench.rounds)
    limits = [min(RUNS, one) for one in taken["no-op"]]
    rows = [
        Row(case, "no-op runs", f"concurrency {NO_OP}", "runs/s", Spread.of(taken["no-op"])),
        Row(case, "runs of 1 s", f"concurrency {RUNS}", "runs/s", Spread.of(taken["long"]),
            Spread.of([a / b for a, b in zip(taken["long"], limits)])),
        Row(case, "w8yd, memory", "", "bytes per run", Spread(each, each, each)),
    ]
    rows[1].goals.append(Goal(f"≥ 0.9 × the smaller of {RUNS:,} and the row above", rows[1].ratio.median >= 0.9))
    rows[2].goals.append(Goal(f"≤ {MAX_BYTES}", each <= MAX_BYTES))
    return rows


def run(bench) -> List[Row]:
    rows: List[Row] = []
    for case, delay_us in (("Redis beside w8yd", 0), ("Redis with a delay of 1 ms to and from it", DELAY_US)):
        bench.say(case)
        rows += run_case(bench, case, delay_us, 2 if bench.quick else 5)
    return rows

"""Items that another client removes while hosts claim them."""
import collections
import random

from harness import World, wait_for
from matrix import row

ITEMS = 10_000
ENDS = 24  # number of items at each end of the list; most removals are of these
LIST, FENCE, AWAY = "work:list", "work:fence", "work:away"

# Removes items in one step. Returns the fencing token of the last claim before the removal, and each removed item of
# which no copy is left, with its lock.
REMOVE = """
local list, how, at, other = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local items = {redis.call('LINDEX', list, at)}
if how == 'LPOP' then
  items = {redis.call('LPOP', list)}
elseif how == 'LREM' then
  redis.call('LREM', list, 0, items[1])
elseif how == 'LSET' then
  redis.call('LSET', list, at, other)
else
  items = redis.call('LRANGE', list, 0, -1)
  if how == 'DEL' then redis.call('DEL', list) else redis.call('RENAME', list, KEYS[3]) end
end
local reply = {redis.call('GET', KEYS[2])}
local seen = {}
for i = 1, #items do
  if not seen[items[i]] and not (redis.call('EXISTS', list) == 1 and redis.call('LPOS', list, items[i])) then
    reply[#reply + 1] = items[i]
    reply[#reply + 1] = redis.call('GET', 'work:lock:' .. items[i]) or ''
  end
  seen[items[i]] = true
end
return reply
"""
# Adds items in one step. Returns the fencing token of the last claim before.
ADD = """
local fence = redis.call('GET', KEYS[2])
if #ARGV > 0 then redis.call('RPUSH', KEYS[1], unpack(ARGV)) else redis.call('RENAME', KEYS[3], KEYS[1]) end
redis.call('PUBLISH', 'work:wake', 'free')
return fence
"""


class Remover:
    """Client that removes and adds items, and records between which claims each item had no copy.

    Each claim has a larger fencing token than all earlier claims of the list, and the run has the token of its claim.
    So a run whose token is between those of a removal and of the next addition was claimed without a copy."""

    def __init__(self, world, wire, dice):
        self.world, self.wire, self.dice = world, wire, dice
        self.absent = collections.defaultdict(list)  # item -> [token at removal, token at addition or None]
        self.standing = {}  # runs that held an item when its last copy was removed: run ID -> item
        self.removals = collections.Counter()

    def remove(self, how, at=0, other=""):
        fence, *pairs = self.wire.ask("EVAL", REMOVE, 3, LIST, FENCE, AWAY, how, at, other)
        self.removals[how] += 1
        for item, lock in zip(pairs[::2], pairs[1::2]):
            item = item.decode()
            self.absent[item].append([int(fence), None])
            if lock.startswith(b"run:"):
                self.standing[lock.decode().rsplit(":", 1)[1]] = item
        return len(pairs) // 2

    def add(self, *items):
        """Adds items, or without items, renames the list back."""
        fence = int(self.wire.ask("EVAL", ADD, 3, LIST, FENCE, AWAY, *items))
        for item in items or {item.decode() for item in self.wire.ask("LRANGE", LIST, 0, -1)}:
            for absence in self.absent[item][-1:]:
                absence[1] = absence[1] or fence

    def position(self):
        """Returns a position near the left end (next), near the right end (claimed last), or anywhere."""
        return self.dice.choice((self.dice.randrange(ENDS), -1 - self.dice.randrange(ENDS),
                                 self.dice.randrange(-ITEMS // 2, ITEMS // 2)))

    def wrong_runs(self):
        """Returns runs whose item had no copy in the list when it was claimed."""
        return [run for run in self.world.runs() for removed, added in self.absent.get(run.item, ())
                if removed < run.fence and (added is None or run.fence <= added)]


@row("another client removes items of two hosts by LREM, LPOP, LSET, DEL and RENAME",
     "runs of removed items 0; runs claimed before the removal start", sanitized=True)
def removed_items(setup):
    dice = random.Random(setup.seed)
    with World(setup) as world, world.redis.wire() as wire:
        items = [f"i{number}" for number in range(ITEMS)]
        for at in range(0, ITEMS, 1000):
            world.fill(items[at:at + 1000])
        world.fill(items[:ENDS])  # second copies
        for name in ("h1", "h2"):
            world.host(name, work_ms=5, concurrency=8, witness=False, how={"drain": "20s"})
        world.wait_runs(ENDS, what="runs before the removals")
        remover = Remover(world, wire, dice)
        for round_ in range(setup.scale):
            for step in range(100):
                for how in ("LPOP", "LREM", "LSET"):
                    remover.remove(how, remover.position(), f"r{round_}s{step}{how}")
                world.wait_runs(2, what="runs between the removals")
            remover.remove("RENAME")
            wait_for(lambda: not world.locks(), what="the runs of the renamed list to end")
            remover.add()
            world.wait_runs(ENDS, what="runs after the list is renamed back")
            remover.remove("DEL")
            for at in range(0, ITEMS, 1000):
                remover.add(*(f"g{round_}i{number}" for number in range(at, at + 1000)))
            world.wait_runs(ENDS, what="runs of the new items")
        started = lambda: {run.run for run in world.runs()}
        wait_for(lambda: remover.standing.keys() <= started(), what="runs claimed before the removal to start")
        world.stop()
        wrong = remover.wrong_runs()
        assert not wrong, f"{len(wrong)} runs of removed items: {wrong[:5]}"
        assert not world.overlaps(), world.overlaps()
        assert remover.standing, "no removed item was running"
        assert not world.locks()
        return {"removals": sum(remover.removals.values()), "runs": world.record.count, "runs of removed items": 0,
                "claimed before, started": len(remover.standing)}


ROWS = [removed_items]

"""A hostile server."""
import re
import sys
from pathlib import Path

from forger import Forger, bulk, text
from harness import World, wait_for
from matrix import row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from api_client import UnixConnection  # noqa: E402

MIB = 1 << 20
MOST_MIB = 256  # w8y-security(7)
RUN = b'{"run":"01J0000000000000000000000A","item":"i","outcome":"succeeded","time_ms":1,"entered_ms":1'

# Functions, so that the replies (600 MiB) are not all in memory at the same time.
REPLIES = {
    "63 MiB": lambda: b"*1\r\n" + bulk(63 * MIB),
    "600,000 numbers": lambda: b"*600000\r\n" + b":1\r\n" * 600_000,
    "600,000 strings": lambda: b"*600000\r\n" + b"$0\r\n\r\n" * 600_000,
    "19,000 strings of 3.2 KiB": lambda: b"*19000\r\n" + bulk(3265) * 19_000,
}
TOO_LONG = lambda: b"*1\r\n" + bulk(127 * MIB)  # noqa: E731
RECORDS = {
    "a run with 8,000,000 members": lambda: b"*1\r\n" + text(RUN + b',"a":1' * 8_000_000 + b"}"),
    "a run with 20,000,000 values": lambda: b"*1\r\n" + values(20_000_000),
    "20 runs with 200,000 values": lambda: b"*20\r\n" + 20 * values(200_000),
}


def values(count):
    return text(RUN + b',"result":[' + b"[]," * count + b"0]}")


class Memory:
    """Growth of a process: its peak resident memory, compared with its memory at the start."""

    def __init__(self, pid):
        self.proc = Path(f"/proc/{pid}")
        (self.proc / "clear_refs").write_text("5")
        self.before = self._mib("VmRSS")

    def _mib(self, name):
        return int(re.search(rf"{name}:\s*(\d+)", (self.proc / "status").read_text())[1]) / 1024

    def more(self):
        return self._mib("VmHWM") - self.before


def ask(host, path):
    connection = UnixConnection(str(host.home / "w8yd.sock"))
    connection.request("GET", path)
    connection.getresponse().read()
    connection.close()


@row("a hostile server's replies", f"each takes ≤ {MOST_MIB} MiB of w8yd's memory")
def hostile_replies(setup):
    with World(setup) as world:
        world.fill([f"i{i}" for i in range(4)])
        forger = Forger(world.home / "forger.sock", world.redis.socket)
        host = world.host("h", cooldown="100ms", history=10,
                          how={"url": forger.url, "redis": 'command_timeout = "20s"'})
        world.wait_runs(4)
        assert host.stop() == 0
        grown = {}

        def attack(name, word, reply, path=None, over=None):
            host.start()  # a new process, without memory from an earlier attack
            memory = Memory(host.process.pid)
            forger.forge(word, reply())

            def is_sent():
                if path:  # repeated, because the previous reply may have closed the connection
                    ask(host, path)
                return forger.is_sent()

            wait_for(is_sent, what=f"{word} forged")
            since = host.log_size()
            if over:
                wait_for(lambda: over in host.log(), what=over)
            else:
                world.wait_runs(4, what=f"work to go on after {word}: {name}")
            grown[f"{word}: {name}"] = more = memory.more()
            assert more <= MOST_MIB, f"{word}: {name}: {more:.0f} MiB"
            assert host.stop() == 0, host.log(since)

        for name, reply in REPLIES.items():
            attack(name, "EVAL", reply)
            attack(name, "TIME", reply, "/api/v1/lists/work/items")
        for name, reply in (REPLIES | RECORDS | {"127 MiB": TOO_LONG}).items():
            attack(name, "LRANGE", reply, "/api/v1/runs?list=work")
        # After this the host does not claim from the list for ten minutes.
        attack("127 MiB", "EVAL", TOO_LONG, over="it has more than 64 MiB; shorten the longest")
        forger.close()
        return {"replies": len(grown), "MiB more": round(max(grown.values()))}


ROWS = [hostile_replies]

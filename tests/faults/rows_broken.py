"""Damaged replies."""
from harness import World
from matrix import row
from outage import SETTINGS, TIMEOUTS, Outages
from proxy import Proxy


@row("damaged replies", "recovers without help", sanitized=True)
def broken_replies(setup):
    with World(setup) as world:
        items = world.fill([f"i{i}" for i in range(8)])
        proxy = Proxy(world.home / "proxy.sock", world.redis.socket, setup.seed)
        for name in ("one", "two"):
            world.host(name, **SETTINGS, how={"url": proxy.url, "redis": TIMEOUTS})
        outage = Outages(setup, world, items)

        def mode(name):
            def switch():
                proxy.mode = name
            return switch

        # w8yd detects a connection without replies after command_timeout.
        outage("half a reply, then nothing", mode("half"), mode("pass"), hold=1.5, limit=3.5,
               stops_work=False)
        outage("closed in the middle of a reply", mode("cut"), mode("pass"), hold=1, stops_work=False)
        outage("garbage", mode("garbage"), mode("pass"), limit=3.5)
        outage("byte by byte", mode("dribble"), mode("pass"), hold=1, stops_work=False)
        outage("requests not read", mode("deaf"), mode("pass"), hold=1.5, limit=3.5)
        outage.over()


ROWS = [broken_replies]

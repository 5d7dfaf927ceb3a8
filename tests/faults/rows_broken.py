"""Replies that don't come whole."""
from harness import World
from matrix import row
from outage import SETTINGS, TIMEOUTS, Outages
from proxy import Proxy


@row("replies spoilt on the way", "it comes back by itself", sanitized=True)
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

        # What was stalled at the end of the fault is missed after command_timeout.
        outage("half a reply, then nothing", mode("half"), mode("pass"), hold=1.5, limit=3.5,
               stops_work=False)
        outage("cut in the middle", mode("cut"), mode("pass"), hold=1, stops_work=False)
        outage("garbage", mode("garbage"), mode("pass"), limit=3.5)
        outage("byte by byte", mode("dribble"), mode("pass"), hold=1, stops_work=False)
        outage("requests not read", mode("deaf"), mode("pass"), hold=1.5, limit=3.5)
        outage.over()


ROWS = [broken_replies]

"""Error replies of a real server."""
import contextlib
import threading
import time

from harness import World, wait_for
from matrix import row
from outage import SETTINGS, TIMEOUTS, Outages
from rows_redis import AOF
from private_redis import Redis, RedisError, free_port

RECOVERS = "recovers without help"


def two_hosts(setup, world, **how):
    items = world.fill([f"i{i}" for i in range(8)])
    for name in ("one", "two"):
        world.host(name, **SETTINGS, how={"redis": TIMEOUTS} | how)
    return Outages(setup, world, items)


@row("a server that refuses writes", RECOVERS, sanitized=True)
def refused_writes(setup):
    with World(setup) as world:
        redis = world.redis
        outage = two_hosts(setup, world)
        dump = redis.home / "dump.rdb"

        def snapshot(status):
            with contextlib.suppress(RedisError):  # a snapshot is being written
                redis.ask("BGSAVE")
            return redis.info("rdb_last_bgsave_status") == status

        def break_snapshots():
            dump.unlink(missing_ok=True)
            dump.mkdir()  # a file cannot replace a directory
            redis.set(save="3600 1", stop_writes_on_bgsave_error="yes")
            wait_for(lambda: snapshot("err"), what="a snapshot to fail")

        def mend_snapshots():
            dump.rmdir()
            wait_for(lambda: snapshot("ok"), what="a snapshot")
            redis.set(save="")

        def stale():
            redis.set(replica_serve_stale_data="no")
            redis.ask("REPLICAOF", "127.0.0.1", "1")

        outage("OOM", lambda: redis.set(maxmemory="1"), lambda: redis.set(maxmemory="0"))
        outage("MISCONF", break_snapshots, mend_snapshots)
        outage("NOREPLICAS", lambda: redis.set(min_replicas_to_write="1"),
               lambda: redis.set(min_replicas_to_write="0"))
        outage("MASTERDOWN", stale, lambda: redis.ask("REPLICAOF", "NO", "ONE"))
        outage.over()


@row("a server that changes its role", RECOVERS)
def changed_part(setup):
    port, other_port = free_port(), free_port()
    with World(setup, "--port", str(port), "--repl-diskless-sync-delay", "0", *AOF) as world:
        redis = world.redis
        other = Redis(world.home / "other", "--port", str(other_port),
                      "--repl-diskless-sync-delay", "0")
        try:
            outage = two_hosts(setup, world)

            def linked(replica):
                return replica.info("master_link_status") == "up"

            def demote():
                """Makes the other server the primary, and this one its replica."""
                other.ask("REPLICAOF", "127.0.0.1", port)
                wait_for(lambda: linked(other), what="a replica")
                other.ask("REPLICAOF", "NO", "ONE")
                redis.ask("REPLICAOF", "127.0.0.1", other_port)
                wait_for(lambda: linked(redis), what="the former primary to follow")

            def reload_slowly():
                redis.kill()
                redis.options += ("--key-load-delay", "150")
                redis.start(wait=False)

            def loaded():
                wait_for(redis.answers, what="the server to have loaded")

            outage("READONLY", demote, lambda: redis.ask("REPLICAOF", "NO", "ONE"))
            with redis.wire() as wire:
                for i in range(8000):
                    wire.send("SET", f"ballast:{i}", "x" * 10)
                for i in range(8000):
                    wire.read()
            outage("LOADING", reload_slowly, loaded)
            outage.over()
        finally:
            other.kill()


@row("a server that is busy", RECOVERS, sanitized=True)
def busy_server(setup):
    with World(setup) as world:
        redis = world.redis
        outage = two_hosts(setup, world)
        redis.set(busy_reply_threshold="50")
        held = []
        stop = threading.Event()

        def ask_and_forget(*words):
            wire = redis.wire()
            wire.send(*words)
            held.append(wire)

        def flush_scripts():
            stop.clear()

            def again_and_again():
                with redis.wire() as wire:
                    while not stop.is_set():
                        wire.ask("SCRIPT", "FLUSH")
                        time.sleep(0.001)
            held.append(threading.Thread(target=again_and_again))
            held[-1].start()

        def end_flushes():
            stop.set()
            held.pop().join()

        def no_room():
            held.append(redis.wire())
            held[-1].ask("CONFIG", "SET", "maxclients", "1")
            held[-1].ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

        def room():
            with held.pop() as wire:
                wire.ask("CONFIG", "SET", "maxclients", "1000")

        def awake():
            wait_for(redis.answers, what="the server to wake up")
            held.pop().close()

        def drop_clients():
            redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

        outage("NOSCRIPT: SCRIPT FLUSH in a loop", flush_scripts, end_flushes, stops_work=False)
        outage("BUSY: a script that does not end",
               lambda: ask_and_forget("EVAL", "while true do end", 0),
               lambda: (redis.ask("SCRIPT", "KILL"), held.pop().close()))
        outage("max number of clients", no_room, room)
        outage("CLIENT KILL", drop_clients, lambda: None, hold=0.3, stops_work=False)
        outage("slow: DEBUG SLEEP 0.8",
               lambda: ask_and_forget("DEBUG", "SLEEP", "0.8"), awake, hold=0.1,
               stops_work=False)
        outage("slow: DEBUG SLEEP 2.5 > timeout",
               lambda: ask_and_forget("DEBUG", "SLEEP", "2.5"), awake, hold=0.1,
               stops_work=False)
        outage.over()


@row("a server that refuses logins", RECOVERS, sanitized=True)
def refused_logins(setup):
    with World(setup) as world:
        redis, secret = world.redis, world.home / "password"
        redis.ask("ACL", "SETUSER", "worker", "on", ">first", "~*", "&*", "+@all")
        secret.write_text("first\n")
        secret.chmod(0o600)
        outage = two_hosts(setup, world, url=f"unix://worker@{redis.socket}",
                           redis=f'{TIMEOUTS}\npassword_file = "{secret}"')
        words = []

        def user(*rules):
            redis.ask("ACL", "SETUSER", "worker", *rules)
            with contextlib.suppress(RedisError):
                redis.ask("CLIENT", "KILL", "USER", "worker")

        def change_password():
            words.append(f"password{len(words)}")
            user("resetpass", f">{words[-1]}")

        outage("WRONGPASS: password changed", change_password,
               lambda: secret.write_text(words[-1] + "\n"), limit=6)
        outage("ACL user off", lambda: user("off"), lambda: user("on"), limit=6)
        outage("NOPERM", lambda: redis.ask("ACL", "SETUSER", "worker", "-@write"),
               lambda: redis.ask("ACL", "SETUSER", "worker", "+@all"))
        outage.over()


ROWS = [refused_writes, changed_part, busy_server, refused_logins]

"""Faults of hosts and Redis for a soak. Each function starts a fault, and returns a function that ends it."""
import collections
import contextlib
import os
import resource
import signal

from harness import now_us, wait_for
from private_redis import RedisError


class Faults:
    def __init__(self, soak):
        self.soak, self.world, self.random = soak, soak.world, soak.world.random
        self.away = set()  # hosts that are down now
        self.stops = collections.defaultdict(list)  # by host: [start, end] of each SIGSTOP
        self.going = []
        self.done = 0
        self.latest = "nothing"
        self.counts = collections.Counter()
        self.wrapper = None
        self.kinds = {name.removeprefix("do_"): getattr(self, name)
                      for name in dir(self) if name.startswith("do_")}
        # At most one of these faults may be active: each needs an available Redis, and makes it
        # unavailable.
        self.of_redis = {"kill_redis", "debug_sleep", "oom", "readonly", "masterdown", "clients",
                         "scripts", "users"}

    @property
    def excusable(self):
        return len(self.world.record.overlaps())

    def next(self):
        """Starts one or two faults for some time."""
        names = self.random.sample(sorted(self.kinds), self.random.choice((1, 1, 2)))
        if len(self.of_redis & set(names)) == 2:
            names.pop()
        self.latest = " and ".join(names)
        for name in names:
            self.counts[name] += 1
            self.done += 1
            self.going.append(self.kinds[name]())
        self.soak.pause(self.random.uniform(0.1, 3.0))
        self.end_all()

    def end_all(self):
        while self.going:
            end = self.going.pop()
            if end:
                end()
        self.world.record.mark(now_us())

    def mortal(self):
        return self.random.choice([host for host in self.world.hosts
                                   if host.name != "steady" and host.name not in self.away])

    def any_host(self):
        return self.random.choice([host for host in self.world.hosts
                                   if host.name not in self.away])

    # ---- hosts

    def _restart(self, host):
        host.write(self.soak.config)  # a reload may have left an invalid config
        host.start()
        self.away.discard(host.name)

    def do_kill_host(self):
        host = self.mortal()
        self.away.add(host.name)
        host.kill()
        return lambda: self._restart(host)

    def do_restart_host(self):
        host = self.mortal()
        self.away.add(host.name)
        host.signal(signal.SIGTERM)

        def start():
            assert host.stop() == 0, host.log()[-2000:]
            self._restart(host)
        return start

    def do_stop_host(self):
        host = self.any_host()
        stop = [now_us(), None]
        self.stops[host.name].append(stop)
        host.signal(signal.SIGSTOP)

        def resume():
            with contextlib.suppress(ProcessLookupError):
                host.signal(signal.SIGCONT)
            stop[1] = now_us()
        return resume

    def do_quiet(self):
        host = self.any_host()
        host.signal(signal.SIGUSR1)
        return lambda: host.process.poll() is None and host.signal(signal.SIGCONT)

    def do_reload(self):
        host = self.any_host()
        good = self.soak.config.replace("concurrency = 2",
                                        f"concurrency = {self.random.randrange(1, 4)}")
        host.write(self.random.choice((good, good, good + "nonsense = 1\n[lists.\n")))
        host.signal(signal.SIGUSR2)

    def do_descriptors(self):
        host = self.any_host()
        _, hard = resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (10, hard))

        def enough():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
        return enough

    # ---- runs

    def do_kill_children(self):
        for pid in self.world.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def do_wrapper(self):
        """Starts a w8y on the list. The next call kills it."""
        if self.wrapper and self.wrapper.poll() is None:
            self.wrapper.kill()
            self.wrapper.wait()
            self.world.wrappers.remove(self.wrapper)
        self.wrapper = self.world.wrapper("-k", "work", "-x", "2", "-c", "-q", work_ms=80)

    # ---- Redis

    def _ask(self, *words):
        with contextlib.suppress(OSError, RedisError):
            return self.world.redis.ask(*words)

    def do_kill_redis(self):
        self.world.redis.kill()
        return self.world.redis.start

    def do_debug_sleep(self):
        wire = self.world.redis.wire()
        wire.send("DEBUG", "SLEEP", round(self.random.uniform(0.1, 2.5), 2))

        def awake():
            wait_for(self.world.redis.answers, what="the server to wake up")
            wire.close()
        return awake

    def do_oom(self):
        self._ask("CONFIG", "SET", "maxmemory", 1)
        return lambda: self._ask("CONFIG", "SET", "maxmemory", 0)

    def do_readonly(self):
        self._ask("REPLICAOF", "127.0.0.1", 1)
        return lambda: self._ask("REPLICAOF", "NO", "ONE")

    def do_masterdown(self):
        self._ask("CONFIG", "SET", "replica-serve-stale-data", "no")
        self._ask("REPLICAOF", "127.0.0.1", 1)

        def end():
            self._ask("REPLICAOF", "NO", "ONE")
            self._ask("CONFIG", "SET", "replica-serve-stale-data", "yes")
        return end

    def do_clients(self):
        self._ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def do_scripts(self):
        self._ask("SCRIPT", "FLUSH")

    def do_users(self):
        """Rotates the list like an operator, and removes and adds an item in one step."""
        item = self.random.choice(sorted(self.soak.items["work"]))
        self._ask("EVAL", "redis.call('LREM', KEYS[1], 0, ARGV[1]) "
                  "redis.call('LPUSH', KEYS[1], ARGV[1])", 1, "work:list", item)
        self._ask("LMOVE", "work:list", "work:list", "LEFT", "RIGHT")

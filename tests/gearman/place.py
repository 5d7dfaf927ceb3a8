"""A gearmand, hosts and what they write: of one case, gone with it."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from gear_client import Client  # noqa: E402
from private_gearmand import Gearmand, free_port  # noqa: E402, F401
from private_redis import Redis, die_with_parent, wait_for  # noqa: E402

WORKER = HERE / "worker.py"


class Host:
    """A w8yd. `lists`: TOML of lists."""

    def __init__(self, place, name, servers, lists, redis=True):
        self.place, self.name, self.servers, self.redis = place, name, servers, redis
        self.home = place.home / name
        self.home.mkdir()
        self.log = self.home / "log"
        self.write(lists)
        self.process = None
        self.start()

    def write(self, lists, servers=None):
        self.servers = servers or self.servers
        places = ", ".join(f'"127.0.0.1:{getattr(each, "port", each)}"' for each in self.servers)
        redis = f'[redis]\nurl = "{self.place.redis.url}"\n' if self.redis else ""
        new = self.home / "w8y.new"
        new.write_text(f'{redis}[gearman]\nservers = [{places}]\n[supervisor]\nhost = "{self.name}"\n'
                       f'status = ["unix:{self.home}/sock"]\ndrain_timeout = "30s"\n{lists}')
        new.rename(self.home / "w8y.toml")

    def start(self):
        env = {key: value for key, value in os.environ.items() if key != "NOTIFY_SOCKET"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.place.bin / "w8yd", "--config", self.home / "w8y.toml"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=env, start_new_session=True,
                preexec_fn=die_with_parent)
        wait_for(lambda: self.says(" ready ") or self.process.poll() is not None, what=f"{self.name} to be ready: {self.text()}")

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def says(self, words):
        return self.text().count(words)

    def ctl(self, *words, status=0):
        done = subprocess.run([self.place.bin / "w8yctl", "--config", self.home / "w8y.toml", *words],
                              capture_output=True, text=True, timeout=120)
        assert status is None or done.returncode == status, (words, done)
        return done.stdout + done.stderr

    def status(self):
        return json.loads(self.ctl("status", "--json", status=None))

    def list(self, name):
        return next(each for each in self.status()["lists"] if each["list"] == name)

    def reload(self, lists, servers=None):
        self.write(lists, servers)
        self.ctl("reload")

    def history(self, name):
        """The failed runs first, each kind newest first."""
        entries = [entry for kind in ("failed-runs", "runs")
                   for entry in self.place.redis.ask("LRANGE", f"{name}:{kind}", 0, -1)]
        return [json.loads(entry) for entry in entries]

    def end(self, number=signal.SIGTERM):
        if self.process is None:
            return 0
        self.process.send_signal(number)
        code = self.process.wait(120)
        self.process = None
        return code


class Place:
    def __init__(self, programs):
        self.bin = pathlib.Path(programs)
        self.folder = tempfile.TemporaryDirectory(prefix="w8y-gearman-", ignore_cleanup_errors=True)
        self.home = pathlib.Path(self.folder.name)
        self.home.chmod(0o755)
        self.parts = []
        self.own_redis = None
        self.clients = []

    @property
    def redis(self):
        if self.own_redis is None:
            self.own_redis = Redis(self.home / "redis")
        return self.own_redis

    def gearmand(self, *options, **more):
        server = Gearmand(self.home, *options, **more)
        self.parts.append(server)
        return server

    def host(self, servers, lists, name="alpha", redis=True):
        host = Host(self, name, servers, lists, redis)
        self.parts.append(host)
        return host

    def client(self, server, **more):
        client = Client(getattr(server, "port", server), **more)
        self.clients.append(client)
        return client

    def order(self, **order):
        return json.dumps(order).encode()

    def notes(self, name="notes"):
        """(function, id, tag) of each run that was started."""
        path = self.home / name
        return [tuple(line.split(" ", 2)) for line in path.read_text().splitlines()] \
            if path.exists() else []

    def close(self):
        for client in self.clients:
            client.close()
        for part in self.parts:
            if isinstance(part, Host) and part.process:
                part.process.kill()
                part.process.wait(60)
        for part in self.parts:
            if isinstance(part, Gearmand):
                part.stop()
        if self.own_redis:
            self.own_redis.kill()
        self.folder.cleanup()

"""A w8yd that starts runs only while it is measured."""
import http.client
import json
import os
import pathlib
import signal
import socket
from typing import Dict, Sequence

from .processes import Background, wait_for


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str):
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class W8yd:
    """Context manager: runs w8yd with `lists` as its config. `settings` go into [supervisor].
    `addresses`: addresses of the status API in addition to a unix socket. Without a `redis_url`, the config
    has no Redis."""

    def __init__(self, program: str, folder: pathlib.Path, redis_url: str, lists: str,
                 settings: str = "", patience: float = 60, addresses: Sequence[str] = ()):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        self._status = str(folder / "w8yd.sock")
        self.config = folder / "w8y.toml"
        status = ", ".join(f'"{one}"' for one in (f"unix:{self._status}", *addresses))
        redis = f'[redis]\nurl = "{redis_url}"\n\n' if redis_url else ""
        self._head = (f'{redis}[supervisor]\n'
                      f'status = [{status}]\n{settings}\n')
        self.configure(lists)
        self.log = folder / "w8yd.log"
        self._process = Background([program, "--config", str(self.config)], log=str(self.log))
        try:
            wait_for("w8yd", patience, self._ready)
        except BaseException as problem:
            self._process.__exit__()
            if isinstance(problem, RuntimeError):
                raise RuntimeError(f"{problem}\n{self.log.read_text()}") from problem
            raise

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.go_on()
        self._process.__exit__(*problem)

    def configure(self, lists: str):
        """Writes the config, which applies after a reload."""
        self.config.write_text(self._head + lists)

    @property
    def socket(self) -> str:
        return self._status

    def status(self) -> Dict:
        return self._get("/api/v1/status")

    @property
    def pid(self) -> int:
        return self._process.pid

    def quiet(self):
        os.kill(self.pid, signal.SIGUSR1)
        wait_for("quiet", 10, lambda: all(one["here"]["running"] == 0 for one in self._lists()))

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)

    def succeeded(self, prefix: str) -> int:
        return self._good(prefix, self._get(f"/api/v1/lists/{prefix}")["here"]["counters"])

    def all_succeeded(self) -> Dict[str, int]:
        return {one["list"]: self._good(one["list"], one["here"]["counters"]) for one in self._lists()}

    def _good(self, prefix: str, counters: Dict[str, int]) -> int:
        for name, value in counters.items():
            if name not in ("claimed", "succeeded", "bad_lines") and value != 0:
                raise RuntimeError(f"list {prefix}: {name} is {value}; see {self.log}")
        return counters["succeeded"]

    def state(self, prefix: str) -> str:
        return self._get(f"/api/v1/lists/{prefix}")["state"]

    def _lists(self):
        return self._get("/api/v1/lists")["lists"]

    def _ready(self) -> bool:
        try:
            return bool(self._get("/readyz")["ready"])
        except OSError:
            return False

    def connection(self) -> http.client.HTTPConnection:
        return _UnixConnection(self._status)

    def _get(self, path: str) -> Dict:
        connection = self.connection()
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

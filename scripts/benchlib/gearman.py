"""gearmand with a queue of jobs, and the workers of gearman's own command line."""
import pathlib
import socket
import subprocess
from typing import List

from .processes import ENVIRONMENT, Background, rate_over, wait_for
from .redis import free_port

FUNCTION = "bench"


class Gearman:
    """A job server on loopback: a with-block."""

    def __init__(self, server: str, tool: str, folder: pathlib.Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._tool = tool
        self._port = free_port()
        self._server = Background([
            server, "--listen=127.0.0.1", f"--port={self._port}", f"--log-file={folder}/gearmand.log"
        ])
        try:
            wait_for("gearmand", 10, self._answers)
        except BaseException:
            self._server.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._server.__exit__(*problem)

    def rate(self, program: str, workers: int, jobs: int, seconds: float) -> float:
        """Jobs per second by so many workers, on a queue that holds enough of them."""
        self._queue(jobs - self._waiting())
        running: List[Background] = []
        try:
            for _ in range(workers):
                running.append(Background([self._tool, "-h", "127.0.0.1", "-p", str(self._port),
                                           "-w", "-f", FUNCTION, program]))
            before = self._waiting()
            wait_for("gearman -w", 10, lambda: self._waiting() < before)
            rate = -rate_over(seconds, self._waiting)
            if self._waiting() == 0:
                raise RuntimeError("the queue of gearmand ran empty")
            return rate
        finally:
            for worker in running:
                worker.__exit__()

    def _queue(self, jobs: int):
        if jobs <= 0:
            return
        lines = "".join(f"{number}\n" for number in range(jobs))
        subprocess.run([self._tool, "-h", "127.0.0.1", "-p", str(self._port), "-b", "-n", "-f",
                        FUNCTION], input=lines, text=True, env=ENVIRONMENT, check=True,
                       stdout=subprocess.DEVNULL)

    def _waiting(self) -> int:
        """Jobs that have not ended, by the server's administrative protocol."""
        with socket.create_connection(("127.0.0.1", self._port), 10) as admin:
            admin.sendall(b"status\n")
            for line in admin.makefile("r"):
                fields = line.rstrip("\n").split("\t")
                if fields[0] == FUNCTION:
                    return int(fields[1])
                if line == ".\n":
                    break
        return 0

    def _answers(self) -> bool:
        try:
            return self._waiting() == 0
        except OSError:
            return False

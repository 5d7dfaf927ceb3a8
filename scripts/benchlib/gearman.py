"""gearmand with a queue of jobs, and workers of the gearman command-line tool."""
import pathlib
import socket
import subprocess
from typing import List

from .processes import ENVIRONMENT, Background, finish, rate_over, wait_for
from .redis import free_port

FUNCTION = "bench"
# Size of gearmand's tables of jobs. With its default of 991, each job of a queue of 200,000 takes 0.3 ms.
BUCKETS = 1_000_003


class Gearman:
    """Context manager: a job server on loopback."""

    def __init__(self, server: str, tool: str, folder: pathlib.Path):
        folder.mkdir(parents=True, exist_ok=True)
        self._tool = tool
        self._port = free_port()
        self._server = Background([
            server, "--listen=127.0.0.1", f"--port={self._port}", f"--hashtable-buckets={BUCKETS}",
            f"--log-file={folder}/gearmand.log"
        ])
        try:
            wait_for("gearmand", 10, self._answers)
        except BaseException:
            self._server.__exit__()
            raise

    @property
    def port(self) -> int:
        return self._port

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self._server.__exit__(*problem)

    def rate(self, program: str, workers: int, jobs: int, seconds: float) -> float:
        """Returns the jobs per second of this number of workers, on a queue with enough jobs."""
        self._queue(jobs - self.waiting())
        running: List[Background] = []
        try:
            for _ in range(workers):
                running.append(Background([self._tool, "-h", "127.0.0.1", "-p", str(self._port),
                                           "-w", "-f", FUNCTION, program]))
            before = self.waiting()
            wait_for("gearman -w", 10, lambda: self.waiting() < before)
            rate = -rate_over(seconds, self.waiting)
            if self.waiting() == 0:
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

    def waiting(self, function: str = FUNCTION) -> int:
        """Returns the number of jobs that have not ended, by the server's administrative protocol."""
        with socket.create_connection(("127.0.0.1", self._port), 10) as admin:
            admin.sendall(b"status\n")
            for line in admin.makefile("r"):
                fields = line.rstrip("\n").split("\t")
                if fields[0] == function:
                    return int(fields[1])
                if line == ".\n":
                    break
        return 0

    def put(self, putter: str, function: str, jobs: int):
        """Fills the queue up to this number of background jobs, with bare_gearman."""
        missing = jobs - self.waiting(function)
        if missing > 0:
            finish([putter, str(self._port), function, "put", str(missing)],
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def _answers(self) -> bool:
        try:
            return self.waiting() == 0
        except OSError:
            return False

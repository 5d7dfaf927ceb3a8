"""Programs that run beside a measurement, in their own process group, and end with it."""
import os
import signal
import subprocess
import time
from typing import Callable, Dict, List, Optional, Tuple

# Environment of the children of every subject.
ENVIRONMENT: Dict[str, str] = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C"}


class Background:
    """Context manager: a program and its process group, which end together.

    It creates a group and not a session, because Linux may give each session its own share of the
    processor, and all subjects must have the same share.
    """

    def __init__(self, words: List[str], log: Optional[str] = None, end: int = signal.SIGTERM):
        self._end = end
        output = open(log, "ab") if log else subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, env=ENVIRONMENT, preexec_fn=os.setpgrp)
        finally:
            if log:
                output.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kill(self._end)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self._kill(signal.SIGKILL)
        self.process.wait()

    def _kill(self, number: int):
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass


def finish(words: List[str], **more) -> subprocess.CompletedProcess:
    """Runs a program to its end. Raises an exception if it fails."""
    return subprocess.run(words, env=ENVIRONMENT, check=True, **more)


def wait_for(what: str, seconds: float, fact: Callable[[], bool]):
    until = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > until:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


def rate_over(seconds: float, count: Callable[[], int]) -> float:
    """Returns the increase per second of a counter that other processes change."""

    def look() -> Tuple[float, int]:
        before = time.monotonic()
        value = count()
        return (before + time.monotonic()) / 2, value

    begin, first = look()
    time.sleep(seconds)
    end, last = look()
    return (last - first) / (end - begin)

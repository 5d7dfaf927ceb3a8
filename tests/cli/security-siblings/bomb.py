"""Forks as often as it can, in new sessions that ignore signals."""
import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.monotonic() + 12
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        time.sleep(0.1)

"""The clients of the peers in Python: steps "put" and "pace" of benchlib/peer_work.py."""
import os
import time


def us():
    return time.time_ns() / 1000


def note(log, sent):
    """Writes the latency of a job to the log, if there is one."""
    if log:
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{us() - float(sent)}\n".encode())
        os.close(file)


def put(count, put_some):
    since = time.monotonic()
    for left in range(count, 0, -1000):
        put_some(min(left, 1000))
    print(time.monotonic() - since)


def pace(rate, seconds, put_one):
    since = time.monotonic()
    for sent in range(int(rate * seconds)):
        time.sleep(max(0, since + sent / rate - time.monotonic()))
        put_one(str(us()))

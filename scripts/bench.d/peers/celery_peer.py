"""Celery as a peer of scripts/bench; benchlib/peer_work.py describes the arguments."""
import os
import sys

sys.dont_write_bytecode = True

import celery  # noqa: E402

import peer  # noqa: E402

STEP, *WORDS = sys.argv[1:]
LOG = WORDS[3] if STEP == "work" and len(WORDS) > 3 else ""
app = celery.Celery("bench", broker=f"redis+socket://{WORDS[0]}" if WORDS else None)
app.conf.worker_prefetch_multiplier = 128


@app.task(name="job", ignore_result=True)
def job(sent):
    peer.note(LOG, sent)


def put_some(count):
    for _ in range(count):
        job.apply_async(("",))


def main():
    if STEP == "version":
        print(celery.__version__)
    elif STEP == "put":
        peer.put(int(WORDS[1]), put_some)
    elif STEP == "pace":
        peer.pace(float(WORDS[1]), float(WORDS[2]), lambda sent: job.apply_async((sent,)))
    elif WORDS[2] == "documented":
        app.worker_main(["worker", "-c", str(min(int(WORDS[1]), os.cpu_count())), "-l", "info"])
    else:
        app.conf.worker_disable_rate_limits = True
        app.worker_main(["worker", "-P", "solo", "-l", "warning", "--without-gossip", "--without-mingle",
                         "--without-heartbeat"])


main()

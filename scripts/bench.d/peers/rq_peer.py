"""RQ as a peer of scripts/bench; benchlib/peer_work.py describes the arguments."""
import sys

sys.dont_write_bytecode = True

import rq  # noqa: E402
from redis import Redis  # noqa: E402

import peer  # noqa: E402

LOG = sys.argv[5] if sys.argv[1] == "work" and len(sys.argv) > 5 else ""


def job(sent):
    peer.note(LOG, sent)


def main(step, *words):
    if step == "version":
        print(rq.__version__)
        return
    queue = rq.Queue("bench", connection=Redis(unix_socket_path=words[0]))
    if step == "put":
        ready = rq.Queue.prepare_data("rq_peer.job", ("",))
        peer.put(int(words[1]), lambda count: queue.enqueue_many([ready] * count))
    elif step == "pace":
        peer.pace(float(words[1]), float(words[2]), lambda sent: queue.enqueue("rq_peer.job", sent))
    elif words[2] == "documented":
        rq.Worker([queue], connection=queue.connection).work()
    else:
        worker = rq.SimpleWorker([queue], connection=queue.connection, default_result_ttl=0, log_job_description=False)
        worker.work(logging_level="WARNING")


if __name__ == "__main__":
    sys.modules["rq_peer"] = sys.modules["__main__"]  # the modules are imported before the fork
    main(*sys.argv[1:])

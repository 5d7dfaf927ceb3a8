#!/usr/bin/env python3
"""w8yd as a worker of real gearmands, seen by other clients.

    run_gearman.py --bin BUILD/src/app [CASE...]

Each case has its own servers, hosts, Redis and directory. Each case waits for a
fact, with a limit.
"""
import argparse
import hashlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import traceback

from place import HERE, WORKER, Place, free_port, wait_for

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def one_list(name="work", executor=WORKER, more="", concurrency=4):
    return (f'[lists."{name}"]\nsource = "gearman"\nexecutor = "{executor}"\n'
            f'concurrency = {concurrency}\nenv_pass = ["PATH"]\n{more}\n')


def names(heard):
    return [each[0] for each in heard]


def complete(**more):
    return {"type": "complete", **more}


@case
def what_a_run_says(place):
    """Each message comes to the client as it is said, and each end as Gearman has it."""
    server = place.gearmand()
    place.host([server], one_list() + one_list("slow", more='timeout = "300ms"'))
    client = place.client(server)
    gate = place.home / "gate"
    client.submit("work", place.order(
        say=[{"type": "progress", "numerator": 1, "denominator": 4},
             {"type": "update", "data": {"half": [1, None]}}], wait=str(gate),
        then=[complete(a=1, error="no good")], exit=3))
    # Before the run has ended.
    assert client.hear()[::2] == ("status", b"1"), "progress"
    name, _, data = client.hear()
    assert (name, json.loads(data)) == ("data", {"half": [1, None]}), (name, data)
    gate.touch()
    name, _, data = client.hear()
    assert name == "complete" and json.loads(data) == {"a": 1, "error": "no good"}, (name, data)

    assert client.do("work", place.order()) == [("complete", b"{}")]
    heard = place.client(server).do("work", place.order(exit=7, err="it broke\n"))
    assert heard == [("exception", b"exit status 7\nit broke\n")], heard
    heard = place.client(server).do("slow", place.order(wait=str(place.home / "never")))
    assert names(heard) == ["exception"] and b"longer than timeout" in heard[0][1], heard
    plain = place.client(server, exceptions=False)
    assert names(plain.do("work", place.order(exit=1))) == ["fail"]


@case
def result_at_its_line(place):
    """WORK_COMPLETE goes out at the complete line, while the process goes on."""
    server = place.gearmand()
    host = place.host([server], one_list())
    gate = place.home / "gate"
    heard = place.client(server).do("work", place.order(say=[complete(early=True)], wait=str(gate)))
    assert json.loads(heard[-1][1]) == {"early": True}
    assert host.list("work")["running"] == 1
    gate.touch()
    wait_for(lambda: host.history("work"), what="the history")
    assert host.history("work")[0]["outcome"] == "succeeded"


@case
def what_an_executor_gets(place):
    """NAME, ID and input; with NUL bytes and of 16 MiB; and a longer one is refused."""
    server = place.gearmand()
    host = place.host([server], one_list("img::resize") +
                      one_list("other", more='function = "of::another name"'))
    client = place.client(server)

    def told(function, data, unique=""):
        handle = client.submit(function, data, unique)
        heard = client.outcome()
        assert heard[-1][0] == "complete", heard
        return handle.decode(), json.loads(heard[-1][1])

    for data in (b"", b"a\0b\0", os.urandom(16 << 20)):
        _, said = told("img::resize", data, "u-1")
        assert said == {"name": "img::resize", "ident": "u-1", "length": len(data),
                        "sha256": hashlib.sha256(data).hexdigest()}, (len(data), said)
    handle, said = told("of::another name", b"x")
    assert (said["name"], said["ident"]) == ("of::another name", handle), said
    heard = place.client(server).do("img::resize", b"x" * ((16 << 20) + 1))
    assert names(heard) == ["exception"] and b"16 MiB" in heard[0][1], heard
    assert host.says("16 MiB") == 1
    assert client.do("img::resize", b"after")[-1][0] == "complete"


@case
def the_client_of_gearman(place):
    """Debian's gearman: foreground, background, several jobs of one call."""
    server = place.gearmand()
    place.host([server], one_list() + '[lists.cat]\nsource = "gearman"\ncommand = ["sh", "-c", '
               f'"cat > {place.home}/$W8Y_ITEM"]\n')

    def gearman(*words, data=b""):
        return subprocess.run(["gearman", "-h", "127.0.0.1", "-p", str(server.port), *words],
                              input=data, capture_output=True, timeout=60, check=False)

    done = gearman("-f", "work", data=b"in\0put")
    assert done.returncode == 0 and json.loads(done.stdout)["length"] == 6, done
    done = gearman("-f", "cat", "-u", "given", data=b"\0 input\n")
    assert (done.returncode, done.stdout) == (0, b"{}"), done
    assert (place.home / "given").read_bytes() == b"\0 input\n"
    order = place.order(note=str(place.home / "notes"))
    assert gearman("-b", "-f", "work", data=order).returncode == 0
    wait_for(lambda: len(place.notes()) == 1, what="the background job")


@case
def priorities(place):
    """High before normal before low, as the server gives them."""
    server = place.gearmand()
    place.host([server], one_list(concurrency=1))
    client = place.client(server)
    gate, note = place.home / "gate", str(place.home / "notes")
    client.submit("work", place.order(note=note, tag="first", wait=str(gate)), kind="background")
    wait_for(place.notes, what="the first job")
    for kind in ("low_background", "background", "high_background"):
        client.submit("work", place.order(note=note, tag=kind), kind=kind)
    # w8yd requests no job that could not run at once.
    assert server.counts("work") == (4, 1, 1), server.counts("work")
    gate.touch()
    wait_for(lambda: len(place.notes()) == 4, what="all four")
    assert [tag for _, _, tag in place.notes()] == \
        ["first", "high_background", "background", "low_background"], place.notes()


@case
def unique_jobs(place):
    """Two clients with one unique id share a run, and both have its result."""
    server = place.gearmand()
    place.host([server], one_list())
    one, two = place.client(server), place.client(server)
    gate = place.home / "gate"
    order = place.order(note=str(place.home / "notes"), wait=str(gate), then=[complete(n=1)])
    one.submit("work", order, "same")
    wait_for(place.notes, what="the run")
    two.submit("work", order, "same")
    gate.touch()
    assert one.outcome() == two.outcome()
    assert [note[1] for note in place.notes()] == ["same"]


@case
def several_hosts(place):
    """Two hosts with functions of their own and one in common: each job runs once."""
    server = place.gearmand()
    place.host([server], one_list("common") + one_list("a"))
    place.host([server], one_list("common") + one_list("b"), "beta")
    assert wait_for(lambda: server.counts("common")[2] == 2, what="two workers")
    workers = server.asked("workers\n")
    assert " alpha : " in workers and " beta : " in workers, workers
    client = place.client(server)
    note = str(place.home / "notes")
    for i in range(60):
        client.submit(("common", "a", "b")[i % 3], place.order(note=note), f"j{i}", "background")
    wait_for(lambda: len(place.notes()) == 60, what="60 runs")
    assert sorted(each[1] for each in place.notes()) == sorted(f"j{i}" for i in range(60))
    wait_for(lambda: server.counts("common")[0] == 0, what="the server to know")


@case
def streams(place):
    """A stream process takes many at once, and each client has its own result."""
    server = place.gearmand()
    place.host([server], one_list(executor=HERE / "stream_worker.py", concurrency=8))
    clients = [place.client(server) for _ in range(8)]
    for round_ in range(10):
        for i, client in enumerate(clients):
            client.submit("work", bytes([i, 0, 255, round_]), f"u{i}")
        for i, client in enumerate(clients):
            heard = client.outcome()
            assert names(heard) == ["data", "complete"], (round_, heard)
            assert json.loads(heard[0][1]) == f"u{i}"
            assert json.loads(heard[1][1]) == {"name": "work", "bytes": i + 255 + round_}, heard


@case
def executors_of_superman(place):
    """They run as they are."""
    server = place.gearmand()
    place.host([server], one_list("sort", HERE.parents[1] / "etc/executors/superman.py"))
    client = place.client(server)
    heard = client.do("sort", b"[3, 1, 2]")
    assert names(heard) == ["status", "data", "complete"], heard
    assert [json.loads(each[-1]) for each in heard[1:]] == [{"sorted": 3}, {"data": [1, 2, 3]}], heard
    heard = client.do("sort", b"{}")
    assert heard == [("complete", b'{"error":"the workload is not an array"}')], heard


class Silent:
    """Accepts connections, and sends the configured reply: nothing, or garbage."""

    def __init__(self, says=b""):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(16)
        self.port = self.socket.getsockname()[1]
        self.says, self.taken = says, []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                one, _ = self.socket.accept()
                self.taken.append(one)
                one.sendall(self.says)
            except OSError:
                return


@case
def servers_in_trouble(place):
    """One server is gone, one is silent, two send garbage or half a packet. The jobs of the other servers
    run, and each outage is logged once at its start and once at its end."""
    server, second = place.gearmand(), place.gearmand()
    gone = free_port()
    silent = Silent()
    garbage = Silent(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    half = Silent(b"\0RES\0\0\0\x11\0\0\0\0\0RES\0\0\0\x1f\0\0\1\0H:x")
    host = place.host([gone, silent, server, garbage, half, second], one_list())
    client, other = place.client(server), place.client(second)
    for i in range(20):
        assert (client, other)[i % 2].do("work", b"x")[-1][0] == "complete"
    wait_for(lambda: host.says("gearmand unavailable") >= 3, what="three troubles told")
    told = host.status()["gearman"]
    assert [bool(each["error"]) for each in told][:4] == [True, True, False, True], told
    assert [each["connected"] for each in told if each["server"].endswith(str(server.port))] == [1]

    late = place.gearmand(port=gone)
    assert place.client(late).do("work", b"x")[-1][0] == "complete"
    wait_for(lambda: host.says("connected to gearmand server=127.0.0.1:%d" % gone) == 1 or
             host.says("gearmand available again") >= 1, what="the end of the trouble")
    assert host.says("gearmand unavailable, retrying") <= 4, host.text()


@case
def lease_lost(place):
    """on_lease_loss decides what happens to a run whose connection breaks."""
    server = place.gearmand()
    host = place.host([server], one_list("goes_on") +
                      one_list("ends", more='on_lease_loss = "terminate"'))
    client = place.client(server)
    note, gate, exited = (str(place.home / name) for name in ("notes", "gate", "exited"))
    for function in ("goes_on", "ends"):
        client.submit(function, place.order(note=note, wait=gate, exited=exited,
                                            then=[complete(n=1)]), function, "background")
    wait_for(lambda: len(place.notes()) == 2, what="both runs")
    server.stop()
    wait_for(lambda: host.history("ends"), what="the killed run")
    assert host.history("ends")[0]["outcome"] == "lost", host.history("ends")
    wait_for(lambda: host.list("goes_on")["here"]["runs"][0]["lease_lost"], what="the lost lease")
    pathlib.Path(gate).touch()
    wait_for(lambda: host.history("goes_on"), what="the run that went on")
    entry = host.history("goes_on")[0]
    assert (entry["outcome"], entry["result"]) == ("lost", {"n": 1}), entry
    assert os.path.exists(exited)
    assert host.list("goes_on")["here"]["counters"]["lost"] == 1


@case
def orders_of_operators(place):
    """pause, quiet and drain: the host sends CANT_DO to the server; cancel fails the job."""
    server = place.gearmand()
    host = place.host([server], one_list())
    client = place.client(server)
    able = lambda: server.counts("work")[2]  # noqa: E731
    wait_for(lambda: able() == 1, what="the worker")
    for hold, go in ((("pause", "work", "--reason", "new disks"), ("resume", "work")),
                     (("quiet",), ("resume",))):
        host.ctl(*hold)
        wait_for(lambda: able() == 0, what=f"CANT_DO after {hold}")
        handle = client.submit("work", b"x")
        if hold[0] == "pause":
            wait_for(lambda: host.list("work")["state"] == "paused", what="its state")
        host.ctl(*go)
        assert client.outcome()[-1][0] == "complete", handle
    # A pause with an end.
    host.ctl("pause", "work", "--for", "1s")
    assert client.do("work", b"x")[-1][0] == "complete"

    note = str(place.home / "notes")
    client.submit("work", place.order(note=note, wait=str(place.home / "never")))
    wait_for(lambda: place.notes(), what="the run")
    run = host.list("work")["here"]["runs"][0]["run"]
    host.ctl("cancel", run)
    assert names(client.outcome()) == ["exception"]
    client = place.client(server)

    gate = place.home / "gate"
    client.submit("work", place.order(note=note, wait=str(gate), then=[complete(n=2)]), "last")
    wait_for(lambda: len(place.notes()) == 2, what="the last run")
    host.process.terminate()
    wait_for(lambda: host.says("draining"), what="the drain")
    place.client(server).submit("work", b"x", kind="background")
    gate.touch()
    assert json.loads(client.outcome()[-1][1]) == {"n": 2}
    assert host.process.wait(60) == 0
    host.process = None
    assert server.counts("work")[:2] == (1, 0), server.counts("work")


@case
def given_back(place):
    """A job whose run a drain kills goes to another host."""
    server = place.gearmand()
    host = place.host([server], one_list(more='kill_grace = "1s"'))
    note = str(place.home / "notes")
    place.client(server).submit("work", place.order(note=note, wait=str(place.home / "gate")), "j",
                                "background")
    wait_for(place.notes, what="the run")
    host.process.terminate()
    host.process.terminate()
    wait_for(lambda: host.says("draining") > 0, what="the drain")
    host.process.terminate()
    assert host.process.wait(60) == 0
    host.process = None
    wait_for(lambda: server.counts("work")[:2] == (1, 0), what="the job to be back")
    (place.home / "gate").touch()
    place.host([server], one_list(), "beta")
    wait_for(lambda: len(place.notes()) == 2, what="its run on another host")


@case
def reload_under_load(place):
    """Concurrency, function and servers change while jobs run: none is lost, none runs twice."""
    server, second = place.gearmand(), place.gearmand()
    host = place.host([server], one_list(concurrency=2))
    note = str(place.home / "notes")
    gate = place.home / "gate"
    client = place.client(server)
    client.submit("work", place.order(note=note, wait=str(gate), then=[complete(n=1)]), "held")
    wait_for(place.notes, what="the run that is held")
    background = place.client(server), place.client(second)
    changes = [(one_list(concurrency=5), [server, second]), (one_list(concurrency=1), [second, server]),
               (one_list("work", more='function = "other"'), [server, second]),
               (one_list(concurrency=3), [server, second])]
    given = 0
    for lists, servers in changes:
        for i in range(30):
            background[i % 2].submit("work", place.order(note=note), f"j{given}", "background")
            given += 1
        host.reload(lists, servers)
    wait_for(lambda: len(place.notes()) >= given + 1, what=f"{given} runs")
    assert len({each[1] for each in place.notes()}) == given + 1 == len(place.notes())
    host.reload(one_list(concurrency=3), [second])
    gate.touch()
    assert json.loads(client.outcome()[-1][1]) == {"n": 1}
    wait_for(lambda: server.counts("work")[2] == 0, what="the first server to be left")
    host.reload("")
    wait_for(lambda: second.counts("work")[2] == 0, what="the list to be gone")


@case
def no_redis(place):
    """A host with lists of Gearman only does without, and says so."""
    server = place.gearmand()
    host = place.host([server], one_list(), redis=False)
    assert place.client(server).do("work", b"x")[-1][0] == "complete"
    said = host.ctl("status")
    assert "no history of runs, no pauses" in said and "1 of 1 lists connected" in said, said
    status = host.status()
    assert status["has_redis"] is False and not status["problems"], status["problems"]
    wait_for(lambda: "idle" in host.ctl("lists"), what="the end of the run")
    for words in (("runs", "work"), ("pause", "work"), ("why", "work")):
        said = host.ctl(*words, status=None)
        assert "Gearman" in said, (words, said)
    assert host.says("Redis") == 0, host.text()
    # Then it gets one.
    host.redis = True
    host.reload(one_list())
    assert place.client(server).do("work", b"y")[-1][0] == "complete"
    wait_for(lambda: host.history("work"), what="history")
    host.redis = False
    host.reload(one_list())
    assert place.client(server).do("work", b"z")[-1][0] == "complete"
    assert host.end() == 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--bin", required=True)
    options.add_argument("cases", nargs="*")
    chosen = options.parse_args()
    failed = 0
    for name, function in CASES.items():
        if chosen.cases and name not in chosen.cases:
            continue
        place = Place(chosen.bin)
        begun = time.monotonic()
        try:
            function(place)
            print(f"ok    {name} {time.monotonic() - begun:.1f} s", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
            for log in sorted(place.home.glob("*/log")):
                print(f"---- {log}\n" + log.read_text(errors="replace")[-6000:], flush=True)
        finally:
            place.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

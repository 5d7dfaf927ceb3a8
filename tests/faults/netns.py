"""Two network namespaces with a cable between them, for one test.

They have no names and belong to two processes, so that they end with these, even if the test is killed.
"""
import os
import shutil
import subprocess

from matrix import Skip
from private_redis import die_with_parent, wait_for

SERVER, CLIENT = "192.0.2.1", "192.0.2.2"  # documentation addresses, used only in these namespaces


class Cable:
    """A namespace for the server and one for a client. cut() interrupts the cable without a reset."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Skip("making network namespaces needs root")
        for tool in ("ip", "unshare", "nsenter"):
            if not shutil.which(tool):
                raise Skip(f"no {tool} here")
        self.keepers = []
        try:
            self.server, self.client = self._space(), self._space()
            self._ip("link", "add", "cable", "netns", self.server, "type", "veth",
                     "peer", "name", "cable", "netns", self.client)
            for space, address in ((self.server, SERVER), (self.client, CLIENT)):
                self._in(space, "ip", "address", "add", f"{address}/30", "dev", "cable")
                self._in(space, "ip", "link", "set", "cable", "up")
                self._in(space, "ip", "link", "set", "lo", "up")  # also for a space's own address
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for keeper in self.keepers:
            keeper.kill()
            keeper.wait()

    def within_server(self):
        return ["nsenter", f"--net=/proc/{self.server}/ns/net"]

    def within_client(self):
        return ["nsenter", f"--net=/proc/{self.client}/ns/net"]

    def cut(self):
        # The server's end is switched off: the client keeps its address and route, and receives nothing.
        self._in(self.server, "ip", "link", "set", "cable", "down")

    def mend(self):
        self._in(self.server, "ip", "link", "set", "cable", "up")

    def _space(self):
        keeper = subprocess.Popen(["unshare", "--net", "sleep", "infinity"],
                                  stderr=subprocess.PIPE, preexec_fn=die_with_parent)
        self.keepers.append(keeper)
        ours = os.readlink("/proc/self/ns/net")

        def made():
            if keeper.poll() is not None:
                raise Skip(f"no network namespaces here: {keeper.stderr.read().decode().strip()}")
            return os.readlink(f"/proc/{keeper.pid}/ns/net") != ours
        wait_for(made, what="a network namespace")
        return keeper.pid

    def _in(self, pid, *command):
        subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", *command], check=True)

    def _ip(self, *words):
        made = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
        if made.returncode != 0:
            raise Skip(f"no virtual cable here: {made.stderr.strip()}")

"""A gearmand on an unused port. It ends with its parent process."""
import os
import signal
import socket
import subprocess

from private_redis import die_with_parent, free_port, wait_for


class Gearmand:
    def __init__(self, home, *options, port=None):
        self.home, self.port, self.options = home, port or free_port(), options
        self.process = None
        self.start()

    def start(self):
        user = ["--user=root"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            ["/usr/sbin/gearmand", "--listen=127.0.0.1", f"--port={self.port}",
             f"--log-file={self.home}/gearmand-{self.port}.log", *user, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=die_with_parent)
        wait_for(self.answers, what="gearmand")

    def answers(self):
        return self.asked("version\n", b"\n")

    def asked(self, question, end=b"\n.\n"):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 20) as one:
                one.sendall(question.encode())
                said = b""
                while not said.endswith(end) and said != b".\n":
                    more = one.recv(65536)
                    if not more:
                        break
                    said += more
                return said.decode()
        except OSError:
            return ""

    def counts(self, function):
        """Returns the numbers of jobs, of running jobs, and of workers for the function."""
        for line in self.asked("status\n").splitlines():
            words = line.split("\t")
            if words[0] == function:
                return tuple(int(word) for word in words[1:4])
        return (0, 0, 0)

    def stop(self, number=signal.SIGKILL):
        if self.process is None:
            return
        self.process.send_signal(number)
        self.process.wait(60)
        self.process = None

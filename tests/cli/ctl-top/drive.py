"""Runs a program on its own terminal, and prints the contents of the screen.

drive.py WIDTH HEIGHT COMMAND... reads steps from standard input:

    wait TEXT       wait until the screen has TEXT; after a timeout, print the screen and fail
    gone TEXT       wait until the screen does not have TEXT
    press KEYS      send keys; \\e and other escapes are allowed
    size W H        change the size
    show            print the screen, without trailing spaces
    rows A B        print rows A to B of the screen
    quiet MS MOST   read for MS milliseconds; at most MOST bytes may arrive
    run COMMAND     run a shell command
    end             wait until the program ends, and print its exit status
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

LIMIT_S = 60


class Terminal:
    def __init__(self, width, height, command):
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = 0
        self.tail = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        self.size(width, height)

    def size(self, width, height):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.screen.resize(height, width)
        os.kill(self.pid, signal.SIGWINCH)

    def read(self, seconds):
        """Returns False if the program has closed its terminal."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.bytes += len(data)
        self.tail = (self.tail + data)[-200:]
        self.stream.feed(data)
        return bool(data)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def until(self, what, holds):
        end = time.monotonic() + LIMIT_S
        while not holds("\n".join(self.lines())):
            if time.monotonic() > end or not self.read(0.05):
                sys.exit(f"gave up: {what}\n" + "\n".join(self.lines()))
        # The terminal may have received only the first part of a screen.
        while time.monotonic() < end and select.select([self.fd], [], [], 0.03)[0] and self.read(0):
            pass


def main():
    terminal = Terminal(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    for line in sys.stdin.read().splitlines():
        step, _, rest = line.partition(" ")
        if step == "wait":
            terminal.until(line, lambda text: rest in text)
        elif step == "gone":
            terminal.until(line, lambda text: rest not in text)
        elif step == "press":
            os.write(terminal.fd, rest.encode().decode("unicode_escape").encode())
        elif step == "size":
            terminal.size(*(int(word) for word in rest.split()))
        elif step in ("show", "rows"):
            first, last = (int(word) for word in rest.split()) if rest else (1, len(terminal.lines()))
            print("\n".join(terminal.lines()[first - 1:last]), flush=True)
        elif step == "quiet":
            time_ms, most = (int(word) for word in rest.split())
            before, end = terminal.bytes, time.monotonic() + time_ms / 1000
            while (left := end - time.monotonic()) > 0 and terminal.read(left):
                pass
            count = terminal.bytes - before
            print("quiet" if count <= most else f"{count} bytes", flush=True)
        elif step == "run":
            subprocess.run(rest, shell=True, check=True)
        elif step == "end":
            while terminal.read(LIMIT_S):
                pass
            status = os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1])
            print("exit", status, "and the terminal is as before" if b"\x1b[?25h" in terminal.tail else "")
    return 0


sys.exit(main())

"""Runs a program with a terminal as its standard output, and shows what it writes there."""
import os
import pty
import sys


def read(fd):
    return os.read(fd, 65536).replace(b"\033", b"ESC").replace(b"\r\n", b"\n")


sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))

"""Runs hostile TCP clients on this machine: crowd.py PORT COUNT SECONDS, with COUNT clients at a time.

The clients send nothing, send headers or a body byte by byte, send headers without end or garbage, or
request a long response and do not read it. A client that is disconnected connects again at once. The
program prints the number of connections.
"""
import errno
import os
import resource
import select
import socket
import sys
import time

HOST = "127.0.0.1"
TICK_S = 0.25
PER_TICK = 2000  # new connections
GREETING = {
    "idle": b"",
    "head": b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nX: ",
    "body": b"POST /api/v1/quiet HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
    "huge": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000,
    "reader": b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "garbage": os.urandom(5000),
}
KINDS = list(GREETING)


class Client:
    def __init__(self, number: int, port: int):
        self.kind = KINDS[number % len(KINDS)]
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.greeted = False
        result = self.socket.connect_ex((HOST, port))
        if result not in (0, errno.EINPROGRESS):
            raise OSError(result, os.strerror(result))
        try:
            self.greet()
        except OSError:
            pass  # not connected yet

    def greet(self):
        if GREETING[self.kind]:
            self.socket.send(GREETING[self.kind])
        else:
            self.socket.getpeername()
        self.greeted = True

    def drip(self):
        if self.greeted and self.kind in ("head", "body", "huge"):
            self.socket.send(b"x")


def main() -> int:
    port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    clients, came, most_at_once = {}, 0, 0
    poll = select.epoll()
    until = time.monotonic() + seconds
    number = 0
    tick = 0.0
    while (now := time.monotonic()) < until:
        for _ in range(min(PER_TICK, count - len(clients))):
            try:
                client = Client(number, port)
            except OSError as problem:
                if problem.errno in (errno.EADDRNOTAVAIL, errno.EMFILE, errno.EAGAIN):
                    break
                raise
            number += 1
            came += client.greeted
            clients[client.socket.fileno()] = client
            poll.register(client.socket.fileno(), select.EPOLLOUT | select.EPOLLRDHUP)
        most_at_once = max(most_at_once, len(clients))
        for fd, events in poll.poll(TICK_S, 1000):
            client = clients[fd]
            try:
                if events & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP):
                    raise OSError
                if not client.greeted:
                    came += 1
                    client.greet()
                    poll.modify(fd, select.EPOLLRDHUP)
            except OSError:
                poll.unregister(fd)
                client.socket.close()
                del clients[fd]
        if now - tick >= TICK_S:
            tick = now
            for client in clients.values():
                try:
                    client.drip()
                except OSError:
                    pass  # the next read detects the error
    print(came, most_at_once)
    return 0


if __name__ == "__main__":
    sys.exit(main())

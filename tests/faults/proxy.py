"""A relay to Redis that damages replies."""
import os
import random
import socket
import threading
import time


class Relay:
    """Listens on a unix socket. Connects to the server for each client, and runs `_up` and `_down` concurrently."""

    def __init__(self, path, server):
        self.path, self.server = str(path), str(server)
        self.connections = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"unix://{self.path}"

    def close(self):
        self.listener.close()
        os.unlink(self.path)

    def _begin(self):
        """Returns the state that both directions of one connection share, in addition to their sockets."""
        return ()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            try:
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.server)
            except OSError:
                client.close()
                continue
            shared = self._begin()
            for target in (self._up, self._down):
                threading.Thread(target=self._guarded, args=(target, client, server, *shared), daemon=True).start()

    @staticmethod
    def _guarded(target, client, server, *shared):
        try:
            target(client, server, *shared)
        except (OSError, EOFError, ValueError):
            pass
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Proxy(Relay):
    """Listens on a unix socket, and forwards to another. `mode` defines what happens to the data:

    pass     unchanged
    half     each connection forwards some more bytes of replies, and then nothing
    cut      each connection forwards some more bytes of replies, and is closed in the middle
    garbage  random bytes replace replies
    dribble  replies are forwarded one byte at a time
    deaf     requests are not read
    """

    def __init__(self, path, server, seed):
        self.mode = "pass"
        self.random = random.Random(seed)
        super().__init__(path, server)

    def _up(self, client, server):
        while data := client.recv(65536):
            while self.mode == "deaf":
                time.sleep(0.02)
            server.sendall(data)

    def _down(self, client, server):
        left = self.random.randrange(1, 400)  # bytes until a half or cut connection is damaged
        while data := server.recv(65536):
            mode = self.mode
            if mode in ("half", "cut"):
                client.sendall(data[:left])
                left -= len(data)
                if left > 0:
                    continue
                if mode == "cut":
                    return
                while server.recv(65536):
                    pass
                return
            if mode == "garbage":
                client.sendall(self.random.randbytes(self.random.randrange(1, 200)))
            elif mode == "dribble":
                for i in range(len(data)):
                    client.sendall(data[i:i + 1])
                    if i % 16 == 0:
                        time.sleep(0.001)
            else:
                client.sendall(data)

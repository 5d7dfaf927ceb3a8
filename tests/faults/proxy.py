"""A way to Redis that spoils what comes back."""
import os
import random
import socket
import threading
import time


class Proxy:
    """Listens on a unix socket, and passes on to another. `mode` says what becomes of replies:

    pass     unchanged
    half     each connection brings some bytes more, and then nothing
    cut      each connection brings some bytes more, and is closed in the middle
    garbage  random bytes in place of replies
    dribble  a byte at a time
    deaf     what is sent isn't read
    """

    def __init__(self, path, server, seed):
        self.path, self.server = str(path), str(server)
        self.mode = "pass"
        self.random = random.Random(seed)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"unix://{self.path}"

    def close(self):
        self.listener.close()
        os.unlink(self.path)

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
            for target, *ends in ((self._up, client, server), (self._down, server, client)):
                threading.Thread(target=self._guarded, args=(target, *ends), daemon=True).start()

    def _guarded(self, target, source, sink):
        try:
            target(source, sink)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def _up(self, client, server):
        while data := client.recv(65536):
            while self.mode == "deaf":
                time.sleep(0.02)
            server.sendall(data)

    def _down(self, server, client):
        left = self.random.randrange(1, 400)  # bytes until a half or a cut connection is spoilt
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

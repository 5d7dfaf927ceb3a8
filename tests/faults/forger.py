"""A relay to Redis that replaces single replies."""
import collections
import threading

from proxy import Relay


def bulk(size, byte=b"x"):
    return b"$%d\r\n" % size + byte * size + b"\r\n"


def text(content):
    return b"$%d\r\n%s\r\n" % (len(content), content)


def read_reply(stream):
    """Returns one reply, as the bytes of the protocol."""
    line = stream.readline()
    if not line:
        raise EOFError
    kind, size = line[:1], line[1:]
    if kind == b"$" and int(size) >= 0:
        return line + stream.read(int(size) + 2)
    if kind == b"*" and int(size) >= 0:
        return line + b"".join(read_reply(stream) for _ in range(int(size)))
    return line


def read_command(stream):
    words = []
    for _ in range(int(stream.readline()[1:])):
        words.append(stream.read(int(stream.readline()[1:]) + 2)[:-2])
    return words


class Forger(Relay):
    """Forwards commands and replies, and forges one reply."""

    def __init__(self, path, server):
        self.lock = threading.Lock()
        self.forged = None  # (start of the command, forged reply)
        self.sent = False
        super().__init__(path, server)

    def forge(self, word, reply):
        """Replaces the reply to the next command that starts with `word`. For scripts, `word` is "EVAL"."""
        with self.lock:
            self.forged, self.sent = (word, reply), False

    def is_sent(self):
        """Whether the reply was sent, completely or until w8yd closed the connection."""
        return self.sent

    def _begin(self):
        return (collections.deque(),)  # commands that have no reply yet

    @staticmethod
    def _up(client, server, sent):
        stream = client.makefile("rb")
        while True:
            words = read_command(stream)
            sent.append(words)
            server.sendall(b"*%d\r\n" % len(words) + b"".join(text(word) for word in words))

    def _down(self, client, server, sent):
        stream = server.makefile("rb")
        while True:
            reply = read_reply(stream)
            words = sent.popleft() if sent else [b"pushed"]
            forged = self._instead(words)
            try:
                client.sendall(forged or reply)
            finally:
                if forged:
                    self.sent = True

    def _instead(self, words):
        with self.lock:
            if not self.forged or not words[0].upper().startswith(self.forged[0].encode()):
                return None
            reply, self.forged = self.forged[1], None
        # A script also returns the number of its call.
        return b"*2\r\n:" + words[-1] + b"\r\n" + reply if words[0].startswith(b"EVAL") else reply

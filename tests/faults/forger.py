"""A way to Redis that replaces single replies."""
import collections
import threading

from proxy import Relay


def bulk(size, byte=b"x"):
    return b"$%d\r\n" % size + byte * size + b"\r\n"


def text(content):
    return b"$%d\r\n%s\r\n" % (len(content), content)


def read_reply(stream):
    """One reply, as it is on the wire."""
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
        self.forged = None  # a word of the command, and the reply
        self.sent = False
        super().__init__(path, server)

    def forge(self, word, reply):
        """The next reply to a command that starts so, or to a script ("EVAL"), is this one."""
        with self.lock:
            self.forged, self.sent = (word, reply), False

    def is_sent(self):
        """All of it, or as much as w8yd has read before it closed the connection."""
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
        # A script repeats the number of its call.
        return b"*2\r\n:" + words[-1] + b"\r\n" + reply if words[0].startswith(b"EVAL") else reply

"""Client of the status API that checks each response against etc/openapi.json ($OPENAPI)."""
import http.client
import json
import os
import socket

from openapi import Document

LIMIT_S = 60


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT_S)
        self.sock.connect(self.path)


class Api:
    """`address`: path of a unix socket, or a port of 127.0.0.1."""

    document = None

    def __init__(self, address, token=None):
        self.address, self.token = address, token
        Api.document = Api.document or Document(os.environ["OPENAPI"])
        self.asked = set()

    def open(self):
        if isinstance(self.address, int):
            return http.client.HTTPConnection("127.0.0.1", self.address, timeout=LIMIT_S)
        return UnixConnection(self.address)

    def ask(self, method, path, body=None, headers=None):
        """Returns status and JSON. Raises AssertionError if the response differs from openapi.json."""
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", "Bearer " + self.token)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = self.open()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        problems = self.document.check(method, path, answer.status, answer.headers["Content-Type"], text)
        assert not problems, "\n".join(problems + [text[:2000].decode(errors="replace")])
        self.asked.add((method, self.document.template_of(path), answer.status))
        return answer.status, json.loads(text)

    def get(self, path):
        return self.ask("GET", path)

    def good(self, path):
        status, said = self.get(path)
        assert status == 200, (path, status, said)
        return said

    def all_of(self, path, name):
        """Reads all pages of a list. Returns its entries in the member `name`, and the number of pages."""
        found, parts, after = [], 0, None
        while parts == 0 or after is not None:
            said = self.good(path + ("&after=" + after if after else ""))
            found += said[name]
            after, parts = said["next"], parts + 1
            assert parts < 10000, path
        return found, parts

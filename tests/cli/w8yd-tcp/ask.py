"""ask.py PORT METHOD PATH [HEADER: VALUE...] [-- BODY]: prints the status and the text of the response."""
import http.client
import json
import sys

port, method, path, *rest = sys.argv[1:]
body = None
if "--" in rest:
    body = rest[rest.index("--") + 1]
    rest = rest[: rest.index("--")]
headers = dict(word.split(": ", 1) for word in rest)
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
connection.request(method, path, body, headers)
answer = connection.getresponse()
said = json.loads(answer.read())
print(answer.status, said.get("error") or said.get("text") or said.get("state") or said)

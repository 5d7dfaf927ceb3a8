"""Server in place of w8yd, with one response. Prints each request."""
import http.server
import json
import socketserver

TIME = "\x1e1763999999000\x1e"
ANSWER = {"list": "work", "item": "apple", "state": "delayed", "age_ms": 412, "reasons": [
    {"kind": "delayed", "text": f"The item apple of work is delayed until {TIME}."},
    {"kind": "remedy", "text": "To end its delay: w8yctl release work apple"}]}


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.command, self.path, flush=True)
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "w8yctl"

    def log_message(self, *_):
        pass


socketserver.UnixStreamServer("w8yd.sock", Answer).serve_forever()

"""Client of w8yd: adds items to lists, puts jobs into feeds, waits for their results, and sets schedules.

    from w8y_client import Client

    with Client("unix:/run/w8y/w8yd.sock") as w8y:
        w8y.add("work", ["one", "two"])
        job = w8y.put("images", b"cat.jpg")
        print(w8y.wait("images", job, timeout=60))

It needs only the standard library, Python 3.9 or later. AsyncClient has the same methods for asyncio.
w8y-clients(7) describes both. Names, items and payloads are bytes; a str is encoded as UTF-8.

A client keeps its connections. Threads may share a Client, and tasks of one event loop an AsyncClient.
"""
from __future__ import annotations

import asyncio
import base64
import collections
import datetime
import json
import math
import os
import random
import select
import socket
import ssl
import time
import urllib.parse
import uuid
from types import TracebackType
from typing import Any, Deque, Dict, Iterable, Iterator, List, Optional, Tuple, Type, Union

__all__ = ["DEFAULT_ADDRESS", "AsyncClient", "Client", "Denied", "Error", "Exists", "Invalid", "JobFailed",
           "NotFound", "Refused", "ResultTruncated", "Unavailable", "UnexpectedReply", "WaitTimeout"]

Text = Union[str, bytes]

DEFAULT_ADDRESS = "unix:/run/w8y/w8yd.sock"
MAX_ENTRIES = 1000  # items or jobs in one request
MAX_BYTES = 900 * 1024  # of the entries of one request; w8yd accepts 1 MiB with the rest of the body
MAX_WAIT_S = 60.0  # one request waits at most this time for a job
MAX_IDLE_S = 5.0  # w8yd closes a connection that is idle for 10 s
MAX_HEAD = 64 * 1024
MAX_REPLY = 80 * 1024 * 1024  # w8yd sends at most 64 MiB


# ---- errors


class Error(Exception):
    """Base of all errors. `status` is the HTTP status code, or None if there was no reply."""

    def __init__(self, text: str, status: Optional[int] = None) -> None:
        super().__init__(text)
        self.status = status


class Unavailable(Error):
    """w8yd cannot be reached, or Redis is unavailable. If `maybe_applied` is true, the reply was lost, and the
    change may have been made."""

    def __init__(self, text: str, status: Optional[int] = None, *, maybe_applied: bool = False,
                 retry_after: float = 0.0) -> None:
        super().__init__(text, status)
        self.maybe_applied = maybe_applied
        self.retry_after = retry_after


class NotFound(Error):
    """There is no such list, item, feed, job or schedule."""


class Refused(Error):
    """The request is refused in this state, for example for a list of another kind."""


class Exists(Refused):
    """The feed already has a job with this ID."""


class Denied(Error):
    """The token is missing or wrong, or w8yd does not accept the name of the host."""


class Invalid(Error):
    """The request is not valid. After add() and put_many(), `entries` maps the index of each invalid item or
    job to its error. The others were written."""

    def __init__(self, text: str, status: Optional[int] = None,
                 entries: Optional[Dict[int, str]] = None) -> None:
        super().__init__(text, status)
        self.entries = entries or {}


class JobFailed(Error):
    """The job is stalled: it does not run until an operator retries it. `reason` is the cause."""

    def __init__(self, job: str, reason: str, run: Optional[str]) -> None:
        super().__init__(f"job {job} is stalled: {reason or 'no reason is known'}")
        self.job = job
        self.reason = reason
        self.run = run


class ResultTruncated(Error):
    """The result of the job is longer than w8yd keeps. `result` is its start, if it was kept."""

    def __init__(self, job: str, result: Optional[bytes]) -> None:
        super().__init__(f"the result of job {job} is longer than w8yd keeps")
        self.job = job
        self.result = result


class WaitTimeout(Error, TimeoutError):
    """The job was neither finished nor stalled in time. It may still run."""


class UnexpectedReply(Error):
    """The reply is not one of w8yd: another server, or a bug in w8yd."""


# ---- requests


def _bytes(text: Text) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _segment(text: Text) -> str:
    return urllib.parse.quote(_bytes(text), safe="")


def _member(name: str, text: Text) -> Dict[str, str]:
    """Returns the member of a JSON object for any bytes."""
    data = _bytes(text)
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {name + "_base64": base64.b64encode(data).decode()}


def _text_of(reply: Dict[str, Any], name: str) -> Optional[bytes]:
    """Returns the bytes of a member, or None if it is absent."""
    if name in reply:
        return _bytes(reply[name])
    encoded = reply.get(name + "_base64")
    return None if encoded is None else base64.b64decode(encoded)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class _Request:
    def __init__(self, method: str, path: str, body: Optional[bytes] = None, *, wait: float = 0.0) -> None:
        self.method = method
        self.path = path
        self.body = body
        self.wait = wait  # seconds for which w8yd delays the reply
        # With the key, w8yd executes add() and put() once, however often it receives them. rerun() ignores the key.
        self.key = uuid.uuid4().hex if method == "POST" else None
        self.may_repeat = method in ("GET", "POST")

    def encoded(self, address: _Address, token: Optional[str]) -> bytes:
        head = [f"{self.method} {address.prefix}{self.path} HTTP/1.1", f"Host: {address.host}"]
        if token is not None:
            head.append(f"Authorization: Bearer {token}")
        if self.key is not None:
            head.append(f"Idempotency-Key: {self.key}")
        if self.body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join(head + ["", ""]).encode("ascii") + (self.body or b"")


def _batches(entries: Iterable[bytes]) -> Iterator[List[bytes]]:
    """Divides encoded entries into the entries of requests."""
    batch: List[bytes] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) >= MAX_ENTRIES or size + len(entry) > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += len(entry) + 1
    if batch:
        yield batch


def _body(name: str, entries: List[bytes], options: Dict[str, Any]) -> bytes:
    rest = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in options.items())
    return b'{"%s":[%s]%s}' % (name.encode(), b",".join(entries), rest.encode())


def _add_requests(list_name: Text, items: Iterable[Text], allow_duplicates: bool, create: bool) -> Iterator[_Request]:
    if isinstance(items, (str, bytes)):
        raise TypeError("items must be a list of items, not one item")
    options = {name: True for name, on in (("allow_duplicates", allow_duplicates), ("create", create)) if on}
    entries = []
    for item in items:
        member = _member("item", item)
        entries.append(_json(member.get("item", member)))
    for batch in _batches(entries):
        yield _Request("POST", f"/api/v1/lists/{_segment(list_name)}/items", _body("items", batch, options))


def _rerun_request(list_name: Text, item: Text) -> _Request:
    return _Request("POST", f"/api/v1/lists/{_segment(list_name)}/items/{_segment(item)}/rerun", b"{}")


def _put_requests(feed: Text, payloads: Iterable[Text], job: Optional[Text], high: bool,
                  keep_result: Union[None, str, bool], create: bool, rerun: bool = False) -> Iterator[_Request]:
    if isinstance(payloads, (str, bytes)):
        raise TypeError("payloads must be a list of payloads, not one payload")
    more: Dict[str, Any] = {} if job is None else dict(_member("id", job))
    if high:
        more["high"] = True
    if rerun:
        more["rerun"] = True
    if keep_result is not None:
        more["keep_result"] = keep_result
    entries = [_json({**_member("payload", payload), **more}) for payload in payloads]
    for batch in _batches(entries):
        yield _Request("POST", f"/api/v1/feeds/{_segment(feed)}/jobs",
                       _body("jobs", batch, {"create": True} if create else {}))


class _Results:
    """Results of the entries of one or more requests."""

    def __init__(self) -> None:
        self.entries: List[Dict[str, Any]] = []

    def add(self, reply: Dict[str, Any], name: str) -> None:
        self.entries += reply[name]

    def check(self) -> None:
        """Raises Invalid if there is an invalid entry."""
        invalid = {index: str(entry.get("error", "")) for index, entry in enumerate(self.entries)
                   if entry.get("result") == "invalid"}
        if invalid:
            index, error = next(iter(invalid.items()))
            more = f", and {len(invalid) - 1} more" if len(invalid) > 1 else ""
            raise Invalid(f"entry {index}: {error}{more}", 200, invalid)


def _added(results: _Results) -> List[bool]:
    results.check()
    return [entry["result"] == "added" for entry in results.entries]


def _id_text(identifier: Optional[bytes]) -> str:
    return (identifier or b"").decode(errors="surrogateescape")


def _ids(results: _Results) -> List[str]:
    results.check()
    return [_id_text(_text_of(entry, "id")) for entry in results.entries]


def _only_id(results: _Results) -> str:
    identifier, = _ids(results)
    result = results.entries[0]["result"]
    if result == "exists":
        raise Exists(f"the feed already has a job with the ID {identifier!r}", 200)
    if result == "stalled":
        raise Refused(f"job {identifier!r} is stalled; return it to the queue first, with w8yctl job retry", 200)
    return identifier


def _job_path(feed: Text, job: Text) -> str:
    # An ID that is not UTF-8 is a str with surrogates, as os.fsdecode() creates it.
    name = job.encode(errors="surrogateescape") if isinstance(job, str) else job
    return f"/api/v1/feeds/{_segment(feed)}/jobs/{_segment(name)}"


def _wait_request(feed: Text, job: Text, seconds: float) -> _Request:
    query = f"?wait={max(1, int(seconds * 1000))}ms" if seconds > 0 else ""
    return _Request("GET", _job_path(feed, job) + query, wait=max(0.0, seconds))


class _Deadline:
    """Time limit of a wait; None: no limit."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def part(self) -> float:
        return min(MAX_WAIT_S, self.left())

    def check(self, job: Text, state: str) -> None:
        if self.left() == 0.0:
            raise WaitTimeout(f"job {_id_text(_bytes(job))} is {state}, and is not finished in time")


def _ended(job: Text, reply: Dict[str, Any]) -> bool:
    """Returns whether the job has a result. Raises its failure."""
    name = _id_text(job.encode(errors="surrogateescape") if isinstance(job, str) else job)
    if reply["state"] == "stalled":
        reason, run = (_text_of(reply, member) for member in ("reason", "run"))
        raise JobFailed(name, (reason or b"").decode(errors="replace"),
                        None if run is None else run.decode(errors="replace"))
    if reply["state"] == "finished" and reply.get("result_truncated"):
        raise ResultTruncated(name, _text_of(reply, "result"))
    return bool(reply["state"] == "finished")


def _schedule_request(schedule: Text, job: Text, rule: Optional[str], options: Dict[str, Any]) -> _Request:
    path = f"/api/v1/schedules/{_segment(schedule)}/{_segment(job)}"
    if rule is None:
        return _Request("DELETE", path)
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    return _Request("PUT", path, _json({"schedule": rule, **given}))


def _next_times(reply: Dict[str, Any]) -> List[datetime.datetime]:
    return [datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc) for ms in reply["next_ms"]]


def _why_path(list_name: Text, item: Optional[Text]) -> str:
    part = "" if item is None else f"/items/{_segment(item)}"
    return f"/api/v1/lists/{_segment(list_name)}{part}/why"


# ---- replies


class _Reply:
    """Reply that arrives in parts."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Dict[str, str] = {}
        self.body = b""
        self.done = False
        self.started = False  # a byte has arrived
        self._received = bytearray()
        self._length: Optional[int] = None  # of the body; None: chunked, or up to the end of the connection
        self._chunked = False

    @property
    def keeps_connection(self) -> bool:
        return (self.done and not self._received and (self._chunked or self._length is not None)
                and "close" not in self.headers.get("connection", "").lower())

    def feed(self, data: bytes) -> None:
        self.started = self.started or bool(data)
        self._received += data
        if len(self._received) > MAX_REPLY:
            raise UnexpectedReply("the reply is too long")
        if not self.status and not self._read_head():
            return
        if self._chunked:
            self._read_chunks()
        elif self._length is not None and len(self._received) >= self._length:
            self.body = bytes(self._received[:self._length])
            del self._received[:self._length]
            self.done = True

    def end(self) -> None:
        """The connection has ended. Raises EOFError if the reply is not complete."""
        if self.status and not self._chunked and self._length is None:
            self.body = bytes(self._received)
            self.done = True
        if not self.done:
            raise EOFError("w8yd closed the connection")

    def _read_head(self) -> bool:
        while True:
            head, found, rest = bytes(self._received).partition(b"\r\n\r\n")
            if not found:
                if len(head) > MAX_HEAD:
                    raise UnexpectedReply("the head of the reply is too long")
                return False
            self._received = bytearray(rest)
            lines = head.decode("latin-1").split("\r\n")
            words = lines[0].split(" ", 2)
            if not words[0].startswith("HTTP/1.") or len(words) < 2 or not words[1].isdigit():
                raise UnexpectedReply("the reply is not HTTP")
            if words[1].startswith("1"):  # an interim response
                continue
            for line in lines[1:]:
                name, _, value = line.partition(":")
                self.headers[name.strip().lower()] = value.strip()
            self.status = int(words[1])
            self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
            length = self.headers.get("content-length")
            if not self._chunked and length is not None:
                if not length.isdigit():
                    raise UnexpectedReply("the reply has an invalid Content-Length")
                self._length = int(length)
            elif self.status in (204, 304):
                self._length = 0
            return True

    def _read_chunks(self) -> None:
        while True:
            line, found, _ = bytes(self._received[:MAX_HEAD]).partition(b"\r\n")
            if not found:
                return
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise UnexpectedReply("the reply has an invalid chunk") from None
            begin = len(line) + 2
            if len(self._received) < begin + size + 2:
                return
            self.body += self._received[begin:begin + size]
            del self._received[:begin + size + 2]
            if size == 0:
                self.done = True
                return


def _retry_after(reply: _Reply) -> float:
    try:
        return max(0.0, float(reply.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _checked(reply: _Reply) -> Dict[str, Any]:
    """Returns the JSON of a reply. Raises its error."""
    try:
        said = json.loads(reply.body.decode())
    except ValueError:
        said = None
    if reply.status == 200 and isinstance(said, dict):
        return said
    text = said.get("error") if isinstance(said, dict) else None
    if not isinstance(text, str):
        shown = reply.body[:200].decode(errors="replace")
        error: Error = UnexpectedReply(f"HTTP {reply.status} without an error of w8yd: {shown!r}", reply.status)
        if reply.status in (502, 503, 504):  # of a proxy, which may have sent the request to w8yd
            error = Unavailable(str(error), reply.status, maybe_applied=True, retry_after=_retry_after(reply))
        raise error
    if reply.status == 503:
        assert isinstance(said, dict)
        raise Unavailable(text, 503, maybe_applied=said.get("applied") == "unknown", retry_after=_retry_after(reply))
    kinds: Dict[int, Type[Error]] = {400: Invalid, 413: Invalid, 414: Invalid, 415: Invalid, 422: Invalid,
                                     401: Denied, 403: Denied, 421: Denied, 404: NotFound, 409: Refused}
    raise kinds.get(reply.status, UnexpectedReply)(text, reply.status)


class _Retries:
    """Decides whether and when a failed request is sent again."""

    def __init__(self, request: _Request, seconds: float) -> None:
        self._request = request
        self._end = time.monotonic() + seconds
        self._count = 0

    def pause(self, error: Unavailable) -> float:
        """Returns the seconds until the next attempt, or raises the error."""
        pause = max(error.retry_after, min(2.0, 0.1 * 2.0 ** min(self._count, 5)) * random.uniform(0.5, 1.0))
        if error.maybe_applied and not self._request.may_repeat or time.monotonic() + pause > self._end:
            raise error
        self._count += 1
        return pause


class _Address:
    def __init__(self, address: str) -> None:
        self.text = address
        self.prefix = ""
        self.path: Optional[str] = None  # of a unix socket
        self.host = "localhost"
        self.name, self.port = "", 0
        self.tls: Optional[ssl.SSLContext] = None
        right = "use unix:/PATH or http://HOST:PORT"
        if address.startswith("unix:"):
            path = address[len("unix:"):]
            self.path = path[2:] if path.startswith("//") else path
            if not self.path.startswith("/"):
                raise ValueError(f"{address!r}: the path of the socket is not absolute; {right}")
            return
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is not an address of w8yd; {right}")
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(f"{address!r}: user, query and fragment are not supported; {right}")
        self.host = parts.netloc
        self.name = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.prefix = parts.path.rstrip("/")
        if parts.scheme == "https":
            self.tls = ssl.create_default_context()


class _Settings:
    def __init__(self, address: str, token: Optional[str], timeout: float, retry_for: float) -> None:
        self._address = _Address(address)
        if token is not None and (not token.isascii() or not token.isprintable() or token != token.strip()):
            raise ValueError("the token has a space, a line end or another character that a token cannot have")
        self._token = token
        self._timeout = timeout
        self._retry_for = retry_for

    def _encoded(self, request: _Request) -> bytes:
        return request.encoded(self._address, self._token)

    def _no_connection(self, error: BaseException) -> Unavailable:
        return Unavailable(f"cannot connect to {self._address.text}: {_cause(error)}")

    def _no_reply(self, error: BaseException) -> Unavailable:
        return Unavailable(f"no reply from {self._address.text}: {_cause(error)}", maybe_applied=True)


def _cause(error: BaseException) -> str:
    if isinstance(error, (asyncio.TimeoutError, socket.timeout)):
        return "time limit exceeded"
    return str(error) or type(error).__name__


# ---- clients


class Client(_Settings):
    """Client for threads.

    address: unix:/PATH, http://HOST:PORT, or https:// for a proxy.
    token: of status_token_file; changes over TCP need it.
    timeout: seconds for connecting and for one reply.
    retry_for: seconds for which a request is repeated while w8yd or Redis is unavailable; 0: never. A request
      that may have been executed is repeated only if that is harmless: reads, rerun(), and add() and put(), whose
      key lets w8yd recognize the repetition.
    """

    def __init__(self, address: str = DEFAULT_ADDRESS, *, token: Optional[str] = None, timeout: float = 15.0,
                 retry_for: float = 10.0) -> None:
        super().__init__(address, token, timeout, retry_for)
        self._idle: Deque[Tuple[socket.socket, float]] = collections.deque()  # with the time of the last use
        self._pid = os.getpid()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the idle connections. The client can still be used."""
        while True:
            try:
                self._idle.pop()[0].close()
            except IndexError:
                return

    def add(self, list: Text, items: Iterable[Text], *, allow_duplicates: bool = False,
            create: bool = False) -> List[bool]:
        """Adds items to the end of a circular list. Returns for each item whether it is new in the list."""
        results = _Results()
        for request in _add_requests(list, items, allow_duplicates, create):
            results.add(self._send(request), "items")
        return _added(results)

    def remove(self, list: Text, item: Text) -> None:
        """Removes an item from a circular list. An active run continues. Raises NotFound if it is not there."""
        self._send(_Request("DELETE", f"/api/v1/lists/{_segment(list)}/items/{_segment(item)}"))

    def rerun(self, list: Text, item: Text) -> None:
        """Makes sure that a run of an item of a circular list starts after this call. A running item is free after
        its run; the delay of a delayed item ends. Raises NotFound if the item is not in the list, and Refused if it
        is quarantined."""
        self._send(_rerun_request(list, item))

    def put(self, feed: Text, payload: Text, id: Optional[Text] = None, *, high: bool = False,
            keep_result: Union[None, str, bool] = None, create: bool = False, rerun: bool = False) -> str:
        """Puts a job into a feed, and returns its ID. Raises Exists if the feed has a job with this ID.

        high: before all queued jobs.
        rerun: if the feed has a job with this ID, it runs again with this payload, after its active run. Raises
          Refused if the job is stalled.
        keep_result: time for which wait() finds the result of the finished job, such as "2h"; False: none.
        """
        results = _Results()
        for request in _put_requests(feed, [payload], id, high, keep_result, create, rerun):
            results.add(self._send(request), "jobs")
        return _only_id(results)

    def put_many(self, feed: Text, payloads: Iterable[Text], *, high: bool = False,
                 keep_result: Union[None, str, bool] = None, create: bool = False) -> List[str]:
        """Puts many jobs into a feed, and returns their IDs."""
        results = _Results()
        for request in _put_requests(feed, payloads, None, high, keep_result, create):
            results.add(self._send(request), "jobs")
        return _ids(results)

    def wait(self, feed: Text, id: Text, timeout: Optional[float] = None) -> Optional[bytes]:
        """Waits for the end of a job, and returns its result, or None if it has none. Raises JobFailed,
        ResultTruncated, NotFound, or WaitTimeout after these seconds."""
        deadline = _Deadline(timeout)
        while True:
            reply = self._send(_wait_request(feed, id, deadline.part()), deadline.left())
            if _ended(id, reply):
                return _text_of(reply, "result")
            deadline.check(id, reply["state"])

    def job(self, feed: Text, id: Text) -> Dict[str, Any]:
        """Returns the state of a job, as in w8y-api(7)."""
        return self._send(_wait_request(feed, id, 0))

    def retract(self, feed: Text, id: Text) -> None:
        """Deletes a job. An active run continues. Raises NotFound if it is not there."""
        self._send(_Request("DELETE", _job_path(feed, id)))

    def schedule(self, schedule: Text, job: Text, rule: str, *, tz: Optional[str] = None,
                 jitter: Optional[str] = None, create: bool = False) -> List[datetime.datetime]:
        """Sets the schedule of a job: cron fields, a recurrence rule, NOW, AT:TIME, CONTINUE or STOP. Returns
        its next times."""
        options = {"tz": tz, "jitter": jitter, "create": create}
        return _next_times(self._send(_schedule_request(schedule, job, rule, options)))

    def unschedule(self, schedule: Text, job: Text) -> None:
        """Removes a job from a schedule. An active run continues. Raises NotFound if it is not there."""
        self._send(_schedule_request(schedule, job, None, {}))

    def why(self, list: Text, item: Optional[Text] = None) -> Dict[str, Any]:
        """Returns why an item does not run, or the limits of a list, as in w8y-api(7)."""
        return self._send(_Request("GET", _why_path(list, item)))

    def _send(self, request: _Request, retry_for: Optional[float] = None) -> Dict[str, Any]:
        retries = _Retries(request, self._retry_for if retry_for is None else retry_for)
        while True:
            try:
                return _checked(self._exchange(request))
            except Unavailable as error:
                pause = retries.pause(error)
            time.sleep(pause)

    def _exchange(self, request: _Request) -> _Reply:
        sock = self._kept()
        if sock is not None:
            reply = _Reply()
            try:
                return self._exchange_on(sock, request, reply)
            except Unavailable:
                # w8yd closed the connection just now, or has exited. A new connection shows that.
                if reply.started or not request.may_repeat:
                    raise
        return self._exchange_on(self._connect(), request, _Reply())

    def _exchange_on(self, sock: socket.socket, request: _Request, reply: _Reply) -> _Reply:
        end = time.monotonic() + self._timeout + request.wait
        kept = False
        try:
            sock.settimeout(self._timeout)
            sock.sendall(self._encoded(request))
            while not reply.done:
                sock.settimeout(max(0.001, end - time.monotonic()))
                data = sock.recv(256 * 1024)
                if data:
                    reply.feed(data)
                else:
                    reply.end()
            kept = reply.keeps_connection
        except (OSError, EOFError) as error:
            raise self._no_reply(error) from error
        finally:
            if kept:
                self._idle.append((sock, time.monotonic()))
            else:
                sock.close()
        return reply

    def _kept(self) -> Optional[socket.socket]:
        """Returns an idle connection that w8yd has not closed."""
        if self._pid != os.getpid():  # after a fork, the connections belong to the parent process
            self._pid = os.getpid()
            self.close()
        while True:
            try:
                sock, since = self._idle.pop()
            except IndexError:
                return None
            if time.monotonic() - since < MAX_IDLE_S and not _is_readable(sock):
                return sock
            sock.close()

    def _connect(self) -> socket.socket:
        address = self._address
        try:
            if address.path is not None:
                sock = socket.socket(socket.AF_UNIX)
                try:
                    sock.settimeout(self._timeout)
                    sock.connect(address.path)
                except BaseException:
                    sock.close()
                    raise
                return sock
            sock = socket.create_connection((address.name, address.port), self._timeout)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.tls is None:
                return sock
            try:
                return address.tls.wrap_socket(sock, server_hostname=address.name)
            except BaseException:
                sock.close()
                raise
        except OSError as error:
            raise self._no_connection(error) from error


def _is_readable(sock: socket.socket) -> bool:
    """Returns whether an idle connection has data or its end to read, so that it is of no use."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


class _Streams:
    """A connection of an AsyncClient."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.loop = asyncio.get_running_loop()
        self.since = time.monotonic()

    def is_usable(self) -> bool:
        return (self.loop is asyncio.get_running_loop() and time.monotonic() - self.since < MAX_IDLE_S
                and not self.reader.at_eof() and not self.writer.is_closing())

    def close(self) -> None:
        if not self.loop.is_closed():
            self.writer.close()


class AsyncClient(_Settings):
    """Client for asyncio. Parameters and methods are those of Client."""

    def __init__(self, address: str = DEFAULT_ADDRESS, *, token: Optional[str] = None, timeout: float = 15.0,
                 retry_for: float = 10.0) -> None:
        super().__init__(address, token, timeout, retry_for)
        self._idle: List[_Streams] = []

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the idle connections. The client can still be used."""
        closing, self._idle = self._idle, []
        for streams in closing:
            streams.close()
        for streams in closing:
            if streams.loop is asyncio.get_running_loop():
                try:
                    await streams.writer.wait_closed()
                except OSError:
                    pass

    async def add(self, list: Text, items: Iterable[Text], *, allow_duplicates: bool = False,
                  create: bool = False) -> List[bool]:
        results = _Results()
        for request in _add_requests(list, items, allow_duplicates, create):
            results.add(await self._send(request), "items")
        return _added(results)

    async def remove(self, list: Text, item: Text) -> None:
        await self._send(_Request("DELETE", f"/api/v1/lists/{_segment(list)}/items/{_segment(item)}"))

    async def rerun(self, list: Text, item: Text) -> None:
        await self._send(_rerun_request(list, item))

    async def put(self, feed: Text, payload: Text, id: Optional[Text] = None, *, high: bool = False,
                  keep_result: Union[None, str, bool] = None, create: bool = False, rerun: bool = False) -> str:
        results = _Results()
        for request in _put_requests(feed, [payload], id, high, keep_result, create, rerun):
            results.add(await self._send(request), "jobs")
        return _only_id(results)

    async def put_many(self, feed: Text, payloads: Iterable[Text], *, high: bool = False,
                       keep_result: Union[None, str, bool] = None, create: bool = False) -> List[str]:
        results = _Results()
        for request in _put_requests(feed, payloads, None, high, keep_result, create):
            results.add(await self._send(request), "jobs")
        return _ids(results)

    async def wait(self, feed: Text, id: Text, timeout: Optional[float] = None) -> Optional[bytes]:
        deadline = _Deadline(timeout)
        while True:
            reply = await self._send(_wait_request(feed, id, deadline.part()), deadline.left())
            if _ended(id, reply):
                return _text_of(reply, "result")
            deadline.check(id, reply["state"])

    async def job(self, feed: Text, id: Text) -> Dict[str, Any]:
        return await self._send(_wait_request(feed, id, 0))

    async def retract(self, feed: Text, id: Text) -> None:
        await self._send(_Request("DELETE", _job_path(feed, id)))

    async def schedule(self, schedule: Text, job: Text, rule: str, *, tz: Optional[str] = None,
                       jitter: Optional[str] = None, create: bool = False) -> List[datetime.datetime]:
        options = {"tz": tz, "jitter": jitter, "create": create}
        return _next_times(await self._send(_schedule_request(schedule, job, rule, options)))

    async def unschedule(self, schedule: Text, job: Text) -> None:
        await self._send(_schedule_request(schedule, job, None, {}))

    async def why(self, list: Text, item: Optional[Text] = None) -> Dict[str, Any]:
        return await self._send(_Request("GET", _why_path(list, item)))

    async def _send(self, request: _Request, retry_for: Optional[float] = None) -> Dict[str, Any]:
        retries = _Retries(request, self._retry_for if retry_for is None else retry_for)
        while True:
            try:
                return _checked(await self._exchange(request))
            except Unavailable as error:
                pause = retries.pause(error)
            await asyncio.sleep(pause)

    async def _exchange(self, request: _Request) -> _Reply:
        streams = self._kept()
        if streams is not None:
            reply = _Reply()
            try:
                return await self._exchange_on(streams, request, reply)
            except Unavailable:
                # w8yd closed the connection just now, or has exited. A new connection shows that.
                if reply.started or not request.may_repeat:
                    raise
        return await self._exchange_on(await self._connect(), request, _Reply())

    async def _exchange_on(self, streams: _Streams, request: _Request, reply: _Reply) -> _Reply:
        kept = False
        try:
            await asyncio.wait_for(self._talk(streams, request, reply), self._timeout + request.wait)
            kept = reply.keeps_connection
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            raise self._no_reply(error) from error
        finally:
            if kept:
                streams.since = time.monotonic()
                self._idle.append(streams)
            else:
                streams.close()
        return reply

    async def _talk(self, streams: _Streams, request: _Request, reply: _Reply) -> None:
        streams.writer.write(self._encoded(request))
        await streams.writer.drain()
        while not reply.done:
            data = await streams.reader.read(256 * 1024)
            if data:
                reply.feed(data)
            else:
                reply.end()

    def _kept(self) -> Optional[_Streams]:
        while self._idle:
            streams = self._idle.pop()
            if streams.is_usable():
                return streams
            streams.close()
        return None

    async def _connect(self) -> _Streams:
        address = self._address
        try:
            if address.path is not None:
                opening = asyncio.open_unix_connection(address.path)
            else:
                opening = asyncio.open_connection(address.name, address.port, ssl=address.tls)
            return _Streams(*await asyncio.wait_for(opening, self._timeout))
        except (OSError, asyncio.TimeoutError) as error:
            raise self._no_connection(error) from error

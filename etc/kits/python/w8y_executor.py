"""Kit for executors of w8yd in Python: you write a function of one item. w8y-executor(7) describes
the protocol.

    import w8y_executor

    def work(item):
        return {"length": len(item.bytes)}

    w8y_executor.serve(work, concurrency=4, version="1.0")

serve() replies to --caps, runs one item (`single`), or runs many items in one process, each in a
separate thread (`stream`). It needs only the standard library. Install this file in the directory of
your program.

While serve() runs, standard output goes to standard error, also for C libraries and child processes,
and standard input is empty. The protocol uses private descriptors.

With `stream`, print(), logging and tracebacks belong to the item of the thread or asyncio task that
writes them. A thread that the function starts has no item, except in a copy of the context:

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(helper, path)).start()

asyncio.to_thread() does this. Output without an item, of C libraries and of child processes goes to
standard error.
"""
import base64
import contextlib
import contextvars
import json
import os
import queue
import re
import select
import signal
import sys
import threading
import time
import traceback

__all__ = ["Cancelled", "Failed", "Item", "serve"]

GONE = 128 + signal.SIGPIPE  # w8yd has closed the pipe
STOPPED = 128 + signal.SIGTERM
MAX_LINE = 8192  # characters of output in one message; w8yd does not read lines of any length


class Failed(Exception):
    """The run has failed because of its item. The text is the reason. Any other exception has the same
    effect, and leaves a traceback in the log of the item."""


class Cancelled(BaseException):
    """The item was cancelled. It is not an Exception, so that `except Exception` does not catch it."""


_current = contextvars.ContextVar("w8y_item", default=None)  # the item that output belongs to


class Item:
    """One run of one item, and its messages. Any thread may use it."""

    def __init__(self, output, name, run_id, *, fence=0, attempt=1, in_stream=False):
        self.name = name  # of the list
        self.id = run_id  # new for each run
        self.bytes = b""
        self.payload = None  # bytes of the payload of a job
        self.fence = fence  # fencing token: pass it to the store you write to
        self.attempt = attempt  # consecutive failures, plus 1
        self._output = output
        self._in_stream = in_stream
        self._cancel = threading.Event()
        self._stop_requested = False  # not an Event: a signal handler cannot acquire locks
        self._last_progress = None
        self._lock = threading.RLock()  # for the members below
        self._line = b""  # incomplete line of output
        self._ended = False

    @property
    def text(self):
        """The item as a string. Raises Failed if it is not UTF-8."""
        try:
            return self.bytes.decode()
        except UnicodeDecodeError:
            raise Failed("the item is not UTF-8") from None

    @property
    def cancelled(self):
        return self._stop_requested or self._cancel.is_set()

    def check(self):
        """Raises Cancelled if the run was cancelled."""
        if self.cancelled:
            raise Cancelled

    def wait(self, seconds=None):
        """Sleeps until the time is over or the item is cancelled. Returns whether it is cancelled."""
        return self.cancelled or self._cancel.wait(seconds) or self.cancelled

    def progress(self, numerator, denominator):
        """Calls check(), and reports progress at most four times per second."""
        self.check()
        now = time.monotonic()
        if self._last_progress is None or now - self._last_progress >= 0.25:
            self._last_progress = now
            self._say({"type": "progress", "numerator": numerator, "denominator": denominator})

    def update(self, data):
        """Sends any JSON to the subscribers of the list's events."""
        self._say({"type": "update", "data": data})

    def print(self, text):
        """Writes a line to the log, with its item."""
        self._say({"type": "print", "content": str(text)})

    def _say(self, message):
        self._output.send(self._encoded(message))

    def _encoded(self, message):
        return _encoded({**message, "id": self.id} if self._in_stream else message)

    def _complete(self, answer):
        rest = {name: value for name, value in answer.items() if name not in ("type", "id")}
        try:
            last = self._encoded({"type": "complete", **rest})
        except (TypeError, ValueError, RecursionError) as error:
            self._log_error()
            last = self._encoded({"type": "complete", "error": f"the result is not JSON: {error}"})
        with self._lock:
            self._end_line()
            self._ended = True
        self._output.send(last)

    def _log_error(self):
        self._end_line()
        traceback.print_exc()

    def _end_line(self):
        with self._lock:
            if self._line:
                self._log(b"\n")

    def _log(self, data):
        """Sends each complete line of output as a message. Returns False if the run has ended."""
        with self._lock:
            if self._ended:
                return False
            *lines, self._line = (self._line + data).split(b"\n")
            if len(self._line) > MAX_LINE:
                lines.append(self._line)
                self._line = b""
            for line in lines:
                text = line.decode(errors="replace")
                for start in range(0, len(text) or 1, MAX_LINE):
                    self.print(text[start:start + MAX_LINE])
            return True


def serve(function, *, caps=(), concurrency=1, version=None, args=None):
    """Executes the request of w8yd, and exits.

    function(item): returns the result of the run as a dict, or None, or raises an exception.
    caps: further capabilities, for `requires`.
    concurrency: number of items at once in one process, each in a thread.
    args: command line; serve() reads only the last arguments.
    """
    args = sys.argv[1:] if args is None else list(args)
    if args[-1:] == ["--caps"]:
        answer = {"type": "caps", "caps": ["single", "stream", *caps], "concurrency": concurrency}
        if version is not None:
            answer["version"] = version
        _Output(1).send(_encoded(answer))
        sys.exit(0)
    if args[-2:-1] == ["--stream"]:
        source, output = _claim_streams()
        sys.exit(_Stream(function, source, output, args[-1], concurrency).run())
    if len(args) >= 3 and re.fullmatch("[0-9]+", args[-1]):
        source, output = _claim_streams()
        sys.exit(_single(function, source, output, *args[-3:-1], int(args[-1])))
    print("usage: EXECUTOR [args] --caps | --stream NAME | NAME ID LENGTH", file=sys.stderr)
    sys.exit(2)


def _claim_streams():
    """Moves the protocol to private descriptors, which child processes do not inherit."""
    try:
        source, output = os.dup(0), os.dup(1)
    except OSError:
        sys.exit(GONE)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    return source, _Output(output)


def _route_output():
    """Sends the output of each thread and asyncio task to its item. Changes the streams themselves,
    because an existing logging handler refers to a stream, not to sys.stderr."""
    streams = {id(stream): stream for stream in (sys.stderr, sys.__stderr__, sys.__stdout__) if stream}
    for stream in streams.values():
        for layer in (stream, getattr(stream, "buffer", None)):
            with contextlib.suppress(AttributeError):  # there is no such layer, or it cannot be changed
                layer.write = _routed(layer.write)
    if hasattr(sys.__stdout__, "reconfigure"):
        sys.__stdout__.reconfigure(line_buffering=True)
    # A forked process has no item: its messages would mix with those of this process.
    os.register_at_fork(after_in_child=lambda: _current.set(None))


def _routed(write):
    def routed(data):
        item = _current.get()
        if item is not None:
            text = isinstance(data, str)
            if item._log(data.encode(errors="backslashreplace") if text else bytes(memoryview(data))):
                return len(data)
        return write(data)
    return routed


def _encoded(message):
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate is not valid Unicode. os.fsdecode() creates it for a byte that is not UTF-8.
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode() + b"\n"


class _Output:
    """Writes lines of JSON, each complete and at once: a buffer would delay progress."""

    def __init__(self, fd):
        self._fd = fd
        self._lock = threading.Lock()
        self.in_main = False  # the main thread is writing

    def send(self, line):
        main = threading.current_thread() is threading.main_thread()
        # The garbage collector can write a traceback while this thread has the lock.
        before = _current.set(None)
        try:
            self.in_main = self.in_main or main
            with self._lock:
                while line:
                    line = line[os.write(self._fd, line):]
        except OSError:
            os._exit(GONE)  # works in any thread, and ends the others
        finally:
            _current.reset(before)
            if main:
                self.in_main = False


def _answer(function, item):
    """Calls the function. Returns the members of the last message."""
    try:
        result = function(item)
        if result is not None and not isinstance(result, dict):
            raise TypeError(f"the result is of type {type(result).__name__}, not dict")
        return result or {}
    except Failed as error:
        return {"error": str(error)}
    except Exception as error:
        item._log_error()
        return {"error": f"{type(error).__name__}: {error}".rstrip(": ")}


# ---- single


def _single(function, source, output, name, run_id, length):
    item = Item(output, name, run_id, fence=int(os.environ.get("W8Y_FENCE") or 0),
                attempt=int(os.environ.get("W8Y_ATTEMPT") or 1))

    def stop(*_):
        # Interrupts a blocked call, and executes every `finally` and `with`. It does this once only, and
        # not while a line is being written.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        item._stop_requested = True
        if not output.in_main:
            raise Cancelled

    try:
        signal.signal(signal.SIGTERM, stop)
        with open(source, "rb") as file:
            item.bytes = file.read(length)
        if len(item.bytes) == length:
            answer = _answer(function, item)
        else:
            answer = {"error": f"got {len(item.bytes)} bytes of {length}"}
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except Cancelled:
        return STOPPED
    item._complete(answer)
    return 0


# ---- stream


def _bytes_of(message, key):
    """Returns the bytes of a member, a string or base64. None: the member is absent."""
    if key in message:
        return message[key].encode()
    encoded = message.get(key + "_base64")
    return None if encoded is None else base64.b64decode(encoded, validate=True)


class _Stream:
    """The main thread reads the input and owns all members. Workers receive items through one queue,
    and report the end through another. A pipe wakes the main thread for reports and signals."""

    def __init__(self, function, source, output, name, concurrency):
        self._function = function
        self._source = source
        self._output = output
        self._name = name
        self._concurrency = concurrency
        self._open = {}  # by id
        self._workers = 0
        self._to_do = queue.SimpleQueue()
        self._done = queue.SimpleQueue()
        self._stop_requested = False
        self._waiting, self._wake = os.pipe()
        os.set_blocking(self._wake, False)

    def run(self):
        _route_output()
        signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._waiting, select.POLLIN)
        poll.register(self._source, select.POLLIN)
        reading = True
        lines = _Lines()
        while reading or self._open:
            ready = [fd for fd, _ in poll.poll()]
            if self._waiting in ready:
                os.read(self._waiting, 4096)
            while not self._done.empty():
                del self._open[self._done.get()]
            if self._stop_requested:
                for item in self._open.values():
                    item._cancel.set()
            elif self._source in ready:
                received = os.read(self._source, 65536)
                for line in lines.add(received):
                    self._take(line)
                if received:
                    continue
            if reading and (self._stop_requested or self._source in ready):
                poll.unregister(self._source)
                reading = False
        return STOPPED if self._stop_requested else 0

    def _on_sigterm(self, *_):
        self._stop_requested = True

    def _take(self, line):
        try:
            message = json.loads(line.decode())
            kind, run_id = message["type"], message.get("id")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            print(f"w8y_executor: not a message: {line[:80]!r}", file=sys.stderr)
            return
        if not isinstance(run_id, str):
            return  # a message of a newer w8yd
        if kind == "cancel" and run_id in self._open:
            self._open[run_id]._cancel.set()
        elif kind == "item" and run_id not in self._open:
            self._begin(run_id, message)

    def _begin(self, run_id, message):
        item = Item(self._output, message.get("name", self._name), run_id, in_stream=True,
                    fence=message.get("fence", 0), attempt=message.get("attempt", 1))
        try:
            item.bytes = _bytes_of(message, "item")
            item.payload = _bytes_of(message, "payload")
            if item.bytes is None:
                raise ValueError("it has none")
        except (ValueError, TypeError, AttributeError) as error:
            item._complete({"error": f"the item cannot be read: {error}"})
            return
        self._open[run_id] = item
        self._to_do.put(item)
        if self._workers < min(len(self._open), self._concurrency):
            # Daemon threads: when the process exits, none of them has an item.
            threading.Thread(target=self._work, daemon=True).start()
            self._workers += 1

    def _work(self):
        while True:
            item = self._to_do.get()
            _current.set(item)
            item._complete({"error": "cancelled"} if item.cancelled else self._outcome(item))
            _current.set(None)
            self._done.put(item.id)
            try:
                os.write(self._wake, b"\0")
            except BlockingIOError:
                pass  # the pipe is full, so the main thread wakes up anyway

    def _outcome(self, item):
        try:
            return _answer(self._function, item)
        except Cancelled:
            return {"error": "cancelled"}
        except BaseException as error:  # such as SystemExit: it ends this run, not the other runs
            item._log_error()
            return {"error": type(error).__name__}


class _Lines:
    """Splits input into lines, and examines each byte once."""

    def __init__(self):
        self._parts = []

    def add(self, received):
        *lines, rest = received.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._parts, lines[0]])
            self._parts = []
        self._parts.append(rest)
        return [line for line in lines if line.strip()]

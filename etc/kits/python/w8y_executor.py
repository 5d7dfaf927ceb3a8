"""Kit for executors of w8yd in Python: you write a function of one item. w8y-executor(7) describes
the protocol.

    import w8y_executor

    def work(item):
        return {"length": len(item.bytes)}

    w8y_executor.serve(work, concurrency=4, version="1.0")

serve() replies to --caps, runs one item (`single`), or runs many items in one process, each in a
separate thread (`stream`). It needs only the standard library. Install this file in the directory of
your program.

`async def work(item)` runs as an asyncio task. With `stream`, all items share one event loop, without
threads, so that `concurrency` may be 10,000. A cancel raises asyncio.CancelledError in the task. All
messages of one iteration of the loop leave in one write. If a function blocks the loop, its first message
waits for the next one or for the end of the iteration. For work that needs a processor, use several
processes: `processes` in w8y.toml(5).

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
import collections.abc
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

COMPLETE = b'"type":"complete"}\n'  # the last message of most runs, without its start
GONE = 128 + signal.SIGPIPE  # w8yd has closed the pipe
STOPPED = 128 + signal.SIGTERM
MAX_LINE = 8192  # characters of output in one message; w8yd does not read lines of any length
MAX_WAITING = 64  # lines that wait for a thread that writes; then the other threads wait too
MAX_DELAY = 0.001  # s after the first message of an iteration of the loop; later messages leave at once


class Failed(Exception):
    """The run has failed because of its item. The text is the reason. Any other exception has the same
    effect, and leaves a traceback in the log of the item."""


class Cancelled(BaseException):
    """The item was cancelled. It is not an Exception, so that `except Exception` does not catch it."""


_current = contextvars.ContextVar("w8y_item", default=None)  # the item that output belongs to


class Item:
    """One run of one item, and its messages. Any thread may use it."""

    def __init__(self, output, name, run_id, *, fence=0, attempt=1, start=b"{"):
        self.name = name  # of the list
        self.id = run_id  # new for each run
        self.bytes = b""
        self.payload = None  # bytes of the payload of a job
        self.fence = fence  # fencing token: pass it to the store you write to
        self.attempt = attempt  # consecutive failures, plus 1
        self._output = output
        self._start = start  # of each message
        self._task = None  # asyncio task of the function
        self._cancelled = False
        self._woken = None  # Event that wait() waits for
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
        return self._cancelled

    def check(self):
        """Raises Cancelled if the run was cancelled."""
        if self.cancelled:
            raise Cancelled

    def wait(self, seconds=None):
        """Sleeps until the time is over or the item is cancelled. Returns whether it is cancelled."""
        with self._lock:
            self._woken = self._woken or threading.Event()
        return self._cancelled or self._woken.wait(seconds) or self._cancelled

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
        return self._start + _encoded(message)[1:]

    def _cancel(self):
        if not self._cancelled:
            self._cancelled = True
            if self._woken:
                self._woken.set()
            if self._task:
                self._task.cancel()

    def _complete(self, answer):
        last = self._start + COMPLETE
        if answer:
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

    function(item): returns the result of the run as a dict, or None, or raises an exception. It may be a
    coroutine function.
    caps: further capabilities, for `requires`.
    concurrency: number of items at once in one process, each in a thread or an asyncio task.
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
        import inspect  # not above, like asyncio: `single` starts faster without them
        is_async = any(map(inspect.iscoroutinefunction, (function, type(function).__call__)))
        kind = _Tasks if is_async else _Threads
        sys.exit(kind(function, source, output, args[-1], concurrency).run())
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


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _encoded(message):
    text = _encode(message) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate is not valid Unicode. os.fsdecode() creates it for a byte that is not UTF-8.
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


class _Output:
    """Writes lines of JSON, each complete and at once: a buffer would delay progress. The thread that
    writes also writes the lines that other threads add meanwhile."""

    def __init__(self, fd):
        self._fd = fd
        self._lock = threading.Lock()
        self._lines = collections.deque()
        self._main = threading.get_ident()
        self._loop = None
        self._first = None  # time of the first line of this iteration of the loop
        self.in_main = False  # the main thread is writing

    def batch(self, loop):
        """Makes lines of the main thread leave in one write per iteration of the loop."""
        self._loop = loop

    def send(self, line):
        self._lines.append(line)
        if self._loop is None or threading.get_ident() != self._main:
            self.flush()
        elif self._first is None:
            self._first = time.monotonic()
            self._loop.call_soon(self._end_batch)
        elif time.monotonic() - self._first > MAX_DELAY:
            self.flush()  # the function blocks the loop

    def _end_batch(self):
        self._first = None
        self.flush()

    def flush(self, wait=False):
        """Writes all lines, or leaves them to the thread that is writing. wait: waits for that thread."""
        main = threading.get_ident() == self._main
        # The garbage collector can write a traceback while this thread has the lock.
        before = _current.set(None)
        try:
            self.in_main = self.in_main or main
            while (wait or self._lines) and self._lock.acquire(wait or len(self._lines) > MAX_WAITING):
                try:
                    lines = b"".join([self._lines.popleft() for _ in range(len(self._lines))])
                    while lines:
                        lines = lines[os.write(self._fd, lines):]
                finally:
                    self._lock.release()
                wait = False
        except OSError:
            os._exit(GONE)  # works in any thread, and ends the others
        finally:
            _current.reset(before)
            if main:
                self.in_main = False


def _members(result):
    """Returns the members of the last message of a run that has succeeded."""
    if result is not None and not isinstance(result, dict):
        raise TypeError(f"the result is of type {type(result).__name__}, not dict")
    return result


def _failure(item, error):
    """Returns the members of the last message of a run that has failed. Called in an `except` block."""
    if isinstance(error, Failed):
        return {"error": str(error)}
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
        item._cancelled = True  # not _cancel(): a signal handler cannot acquire locks
        if not output.in_main:
            raise Cancelled

    try:
        signal.signal(signal.SIGTERM, stop)
        with open(source, "rb") as file:
            item.bytes = file.read(length)
        if len(item.bytes) == length:
            try:
                result = function(item)
                if isinstance(result, collections.abc.Coroutine):
                    result = _run_task(result, item)
                answer = _members(result)
            except Exception as error:
                answer = _failure(item, error)
        else:
            answer = {"error": f"got {len(item.bytes)} bytes of {length}"}
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except Cancelled:
        return STOPPED
    item._complete(answer)
    output.flush(wait=True)
    return 0


def _run_task(coroutine, item):
    """Runs a coroutine, and cancels its task on SIGTERM."""
    import asyncio

    async def run():
        item._task = asyncio.current_task()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, item._cancel)
        try:
            return await coroutine
        except asyncio.CancelledError:
            item.check()
            raise
    return asyncio.run(run())


# ---- stream


def _bytes_of(message, key):
    """Returns the bytes of a member, a string or base64. None: the member is absent."""
    if key in message:
        return message[key].encode()
    encoded = message.get(key + "_base64")
    return None if encoded is None else base64.b64decode(encoded, validate=True)


# An item line as w8yd writes it, without escapes, base64 and payload.
_TEXT = rb'"([ !#-\[\]-~]*)"'
_plain_item = re.compile(rb'\{"type":"item","id":%b,"name":%b,"item":%b,"fence":([0-9]+),"attempt":([0-9]+)\}'
                         % (_TEXT, _TEXT, _TEXT)).fullmatch


class _Stream:
    """Reads the input in the main thread. A subclass has run(), and _add(), which runs an item."""

    def __init__(self, function, source, output, name, concurrency):
        self._function = function
        self._source = source
        self._output = output
        self._name = name
        self._concurrency = concurrency
        self._open = {}  # by id
        self._lines = _Lines()
        _route_output()

    def _receive(self):
        """Reads input. Returns whether it has not ended."""
        received = os.read(self._source, 65536)
        for line in self._lines.add(received):
            self._take(line)
        return bool(received)

    def _take(self, line):
        plain = _plain_item(line)  # in a third of the time of json.loads()
        if plain:
            run_id, name, data, fence, attempt = plain.groups()
            self._begin(run_id.decode(), b'{"id":"%b",' % run_id, name.decode(), data, None, int(fence),
                        int(attempt))
            return
        try:
            message = json.loads(line.decode())
            kind, run_id = message["type"], message.get("id")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            print(f"w8y_executor: not a message: {line[:80]!r}", file=sys.stderr)
            return
        if not isinstance(run_id, str):
            return  # a message of a newer w8yd
        if kind == "cancel" and run_id in self._open:
            self._open[run_id]._cancel()
        elif kind == "item":
            # The id comes first: w8yd reads only the start of a line that is too long.
            start = _encoded({"id": run_id})[:-2] + b","
            data = payload = error = None
            try:
                data = _bytes_of(message, "item")
                payload = _bytes_of(message, "payload")
                if data is None:
                    raise ValueError("it has none")
            except (ValueError, TypeError, AttributeError) as reason:
                error = reason
            self._begin(run_id, start, message.get("name", self._name), data, payload,
                        message.get("fence", 0), message.get("attempt", 1), error)

    def _begin(self, run_id, start, name, data, payload, fence, attempt, error=None):
        if run_id in self._open:
            return
        item = Item(self._output, name, run_id, fence=fence, attempt=attempt, start=start)
        if error is not None:
            item._complete({"error": f"the item cannot be read: {error}"})
            return
        item.bytes = data
        item.payload = payload
        self._open[run_id] = item
        self._add(item)


class _Threads(_Stream):
    """Workers receive items through a queue. A pipe wakes the main thread for signals and the end."""

    def __init__(self, *args):
        super().__init__(*args)
        self._workers = 0
        self._to_do = queue.SimpleQueue()
        self._napping = False
        self._reading = True
        self._stop_requested = False
        self._waiting, self._wake = os.pipe()
        os.set_blocking(self._wake, False)

    def run(self):
        signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._waiting, select.POLLIN)
        poll.register(self._source, select.POLLIN)
        while self._reading or self._open:
            ready = [fd for fd, _ in poll.poll()]
            if self._waiting in ready:
                os.read(self._waiting, 4096)
            if self._stop_requested:
                for item in list(self._open.values()):
                    item._cancel()
            elif self._source in ready and self._receive():
                self._nap()
                continue
            if self._reading and (self._stop_requested or self._source in ready):
                poll.unregister(self._source)
                self._reading = False
        self._output.flush(wait=True)
        return STOPPED if self._stop_requested else 0

    def _on_sigterm(self, *_):
        self._stop_requested = True

    def _nap(self):
        """Sleeps for at most 1 ms while the workers have more than one item: they write faster if this
        thread does not wake up for each new item."""
        self._napping = True
        if self._to_do.qsize() > 1:
            select.select([self._waiting], [], [], 0.001)
        self._napping = False

    def _wake_up(self):
        try:
            os.write(self._wake, b"\0")
        except BlockingIOError:
            pass  # the pipe is full, so the main thread wakes up anyway

    def _add(self, item):
        self._to_do.put(item)
        if self._workers < min(len(self._open), self._concurrency):
            # Daemon threads: when the process exits, none of them has an item.
            threading.Thread(target=self._work, daemon=True).start()
            self._workers += 1

    def _work(self):
        while True:
            item = self._to_do.get()
            if self._napping and self._to_do.empty():
                self._wake_up()
            _current.set(item)
            item._complete({"error": "cancelled"} if item.cancelled else self._outcome(item))
            _current.set(None)
            del self._open[item.id]
            if not self._reading and not self._open:
                self._wake_up()

    def _outcome(self, item):
        try:
            return _members(self._function(item))
        except Cancelled:
            return {"error": "cancelled"}
        except BaseException as error:  # such as SystemExit: it ends this run, not the other runs
            return _failure(item, error)


class _Tasks(_Stream):
    """Each item is an asyncio task. All members belong to the thread of the event loop."""

    def __init__(self, *args):
        import asyncio
        super().__init__(*args)
        self._asyncio = asyncio
        self._queue = collections.deque()
        self._running = 0
        self._reading = True
        self._stopped = False
        self._context = contextvars.copy_context()  # without an item, for new tasks

    def run(self):
        self._asyncio.run(self._run())
        return STOPPED if self._stopped else 0

    async def _run(self):
        self._loop = self._asyncio.get_running_loop()
        self._finished = self._asyncio.Event()
        self._output.batch(self._loop)
        self._loop.add_signal_handler(signal.SIGTERM, self._stop)
        try:
            self._loop.add_reader(self._source, self._read)
        except PermissionError:  # a regular file, which is always readable
            while self._reading:
                self._read()
                await self._asyncio.sleep(0)
        await self._finished.wait()
        self._output.flush(wait=True)

    def _read(self):
        if not self._receive():
            self._end()

    def _end(self):
        self._reading = False
        self._loop.remove_reader(self._source)
        if not self._open:
            self._finished.set()

    def _stop(self):
        self._stopped = True
        for item in self._open.values():
            item._cancel()
        self._end()

    def _add(self, item):
        if self._running < self._concurrency:
            self._running += 1
            self._start(item)
        else:
            self._queue.append(item)

    def _start(self, item):
        self._context.run(self._loop.create_task, self._work(item))

    async def _work(self, item):
        item._task = self._asyncio.current_task()
        _current.set(item)
        item._complete({"error": "cancelled"} if item.cancelled else await self._outcome(item))
        del self._open[item.id]
        if self._queue:
            self._start(self._queue.popleft())
        else:
            self._running -= 1
            if not self._reading and not self._open:
                self._finished.set()

    async def _outcome(self, item):
        try:
            return _members(await self._function(item))
        except (Cancelled, self._asyncio.CancelledError):
            return {"error": "cancelled"}
        except BaseException as error:  # such as SystemExit: it ends this run, not the other runs
            return _failure(item, error)


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

/**
 * Kit for executors of w8yd in Node: you write a function of one item. w8y-executor(7) describes the
 * protocol.
 *
 *   const { serve } = require("./w8y-executor.js");   // or: import { serve } from …
 *
 *   serve(async (item) => ({ length: item.bytes.length }), { concurrency: 4, version: "1.0" });
 *
 * serve() replies to --caps, runs one item (`single`), or runs many items in one process (`stream`),
 * at most `concurrency` promises at once. It has no dependencies. Install this file in the directory
 * of your program.
 *
 * While serve() runs, console.log and process.stdout.write go to standard error. Standard output is
 * the protocol. Do not write to it with fs.writeSync(1, …), and do not start a child process with
 * `stdio: "inherit"`.
 *
 * All messages of one callback and its promises leave in one write. If a function blocks the event loop,
 * its first message waits for the next one or for the end of the callback.
 *
 * With `stream`, console.*, process.stdout.write and process.stderr.write belong to the item whose
 * function calls them, also in its promises and callbacks (AsyncLocalStorage). Output without an item
 * and of child processes goes to standard error.
 */
"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { StringDecoder } = require("node:string_decoder");

const SIGPIPE = 13;
const SIGTERM = 15;
const GONE = 128 + SIGPIPE; // w8yd has closed the pipe
const STOPPED = 128 + SIGTERM;
const MAX_LINE = 8192; // characters of output in one message; w8yd does not read lines of any length
const MAX_DELAY = 1; // ms after the first message of a callback; later messages leave at once
const COMPLETE = '{"type":"complete"}';

const current = new AsyncLocalStorage(); // the item that output belongs to

/** The run has failed because of its item. The text is the reason. Any other error has the same
 * effect, and leaves its stack in the log of the item. */
class Failed extends Error {}

/** The item was cancelled. It is also the reason of `item.signal`. */
class Cancelled extends Error {
  constructor() {
    super("cancelled");
  }
}

/** One run of one item, and its messages. */
class Item {
  #send;
  #controller = null; // expensive, and rarely used
  #reason = null; // a Cancelled, after a cancel
  #lastProgress = -Infinity;
  #decoder = null;
  #line = ""; // incomplete line of output
  #ended = false;

  constructor(send, members) {
    this.#send = send;
    this.name = members.name; // of the list
    this.id = members.id; // new for each run
    this.bytes = members.bytes; // a Buffer
    this.payload = members.payload; // a Buffer, the payload of a job
    this.fence = members.fence ?? 0; // fencing token: pass it to the store you write to
    this.attempt = members.attempt ?? 1; // consecutive failures, plus 1
  }

  /** The item as a string. Throws Failed if it is not UTF-8. */
  get text() {
    try {
      return decode(this.bytes);
    } catch {
      throw new Failed("the item is not UTF-8");
    }
  }

  /** An AbortSignal, for fetch() and other functions that accept one. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
  get cancelled() {
    return this.#reason !== null;
  }
  /** Throws Cancelled if the run was cancelled. */
  check() {
    if (this.#reason) throw this.#reason;
  }

  /** Calls check(), and reports progress at most four times per second. */
  progress(numerator, denominator) {
    this.check();
    const now = performance.now();
    if (now - this.#lastProgress < 250) return;
    this.#lastProgress = now;
    this.#send(encode({ type: "progress", numerator, denominator }));
  }
  /** Sends any JSON to the subscribers of the list's events. */
  update(data) {
    this.#send(encode({ type: "update", data: data ?? null }));
  }
  /** Writes a line to the log, with its item. */
  print(text) {
    this.#send(encode({ type: "print", content: String(text) }));
  }

  // For serve() only. Sends each complete line of output as a message. False: the run has ended.
  static log(item, data, encoding) {
    if (item.#ended) return false;
    if (typeof data === "string") data = Buffer.from(data, typeof encoding === "string" ? encoding : "utf8");
    item.#decoder ??= new StringDecoder("utf8");
    const lines = (item.#line + item.#decoder.write(data)).split("\n");
    item.#line = lines.pop();
    if (item.#line.length > MAX_LINE) {
      lines.push(item.#line);
      item.#line = "";
    }
    for (const line of lines)
      for (let start = 0; start === 0 || start < line.length; start += MAX_LINE)
        item.print(line.slice(start, start + MAX_LINE));
    return true;
  }
  static endLine(item) {
    const rest = item.#line + (item.#decoder?.end() ?? "");
    if (rest !== "") item.print(rest);
    item.#line = "";
  }
  // For serve() only. Sends the last message.
  static complete(item, text) {
    Item.endLine(item);
    item.#ended = true;
    item.#send(text);
  }

  // For serve() only. Resolves to the last message, or to null if the run was cancelled. Never rejects.
  static async outcome(work, item) {
    try {
      item.check();
      const result = await work(item);
      if (result === undefined || result === null) return COMPLETE;
      if (typeof result !== "object" || Array.isArray(result))
        throw new TypeError("the result is not an object");
      // The first `type` makes it the first member: see Stream.#begin().
      return encode({ type: "", ...result, type: "complete", id: undefined });
    } catch (error) {
      if (item.cancelled && (error === item.#reason || error?.name === "AbortError")) return null;
      if (error instanceof Failed) return failure(error.message);
      Item.endLine(item);
      console.error(error);
      return failure(String(error));
    }
  }
  // For serve() only.
  static cancel(item) {
    if (item.#reason) return;
    item.#reason = new Cancelled();
    item.#controller?.abort(item.#reason);
  }
}

function encode(message) {
  const text = JSON.stringify(message);
  if (!text.includes("\\ud")) return text;
  // JSON.stringify writes a lone surrogate as an escape, which is not valid Unicode.
  return text.replace(/\\(?:u(d[89a-f]..)|.)/g, (escape, half) => (half ? "\ufffd" : escape));
}

/** Returns the last message of a run that has failed. */
function failure(error) {
  return encode({ type: "complete", error });
}

/**
 * Executes the request of w8yd, and ends the process.
 *
 * work(item) returns the result of the run as an object, or nothing, or a promise of these, or throws.
 * The options are:
 *   caps         further capabilities, for `requires`
 *   concurrency  number of items at once in one process
 *   version      version of the executor
 *   args         command line; serve() reads only the last arguments
 */
function serve(work, options = {}) {
  const { caps = [], concurrency = 1, version, args = process.argv.slice(2) } = options;
  const output = new Output();
  const last = args.slice(-3);
  if (last.at(-1) === "--caps") {
    output.send(encode({ type: "caps", caps: ["single", "stream", ...caps], concurrency, version }));
    output.exit(0);
  } else if (last.at(-2) === "--stream") {
    new Stream(work, output, last.at(-1), concurrency).run();
  } else if (last.length === 3 && /^[0-9]+$/.test(last[2])) {
    single(work, output, last[0], last[1], Number(last[2]));
  } else {
    console.error("usage: EXECUTOR [args] --caps | --stream NAME | NAME ID LENGTH");
    process.exitCode = 2;
  }
}

/** Writes lines of JSON. All lines of one callback and its promises leave in one write, because a write
 * costs more than a line. Node writes to a pipe completely and at once. */
class Output {
  #write = process.stdout.write.bind(process.stdout);
  #lines = "";
  #first = null; // time of the first line of this batch; null: no flush is scheduled

  constructor() {
    process.stdout.on("error", () => process.exit(GONE));
    process.on("exit", () => this.#flush()); // also after an uncaught exception
    const toErrors = process.stderr.write.bind(process.stderr);
    process.stdout.write = process.stderr.write = (data, encoding, done) => {
      const item = current.getStore();
      if (!item || !Item.log(item, data, encoding)) return toErrors(data, encoding, done);
      const callback = typeof encoding === "function" ? encoding : done;
      if (callback) process.nextTick(callback);
      return true;
    };
  }
  send(text) {
    this.#lines += text + "\n";
    if (this.#first === null) {
      this.#first = performance.now();
      process.nextTick(() => {
        this.#first = null;
        this.#flush();
      });
    } else if (performance.now() - this.#first > MAX_DELAY) {
      this.#flush(); // the function blocks the event loop
    }
  }
  #flush() {
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "") this.#write(lines);
  }
  /** Exits after all output was written. */
  exit(status) {
    this.#flush();
    this.#write("", (error) => process.exit(error ? GONE : status));
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes) {
  return decoder.decode(bytes);
}

// ---- single

function single(work, output, name, id, length) {
  const parts = [];
  let missing = length;
  let item;
  process.on("SIGTERM", () => (item ? Item.cancel(item) : process.exit(STOPPED)));

  const begin = async () => {
    if (item) return;
    process.stdin.pause();
    const bytes = Buffer.concat(parts).subarray(0, length);
    const { W8Y_FENCE: fence, W8Y_ATTEMPT: attempt } = process.env;
    const send = (text) => output.send(text);
    item = new Item(send, { name, id, bytes, fence: Number(fence ?? 0), attempt: Number(attempt ?? 1) });
    const last =
      bytes.length === length
        ? await Item.outcome(work, item)
        : failure(`got ${bytes.length} bytes of ${length}`);
    if (last === null) return output.exit(STOPPED);
    output.send(last);
    output.exit(0);
  };
  if (length === 0) return begin();
  process.stdin.on("data", (part) => {
    parts.push(part);
    missing -= part.length;
    if (missing <= 0) begin();
  });
  process.stdin.on("end", begin);
  process.stdin.on("error", begin);
}

// ---- stream

class Stream {
  #work;
  #output;
  #name;
  #concurrency;
  #open = new Map(); // by id
  #waiting = [];
  #running = 0;
  #line = []; // parts of an incomplete line
  #ended = false;
  #status = 0;

  constructor(work, output, name, concurrency) {
    this.#work = work;
    this.#output = output;
    this.#name = name;
    this.#concurrency = concurrency;
  }

  run() {
    process.on("SIGTERM", () => {
      this.#status = STOPPED;
      for (const item of this.#open.values()) Item.cancel(item);
      this.#end();
    });
    process.stdin.on("data", (part) => this.#receive(part));
    process.stdin.on("end", () => this.#end());
    process.stdin.on("error", () => this.#end());
  }

  /** Ends the input. The process exits when the open items are finished. */
  #end() {
    this.#ended = true;
    process.stdin.pause();
    if (this.#open.size === 0) this.#output.exit(this.#status);
  }

  #receive(part) {
    let start = 0;
    for (let end; (end = part.indexOf(10, start)) >= 0; start = end + 1) {
      let line = part.subarray(start, end);
      if (this.#line.length > 0) line = Buffer.concat([...this.#line.splice(0), line]);
      if (line.length > 0 && !this.#ended) this.#take(line);
    }
    if (start < part.length) this.#line.push(part.subarray(start));
  }

  #take(line) {
    let message;
    try {
      message = plainItem(line) ?? JSON.parse(decode(line));
    } catch {
      console.error("w8y-executor: not a message: %j", line.toString("latin1", 0, 80));
      return;
    }
    const id = message?.id;
    if (typeof id !== "string") return; // a message of a newer w8yd
    const known = this.#open.get(id);
    if (message.type === "cancel" && known) Item.cancel(known);
    if (message.type === "item" && !known) this.#begin(id, message);
  }

  #begin(id, message) {
    // The id comes first: w8yd reads only the start of a line that is too long.
    const start = `{"id":${encode(id)},`;
    const send = (text) => this.#output.send(start + text.slice(1));
    const bytes = bytesOf(message, "item");
    const payload = bytesOf(message, "payload");
    if (!bytes || payload === null) {
      send(failure("the item cannot be read: it is missing, or is not valid base64"));
      return;
    }
    const { name = this.#name, fence, attempt } = message;
    const item = new Item(send, { name, id, bytes, payload, fence, attempt });
    this.#open.set(id, item);
    if (this.#running < this.#concurrency) this.#run(item);
    else this.#waiting.push(item);
  }

  async #run(item) {
    ++this.#running;
    const last = await current.run(item, Item.outcome, this.#work, item);
    Item.complete(item, last ?? failure("cancelled"));
    this.#open.delete(item.id);
    --this.#running;
    if (this.#waiting.length > 0) this.#run(this.#waiting.shift());
    if (this.#ended && this.#open.size === 0) this.#output.exit(this.#status);
  }
}

const TEXT = '"([ !#-[\\]-~]*)"'; // ASCII without escapes
const PLAIN_ITEM = new RegExp(
  `^{"type":"item","id":${TEXT},"name":${TEXT},"item":${TEXT},"fence":([0-9]+),"attempt":([0-9]+)}$`,
);

/** Parses a line of the form that w8yd writes for most items, in half the time of JSON.parse. Returns
 * undefined for any other line. */
function plainItem(line) {
  const members = PLAIN_ITEM.exec(line.latin1Slice());
  if (!members) return undefined;
  const [, id, name, item, fence, attempt] = members;
  return { type: "item", id, name, item, fence: Number(fence), attempt: Number(attempt) };
}

/** Returns the bytes of a member, a string or base64. undefined: the member is absent. */
function bytesOf(message, key) {
  if (typeof message[key] === "string") return Buffer.from(message[key]);
  const encoded = message[`${key}_base64`];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(String(encoded), "base64"); // ignores characters that are not base64
  return bytes.toString("base64") === encoded ? bytes : null;
}

module.exports = { serve, Item, Failed, Cancelled };

/**
 * Client of w8yd: adds items to lists, puts jobs into feeds, waits for their results, and sets schedules.
 *
 *   const { Client } = require("w8y-client");   // or: import { Client } from "w8y-client"
 *
 *   const w8y = new Client("unix:/run/w8y/w8yd.sock");
 *   await w8y.add("work", ["one", "two"]);
 *   const job = await w8y.put("images", "cat.jpg");
 *   console.log(await w8y.wait("images", job, 60_000));
 *
 * It has no dependencies. Names, items and payloads are strings or bytes (Buffer, Uint8Array). Times are in
 * milliseconds. w8y-clients(7) describes it, and w8y-client.d.ts has its types.
 */
"use strict";

const { randomUUID } = require("node:crypto");
const http = require("node:http");
const https = require("node:https");

const DEFAULT_ADDRESS = "unix:/run/w8y/w8yd.sock";
const MAX_ENTRIES = 1000; // items or jobs in one request
const MAX_BYTES = 900 * 1024; // of the entries of one request; w8yd accepts 1 MiB with the rest of the body
const MAX_WAIT = 60_000; // one request waits at most this time for a job
const MAX_IDLE = 5_000; // w8yd closes a connection that is idle for 10 s
const MAX_REPLY = 80 * 1024 * 1024; // w8yd sends at most 64 MiB

// ---- errors

/** Base of all errors. `status` is the HTTP status code, or undefined if there was no reply. */
class W8yError extends Error {
  constructor(text, status) {
    super(text);
    this.name = this.constructor.name;
    this.status = status;
  }
}

/** w8yd cannot be reached, or Redis is unavailable. If `maybeApplied` is true, the reply was lost, and the
 * change may have been made. */
class Unavailable extends W8yError {
  constructor(text, { status, maybeApplied = false, retryAfter = 0 } = {}) {
    super(text, status);
    this.maybeApplied = maybeApplied;
    this.retryAfter = retryAfter;
  }
}

/** There is no such list, item, feed, job or schedule. */
class NotFound extends W8yError {}

/** The request is refused in this state, for example for a list of another kind. */
class Refused extends W8yError {}

/** The feed already has a job with this ID. */
class Exists extends Refused {}

/** The token is missing or wrong, or w8yd does not accept the name of the host. */
class Denied extends W8yError {}

/** The request is not valid. After add() and putMany(), `entries` maps the index of each invalid item or job
 * to its error. The others were written. */
class Invalid extends W8yError {
  constructor(text, status, entries = new Map()) {
    super(text, status);
    this.entries = entries;
  }
}

/** The job is stalled: it does not run until an operator retries it. `reason` is the cause. */
class JobFailed extends W8yError {
  constructor(job, reason, run) {
    super(`job ${job} is stalled: ${reason || "no reason is known"}`);
    this.job = job;
    this.reason = reason;
    this.run = run;
  }
}

/** The result of the job is longer than w8yd keeps. `result` is its start, if it was kept. */
class ResultTruncated extends W8yError {
  constructor(job, result) {
    super(`the result of job ${job} is longer than w8yd keeps`);
    this.job = job;
    this.result = result;
  }
}

/** The job was neither finished nor stalled in time. It may still run. */
class WaitTimeout extends W8yError {}

/** The reply is not one of w8yd: another server, or a bug in w8yd. */
class UnexpectedReply extends W8yError {}

// ---- texts and bytes

function bytesOf(text) {
  if (typeof text === "string") return Buffer.from(text);
  if (text instanceof Uint8Array) return Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  throw new TypeError(`expected a string or bytes, not ${text === null ? "null" : typeof text}`);
}

/** Returns the text of bytes, or undefined if they are not UTF-8. */
function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the member of a JSON object for any bytes. */
function member(name, text) {
  const bytes = bytesOf(text);
  const decoded = textOf(bytes);
  return decoded === undefined ? { [`${name}_base64`]: bytes.toString("base64") } : { [name]: decoded };
}

/** Returns the bytes of a member, or undefined if it is absent. */
function bytesIn(reply, name) {
  if (typeof reply[name] === "string") return Buffer.from(reply[name]);
  const encoded = reply[`${name}_base64`];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64");
}

/** Returns a member as a string, or as a Buffer if it is not UTF-8. */
function textIn(reply, name) {
  return typeof reply[name] === "string" ? reply[name] : bytesIn(reply, name);
}

function segment(text) {
  let out = "";
  for (const byte of bytesOf(text)) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9._~-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

// ---- requests

/** Divides encoded entries into the bodies of requests. */
function* bodies(name, entries, options) {
  const rest = Object.entries(options)
    .filter(([, value]) => value)
    .map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)
    .join("");
  const body = (batch) => `{"${name}":[${batch.join(",")}]${rest}}`;
  let batch = [];
  let size = 0;
  for (const entry of entries) {
    const length = Buffer.byteLength(entry) + 1;
    if (batch.length > 0 && (batch.length >= MAX_ENTRIES || size + length > MAX_BYTES)) {
      yield body(batch);
      batch = [];
      size = 0;
    }
    batch.push(entry);
    size += length;
  }
  if (batch.length > 0) yield body(batch);
}

function encodedItems(items) {
  if (typeof items === "string" || items instanceof Uint8Array)
    throw new TypeError("items must be a list of items, not one item");
  return Array.from(items, (item) => {
    const encoded = member("item", item);
    return JSON.stringify(encoded.item ?? encoded);
  });
}

function encodedJobs(payloads, { id, high, keepResult, rerun }) {
  if (typeof payloads === "string" || payloads instanceof Uint8Array)
    throw new TypeError("payloads must be a list of payloads, not one payload");
  const more = id === undefined ? {} : member("id", id);
  if (high) more.high = true;
  if (rerun) more.rerun = true;
  if (keepResult !== undefined) more.keep_result = keepResult;
  return Array.from(payloads, (payload) => JSON.stringify({ ...member("payload", payload), ...more }));
}

/** Throws Invalid if there is an invalid entry. */
function checkEntries(entries) {
  const invalid = new Map();
  entries.forEach((entry, index) => {
    if (entry.result === "invalid") invalid.set(index, entry.error ?? "");
  });
  if (invalid.size === 0) return entries;
  const [[index, error]] = invalid;
  const more = invalid.size > 1 ? `, and ${invalid.size - 1} more` : "";
  throw new Invalid(`entry ${index}: ${error}${more}`, 200, invalid);
}

// ---- replies

/** Returns the JSON of a reply. Throws its error. */
function checked({ status, headers, body }) {
  let said;
  try {
    said = JSON.parse(body.toString());
  } catch {
    // not JSON
  }
  if (status === 200 && said !== null && typeof said === "object") return said;
  const retryAfter = Math.max(0, Number(headers["retry-after"]) || 0) * 1000;
  const text = said?.error;
  if (typeof text !== "string") {
    const shown = `HTTP ${status} without an error of w8yd: ${JSON.stringify(body.toString("utf8", 0, 200))}`;
    // A proxy may have sent the request to w8yd.
    if ([502, 503, 504].includes(status)) throw new Unavailable(shown, { status, maybeApplied: true, retryAfter });
    throw new UnexpectedReply(shown, status);
  }
  if (status === 503)
    throw new Unavailable(text, { status, maybeApplied: said.applied === "unknown", retryAfter });
  if ([400, 413, 414, 415, 422].includes(status)) throw new Invalid(text, status);
  if ([401, 403, 421].includes(status)) throw new Denied(text, status);
  if (status === 404) throw new NotFound(text, status);
  if (status === 409) throw new Refused(text, status);
  throw new UnexpectedReply(text, status);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Client of one w8yd.
 *
 * The address is unix:/PATH, http://HOST:PORT, or https:// for a proxy. The options are:
 *   token     of status_token_file; changes over TCP need it
 *   timeout   time limit for connecting and for one reply
 *   retryFor  time for which a request is repeated while w8yd or Redis is unavailable; 0: never. A request that
 *             may have been executed is repeated only if that is harmless: reads, rerun(), and add() and put(),
 *             whose key lets w8yd recognize the repetition.
 */
class Client {
  #name;
  #target;
  #prefix = "";
  #headers = {};
  #http = http;
  #agent;
  #timeout;
  #retryFor;

  constructor(address = DEFAULT_ADDRESS, { token, timeout = 15_000, retryFor = 10_000 } = {}) {
    this.#name = address;
    this.#timeout = timeout;
    this.#retryFor = retryFor;
    this.#setAddress(String(address));
    if (token !== undefined) {
      if (!/^[\x21-\x7e]+$/.test(token))
        throw new TypeError("the token has a space, a line end or another character that a token cannot have");
      this.#headers.Authorization = `Bearer ${token}`;
    }
    this.#agent = new this.#http.Agent({ keepAlive: true, timeout: MAX_IDLE });
  }

  #setAddress(address) {
    const right = "use unix:/PATH or http://HOST:PORT";
    if (address.startsWith("unix:")) {
      const path = address.slice("unix:".length).replace(/^\/\/\//, "/");
      if (!path.startsWith("/")) throw new TypeError(`"${address}": the path of the socket is not absolute; ${right}`);
      this.#target = { socketPath: path };
      this.#headers.Host = "localhost";
      return;
    }
    let url;
    try {
      url = new URL(address);
    } catch {
      // not a URL
    }
    if (!url || !["http:", "https:"].includes(url.protocol))
      throw new TypeError(`"${address}" is not an address of w8yd; ${right}`);
    if (url.username || url.password || url.search || url.hash)
      throw new TypeError(`"${address}": user, query and fragment are not supported; ${right}`);
    if (url.protocol === "https:") this.#http = https;
    this.#target = { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || undefined };
    this.#headers.Host = url.host;
    this.#prefix = url.pathname.replace(/\/+$/, "");
  }

  /** Closes the idle connections. The client can still be used. Idle connections do not keep a process alive. */
  close() {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of [...sockets]) socket.destroy();
  }

  /** Adds items to the end of a circular list. Resolves to an array: for each item whether it is new in the list.
   * The options are allowDuplicates and create. */
  async add(list, items, { allowDuplicates = false, create = false } = {}) {
    const options = { allow_duplicates: allowDuplicates, create };
    const entries = [];
    for (const body of bodies("items", encodedItems(items), options))
      entries.push(...(await this.#send("POST", `/api/v1/lists/${segment(list)}/items`, { body })).items);
    return checkEntries(entries).map(({ result }) => result === "added");
  }

  /** Removes an item from a circular list. An active run continues. Rejects with NotFound if it is not there. */
  async remove(list, item) {
    await this.#send("DELETE", `/api/v1/lists/${segment(list)}/items/${segment(item)}`);
  }

  /** Makes sure that a run of an item of a circular list starts after this call. A running item is free after its
   * run; the delay of a delayed item ends. Rejects with NotFound if the item is not in the list, and with Refused if
   * it is quarantined. */
  async rerun(list, item) {
    await this.#send("POST", `/api/v1/lists/${segment(list)}/items/${segment(item)}/rerun`, { body: "{}" });
  }

  /** Puts a job into a feed, and resolves to its ID. Rejects with Exists if the feed has a job with this ID.
   * The options are:
   *   high        before all queued jobs
   *   rerun       if the feed has a job with this ID, it runs again with this payload, after its active run; rejects
   *               with Refused if the job is stalled
   *   keepResult  time for which wait() finds the result of the finished job, such as "2h"; false: none
   *   create      create the feed if it does not exist */
  async put(feed, payload, id, options = {}) {
    const [entry] = await this.#put(feed, [payload], { ...options, id });
    if (entry.result === "exists") throw new Exists(`the feed already has a job with the ID "${id}"`, 200);
    if (entry.result === "stalled")
      throw new Refused(`job "${id}" is stalled; return it to the queue first, with w8yctl job retry`, 200);
    return textIn(entry, "id");
  }

  /** Puts many jobs into a feed, and resolves to their IDs. The options are those of put(), without rerun. */
  async putMany(feed, payloads, options = {}) {
    const entries = await this.#put(feed, payloads, { ...options, id: undefined, rerun: undefined });
    return entries.map((entry) => textIn(entry, "id"));
  }

  async #put(feed, payloads, options) {
    const entries = [];
    for (const body of bodies("jobs", encodedJobs(payloads, options), { create: options.create }))
      entries.push(...(await this.#send("POST", `/api/v1/feeds/${segment(feed)}/jobs`, { body })).jobs);
    return checkEntries(entries);
  }

  /** Waits for the end of a job, and resolves to its result, a Buffer, or undefined if it has none. Rejects with
   * JobFailed, ResultTruncated, NotFound, or WaitTimeout after this time. */
  async wait(feed, id, timeout) {
    const end = timeout == null ? Infinity : performance.now() + timeout;
    for (;;) {
      const left = Math.max(0, end - performance.now());
      const wait = Math.ceil(Math.min(left, MAX_WAIT));
      const path = this.#jobPath(feed, id) + (wait > 0 ? `?wait=${wait}ms` : "");
      const reply = await this.#send("GET", path, { wait, retryFor: left });
      if (reply.state === "stalled")
        throw new JobFailed(id, String(textIn(reply, "reason") ?? ""), textIn(reply, "run"));
      if (reply.state === "finished") {
        const result = bytesIn(reply, "result");
        if (reply.result_truncated) throw new ResultTruncated(id, result);
        return result;
      }
      if (performance.now() >= end) throw new WaitTimeout(`job ${id} is ${reply.state}, and is not finished in time`);
    }
  }

  /** Resolves to the state of a job, as in w8y-api(7). */
  async job(feed, id) {
    return this.#send("GET", this.#jobPath(feed, id));
  }

  /** Deletes a job. An active run continues. Rejects with NotFound if it is not there. */
  async retract(feed, id) {
    await this.#send("DELETE", this.#jobPath(feed, id));
  }

  /** Sets the schedule of a job: cron fields, a recurrence rule, NOW, AT:TIME, CONTINUE or STOP. Resolves to its
   * next times, as Dates. The options are tz, jitter and create. */
  async schedule(schedule, job, rule, { tz, jitter, create } = {}) {
    const body = JSON.stringify({ schedule: rule, tz, jitter, create: create || undefined });
    const reply = await this.#send("PUT", this.#schedulePath(schedule, job), { body });
    return reply.next_ms.map((ms) => new Date(ms));
  }

  /** Removes a job from a schedule. An active run continues. Rejects with NotFound if it is not there. */
  async unschedule(schedule, job) {
    await this.#send("DELETE", this.#schedulePath(schedule, job));
  }

  /** Resolves to the reasons why an item does not run, or to the limits of a list, as in w8y-api(7). */
  async why(list, item) {
    const part = item === undefined ? "" : `/items/${segment(item)}`;
    return this.#send("GET", `/api/v1/lists/${segment(list)}${part}/why`);
  }

  #jobPath(feed, id) {
    return `/api/v1/feeds/${segment(feed)}/jobs/${segment(id)}`;
  }
  #schedulePath(schedule, job) {
    return `/api/v1/schedules/${segment(schedule)}/${segment(job)}`;
  }

  async #send(method, path, { body, wait = 0, retryFor = this.#retryFor } = {}) {
    const headers = { ...this.#headers };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      headers["Content-Length"] = Buffer.byteLength(body);
    }
    // With the key, w8yd executes add() and put() once, however often it receives them. rerun() ignores the key.
    if (method === "POST") headers["Idempotency-Key"] = randomUUID();
    const mayRepeat = method === "GET" || method === "POST";
    const end = performance.now() + retryFor;
    for (let count = 0; ; ++count) {
      try {
        return checked(await this.#exchange(method, path, headers, body, wait));
      } catch (error) {
        if (!(error instanceof Unavailable) || (error.maybeApplied && !mayRepeat)) throw error;
        // w8yd closed the kept connection just now, or has exited. A new connection shows that.
        if (error.wasKept) continue;
        const backoff = Math.min(2000, 100 * 2 ** count) * (0.5 + Math.random() / 2);
        const pause = Math.max(error.retryAfter, backoff);
        if (performance.now() + pause > end) throw error;
        await sleep(pause);
      }
    }
  }

  #exchange(method, path, headers, body, wait) {
    return new Promise((resolve, reject) => {
      const request = this.#http.request({
        ...this.#target,
        agent: this.#agent,
        method,
        path: this.#prefix + path,
        headers,
      });
      let connected = false;
      let replied = false;
      const limit = setTimeout(() => request.destroy(new Error("time limit exceeded")), this.#timeout + wait);
      const fail = (cause) => {
        clearTimeout(limit);
        request.destroy();
        if (cause instanceof W8yError) return reject(cause);
        const what = connected ? "no reply from" : "cannot connect to";
        const error = new Unavailable(`${what} ${this.#name}: ${cause.message || cause.code}`, { maybeApplied: connected });
        Object.defineProperty(error, "wasKept", { value: request.reusedSocket && !replied });
        reject(error);
      };
      request.on("socket", (socket) => {
        // The agent's limit is for idle connections only.
        socket.setTimeout(0);
        if (!socket.connecting) connected = true;
        else socket.once("connect", () => (connected = true));
      });
      request.on("error", fail);
      request.on("response", (response) => {
        replied = true;
        const parts = [];
        let size = 0;
        response.on("data", (part) => {
          parts.push(part);
          size += part.length;
          if (size > MAX_REPLY) fail(new UnexpectedReply("the reply is too long"));
        });
        response.on("error", fail);
        response.on("end", () => {
          clearTimeout(limit);
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) });
        });
      });
      request.end(body);
    });
  }
}

module.exports = {
  Client,
  Denied,
  Exists,
  Invalid,
  JobFailed,
  NotFound,
  Refused,
  ResultTruncated,
  Unavailable,
  UnexpectedReply,
  W8yError,
  WaitTimeout,
};

/** Client of w8yd, see w8y-clients(7). Times are in milliseconds. */

/// <reference types="node" />

export type Text = string | Uint8Array;

export interface ClientOptions {
  /** Token of status_token_file; changes over TCP need it. */
  token?: string;
  /** Time limit for connecting and for one reply (default: 15,000). */
  timeout?: number;
  /** Time for which a request is repeated while w8yd or Redis is unavailable (default: 10,000; 0: never). */
  retryFor?: number;
}

export interface AddOptions {
  /** Add items that are in the list already, too. */
  allowDuplicates?: boolean;
  /** Add to a list that is neither in the config nor in Redis. */
  create?: boolean;
}

export interface PutOptions {
  /** Put the job before all queued jobs. */
  high?: boolean;
  /** Time for which wait() finds the result of the finished job, such as "2h"; false: none. */
  keepResult?: string | false;
  /** Create the feed if it does not exist. */
  create?: boolean;
}

export interface PutOneOptions extends PutOptions {
  /** If the feed has a job with this ID, it runs again with this payload, after its active run. */
  rerun?: boolean;
}

export interface ScheduleOptions {
  /** Time zone of cron fields or of AT: (default: UTC). */
  tz?: string;
  /** Duration from 1s to 7d: each run of a rule is delayed by a part of it. */
  jitter?: string;
  /** Set a job of a schedule that is neither in the config nor in Redis. */
  create?: boolean;
}

/** State of a job, as in w8y-api(7). Bytes that are not UTF-8 are in a member NAME_base64 in place of NAME. */
export interface Job {
  state: "running" | "delayed" | "claimed" | "queued" | "stalled" | "orphaned" | "finished";
  [member: string]: unknown;
}

/** Reasons, the main reason first, as in w8y-api(7). */
export interface Why {
  state?: string;
  reasons: Array<{ kind: string; text: string; [member: string]: unknown }>;
  [member: string]: unknown;
}

export class Client {
  /** The address is unix:/PATH (default: unix:/run/w8y/w8yd.sock), http://HOST:PORT, or https:// for a proxy. */
  constructor(address?: string, options?: ClientOptions);
  /** Closes the idle connections. The client can still be used. */
  close(): void;
  /** Adds items to the end of a circular list. Resolves to an array: for each item whether it is new in the list. */
  add(list: Text, items: Iterable<Text>, options?: AddOptions): Promise<boolean[]>;
  /** Removes an item from a circular list. An active run continues. */
  remove(list: Text, item: Text): Promise<void>;
  /** Makes sure that a run of an item of a circular list starts after this call. */
  rerun(list: Text, item: Text): Promise<void>;
  /** Puts a job into a feed, and resolves to its ID, a Buffer if it is not UTF-8. */
  put(feed: Text, payload: Text, id?: Text, options?: PutOneOptions): Promise<string | Buffer>;
  /** Puts many jobs into a feed, and resolves to their IDs. */
  putMany(feed: Text, payloads: Iterable<Text>, options?: PutOptions): Promise<Array<string | Buffer>>;
  /** Waits for the end of a job, and resolves to its result, or undefined if it has none. */
  wait(feed: Text, id: Text, timeout?: number): Promise<Buffer | undefined>;
  /** Resolves to the state of a job. */
  job(feed: Text, id: Text): Promise<Job>;
  /** Deletes a job. An active run continues. */
  retract(feed: Text, id: Text): Promise<void>;
  /** Sets the schedule of a job, and resolves to its next times. */
  schedule(schedule: Text, job: Text, rule: string, options?: ScheduleOptions): Promise<Date[]>;
  /** Removes a job from a schedule. An active run continues. */
  unschedule(schedule: Text, job: Text): Promise<void>;
  /** Resolves to the reasons why an item does not run, or to the limits of a list. */
  why(list: Text, item?: Text): Promise<Why>;
}

/** Base of all errors. */
export class W8yError extends Error {
  /** HTTP status code; undefined: there was no reply. */
  status?: number;
}
/** w8yd cannot be reached, or Redis is unavailable. */
export class Unavailable extends W8yError {
  /** The reply was lost, and the change may have been made. */
  maybeApplied: boolean;
  retryAfter: number;
}
/** There is no such list, item, feed, job or schedule. */
export class NotFound extends W8yError {}
/** The request is refused in this state. */
export class Refused extends W8yError {}
/** The feed already has a job with this ID. */
export class Exists extends Refused {}
/** The token is missing or wrong, or w8yd does not accept the name of the host. */
export class Denied extends W8yError {}
/** The request is not valid. */
export class Invalid extends W8yError {
  /** After add() and putMany(): the error of each invalid item or job, by index. The others were written. */
  entries: Map<number, string>;
}
/** The job is stalled: it does not run until an operator retries it. */
export class JobFailed extends W8yError {
  job: Text;
  reason: string;
  run?: string | Buffer;
}
/** The result of the job is longer than w8yd keeps. `result` is its start, if it was kept. */
export class ResultTruncated extends W8yError {
  job: Text;
  result?: Buffer;
}
/** The job was neither finished nor stalled in time. It may still run. */
export class WaitTimeout extends W8yError {}
/** The reply is not one of w8yd. */
export class UnexpectedReply extends W8yError {}

// A redis-server and hosts of w8yd, each with its own directory, and stopped by their pids.
import {spawn, execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, writeFileSync, openSync, closeSync, readFileSync, rmSync, mkdirSync} from 'node:fs';
import {createServer, connect as dial} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

/** Waits until a fact is true, and returns its value. Throws after the limit. */
export async function waitFor(fact, what, limit = 60000) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await fact();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limit} ms for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

export function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const {port} = server.address();
      server.close(() => done(port));
    });
  });
}

/** Starts a process that is killed when this one exits. */
function begin(program, args, log, env = {}) {
  const fd = openSync(log, 'a');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args],
    {stdio: ['ignore', fd, fd], env: {...process.env, ...env}, detached: true});
  closeSync(fd);
  child.over = new Promise((done) => child.on('exit', done));
  return child;
}

async function end(child, signal = 'SIGTERM') {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 20000);
  await child.over;
  clearTimeout(timer);
}

/** Client of RESP that sends one command at a time. */
class Wire {
  constructor(path) {
    this.socket = dial(path);
    this.waiting = [];
    this.buffer = Buffer.alloc(0);
    this.socket.on('data', (data) => {
      this.buffer = Buffer.concat([this.buffer, data]);
      this.read();
    });
    this.socket.on('error', (error) => this.waiting.splice(0).forEach((one) => one.fail(error)));
    this.socket.on('close', () => this.waiting.splice(0).forEach((one) => one.fail(new Error('closed'))));
  }
  ask(words) {
    const parts = [Buffer.from(`*${words.length}\r\n`)];
    for (const word of words) {
      const data = Buffer.isBuffer(word) ? word : Buffer.from(String(word));
      parts.push(Buffer.from(`$${data.length}\r\n`), data, Buffer.from('\r\n'));
    }
    return new Promise((done, fail) => {
      this.waiting.push({done, fail});
      this.socket.write(Buffer.concat(parts));
    });
  }
  parse(at) {
    const line = this.buffer.indexOf('\r\n', at);
    if (line < 0) return null;
    const text = this.buffer.toString('utf8', at + 1, line);
    const next = line + 2;
    switch (this.buffer[at]) {
      case 43: return [text, next];
      case 45: return [new Error(text), next];
      case 58: return [Number(text), next];
      case 36: {
        const size = Number(text);
        if (size < 0) return [null, next];
        if (this.buffer.length < next + size + 2) return null;
        return [this.buffer.toString('utf8', next, next + size), next + size + 2];
      }
      default: {
        const all = [];
        let place = next;
        for (let i = 0; i < Number(text); ++i) {
          const one = this.parse(place);
          if (!one) return null;
          all.push(one[0]);
          place = one[1];
        }
        return [all, place];
      }
    }
  }
  read() {
    for (let one; this.waiting.length && (one = this.parse(0)); ) {
      this.buffer = this.buffer.subarray(one[1]);
      const {done, fail} = this.waiting.shift();
      one[0] instanceof Error ? fail(one[0]) : done(one[0]);
    }
  }
}

export class Redis {
  constructor(home) {
    this.home = home;
    this.socket = join(home, 'redis.sock');
  }
  async start() {
    this.child = begin('redis-server', ['--port', '0', '--unixsocket', this.socket, '--dir', this.home,
      '--save', '', '--appendonly', 'yes', '--enable-debug-command', 'yes'], join(this.home, 'redis.log'));
    this.wire = null;
    await waitFor(async () => (await this.ask('PING').catch(() => '')) === 'PONG', 'redis-server');
  }
  ask(...words) {
    if (!this.wire || this.wire.socket.destroyed) this.wire = new Wire(this.socket);
    return this.wire.ask(words);
  }
  async stop() {
    if (this.wire) this.wire.socket.destroy();
    await end(this.child);
  }
}

/** A gearmand of Debian, and its client. */
export class Gearman {
  static isHere() {
    return existsSync('/usr/sbin/gearmand') && existsSync('/usr/bin/gearman');
  }
  constructor(home) {
    this.home = home;
  }
  async start() {
    this.port = this.port || (await freePort());
    this.child = begin('/usr/sbin/gearmand', ['--listen=127.0.0.1', `--port=${this.port}`, `--log-file=${join(this.home, 'gearmand.log')}`], join(this.home, 'gearmand.out'));
    await waitFor(() => new Promise((done) => {
      const socket = dial(this.port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      });
      socket.on('error', () => done(false));
    }), 'gearmand');
  }
  /** Puts a background job. */
  put(name, unique, workload) {
    execFileSync('/usr/bin/gearman', ['-h', '127.0.0.1', '-p', String(this.port), '-b', '-f', name, '-u', unique], {input: workload});
  }
  async kill() {
    await end(this.child, 'SIGKILL');
  }
}

/** A w8yd with a config that has `lists`, which is TOML. */
export class Host {
  constructor(bin, home, name, redis) {
    Object.assign(this, {bin, home, name, redis});
    mkdirSync(home, {recursive: true});
    this.config = join(home, 'w8y.toml');
    this.unix = join(home, 'w8yd.sock');
    this.token = 'a-token-of-the-test-0123456789';
  }
  async configure(lists, more = '', {token = true} = {}) {
    this.port = this.port || (await freePort());
    const tokens = join(this.home, 'token');
    writeFileSync(tokens, `${this.token}\n`, {mode: 0o600});
    writeFileSync(this.config, `[redis]
url = "unix://${this.redis.socket}"
[supervisor]
host = "${this.name}"
status = ["unix:${this.unix}", "127.0.0.1:${this.port}"]
${token ? `status_token_file = "${tokens}"` : ''}
${more}
${lists}`);
  }
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
  async start() {
    this.child = begin(join(this.bin, 'w8yd'), ['--config', this.config], join(this.home, 'w8yd.log'));
    await waitFor(async () => {
      if (this.child.exitCode !== null) throw new Error(`w8yd ended: ${readFileSync(join(this.home, 'w8yd.log'))}`);
      const status = await this.api('status?lists=no').catch(() => null);
      return status && status.state === 'running';
    }, 'w8yd');
  }
  async api(path, options = {}) {
    const response = await fetch(`${this.url}/api/v1/${path}`, options);
    return response.json();
  }
  ctl(...args) {
    return execFileSync(join(this.bin, 'w8yctl'), ['--config', this.config, ...args], {encoding: 'utf8'});
  }
  async stop(signal) {
    await end(this.child, signal);
  }
}

export function makeHome() {
  const home = mkdtempSync(join(tmpdir(), 'w8y-page-'));
  return {home, remove: () => rmSync(home, {recursive: true, force: true})};
}

// What w8yd tells, as it changes: one stream of events for the whole page.
import {bytesOf} from './dom.js';

const SILENCE = 12000; // ms without a word, though there is one every five seconds
const HIDDEN = 20000; // a page that nobody sees lets go of its connection after so long

export const store = {
  state: 'connecting', // until the first whole picture; then 'live' or 'lost'
  since: Date.now(), // of 'lost'
  why: '',
  page: '',
  host: null,
  fleet: null,
  lists: new Map(), // key → row of this host
  remote: new Map(), // host id → {lists, runs, minutes}
  minutes: new Map(), // minute → [runs, failed] of this host
  skew: 0, // w8yd's clock, by ours
  version: 0, // grows when anything of a list changes
};

let source = null;
let last = '';
let heard = 0;
let wait = 1000;
let retry = 0;
let hidden = 0;
let drawing = null; // a picture that isn't whole yet
const watchers = new Set();
let told = false;

/** Calls `watcher` after changes, once for many. Returns what ends it. */
export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function changed() {
  if (told) return;
  told = true;
  requestAnimationFrame(() => {
    told = false;
    for (const watcher of [...watchers]) watcher();
  });
}

/** By w8yd's clock. */
export function now() {
  return Date.now() + store.skew;
}

function addMinutes(into, minutes) {
  for (const [minute, runs, failed] of minutes || []) into.set(minute, [runs, failed]);
  for (const minute of into.keys()) if (into.size > 62) into.delete(minute);
}

function takeRow(lists, row, remote) {
  const {text, key} = bytesOf(row, 'list');
  const before = lists.get(key);
  const hour = (before && before.hour) || new Map();
  addMinutes(hour, row.minutes);
  const made = {...row, name: text, key, hour, remote, why: row.why || ''};
  // As it is where no other host has it.
  made.limit = limitOf(made, serves(row.state) ? row.concurrency : 0);
  made.hosts = [{own: true, row: made, get host() {
    return store.host.host;
  }}];
  lists.set(key, made);
  store.version++;
}

function drop(lists, rows) {
  for (const row of rows || []) if (lists.delete(bytesOf(row, 'list').key)) store.version++;
}

function takeRemote(into, news) {
  const host = into.get(news.host_id) || {lists: new Map(), runs: [], minutes: new Map()};
  into.set(news.host_id, host);
  for (const row of news.lists || []) takeRow(host.lists, row, true);
  drop(host.lists, news.gone);
  if (news.runs) host.runs = news.runs;
  for (const minute of news.minutes || []) {
    addMinutes(host.minutes, [[minute.minute, minute.runs, minute.failed]]);
    for (const list of minute.lists || []) {
      const row = host.lists.get(bytesOf(list, 'list').key);
      if (row) addMinutes(row.hour, [[minute.minute, list.runs, list.failed]]);
    }
  }
}

function take(into, news) {
  if (news.now_ms) store.skew = news.now_ms - Date.now();
  if (news.host) into.host = news.host;
  addMinutes(into.minutes, news.minutes);
  for (const row of news.lists || []) takeRow(into.lists, row, false);
  drop(into.lists, news.gone);
  if (news.fleet) {
    into.fleet = news.fleet;
    const there = new Set((news.fleet.hosts || []).map((host) => host.host_id));
    for (const id of into.remote.keys()) if (!there.has(id)) into.remote.delete(id);
    store.version++;
  }
  for (const one of news.remote || []) takeRemote(into.remote, one);
}

function lost(why) {
  if (source) source.close();
  source = null;
  drawing = null;
  if (store.state === 'live') {
    store.state = 'lost';
    store.since = heard;
  }
  store.why = why;
  clearTimeout(retry);
  if (!document.hidden) retry = setTimeout(connect, wait);
  wait = Math.min(wait * 2, 5000);
  changed();
}

function on(name, act) {
  source.addEventListener(name, (event) => {
    heard = Date.now();
    if (event.lastEventId) last = event.lastEventId;
    act(JSON.parse(event.data));
    changed();
  });
}

function live() {
  store.state = 'live';
  wait = 1000;
}

export function connect() {
  if (source) source.close();
  heard = Date.now();
  source = new EventSource(`/api/v1/live${last ? `?after=${encodeURIComponent(last)}` : ''}`);
  on('snapshot', (news) => {
    store.page = news.page;
    drawing = {host: null, fleet: null, lists: new Map(), remote: new Map(), minutes: new Map()};
    take(drawing, news);
  });
  on('part', (news) => take(drawing || store, news));
  on('ready', (news) => {
    if (drawing) Object.assign(store, drawing);
    drawing = null;
    store.version++;
    take(store, news);
    live();
  });
  on('change', (news) => {
    take(drawing || store, news);
    if (!drawing) live();
  });
  on('beat', (news) => {
    take(store, news);
    if (!drawing && store.host) live();
  });
  source.onerror = () => lost('w8yd does not answer');
}

export function start() {
  connect();
  setInterval(() => {
    if (source && Date.now() - heard > SILENCE) lost('w8yd says nothing any more');
    if (document.hidden && source && Date.now() - hidden > HIDDEN) lost('the page was not in view');
    if (!document.hidden) changed(); // how long things take
  }, 1000);
  document.addEventListener('visibilitychange', () => {
    hidden = Date.now();
    if (!document.hidden && !source) connect();
  });
}

// ---- all hosts together

const RANK = ['running', 'full', 'paused', 'idle', 'starved', 'unavailable', 'quiet', 'draining', 'probing', 'refused', 'disabled'];

function hostName(id) {
  const host = ((store.fleet && store.fleet.hosts) || []).find((one) => one.host_id === id);
  return host ? host.host || host.host_base64 : id;
}

/** Hosts that have the list in their config, this one first. */
export function hostsOf(key) {
  const all = [];
  const own = store.lists.get(key);
  if (own) all.push(own.hosts[0]);
  for (const [id, remote] of store.remote) {
    const row = remote.lists.get(key);
    if (row) all.push({host: hostName(id), id, row});
  }
  return all;
}

/** A list, as it is on all hosts together. */
export function listOf(key) {
  if (!store.remote.size) return store.lists.get(key) || null;
  const hosts = hostsOf(key);
  if (!hosts.length) return null;
  const best = hosts.reduce((a, b) => (RANK.indexOf(b.row.state) < RANK.indexOf(a.row.state) ? b : a));
  const own = hosts.find((host) => host.own);
  const row = {...(own || best).row, hosts, state: best.row.state, why: best.row.why || ''};
  row.running = hosts.reduce((sum, host) => sum + host.row.running, 0);
  row.limit = limitOf(row, hosts.reduce((sum, host) => sum + (serves(host.row.state) ? host.row.concurrency : 0), 0));
  if (hosts.length > 1) {
    row.hour = new Map();
    for (const host of hosts)
      for (const [minute, [runs, failed]] of host.row.hour) {
        const sum = row.hour.get(minute) || [0, 0];
        row.hour.set(minute, [sum[0] + runs, sum[1] + failed]);
      }
  }
  return row;
}

function limitOf(row, places) {
  return row.fleet_concurrency ? Math.min(places, row.fleet_concurrency) : places;
}

export function serves(state) {
  return !['refused', 'disabled', 'probing'].includes(state);
}

/** All lists, as they are on all hosts together. */
export function rows() {
  if (!store.remote.size) return [...store.lists.values()];
  const all = new Set(store.lists.keys());
  for (const remote of store.remote.values()) for (const key of remote.lists.keys()) all.add(key);
  return [...all].map(listOf);
}

/** What runs now: [{list row, run, host}], on all hosts, as far as it is told. */
export function runsNow() {
  const all = [];
  for (const row of store.lists.values())
    for (const run of row.runs || []) all.push({row, run, host: store.host.host});
  for (const [id, remote] of store.remote)
    for (const run of remote.runs) {
      const {text, key} = bytesOf(run, 'list');
      all.push({row: {name: text, key}, run, host: hostName(id)});
    }
  return all.sort((a, b) => a.run.started_ms - b.run.started_ms);
}

/** The last hour of all hosts: [[runs, failed]], the oldest minute first. */
export function lastHour(maps) {
  const newest = Math.floor(now() / 60000);
  const all = [];
  for (let minute = newest - 59; minute <= newest; minute++) {
    const sum = [0, 0];
    for (const map of maps) {
      const [runs, failed] = map.get(minute) || [0, 0];
      sum[0] += runs;
      sum[1] += failed;
    }
    all.push(sum);
  }
  return all;
}

export function fleetHour() {
  return lastHour([store.minutes, ...[...store.remote.values()].map((remote) => remote.minutes)]);
}

// State of w8yd, from one event stream for the whole page.
import {bytesOf} from './dom.js';

const SILENCE = 12000; // ms without an event, although w8yd sends one every 5 s
const HIDDEN = 20000; // ms after which a hidden page closes its connection

const PART = 8; // ms of work at a time; scrolling and typing wait no longer

function picture() {
  return {
    host: null,
    fleet: null,
    lists: new Map(), // key → row of this host
    remote: new Map(), // host id → {lists, runs, minutes}
    all: new Map(), // key → row of all hosts together
    minutes: new Map(), // minute → [runs, failed] of this host
  };
}

export const store = {
  ...picture(),
  state: 'connecting', // until the first full state; then 'live' or 'lost'
  since: Date.now(), // start of 'lost'
  why: '',
  page: '',
  commands: '', // whether this page may send commands: 'yes', 'token' (with one) or 'no'
  skew: 0, // ms; w8yd's clock minus the browser's
  version: 0, // grows with each change of a list
};

let source = null;
let last = '';
let heard = 0;
let wait = 1000;
let retry = 0;
let hidden = 0;
let drawing = null; // a state that is not complete yet
const watchers = new Set();
let told = false;

/** Calls `watcher` after changes, once for many. Returns a function that ends this. */
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

export function now() {
  return Date.now() + store.skew;
}

function addMinutes(into, minutes) {
  for (const [minute, runs, failed] of minutes || []) into.set(minute, [runs, failed]);
  for (const minute of into.keys()) if (into.size > 62) into.delete(minute);
}

// ---- work in parts

const work = [];
const turn = new MessageChannel();
turn.port1.onmessage = () => {
  const end = performance.now() + PART;
  try {
    while (work.length && performance.now() < end) work.shift()();
  } finally {
    if (work.length) turn.port2.postMessage(0);
    changed();
  }
};

function later(act) {
  if (work.push(act) === 1) turn.port2.postMessage(0);
}

// ---- event data

function takeRow(of, host, row) {
  const {text, key} = bytesOf(row, 'list');
  const before = host.lists.get(key);
  Object.assign(row, {name: text, key, reason: row.reason || '', hour: before?.hour});
  if (row.minutes) addMinutes((row.hour ||= new Map()), row.minutes);
  host.lists.set(key, row);
  join(of, key);
}

/** Combines the rows of a list on all hosts. */
function join(of, key) {
  store.version++;
  const hosts = [];
  const own = of.lists.get(key);
  if (own) hosts.push({row: own});
  for (const [id, {lists}] of of.remote) {
    const row = lists.get(key);
    if (row) hosts.push({id, row});
  }
  if (!of.all.has(key) || !hosts.length) names = null;
  if (!hosts.length) return of.all.delete(key);
  const best = hosts.reduce((a, b) => (RANK.indexOf(b.row.state) < RANK.indexOf(a.row.state) ? b : a)).row;
  const row = own || best;
  const places = hosts.reduce((sum, one) => sum + (serves(one.row.state) ? one.row.concurrency : 0), 0);
  of.all.set(key, Object.assign(hosts.length > 1 ? {...row} : row, {hosts, state: best.state, reason: best.reason,
    running: (hosts[1] && row.items?.running) ?? hosts.reduce((sum, one) => sum + one.row.running, 0),
    limit: row.fleet_concurrency ? Math.min(places, row.fleet_concurrency) : places}));
}

function drop(of, host, rows) {
  for (const row of rows || []) {
    const {key} = bytesOf(row, 'list');
    host.lists.delete(key);
    join(of, key);
  }
}

function takeRemote(of, news) {
  const host = of.remote.get(news.host_id) || {lists: new Map(), runs: [], minutes: new Map()};
  of.remote.set(news.host_id, host);
  for (const row of news.lists || []) takeRow(of, host, row);
  drop(of, host, news.removed);
  if (news.runs) host.runs = news.runs;
  for (const minute of news.minutes || []) {
    addMinutes(host.minutes, [[minute.minute, minute.runs, minute.failed]]);
    for (const list of minute.lists || []) {
      const row = host.lists.get(bytesOf(list, 'list').key);
      if (row) addMinutes((row.hour ||= new Map()), [[minute.minute, list.runs, list.failed]]);
    }
  }
}

function leave(of, id) {
  const keys = [...of.remote.get(id).lists.keys()];
  of.remote.delete(id);
  for (let at = 0; at < keys.length; at += 500) later(() => keys.slice(at, at + 500).forEach((key) => join(of, key)));
}

function take(of, news) {
  if (news.now_ms) store.skew = news.now_ms - Date.now();
  if (news.host) of.host = news.host;
  addMinutes(of.minutes, news.minutes);
  for (const row of news.lists || []) takeRow(of, of, row);
  drop(of, of, news.removed);
  if (news.fleet) {
    of.fleet = news.fleet;
    const there = new Set((news.fleet.hosts || []).map((host) => host.host_id));
    for (const id of [...of.remote.keys()]) if (!there.has(id)) leave(of, id);
    store.version++;
  }
  for (const one of news.remote || []) takeRemote(of, one);
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
  const of = source;
  of.addEventListener(name, (event) => {
    heard = Date.now();
    later(() => {
      if (of !== source) return;
      act(JSON.parse(event.data));
      if (event.lastEventId) last = event.lastEventId;
    });
  });
}

function live() {
  store.state = 'live';
  wait = 1000;
}

function connect() {
  if (source) source.close();
  heard = Date.now();
  source = new EventSource(`/api/v1/live${last ? `?after=${encodeURIComponent(last)}` : ''}`);
  on('snapshot', (news) => {
    store.page = news.page;
    store.commands = news.commands;
    drawing = picture();
    take(drawing, news);
  });
  on('part', (news) => take(drawing || store, news));
  on('ready', (news) => {
    if (drawing) Object.assign(store, drawing);
    drawing = names = null;
    store.version++;
    take(store, news);
    live();
  });
  on('change', (news) => {
    take(drawing || store, news);
    if (!drawing) live();
  });
  on('heartbeat', (news) => {
    take(store, news);
    if (!drawing && store.host) live();
  });
  source.onerror = () => lost('w8yd does not reply');
}

export function start() {
  connect();
  setInterval(() => {
    if (source && Date.now() - heard > SILENCE) lost('no data from w8yd');
    if (document.hidden && source && Date.now() - hidden > HIDDEN) lost('the page was hidden');
    if (!document.hidden) changed(); // durations grow
  }, 1000);
  document.addEventListener('visibilitychange', () => {
    hidden = Date.now();
    if (!document.hidden && !source) connect();
  });
}

// ---- all hosts

const RANK = 'running full paused idle starved breaker_open unavailable quiet draining probing ineligible disabled'.split(' ');

/** Name of a host; without an ID, of this host. */
export function hostName(id) {
  const host = id ? (store.fleet?.hosts || []).find((one) => one.host_id === id) : store.host;
  return host ? host.host || host.host_base64 : id;
}

export function serves(state) {
  return !['ineligible', 'disabled', 'probing'].includes(state);
}

let names = null; // keys, sorted by the names of their lists

export function rows() {
  names ||= [...store.all.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).map((row) => row.key);
  return names.map((key) => store.all.get(key));
}

/** Known active runs on all hosts: [{list row, run, host}]. */
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

/** Sums of the last minutes: [[runs, failed]], the oldest first. */
function lastOf(maps, minutes) {
  const newest = Math.floor(now() / 60000);
  const all = [];
  for (let minute = newest - minutes + 1; minute <= newest; minute++) {
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

export function hourOf(row, minutes = 60) {
  return lastOf(row.hosts.map((one) => one.row.hour).filter(Boolean), minutes);
}

export function fleetHour() {
  return lastOf([store.minutes, ...[...store.remote.values()].map((remote) => remote.minutes)], 60);
}

// All lists. Only lists in view are drawn, so that ten thousand can scroll.
import {
  v, plain, number, count, duration, rows, store, changed, choice, hourOf, listLink, rateOf, rateText, spark, state, sums, rowHead} from './parts.js';
import {quarantined} from './overview.js';

const ROW = 45; // px, as in style.css
const SPARE = 6;
const FRESH = 12; // rows that are created at a time
const TROUBLE = {unavailable: 0, starved: 1, breaker_open: 1, ineligible: 2, paused: 4, quiet: 5, draining: 5, probing: 6, running: 7, full: 7, idle: 8, disabled: 9};
const STATES = ' problems running idle full paused quarantined failing ineligible starved breaker_open unavailable probing quiet draining disabled'.split(' ');

const failed = (row) => sums(hourOf(row))[1];
const items = (row, name) => (row.items && row.items[name] !== undefined ? row.items[name] : null);

function isTrouble(row) {
  return ['unavailable', 'starved', 'breaker_open', 'ineligible', 'paused'].includes(row.state) || quarantined(row) > 0 || Boolean(row.write_error) ||
    (row.overdue_after_ms && row.longest_wait_ms > row.overdue_after_ms);
}

function rankOf(row) {
  const rank = TROUBLE[row.state] === undefined ? 7 : TROUBLE[row.state];
  if (row.write_error) return Math.min(rank, 2.5);
  return quarantined(row) > 0 ? Math.min(rank, 3) : rank;
}

// Sort keys, the smallest first. Lists with equal keys are sorted by name.
const SORTS = {
  problems: rankOf,
  name: () => 0,
  running: (row) => -row.running,
  rate: (row) => -rateOf(row),
  failed: (row) => -failed(row),
  cycle: (row) => -(row.cycle_ms || 0),
};

let search = '';
let filter = '';
let sort = 'problems';
let chosen = [];
let total = 0;
let madeFor = '';
let madeOf = 0;
let madeAt = 0;
let body = null;

function choose() {
  const mark = `${search}\n${filter}\n${sort}`;
  if (mark === madeFor && madeOf === store.version && sort !== 'rate') return;
  // At most every 2 s, so that a list does not move away from the pointer.
  if (mark === madeFor && Date.now() - madeAt < 2000) return;
  const all = rows();
  total = all.length;
  const words = search.toLowerCase();
  const value = SORTS[sort];
  chosen = all.filter((row) => (!words || row.name.toLowerCase().includes(words)) && fits(row));
  for (const row of chosen) row.by = value(row);
  chosen.sort((a, b) => a.by - b.by);
  madeFor = mark;
  madeOf = store.version;
  madeAt = Date.now();
}

function fits(row) {
  if (!filter) return true;
  if (filter === 'problems') return isTrouble(row);
  if (filter === 'quarantined') return quarantined(row) > 0;
  if (filter === 'failing') return Boolean(row.last_error);
  if (filter === 'paused') return row.state === 'paused' || Boolean(row.pause);
  return row.hosts.some((one) => one.row.state === filter);
}

function why(row) {
  if (row.pause) return row.pause.reason ? `paused: ${row.pause.reason}` : 'paused';
  if (row.write_error) return `write error: ${row.write_error}`;
  const refusing = row.hosts.filter((one) => one.row.state === 'ineligible');
  if (row.reason) return row.reason;
  return refusing.length && row.hosts.length > 1 ? `ineligible on ${count(refusing.length, 'host')} of ${row.hosts.length}` : '';
}

let places = new Map(); // key of a list in view → number of the row that shows it
let newest = 0;

/**
 * Gives lists that come into view the rows of lists that left, which is faster than new rows. At most
 * FRESH rows are new. Returns the lists that have a row.
 */
function placed(rows) {
  const free = [];
  const there = new Set(rows.map((row) => row.key));
  for (const [key, place] of places) if (!there.has(key) && key !== focused()) free.push(place);
  const made = newest + FRESH;
  const before = places;
  places = new Map();
  for (const {key} of rows) {
    const place = before.get(key) || free.shift() || (newest < made && ++newest);
    if (!place) break;
    places.set(key, place);
  }
  if (places.size < rows.length) changed();
  return rows.slice(0, places.size);
}

/** Returns the list whose row has the focus. Its row is not reused. */
function focused() {
  const link = body?.contains(document.activeElement) && document.activeElement.closest('a');
  return link ? link.hash.slice('#/lists/'.length) : null;
}

function rowView(row, at) {
  return v('tr', {key: places.get(row.key), 'aria-rowindex': at + 2},
    rowHead(listLink(row)),
    v('td', {title: plain(why(row))}, state(row.state), v('span.why', plain(why(row), 140))),
    v('td.n', `${number(row.running)} / ${number(row.limit)}`),
    v('td.n.opt', rateText(rateOf(row))),
    v('td.opt', spark(row)),
    v('td.n.opt', number(failed(row))),
    v('td.n.more', number(items(row, 'delayed'))),
    v('td.n.more', number(quarantined(row))),
    v('td.n.more', number(items(row, 'length'))),
    v('td.n.opt', {title: row.longest_wait_ms ? `longest wait: ${duration(row.longest_wait_ms)}` : null}, row.cycle_ms ? duration(row.cycle_ms) : '–'),
    v('td.n.more', row.longest_wait_ms ? duration(row.longest_wait_ms) : '–'));
}

const COLUMNS = [['List', 'c-list', 'name'], ['State', 'c-state', 'problems'], ['Running', 'c-n n', 'running'], ['Per min', 'c-n n opt', 'rate'],
  ['Last hour', 'c-spark opt'], ['Failed, 1 h', 'c-n n opt', 'failed'], ['Delayed', 'c-n n more'], ['Quarantined', 'c-n n more'], ['Items', 'c-n n more'],
  ['Cycle', 'c-n n opt', 'cycle'], ['Longest wait', 'c-n n more']];

function head(text, cls, how) {
  const on = sort === how;
  return v('th', {scope: 'col', class: cls, 'aria-sort': on ? (how === 'name' ? 'ascending' : 'descending') : null},
    how ? v('button', {onclick: () => {
      sort = on ? 'problems' : how;
      changed();
    }}, text) : text);
}

function table() {
  const top = body ? body.getBoundingClientRect().top : 0;
  const first = Math.max(0, Math.min(chosen.length - 1, Math.floor(-top / ROW)) - SPARE);
  const last = Math.min(chosen.length, first + Math.ceil(innerHeight / ROW) + 2 * SPARE);
  const seen = placed(chosen.slice(first, last).map((row) => store.all.get(row.key) || row));
  const gap = (key, rows) => v('tr', {key, 'aria-hidden': 'true'}, v('td.gap', {style: {height: `${rows * ROW}px`}}));
  return v('table.lists', {'aria-rowcount': chosen.length + 1},
    v('caption.hidden', 'Lists'),
    v('thead', v('tr', {'aria-rowindex': 1},
      COLUMNS.map((one) => head(...one)))),
    v('tbody', {onmade: (dom) => {
      body = dom;
      changed(); // the position of the table is known now
    }}, gap('top', first), seen.map((row, at) => rowView(row, first + at)), gap('end', chosen.length - first - seen.length)));
}

export const lists = {
  title: () => 'Lists',
  enter({query}) {
    filter = query.get('state') || '';
    search = query.get('search') || '';
    madeFor = '';
    places.clear();
    const scrolled = () => changed();
    addEventListener('scroll', scrolled, {passive: true});
    addEventListener('resize', scrolled);
    return () => {
      body = null;
      removeEventListener('scroll', scrolled);
      removeEventListener('resize', scrolled);
    };
  },
  render() {
    choose();
    return [
      v('div.head', v('h1', 'Lists'),
        v('span.sub', {role: 'status'}, chosen.length === total ? count(total, 'list') : `${number(chosen.length)} of ${count(total, 'list')}`)),
      v('form.tools', {onsubmit: (event) => event.preventDefault()},
        v('label', 'Search', v('input', {type: 'search', value: search, oninput: (event) => {
          search = event.target.value;
          changed();
        }})),
        choice('State', filter, STATES, (word) => {
          filter = word;
          changed();
        }),
        choice('Sort by', sort, Object.keys(SORTS), (word) => {
          sort = word;
          changed();
        })),
      v('div.card', chosen.length ? table()
        : v('p.none', store.lists.size ? 'No matching lists' : 'The config has no lists.')),
    ];
  },
};

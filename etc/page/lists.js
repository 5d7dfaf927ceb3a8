// All lists. Only lists in view are drawn, so that ten thousand can scroll.
import {
  v, plain, number, count, duration, rows, searchField, store, changed, choice, hourOf, listLink, param, rateOf, rateText, setParam, state,
  sums, tools} from './parts.js';
import {spark} from './charts.js';

const narrow = matchMedia('(max-width: 700px)'); // a row is a card
const ROW = () => (narrow.matches ? 72 : 45); // px, as in style.css
const SPARE = 6;
const FRESH = 12; // rows that are created at a time
const TROUBLE = {unavailable: 0, starved: 1, breaker_open: 1, ineligible: 2, paused: 4, quiet: 5, draining: 5, probing: 6, running: 7, full: 7, idle: 8, disabled: 9};
const STATES = ' problems running idle full paused quarantined failing ineligible starved breaker_open unavailable probing quiet draining disabled'.split(' ');

const failed = (row) => sums(hourOf(row))[1];
const quarantined = (row) => row.items?.quarantined ?? (row.quarantined || 0);
const items = (row, name) => (row.items && row.items[name] !== undefined ? row.items[name] : null);

function rankOf(row) {
  const rank = TROUBLE[row.state] ?? 7;
  if (row.write_error) return Math.min(rank, 2.5);
  return quarantined(row) > 0 ? Math.min(rank, 3) : rank;
}

// Sort keys, the smallest first. Lists with equal keys are sorted by name.
const SORTS = {
  problems: rankOf,
  name: null,
  running: (row) => -row.running,
  rate: (row) => -rateOf(row),
  failed: (row) => -failed(row),
  delayed: (row) => -items(row, 'delayed'),
  quarantined: (row) => -quarantined(row),
  items: (row) => -items(row, 'length'),
  cycle: (row) => -(row.cycle_ms || 0),
  wait: (row) => -(row.longest_wait_ms || 0),
};

let chosen = [];
let total = 0;
let madeFor = null;
let madeOf = 0;
let madeAt = 0;
let body = null;

/** The order that the address has: {key of SORTS, whether it is reversed}. */
function order() {
  const word = param('sort');
  const key = word.replace(/^-/, '');
  return key in SORTS ? {key, back: word !== key} : {key: 'problems', back: false};
}

function choose() {
  const [search, filter] = [param('search'), param('state')];
  const {key, back} = order();
  const mark = `${search}\n${filter}\n${key}${back}`;
  if (mark === madeFor && madeOf === store.version && key !== 'rate') return;
  // At most every 2 s, so that a list does not move away from the pointer.
  if (mark === madeFor && Date.now() - madeAt < 2000) return;
  const all = rows();
  total = all.length;
  const words = search.toLowerCase();
  const value = SORTS[key];
  chosen = all.filter((row) => (!words || row.name.toLowerCase().includes(words)) && fits(row, filter));
  if (value) {
    for (const row of chosen) row.by = value(row);
    chosen.sort(back ? (a, b) => b.by - a.by : (a, b) => a.by - b.by);
  } else if (back) chosen.reverse();
  if (mark !== madeFor) widest.fill(0);
  madeFor = mark;
  madeOf = store.version;
  madeAt = Date.now();
}

function fits(row, filter) {
  if (!filter) return true;
  if (filter === 'problems') return rankOf(row) < 5 || (row.overdue_after_ms && row.longest_wait_ms > row.overdue_after_ms);
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

// [head, class, key of SORTS, text of a row, its title, content if it is more than the text]. Column 1 has the rest of the width.
const COLUMNS = [
  ['List', 'c-name', 'name', (row) => row.name, null, listLink],
  ['State', 'c-state', 'problems', (row) => row.state, (row) => plain(why(row)) || null, (row) => [state(row.state), v('span.why', plain(why(row), 140))]],
  ['Running', 'c-run n', 'running', (row) => `${number(row.running)} / ${number(row.limit)}`],
  ['Per min', 'n opt', 'rate', (row) => rateText(rateOf(row)), () => 'Average of the last ten minutes'],
  ['Last hour', 'c-spark opt', '', () => '', null, spark],
  ['Failed, 1 h', 'c-failed n', 'failed', (row) => number(failed(row))],
  ['Delayed', 'n more', 'delayed', (row) => number(items(row, 'delayed'))],
  ['Quarantined', 'n more', 'quarantined', (row) => number(quarantined(row))],
  ['Items', 'n more', 'items', (row) => (row.items_estimated ? '~' : '') + number(items(row, 'length'))],
  ['Cycle', 'n opt', 'cycle', (row) => (row.cycle_ms ? duration(row.cycle_ms) : '–')],
  ['Longest wait', 'n more', 'wait', (row) => (row.longest_wait_ms ? duration(row.longest_wait_ms) : '–')],
];
const widest = COLUMNS.map(() => 0); // characters of each column in view, so far

function rowView(row, at) {
  return v('tr', {key: places.get(row.key), 'aria-rowindex': at + 2}, COLUMNS.map(([head, cls, , text, title, content], column) => {
    const said = text(row);
    widest[column] = Math.max(widest[column], said.length);
    const props = {class: cls, title: title && title(row), 'data-head': head};
    return column ? v('td', props, content ? content(row) : said) : v('th', {...props, scope: 'row'}, content(row));
  }));
}

function head([text, cls, how], column) {
  const {key, back} = order();
  const on = key === how;
  const up = (how === 'name') !== back;
  const chars = Math.max(widest[column], text.length + (on ? 2 : 0));
  const width = column === 0 ? `min(34%, ${(chars * 0.53 + 1.5).toFixed(1)}rem)` : column === 1 || !how ? null : `${(chars * 0.6 + 1.2).toFixed(1)}rem`;
  return v('th', {scope: 'col', class: cls, 'aria-sort': on ? (up ? 'ascending' : 'descending') : null, style: {width}},
    how ? v('button', {onclick: () => setParam('sort', on && !back ? `-${how}` : on || how === 'problems' ? '' : how)}, text,
      v('span', {'aria-hidden': 'true'}, on ? (up ? ' ↑' : ' ↓') : '')) : text);
}

function table() {
  const row = ROW();
  const top = body ? body.getBoundingClientRect().top : 0;
  const first = Math.max(0, Math.min(chosen.length - 1, Math.floor(-top / row)) - SPARE);
  const last = Math.min(chosen.length, first + Math.ceil(innerHeight / row) + 2 * SPARE);
  const seen = placed(chosen.slice(first, last).map((one) => store.all.get(one.key) || one));
  const gap = (key, rows) => v('tr', {key, 'aria-hidden': 'true'}, v('td.gap', {style: {height: `${rows * row}px`}}));
  const drawn = seen.map((one, at) => rowView(one, first + at));
  return v('table.lists', {'aria-rowcount': chosen.length + 1},
    v('caption.hidden', 'Lists'),
    v('thead', v('tr', {'aria-rowindex': 1}, COLUMNS.map(head))),
    v('tbody', {onmade: (dom) => {
      body = dom;
      changed(); // the position of the table is known now
    }}, gap('top', first), drawn, gap('end', chosen.length - first - seen.length)));
}

export const lists = {
  title: () => 'Lists',
  enter() {
    madeFor = null;
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
        v('span.sub', {role: 'status'}, chosen.length === total ? count(total, 'list') : `${number(chosen.length)} of ${count(total, 'list')}`),
        v('span.note.scope', 'On all hosts now; per min: average of the last ten minutes')),
      tools(searchField(),
        choice('State', param('state'), STATES, (word) => setParam('state', word)),
        choice('Sort by', order().key, Object.keys(SORTS), (word) => setParam('sort', word === 'problems' ? '' : word))),
      v('div.card', chosen.length ? table()
        : v('p.none', store.all.size ? 'No matching lists' : 'The config has no lists.')),
    ];
  },
};

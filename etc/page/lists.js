// All lists: found, filtered and sorted; only those in view are drawn, so ten thousand scroll.
import {v, plain, number, count, duration} from './dom.js';
import {store, lastHour, changed} from './store.js';
import {listLink, rate, rateText, spark, state, sums} from './parts.js';
import {allLists, quarantined} from './overview.js';

const ROW = 45; // px, as style.css has it
const SPARE = 6;
const TROUBLE = {unavailable: 0, starved: 1, refused: 2, paused: 4, quiet: 5, draining: 5, probing: 6, running: 7, full: 7, idle: 8, disabled: 9};
const STATES = 'trouble running idle full paused quarantined failing refused starved unavailable probing quiet draining disabled'.split(' ');

const failedIn = (row) => sums(lastHour([row.hour]))[1];
const failedAll = (row) => {
  const c = row.counters || {};
  return (c.failed || 0) + (c.crashed || 0) + (c.timed_out || 0);
};
const items = (row, name) => (row.items && row.items[name] !== undefined ? row.items[name] : null);

function isTrouble(row) {
  return ['unavailable', 'starved', 'refused', 'paused'].includes(row.state) || quarantined(row) > 0 || Boolean(row.unwritten) ||
    (row.visit_within_ms && row.oldest_visit_ms > row.visit_within_ms);
}

function rankOf(row) {
  const rank = TROUBLE[row.state] === undefined ? 7 : TROUBLE[row.state];
  if (row.unwritten) return Math.min(rank, 2.5);
  return quarantined(row) > 0 ? Math.min(rank, 3) : rank;
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const SORTS = {
  trouble: (a, b) => a.rank - b.rank || byName(a, b),
  name: byName,
  running: (a, b) => b.running - a.running || byName(a, b),
  rate: (a, b) => b.rate - a.rate || byName(a, b),
  failed: (a, b) => failedAll(b) - failedAll(a) || byName(a, b),
  lap: (a, b) => (b.lap_ms || 0) - (a.lap_ms || 0) || byName(a, b),
};

let search = '';
let filter = '';
let sort = 'trouble';
let chosen = [];
let total = 0;
let madeFor = '';
let madeOf = 0;
let madeAt = 0;
let body = null;

function choose() {
  const mark = `${search}\n${filter}\n${sort}`;
  if (mark === madeFor && madeOf === store.version && sort !== 'rate') return;
  // Sorted again every other second: a list that moves away from under the pointer is of no use.
  if (mark === madeFor && Date.now() - madeAt < 2000) return;
  const all = allLists(mark === madeFor ? 1000 : 0);
  total = all.length;
  const words = search.toLowerCase();
  chosen = all.filter((row) => (!words || row.name.toLowerCase().includes(words)) && fits(row));
  for (const row of chosen) row.rank = rankOf(row);
  if (sort === 'rate') for (const row of chosen) row.rate = rate(lastHour([row.hour]));
  chosen.sort(SORTS[sort] || SORTS.trouble);
  madeFor = mark;
  madeOf = store.version;
  madeAt = Date.now();
}

function fits(row) {
  if (!filter) return true;
  if (filter === 'trouble') return isTrouble(row);
  if (filter === 'quarantined') return quarantined(row) > 0;
  if (filter === 'failing') return Boolean(row.last_error);
  if (filter === 'paused') return row.state === 'paused' || Boolean(row.pause);
  return row.hosts.some((one) => one.row.state === filter);
}

function why(row) {
  if (row.pause) return row.pause.reason ? `paused: ${row.pause.reason}` : 'paused';
  if (row.unwritten) return `not written: ${row.unwritten}`;
  const refusing = row.hosts.filter((one) => one.row.state === 'refused');
  if (row.why) return row.why;
  return refusing.length && row.hosts.length > 1 ? `refused by ${count(refusing.length, 'host')} of ${row.hosts.length}` : '';
}

function rowView(row, at) {
  return v('tr', {key: row.key, 'aria-rowindex': at + 2},
    v('th', {scope: 'row'}, listLink(row)),
    v('td', {title: plain(why(row), 500)}, state(row.state), v('span', {class: 'why'}, plain(why(row), 140))),
    v('td', {class: 'n'}, `${number(row.running)} / ${number(row.limit)}`),
    v('td', {class: 'n opt'}, rateText(rate(lastHour([row.hour])))),
    v('td', {class: 'opt'}, spark(row)),
    v('td', {class: 'n opt'}, number(failedAll(row))),
    v('td', {class: 'n more'}, number(items(row, 'resting'))),
    v('td', {class: 'n more'}, number(items(row, 'quarantined') === null ? row.quarantined : items(row, 'quarantined'))),
    v('td', {class: 'n more'}, number(items(row, 'length'))),
    v('td', {class: 'n opt', title: row.oldest_visit_ms ? `oldest: ${duration(row.oldest_visit_ms)}` : null}, row.lap_ms ? duration(row.lap_ms) : '–'),
    v('td', {class: 'n more'}, row.oldest_visit_ms ? duration(row.oldest_visit_ms) : '–'));
}

function head(name, text, cls, how) {
  const on = sort === how;
  return v('th', {scope: 'col', class: cls, 'aria-sort': on ? (how === 'name' ? 'ascending' : 'descending') : null},
    how ? v('button', {onclick: () => {
      sort = on ? 'trouble' : how;
      changed();
    }}, text) : text);
}

function table() {
  const top = body ? body.getBoundingClientRect().top : 0;
  const first = Math.max(0, Math.min(chosen.length - 1, Math.floor(-top / ROW)) - SPARE);
  const last = Math.min(chosen.length, first + Math.ceil(innerHeight / ROW) + 2 * SPARE);
  const gap = (key, rows) => v('tr', {key, 'aria-hidden': 'true'}, v('td', {class: 'gap', style: {height: `${rows * ROW}px`}}));
  return v('table', {class: 'lists', 'aria-rowcount': chosen.length + 1},
    v('caption', {class: 'hidden'}, 'Lists'),
    v('thead', {}, v('tr', {'aria-rowindex': 1},
      head('name', 'List', 'c-list', 'name'), head('state', 'State', 'c-state', 'trouble'),
      head('running', 'Running', 'c-n n', 'running'), head('rate', 'Per min', 'c-n n opt', 'rate'), head('hour', 'Last hour', 'c-spark opt'),
      head('failed', 'Failed', 'c-n n opt', 'failed'), head('resting', 'Resting', 'c-n n more'), head('q', 'Parked', 'c-n n more'),
      head('length', 'Items', 'c-n n more'), head('lap', 'Lap', 'c-n n opt', 'lap'), head('oldest', 'Oldest', 'c-n n more'))),
    v('tbody', {onmade: (dom) => {
      body = dom;
      changed(); // where it stands is known now
    }}, gap('top', first), chosen.slice(first, last).map((row, at) => rowView(row, first + at)), gap('end', chosen.length - last)));
}

export const lists = {
  title: () => 'Lists',
  enter({query}) {
    filter = query.get('state') || '';
    search = query.get('search') || '';
    madeFor = '';
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
      v('div', {class: 'head'}, v('h1', {}, 'Lists'),
        v('span', {class: 'sub', role: 'status'}, chosen.length === total ? count(total, 'list') : `${number(chosen.length)} of ${count(total, 'list')}`)),
      v('form', {class: 'tools', onsubmit: (event) => event.preventDefault()},
        v('label', {}, 'Search', v('input', {type: 'search', value: search, oninput: (event) => {
          search = event.target.value;
          changed();
        }})),
        v('label', {}, 'State', v('select', {value: filter, onchange: (event) => {
          filter = event.target.value;
          changed();
        }}, v('option', {value: ''}, 'any'), STATES.map((name) => v('option', {value: name, selected: name === filter}, name)))),
        v('label', {}, 'First', v('select', {onchange: (event) => {
          sort = event.target.value;
          changed();
        }}, Object.keys(SORTS).map((name) => v('option', {value: name, selected: name === sort}, name))))),
      v('div', {class: 'card'}, chosen.length ? table()
        : v('p', {class: 'none'}, store.lists.size ? 'No list fits.' : 'The config has no lists.')),
    ];
  },
};

// Elements that several views share.
export * from './address.js';
export * from './api.js';
export * from './dom.js';
export * from './store.js';
import {param, setParam} from './address.js';
import {path, query} from './api.js';
import {v, name, nameLink, plain, shown, number, duration, time, bytesOf} from './dom.js';
import {changed, store, now, hourOf} from './store.js';

const KINDS = {on: 'running full succeeded finished', soft: 'delayed', open: 'idle free scheduled disabled probing starting', warn: 'paused quiet draining cancelled outdated',
  bad: 'ineligible starved breaker_open unavailable quarantined failed crashed timed_out lost unresponsive unknown stalled late stopped bad died'};
const MOST_RUNS = 25;
const KIND = Object.fromEntries(Object.entries(KINDS).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind])));

/** A state as a shape, a colour and its word. `soft`: it is no problem here. */
export function state(of, soft = false, word = of.replace('_', ' ')) {
  return v('span', {class: `state ${KIND[of.replace(' ', '_')] || ''}${soft ? ' elsewhere' : ''}`}, v('i', {'aria-hidden': 'true'}), word);
}

/** Literal text: names, IDs, commands. */
export function code(text, most = 300) {
  return v('span.item', plain(text, most));
}

export function listLink(row) {
  return nameLink(`#/lists/${row.key}`, row.name);
}

/** An item of `object`; a link if its list is known and it is not truncated. */
export function itemLink(object, listKey) {
  const item = bytesOf(object, 'item');
  if (item.text === '' || !listKey || item.length) return v('span.item', item.text === '' ? v('span.cut', '(empty)') : name(item.text, item.length));
  return nameLink(`#/lists/${listKey}/items/${item.key}`, item.text);
}

export function runLink(id, text = id) {
  return v('a', {href: `#/runs/${encodeURIComponent(id)}`, class: 'item'}, text);
}

export function share(progress) {
  if (!progress || !progress.denominator) return null;
  return Math.max(0, Math.min(1, progress.numerator / progress.denominator));
}

export function bar(of, label) {
  const percent = Math.round(of * 100);
  return v('span.progress',
    v('div', {role: 'progressbar', 'aria-label': label, 'aria-valuenow': percent, 'aria-valuemin': 0, 'aria-valuemax': 100},
      v('i', {style: {width: `${percent}%`}})),
    v('span.note', `${percent} %`));
}

export function placesBar(host) {
  return bar(Math.min(1, host.slots.used / host.slots.limit), `Slots in use on ${plain(host.host || '', 40)}`);
}

/** Active runs: [{row, run, host}], and the total number. */
export function runList(runs, running, withList = true) {
  const few = runs.slice(0, MOST_RUNS);
  if (!few.length) return v('p.none', 'No active runs');
  return [v('ul.runlist', few.map(({row, run, host}) => {
    const done = share(run.progress);
    return v('li', {key: run.run},
      v('div.line',
        v('span', itemLink(run, row.key), withList && [' in ', listLink(row)]),
        v('span.note', runLink(run.run, 'run'), ` on ${plain(host, 40)} for ${duration(Math.max(0, now() - run.started_ms))}`,
          run.attempt > 1 && `, attempt ${run.attempt}`, run.state === 'stopping' && ', stopping',
          run.lease_lost && ', lease lost')),
      done !== null && bar(done, `Progress of ${plain(bytesOf(run, 'item').text, 60)}`));
  })), running > few.length && v('p.note', `and ${number(running - few.length)} more`)];
}

// ---- runs of the last hour

export function sums(hour) {
  return hour.reduce(([a, b], [runs, failed]) => [a + runs, b + failed], [0, 0]);
}

const RECENT = 11; // minutes: the last ten and the current one

/** Runs per minute, from the number of runs in RECENT or since the host started. */
export function rate(runs) {
  const since = store.host ? (now() - store.host.started_ms) / 60000 : 0;
  return runs / Math.max(0.25, Math.min(RECENT - 1 + (now() % 60000) / 60000, since));
}

export function rateOf(row) {
  return row.hosts.some((one) => one.row.hour) ? rate(sums(hourOf(row, RECENT))[0]) : 0;
}

export function rateText(perMinute) {
  if (perMinute === 0) return '0';
  return perMinute < 10 ? perMinute.toFixed(1) : number(Math.round(perMinute));
}

// ---- data of requests

/** The kind of a list, by its config. */
export function kindOf(config) {
  const [list] = config.data?.lists || [];
  return list ? (list.settings.source || 'circular').replaceAll('"', '') : '';
}

/** The key prefix of a schedule, percent-encoded: by its config, or its name. */
export function keyPrefix(config, key) {
  const prefix = config.data?.lists[0]?.settings.key_prefix;
  return prefix ? encodeURIComponent(prefix.replaceAll('"', '')) : key;
}

/** Path of a request about a list. */
export function ofList(where, key, values = {}) {
  return `${path(where)}?list=${key}${query(values).replace('?', '&')}`;
}

/** The end of the log output of a run. Newlines stay; other invisible characters are escaped. */
export function logOutput(run) {
  return v('pre', {tabindex: 0}, bytesOf(run, 'stderr').text.split('\n').map((line, at) => [at > 0 && '\n', line && shown(line, 4000)]));
}

/** A form above a table, whose fields take effect at once. */
export function tools(...kids) {
  return v('form.tools', {onsubmit: (event) => event.preventDefault()}, kids);
}

/** A search field that keeps its text in the address. */
export function searchField() {
  return v('label', 'Search', v('input', {type: 'search', value: param('search'), oninput: (event) => setParam('search', event.target.value)}));
}

/** Link to the view above this one. */
export function crumb(href, text) {
  return v('p.crumb', v('a', {href}, text));
}

/** Shows that data is loading, or the error. */
export function waiting(asked, what) {
  if (asked.error && !asked.data) return v('p.none', {role: 'status'}, `${what} cannot be shown: ${plain(asked.error.message)}`);
  if (!asked.data) return v('p.none', {role: 'status'}, 'Loading …');
  return null;
}

/** Scope and time of the counts of a view. */
export function scope(request) {
  return v('span.note.scope', `On all hosts, ${request?.at ? `at ${time(request.at + store.skew)}` : 'now'}`);
}

/** Shows that data is stale. */
export function staleNote(asked) {
  return asked.error && asked.data
    ? v('p.note', {role: 'status'}, `Last update ${duration(Date.now() - asked.at)} ago: ${plain(asked.error.message)}`)
    : null;
}

/** Buttons to the previous and next page. */
function turns(back, more, ...rest) {
  return v('p.tools', v('button.b', {disabled: !back, onclick: back}, 'Back'), v('button.b', {disabled: !more, onclick: more}, 'More'), rest);
}

export function choice(label, chosen, words, act) {
  return v('label', label, v('select', {onchange: (event) => act(event.target.value)},
    words.map((word) => v('option', {value: word, selected: word === chosen}, word ? word.replace('_', ' ') : 'any'))));
}

export function took(run) {
  return duration(run.duration_ms === undefined ? run.ended_ms - run.started_ms : run.duration_ms);
}

export function num(n) {
  return v('td.n', number(n));
}

export function rowHead(...kids) {
  return v('th', {scope: 'row'}, kids);
}

/** Pages of a response that has `next`. */
export class Pages {
  constructor() {
    this.before = [];
    this.after = '';
  }
  view(data, go) {
    const next = data?.next;
    return (next || this.before.length > 0) && turns(this.before.length && (() => {
      this.after = this.before.pop();
      go();
    }), next && (() => {
      this.before.push(this.after);
      this.after = next;
      go();
    }));
  }
  reset() {
    this.before = [];
    this.after = '';
  }
}

/** Pages of an array. */
export class Slice {
  constructor(size) {
    this.size = size;
    this.from = 0;
  }
  of(all) {
    if (this.from >= all.length) this.from = 0;
    return all.slice(this.from, this.from + this.size);
  }
  view(all, what) {
    const go = (by) => () => {
      this.from += by;
      changed();
    };
    const end = this.from + this.size;
    return all.length > this.size && turns(this.from && go(-this.size), end < all.length && go(this.size), v('span.note', `${what} ${number(this.from + 1)} to ${number(Math.min(all.length, end))} of ${number(all.length)}`));
  }
}

export function card(id, title, ...kids) {
  return v('section.card', {'aria-labelledby': id}, v('h2', {id}, title), kids);
}

/**
 * Sorts by the column that a parameter of the address has: `?sort=used`, or `?sort=-used`, the largest first.
 * `columns`: head → value of a row, a number or a text.
 */
export class Sort {
  constructor(columns, first = '', at = 'sort') {
    Object.assign(this, {columns, first, at});
  }
  get chosen() {
    const word = param(this.at) || this.first;
    const [down, key] = word.startsWith('-') ? [true, word.slice(1)] : [false, word];
    return {down, head: Object.keys(this.columns).find((head) => slug(head) === key)};
  }
  of(all) {
    const {head, down} = this.chosen;
    if (!head) return all;
    const value = this.columns[head];
    const none = (x) => x === null || x === undefined || x === '';
    return all.map((one) => [value(one), one]).sort(([a], [b]) => (none(a) || none(b) ? none(a) - none(b)
      : (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1))).map(([, one]) => one);
  }
  head(text, props, number) {
    if (!this.columns[text]) return v('th', props, text);
    const {head, down} = this.chosen;
    const on = head === text;
    const next = on ? (down ? '' : '-') : number ? '-' : '';
    return v('th', {...props, 'aria-sort': on ? (down ? 'descending' : 'ascending') : null},
      v('button', {onclick: () => setParam(this.at, next + slug(text))}, text, v('span', {'aria-hidden': 'true'}, on ? (down ? ' ↓' : ' ↑') : '')));
  }
}

function slug(head) {
  return head.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/**
 * A table. `heads` with '#' are numbers. If there is no room for a line, a row is a card. Cells do not wrap,
 * except those with class `note` or `text`. `sort`: a Sort; the rows are already in its order.
 */
export function table(caption, heads, rows, sort) {
  const names = heads.map((text) => text.replace('#', ''));
  for (const row of rows) row.kids.forEach((cell, at) => {
    cell.props['data-head'] = names[at];
  });
  const head = (text, at) => {
    const isNumber = text.startsWith('#');
    const props = {key: text, scope: 'col', class: isNumber ? 'n' : null};
    return sort ? sort.head(names[at], props, isNumber) : v('th', props, names[at]);
  };
  return v('div.wide', {tabindex: 0, role: 'group', 'aria-label': caption}, v('table.rows', v('caption.hidden', caption), v('thead', v('tr', heads.map(head))), v('tbody', rows)));
}

export function facts(pairs) {
  return v('dl.facts', pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== '')
    .map(([name, value]) => [v('dt', {key: `t${name}`}, name), v('dd', {key: `d${name}`}, value)]));
}

export function reasons(why) {
  const all = (why || []).map((one) => (typeof one === 'string' ? {text: one} : one));
  if (!all.length) return null;
  return v('ol.reasons', all.map((one) => v('li', plain(one.text, 1000))));
}

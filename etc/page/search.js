// One search over lists, hosts, runs and items: `/` focuses it.
import {get, path, query} from './api.js';
import {v, plain, name, number, bytesOf, count, duration} from './dom.js';
import {changed, hostName, now, rows, runsNow, store} from './store.js';

const EACH = 6; // results of a kind
const LISTS = 20; // lists whose items are searched
const PAUSE = 250; // ms after the last key, until Redis is queried
const RUN = /^[0-9a-hjkmnp-tv-z]{26}$/i;

let text = '';
let open = false;
let picked = 0;
let field = null;
let items = {found: [], searched: 0, of: 0, busy: false, error: ''};
let timer = 0;
let abort = null;

/** "films: reel 7" is a search for "reel 7" in lists that contain "films". */
function parts() {
  const [, list, words] = /^([^\s:/]+):\s+(.*)$/.exec(text.trim()) || [null, '', text.trim()];
  return {list: list.toLowerCase(), words};
}

function listsOfItems({list}) {
  const here = /^#\/lists\/([^/?]+)/.exec(location.hash)?.[1];
  const size = (row) => (row.key === here ? Infinity : row.items?.length ?? 1); // 1: not counted yet
  // w8yd reads only items of lists in its config.
  return rows().filter((row) => store.lists.has(row.key) && row.items?.length !== 0 && row.name.toLowerCase().includes(list)).sort((a, b) => size(b) - size(a));
}

/** Searches for items: one query at a time, so that other clients of w8yd do not wait. */
async function searchItems() {
  abort?.abort();
  abort = new AbortController();
  const {signal} = abort;
  const asked = parts();
  const all = listsOfItems(asked);
  const chosen = all.slice(0, LISTS);
  items = {found: [], searched: 0, of: all.length, busy: true, error: ''};
  changed();
  for (const row of chosen) {
    try {
      const answer = await get(path('lists', row.key, 'items') + query({search: asked.words, limit: EACH}), signal);
      for (const item of answer.items) items.found.push({row, item});
    } catch (error) {
      if (signal.aborted) return;
      if (error.status !== 409) items.error = error.message; // 409: the kind of the list has no items
    }
    if (signal.aborted) return;
    items.searched++;
    if (items.found.length >= 2 * EACH) break;
    changed();
  }
  items.busy = false;
  changed();
}

function typed(value) {
  text = value;
  open = true;
  picked = 0;
  abort?.abort();
  clearTimeout(timer);
  items = {found: [], searched: 0, of: 0, busy: false, error: ''};
  if (parts().words.length > 1) {
    items.busy = true;
    timer = setTimeout(searchItems, PAUSE);
  }
  changed();
}

/** Returns the results: kind, address, text and remark of each. */
function results() {
  const {list, words} = parts();
  const low = words.toLowerCase();
  if (!low) return [];
  const has = (one) => String(one).toLowerCase().includes(low);
  const rank = (one) => (one.toLowerCase() === low ? 0 : one.toLowerCase().startsWith(low) ? 1 : 2);
  const all = [];
  const add = (kind, href, of, note, length = 0) => all.push({kind, href, text: of, note, length});
  if (!list) {
    if (RUN.test(words)) add('Run', `#/runs/${words.toUpperCase()}`, words.toUpperCase(), 'by its ID');
    rows().filter((row) => has(row.name)).sort((a, b) => rank(a.name) - rank(b.name)).slice(0, EACH)
      .forEach((row) => add('List', `#/lists/${row.key}`, row.name, `${row.state.replace('_', ' ')}, ${number(row.running)} running`));
    const hosts = store.fleet?.hosts || [];
    const names = hosts.length ? hosts.map((host) => [hostName(host.host_id), host.state]) : [[hostName(), store.host.state]];
    names.filter(([of]) => has(of)).slice(0, EACH).forEach(([of, state]) => add('Host', `#/fleet?search=${encodeURIComponent(of)}`, of, state));
  }
  runsNow().filter(({row, run}) => (row.name.toLowerCase().includes(list)) && (has(bytesOf(run, 'item').text) || (!list && run.run.toLowerCase().startsWith(low) && low.length > 3))).slice(0, EACH)
    .forEach(({row, run, host}) => add('Running', `#/runs/${run.run}`, bytesOf(run, 'item').text || '(empty)', `in ${row.name}, on ${host} for ${duration(Math.max(0, now() - run.started_ms))}`));
  for (const {row, item} of items.found) {
    const of = bytesOf(item, 'item');
    add('Item', of.length ? `#/lists/${row.key}?items=&search=${encodeURIComponent(words)}` : `#/lists/${row.key}/items/${of.key}`, of.text || '(empty)', `${item.state}, in ${row.name}`, of.length);
  }
  return all;
}

function status(found) {
  if (!text.trim()) return 'Type a part of a name. “films: reel” finds items of the list films. Arrow keys select, Enter opens.';
  const {words} = parts();
  if (words.length < 2) return 'Type two characters to find items.';
  if (items.error) return `Items cannot be searched: ${plain(items.error, 200)}`;
  if (items.busy) return 'Searching items …';
  const where = items.of > items.searched ? `${number(items.searched)} of ${count(items.of, 'list')}; “LIST: ${plain(words, 20)}” chooses a list` : count(items.of, 'list');
  return `${found ? count(found, 'result') : 'No results'}. Items: searched in ${where}.`;
}

function close() {
  open = false;
  changed();
}

function key(event, found) {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    open = true;
    if (found.length) picked = (picked + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length;
  } else if (event.key === 'Escape') {
    if (!open) field.blur();
    open = false;
  } else if (event.key === 'Enter') {
    const one = found[picked];
    if (one && open) go(one.href);
  } else return;
  event.preventDefault();
  changed();
  requestAnimationFrame(() => document.getElementById(`found-${picked}`)?.scrollIntoView({block: 'nearest'}));
}

function go(href) {
  typed('');
  field.value = '';
  field.blur();
  open = false;
  location.hash = href;
}

/** The field in the head of the page, and its results. */
export function searchBox() {
  const found = open ? results() : [];
  if (picked >= found.length) picked = 0;
  return v('div.find', {role: 'search'},
    v('input', {type: 'search', placeholder: 'Find  /', 'aria-label': 'Find lists, items, runs and hosts', role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-expanded': String(open), 'aria-controls': 'found',
      'aria-autocomplete': 'list', 'aria-activedescendant': found.length ? `found-${picked}` : null,
      onmade: (dom) => {
        field = dom;
      },
      oninput: (event) => typed(event.target.value), onkeydown: (event) => key(event, found),
      onfocus: () => {
        open = true;
        changed();
      },
      onblur: close}),
    v('div', {class: `found${open ? '' : ' shut'}`, onmousedown: (event) => event.preventDefault()},
      v('ul', {id: 'found', role: 'listbox', 'aria-label': 'Results'}, found.map((one, at) => v('li', {key: `${one.kind}${one.href}`, id: `found-${at}`, role: 'option', 'aria-selected': String(at === picked),
        onclick: () => go(one.href)},
      v('span.note', one.kind), v('span.item', name(one.text, one.length)), v('span.note', plain(one.note, 120))))),
      v('p.note', {role: 'status'}, open ? status(found.length) : '')));
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector('dialog[open]')) return;
  event.preventDefault();
  field?.focus();
});

// Failed runs, grouped by list and error message; and one group with its traceback, its runs and actions.
import {
  v, plain, shown, nameLink, number, count, duration, time, when, bytesOf, textOfKey, changed, asking, now, ofList, param, setParam, path, query, Pages,
  card, choice, code, crumb, facts, itemLink, logOutput, runLink, scope, searchField, staleNote, store, tools, waiting} from './parts.js';
import {actions, itemOrder} from './actions.js';
import {commands, word} from './commands.js';
import {history} from './list.js';

const SINCE = ['1h', '6h', '1d', '7d', 'all'];
const EVERY = 30000; // ms; w8yd reads all failed runs for a response

let open = null; // groups
let one = null; // {key, runs, last, pages} of the group in the address

const since = () => param('since') || '1d';
const period = () => (since() === 'all' ? '' : since());

function ask() {
  const key = one ? one.key : encodeURIComponent(param('list'));
  const values = {limit: one ? 1000 : 100, since: period()};
  return key ? ofList('errors', key, values) : path('errors') + query(values);
}

function again() {
  open.again(ask(), true);
  if (one) one.runs.again();
}

/** The kind of a list, by the states of its items; empty if it is not known. */
function kindOf(key) {
  const items = store.all.get(key)?.items;
  return !items ? '' : 'stalled' in items ? 'job' : 'bad' in items ? 'schedule' : 'circular';
}

function orders(group, then) {
  const list = bytesOf(group, 'list');
  const kind = kindOf(list.key);
  const of = `${group.more_items ? 'at least ' : ''}${count(group.items, 'item')} of ${plain(list.text, 60)} that failed with this message`;
  const add = (verb) => itemOrder(`${verb} all`, of, '', '', {then, path: path('lists', list.key, 'errors', group.group, verb.toLowerCase()) + query({since: period()}),
    line: `errors ${period() ? `--since ${period()} ` : ''}${word(list.key)} ${group.group} --${verb.toLowerCase()}`});
  return [...(kind === 'circular' || !kind ? [add('Release'), add('Quarantine')] : []), ...(kind === 'job' || !kind ? [add('Retry')] : [])];
}

function where(group) {
  return `#/errors/${bytesOf(group, 'list').key}/${group.group}?since=${since()}`;
}

function numbers(group) {
  return [`${count(group.runs, 'run')} of ${group.more_items ? 'at least ' : ''}${count(group.items, 'item')}`,
    `, last ${time(group.last_ms)} on ${plain(group.hosts.join(', '), 80)}${group.more_hosts ? ' and others' : ''}`];
}

function groupView(group) {
  const list = bytesOf(group, 'list');
  return v('li', {key: group.group},
    v('div.line', v('a.message', {href: where(group)}, shown(bytesOf(group, 'message').text, 300)), v('div.acts', actions(orders(group, again)))),
    v('p.note', nameLink(`#/lists/${list.key}`, list.text), ': ', numbers(group)),
    group.items > 1 && group.item_runs > 1 && v('p.note', 'Most failures: ', itemLink(group, list.key), ` (${count(group.item_runs, 'run')})`));
}

function fits(group, words) {
  return !words || ['list', 'message', 'item'].some((part) => bytesOf(group, part).text.toLowerCase().includes(words));
}

function filters() {
  return tools(searchField(),
    choice('Failed within', since(), SINCE, (text) => {
      setParam('since', text === '1d' ? '' : text);
      again();
    }),
    param('list') && v('button.b', {type: 'button', onclick: () => {
      setParam('list', '');
      again();
    }}, 'Show all lists'));
}

function overview() {
  const {data} = open;
  const found = (data?.errors || []).filter((group) => fits(group, param('search').toLowerCase()));
  return [
    v('div.head', v('h1', 'Errors'), scope(open), v('span.sub', {role: 'status'}, data ? `${count(found.length, 'group')} of failed runs ${since() === 'all' ? 'in the history' : `in the last ${since()}`}${param('list') ? ` of ${plain(param('list'), 60)}` : ''}` : '')),
    filters(),
    v('section.card', {'aria-label': 'Groups of errors'}, waiting(open, 'Errors') || (found.length ? v('ol.groups', found.map(groupView)) : v('p.none', 'No failed runs')),
      data?.omitted_groups > 0 && v('p.note', `${count(data.omitted_groups, 'further group')} with ${count(data.omitted_runs, 'run')}; choose a shorter time`),
      data && !data.complete && v('p.note', 'Older failed runs were not read.'), staleNote(open)),
  ];
}

// ---- one group

function runsPath(group) {
  return ofList('runs', one.key, {group, limit: 25, after: one.pages.after});
}

function detail(key, id) {
  const group = (open.data?.errors || []).find((each) => each.group === id);
  const up = crumb(`#/errors?since=${since()}`, 'Errors');
  if (!one.pages.after) one.last = one.runs.data?.runs[0];
  const {last} = one;
  if (!group) return [up, v('h1', 'Group of errors'), waiting(open, 'This group') || v('p.none', `No run ${since() === 'all' ? 'in the history' : `in the last ${since()}`} failed with this error.`), filters()];
  const message = bytesOf(group, 'message').text;
  const all = orders(group, again);
  return [
    up,
    v('div.head', v('h1.message', shown(message, 600)), scope(open), v('div.act', actions(all))),
    v('div.grid.two',
      card('group', 'Failed runs', facts([
        ['List', nameLink(`#/lists/${key}`, textOfKey(key))],
        ['Runs', `${number(group.runs)} of ${group.more_items ? 'at least ' : ''}${count(group.items, 'item')}`],
        group.item_runs > 0 && ['Most failures', [itemLink(group, key), ` ${count(group.item_runs, 'run')}`]],
        ['First', when(group.first_ms)],
        ['Last', [when(group.last_ms), ` (${duration(Math.max(0, now() - group.last_ms))} ago)`]],
        ['Hosts', plain(group.hosts.join(', ')) + (group.more_hosts ? ' and others' : '')],
        ['Last run', runLink(group.last_run)],
        ['Group', code(id)],
      ]), staleNote(open)),
      card('traceback', 'Traceback', v('p.note', 'The end of the log output of ', last ? runLink(last.run, 'the last run') : 'the last run'), waiting(one.runs, 'The traceback') || (last && bytesOf(last, 'stderr').text ? logOutput(last) : v('p.none', 'The last run has no log output.')))),
    card('runs', 'Runs', history(one.runs, one.pages, () => one.runs.again(runsPath(id)))),
    commands([['Show the last run', `show ${group.last_run}`]], all),
  ];
}

export const errors = {
  title: ({parts}) => (parts[0] ? `Errors of ${textOfKey(parts[0])}` : 'Errors'),
  enter({parts: [key, id]}) {
    if (key) {
      one = {key, pages: new Pages(), last: null};
      one.runs = asking(runsPath(id), EVERY, changed);
    }
    open = asking(ask(), EVERY, changed);
    return () => {
      open.stop();
      one?.runs.stop();
      open = one = null;
    };
  },
  render: ({parts: [key, id]}) => (key ? detail(key, id) : overview()),
};

// A list: its ring, active runs, limits on each host, items and history.
import {
  v, plain, shown, number, count, duration, time, when, bytesOf, textOfKey, changed, hostName, runsNow, serves, store,
  asking, path, query, Pages, card, choice, code, crumb, facts, kindOf, itemLink, ofList, reasons, runLink, runList, scope, staleNote, state,
  table, took, tools, waiting, rowHead} from './parts.js';
import {cycles, times} from './charts.js';
import {Ring} from './ring.js';
import {actions, addItems, itemsOrder, Chosen} from './actions.js';

const OUTCOMES = ['succeeded', 'failed', 'crashed', 'timed_out', 'cancelled', 'lost'];
const STATES = ['', 'free', 'running', 'delayed', 'quarantined'];

let open = null;

class Open {
  constructor(key, question) {
    this.key = key;
    this.ring = new Ring();
    this.rung = asking(path('lists', key, 'ring'), 1000, changed);
    this.own = asking(path('lists', key), 5000, changed);
    this.why = asking(path('lists', key, 'why'), 10000, changed);
    this.config = asking(ofList('config', key), 0, changed);
    this.chosen = new Chosen();
    this.state = question.get('items') || '';
    this.search = '';
    this.itemPages = new Pages();
    this.items = asking(this.itemsPath(), 5000, changed);
    this.outcome = question.get('outcome') || '';
    this.host = '';
    this.runPages = new Pages();
    this.runs = asking(this.runsPath(), 5000, changed);
  }
  itemsPath() {
    return path('lists', this.key, 'items') + query({state: this.state, search: this.search, limit: 50, after: this.itemPages.after});
  }
  runsPath() {
    return ofList('runs', this.key, {outcome: this.outcome.replace('_', ' '), host: this.host, limit: 25, after: this.runPages.after});
  }
  askItems(reset) {
    if (reset) this.itemPages.reset();
    this.chosen.all.clear();
    this.items.again(this.itemsPath(), true);
    changed();
  }
  askRuns(reset) {
    if (reset) this.runPages.reset();
    this.runs.again(this.runsPath(), true);
    changed();
  }
  stop() {
    for (const asked of [this.rung, this.own, this.why, this.config, this.items, this.runs]) asked.stop();
  }
}

function ringCard(row) {
  const {rung} = open;
  const body = rung.error?.status === 409
    ? v('p.none', plain(rung.error.message))
    : rung.data ? open.ring.view(rung.data, row.name, row.cycle_ms) : waiting(rung, 'The ring');
  return card('ring', 'The ring', body, staleNote(rung));
}

function now(row) {
  const runs = runsNow().filter((one) => one.row.key === row.key);
  return v('section.card', {'aria-labelledby': 'runs-now'},
    v('header', v('h2', {id: 'runs-now'}, 'Running now'), v('span.note', `${number(row.running)} of ${number(row.limit)}`)),
    runList(runs, row.running, false));
}

function hosts(row) {
  return card('hosts', 'Hosts',
    table('Hosts that have this list', ['Host', 'State', '#Running'], row.hosts.map((one) => v('tr', {key: one.id || 'own'}, rowHead(plain(hostName(one.id), 60)),
      v('td', state(one.row.state, row.hosts.some((other) => serves(other.row.state))), one.row.reason && v('div.note', plain(one.row.reason))),
      v('td.n', `${number(one.row.running)} / ${number(one.row.concurrency)}`)))));
}

function about(row) {
  const counters = row.counters || {};
  const all = OUTCOMES.filter((name) => counters[name]).map((name) => `${number(counters[name])} ${name.replace('_', ' ')}`).join(', ');
  const own = {...row, ...open.own.data};
  return card('about', 'The list',
    open.why.data && reasons(open.why.data.reasons),
    facts([
      row.pause && ['Paused', [`since ${time(row.pause.since_ms)}`, row.pause.by && ` by ${plain(row.pause.by, 80)}`, row.pause.until_ms > 0 && `, until ${time(row.pause.until_ms)}`, row.pause.reason && `: ${plain(row.pause.reason)}`]],
      ['Reason', plain(row.reason)],
      own.items && ['Items', (own.items_estimated ? 'about ' : '') + Object.entries(own.items).filter(([name]) => name !== 'length').map(([name, n]) => `${number(n)} ${name}`).join(', ')],
      own.cycle_ms && ['Cycle time', duration(own.cycle_ms)],
      own.longest_wait_ms && ['Longest wait', duration(own.longest_wait_ms)],
      own.overdue_after_ms && ['Overdue after', duration(own.overdue_after_ms)],
      own.slots_needed && ['Slots needed', number(own.slots_needed)],
      ['Runs here since start', all || 'no run has ended'],
      row.last_error && ['Last failure here', [when(row.last_error_ms), `: ${plain(row.last_error)}`]],
      row.write_error && ['Write error', plain(row.write_error)],
      own.here?.program && ['Program here', code(own.here.program)],
      own.caps?.length && ['Capabilities', plain(own.caps.join(', '))],
    ]), settings());
}

function settings() {
  const [all] = open.config.data?.lists || [];
  if (!all) return null;
  return v('details', v('summary', 'Settings in force'),
    facts(Object.entries(all.settings).map(([name, text]) => [name, code(text)])));
}

function itemDetail(item) {
  const all = [];
  if (item.host) all.push(`on ${plain(item.host, 60)}`);
  if (item.since_ms) all.push(`since ${time(item.since_ms)}`);
  if (item.remaining_ms) all.push(`${duration(item.remaining_ms)} left`);
  if (item.reason) all.push(plain(item.reason));
  if (item.by) all.push(`by ${plain(item.by, 60)}`);
  if (item.failures) all.push(`${count(item.failures, 'failure')} in a row`);
  return all.join(', ');
}

/** Buttons for the chosen items. */
function ordersOf(things) {
  const then = () => {
    open.chosen.all.clear();
    open.items.again();
  };
  return ['Release', 'Rerun', 'Run now', 'Quarantine', 'Remove'].map((word) => itemsOrder(word, things, open.key, then));
}

function items() {
  const asked = open.items;
  const found = asked.data ? asked.data.items : [];
  const circular = kindOf(open.config) === 'circular';
  const thing = (one) => ({key: bytesOf(one, 'item').key, name: bytesOf(one, 'item').text});
  return card('items', 'Items',
    tools(choice('State', open.state, STATES, (word) => {
      open.state = word;
      open.askItems(true);
    }),
    v('label', 'Search', v('input', {type: 'search', value: open.search, onchange: (event) => {
      open.search = event.target.value;
      open.askItems(true);
    }}))),
    circular && open.chosen.bar(found.filter((one) => !one.item_length).map(thing), ordersOf),
    waiting(asked, 'Items') || (found.length ? table('Items', ['Item', 'State', 'Detail'], found.map((item, at) => v('tr', {key: at}, rowHead(circular && !item.item_length ? v('span.pick', open.chosen.box(thing(item)), itemLink(item, open.key)) : itemLink(item, open.key)),
      v('td', state(item.state)), v('td.note', itemDetail(item)))))
      : v('p.none', 'No matching items')),
    open.itemPages.view(asked.data, () => open.askItems(false)), staleNote(asked));
}

export function history(asked, pages, go) {
  const found = asked.data ? asked.data.runs : [];
  return [waiting(asked, 'The history') || (found.length ? table('Runs that ended', ['Item', 'Outcome', 'Duration', 'Ended', 'Host', 'Run'], found.map((run) => v('tr', {key: run.run}, rowHead(itemLink(run, bytesOf(run, 'list').key)),
      v('td', state(run.outcome), run.reason && v('div.note', plain(run.reason, 160))),
      v('td', took(run)),
      v('td', when(run.ended_ms)), v('td', plain(run.host || '', 60)), v('td', runLink(run.run, 'show')))))
    : v('p.none', asked.data?.next ? 'No match in the newest runs; see older runs.' : 'No matching runs')),
  pages.view(asked.data, go), staleNote(asked)];
}

function ended(row) {
  return card('history', 'History',
    tools(choice('Outcome', open.outcome, ['', ...OUTCOMES], (word) => {
      open.outcome = word;
      open.askRuns(true);
    }), choice('Host', open.host, ['', ...row.hosts.map((one) => hostName(one.id))], (word) => {
      open.host = word;
      open.askRuns(true);
    })),
    history(open.runs, open.runPages, () => open.askRuns(false)));
}

export const list = {
  title: ({parts}) => textOfKey(parts[0]),
  enter({parts, query: question}) {
    open = new Open(parts[0], question);
    return () => {
      open.stop();
      open = null;
    };
  },
  render({parts}) {
    const row = store.all.get(parts[0]);
    if (!row) return [v('h1', 'No such list'), v('p.none', v('span.item', shown(textOfKey(parts[0]))), ' is not in the config of any host.')];
    return [
      crumb('#/lists', 'Lists'),
      v('div.head', v('h1.name', shown(row.name, 300)), state(row.state), row.pause && row.state !== 'paused' && state('paused'), scope(),
        v('a', {href: `#/errors?list=${row.key}`}, 'Errors'),
        v('div.act', kindOf(open.config) === 'circular' && actions([addItems(row.key, row.name, () => open.items.again())]), actions(row.pause || /^(paused|breaker_open)$/.test(row.state)
          ? [{word: 'Resume', path: path('lists', row.key, 'resume'), what: `Hosts claim items of ${plain(row.name, 80)} again.`}]
          : [{word: 'Pause', path: path('lists', row.key, 'pause'), fields: ['reason', 'for'], what: `No host of the fleet claims items of ${plain(row.name, 80)}. ${row.running ? `${count(row.running, 'run')} ${row.running === 1 ? 'continues' : 'continue'} to the end.` : 'It has no active runs.'}`}]))),
      v('div.grid.ringside', ringCard(row), v('div.grid', now(row), about(row), hosts(row))),
      v('div', {class: open.own.data?.cycles ? 'grid two' : 'grid'}, times(row.key),
        open.own.data?.cycles && card('cycles', 'Cycle time, last 6 hours', cycles(open.own.data.cycles))),
      v('div.grid.two', items(), ended(row)),
    ];
  },
};

// Commands: a dialog describes the effect, then shows the result.
import {v, patch, plain, number, count} from './dom.js';
import {askForOrders, operator, ordersAre, path, query, send, setOperator, setToken, signOut, token, ApiError} from './api.js';
import {changed} from './store.js';

const MOST = 1000; // items or jobs in a request
const AT_ONCE = 4; // requests

let dialog = null;

function box() {
  if (dialog) return dialog;
  dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'ask-title');
  document.body.append(dialog);
  addEventListener('hashchange', () => dialog.close());
  return dialog;
}

// Orders for items: the effect, and members of the order.
const ORDERS = {
  Release: [(of) => `Ends the delay or quarantine of ${of}, and resets the failures.`],
  Quarantine: [(of) => `Keeps ${of} from running until released. Active runs continue.`, {bad: true, fields: ['reason']}],
  Rerun: [(of) => `Runs ${of} again without a delay, after the active run if there is one.`],
  'Run now': [(of) => `Runs ${of} now, ignoring a delay, on a host that serves the list.`],
  Retry: [(of) => `Returns ${of} to the queue, and resets the failures.`],
  Remove: [(of) => `Removes all copies of ${of}. Active runs continue.`, {bad: true, method: 'DELETE'}],
};

/** Path of the order `word` for an item of a list. */
function itemPath(word, list, item) {
  return path('lists', list, 'items', item, ...(word === 'Remove' ? [] : [word.toLowerCase().split(' ')[0]]));
}

/** An order for the item `item` of a list; `of`: its name. */
export function itemOrder(word, of, list, item, more) {
  const [effect, members] = ORDERS[word.replace(' all', '')];
  return {word, what: effect(of), path: itemPath(word, list, item), ...members, ...more};
}

/** An order for each of many items: `more(item)` has the members of one request. */
export function itemsOrder(word, things, list, then, more) {
  const one = itemOrder(word, few(things.map((thing) => thing.name)), list, '', {then});
  return forEach(things, (thing) => ({...one, path: itemPath(word, list, thing.key), ...more?.(thing)}), one);
}

/**
 * Buttons of commands: [{word, what, path, fields, body, bad, then}]. `method`: default POST;
 * `send`: replaces the request; `line`: arguments of w8yctl for the same.
 */
export function actions(orders) {
  return ordersAre('yes') && orders.filter(Boolean).map(button);
}

// Delayed: in Firefox the Enter that pressed the button would also confirm.
function button(order) {
  return v('button', {key: order.word, class: `b${order.bad ? ' bad' : ''}`, 'aria-haspopup': 'dialog', onclick: () => setTimeout(ask, 0, order)}, `${order.word} …`);
}

/** Shows the name of the operator, or a button to sign in if commands need a token. */
export function signIn() {
  if (ordersAre('yes') && token())
    return v('span.me', {key: 'me'}, v('span.note', operator() ? `Signed in as ${plain(operator(), 40)}` : 'Signed in'),
      v('button.b', {onclick: () => {
        signOut();
        changed();
      }}, 'Sign out'));
  const order = {word: 'Sign in', fields: ['token', 'name'], what: 'Shows buttons to pause lists, cancel runs, release items and more.',
    send: async ({token: text, name}) => {
      setToken((text || '').trim());
      setOperator((name || '').trim());
      await askForOrders();
      return {text: 'Signed in.'};
    }};
  return ordersAre('token') && button(order);
}

const FIELDS = {
  token: ['The token from status_token_file, kept until this tab is closed', 'password'],
  name: ['Your name (optional; changes record it, visible to others)', 'text'],
  reason: ['Reason (visible to others)', 'text'],
  for: ['Duration, such as 10m or 2h (empty: until resumed)', 'text'],
  items: ['Items, one on each line', 'textarea'],
  again: ['Also add items that the list has already', 'checkbox'],
  payloads: ['Payloads, one on each line', 'textarea'],
  id: ['ID, for one job (empty: a new ID)', 'text'],
  high: ['Claim them before all queued jobs', 'checkbox'],
};

function field(name, values) {
  const [label, type] = FIELDS[name];
  const put = (event) => {
    values[name] = type === 'checkbox' ? event.target.checked : event.target.value;
  };
  if (type === 'checkbox') return v('label.check', {key: name}, v('input', {type, name, onchange: put}), label);
  return v('label', {key: name}, label, type === 'textarea' ? v('textarea', {name, rows: 5, spellcheck: 'false', oninput: put})
    : v('input', {type, name, autocomplete: 'off', oninput: put}));
}

function ask(order) {
  const dom = box();
  const values = {};
  const at = {said: null, bad: false, busy: false, keys: {}};
  const over = () => at.said && !at.bad && !at.busy;
  const draw = () => patch(dom, v('form', {method: 'dialog', onsubmit: (event) => {
    event.preventDefault();
    if (!at.busy && !over()) act();
  }},
  v('h2', {id: 'ask-title'}, order.word),
  v('p', {key: 'what'}, order.what),
  !over() && (order.fields || []).map((name) => field(name, values)),
  at.said && v('p', {key: 'said', class: `answer${at.bad ? ' bad' : ''}`, role: at.bad ? 'alert' : 'status'}, at.said),
  v('div.row', {key: 'row'}, v('button', {key: 'no', type: 'button', class: 'b', onclick: () => dom.close()}, over() ? 'Close' : 'Dismiss'),
    !over() && v('button', {key: 'yes', type: 'submit', class: 'b main', disabled: at.busy}, order.word))));
  const report = (text) => {
    at.said = text;
    draw();
  };
  const act = async () => {
    Object.assign(at, {busy: true, bad: false, said: null});
    draw();
    try {
      at.said = told(await (order.send ? order.send(values, report, at.keys) : request(order, values)));
      if (order.then) order.then();
    } catch (error) {
      at.bad = true;
      at.said = plain(error.message, 1000) + (error instanceof ApiError && (error.body.hosts || error.body.lines) ? `: ${told({...error.body, text: ''})}` : '');
      if (error.status === 401 && !order.send) askForOrders().catch(() => {});
    }
    at.busy = false;
    draw();
    changed();
    const next = dom.querySelector('input, textarea, button.main, button');
    if (next) next.focus();
  };
  dom.w8y = undefined;
  dom.replaceChildren();
  draw();
  dom.showModal();
}

/** Sends the request of an order. */
function request(order, values = {}) {
  const body = {...order.body, by: operator()};
  for (const name of order.fields || []) if (values[name]) body[name] = values[name];
  if (order.method === 'DELETE') return send('DELETE', order.path + query({by: body.by}));
  return send(order.method || 'POST', order.path, body);
}

function told(answer) {
  const lines = [];
  if (answer.text) lines.push(answer.text);
  for (const line of answer.lines || []) lines.push(line);
  for (const host of answer.hosts || []) lines.push(`${host.host}: ${[host.text || host.result, ...(host.lines || [])].join('; ')}`);
  for (const host of answer.no_reply || []) lines.push(`${host.host} did not reply`);
  for (const one of answer.results || []) lines.push(`${count(one.items, 'item')}: ${one.result}`);
  if (answer.too_long) lines.push(`${count(answer.too_long, 'run')} of items longer than 4096 bytes: not changed`);
  return plain(lines.join('; ') || answer.result || 'done', 2000);
}

// ---- many items

/** Names in a sentence, the first ones of many. */
function few(names, most = 3) {
  return names.slice(0, most).map((name) => plain(name, 60)).join(', ') + (names.length > most ? ` and ${number(names.length - most)} more` : '');
}

/** An order that sends `order(item)` for each of many items, and counts the responses. */
function forEach(things, order, more) {
  return {...more, send: async (values, report) => {
    const results = new Map(); // text → names
    let at = 0;
    let ended = 0;
    const work = async () => {
      while (at < things.length) {
        const thing = things[at++];
        const one = order(thing);
        let text;
        try {
          const answer = await request({...one, fields: more.fields}, values);
          text = told(answer).replace(` ${answer.run}`, '');
        } catch (error) {
          if (error.status === 401 || !(error instanceof ApiError)) throw error;
          text = `not changed: ${error.message.replace(`"${thing.name}": `, '').replace(`${thing.name}: `, '')}`;
        }
        results.set(text, [...(results.get(text) || []), thing.name]);
        report(`${number(++ended)} of ${number(things.length)} …`);
      }
    };
    await Promise.all(Array.from({length: AT_ONCE}, work));
    return {lines: [...results].map(([text, names]) => `${names.length > 1 ? `${number(names.length)} items` : plain(names[0], 60)}: ${text}`)};
  }};
}

/** Rows of a table that are chosen for an order. */
export class Chosen {
  constructor() {
    this.all = new Map(); // key → {key, name}
  }
  get things() {
    return [...this.all.values()];
  }
  put(thing, on) {
    if (on) this.all.set(thing.key, thing);
    else this.all.delete(thing.key);
    changed();
  }
  /** The checkbox of a row. */
  box(thing) {
    return ordersAre('yes') && v('input', {type: 'checkbox', 'aria-label': `Choose ${plain(thing.name, 80)}`, checked: this.all.has(thing.key), onchange: (event) => this.put(thing, event.target.checked)});
  }
  /** Above the table: a checkbox for all rows, and the buttons of the chosen ones. */
  bar(things, orders) {
    if (!ordersAre('yes') || !things.length) return null;
    const on = things.every((thing) => this.all.has(thing.key));
    return v('div.bulk', v('label.check', v('input', {type: 'checkbox', checked: on, onchange: () => things.forEach((thing) => this.put(thing, !on))}), `Choose all ${number(things.length)}`),
      this.all.size > 0 && [v('span.note', {role: 'status'}, `${number(this.all.size)} chosen`), v('span.acts', actions(orders(this.things)))]);
  }
}

// ---- new work

async function put(where, name, work, keys) {
  const body = {...work, by: operator() || 'the page'};
  const mark = JSON.stringify(body);
  // A repetition after a lost response does not add twice.
  keys[mark] ||= `page-${Date.now()}-${String(Math.random()).slice(2)}`;
  const reply = await send('POST', where, body, {'Idempotency-Key': keys[mark]});
  const by = (result) => reply[name].filter((one) => one.result === result).length;
  const errors = reply[name].filter((one) => one.error);
  return {lines: [`${number(reply.added)} added`, by('exists') && `${number(by('exists'))} there already`,
    ...errors.slice(0, 5).map((one) => `line ${one.index + 1}: ${one.error}`), errors.length > 5 && `${number(errors.length - 5)} more errors`].filter(Boolean)};
}

function linesOf(text, what) {
  const lines = (text || '').split(/\r?\n/).filter(Boolean);
  if (!lines.length) throw new Error(`There is no ${what}. Enter one on each line.`);
  if (lines.length > MOST) throw new Error(`Too many lines: ${number(lines.length)}. Enter at most ${number(MOST)}.`);
  return lines;
}

export function addItems(key, name, then) {
  return {word: 'Add items', fields: ['items', 'again'], then, what: `Adds items to the end of ${plain(name, 80)}.`,
    send: ({items, again}, report, keys) => put(path('lists', key, 'items'), 'items', {items: linesOf(items, 'item'), ...(again && {allow_duplicates: true})}, keys)};
}

export function putJobs(key, name, then) {
  return {word: 'Put job', fields: ['payloads', 'id', 'high'], then, what: `Puts jobs into the feed ${plain(name, 80)}. Each line is the payload of one job.`,
    send: ({payloads, id, high}, report, keys) => {
      const lines = linesOf(payloads, 'payload');
      if (id && lines.length > 1) throw new Error('An ID is for one job. Enter one payload, or no ID.');
      return put(path('feeds', key, 'jobs'), 'jobs', {jobs: lines.map((payload) => ({payload, ...(id && {id}), ...(high && {high})}))}, keys);
    }};
}

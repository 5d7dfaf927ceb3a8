// Commands: a dialog describes the effect, then shows the response.
import {v, patch, plain} from './dom.js';
import {askForOrders, ordersAre, post, setToken, ApiError} from './api.js';
import {changed} from './store.js';

let dialog = null;

function box() {
  if (dialog) return dialog;
  dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'ask-title');
  document.body.append(dialog);
  return dialog;
}

/** Buttons of commands: [{word, path, what, fields, body, bad, then}]. */
export function actions(orders) {
  return ordersAre('yes') && orders.map(button);
}

// Delayed: in Firefox the Enter that pressed the button would also confirm.
function button(order) {
  return v('button', {key: order.word, class: `b${order.bad ? ' bad' : ''}`, 'aria-haspopup': 'dialog', onclick: () => setTimeout(ask, 0, order)}, `${order.word} …`);
}

/** Button to sign in, if commands need a token. */
export function signIn() {
  const order = {word: 'Sign in', fields: ['token'], what: 'Shows buttons to pause lists, cancel runs, reload and more.',
    send: async ({token}) => {
      setToken((token || '').trim());
      await askForOrders();
      return {text: 'Signed in.'};
    }};
  return ordersAre('token') && button(order);
}

const FIELDS = {
  token: {label: 'The token from status_token_file, kept until this tab is closed', type: 'password'},
  reason: {label: 'Reason (visible to others)', type: 'text'},
  for: {label: 'Duration, such as 10m or 2h (empty: until resumed)', type: 'text'},
};

function ask(order) {
  const dom = box();
  const values = {};
  const at = {said: null, bad: false, busy: false};
  const over = () => at.said && !at.bad;
  const draw = () => patch(dom, v('form', {method: 'dialog', onsubmit: (event) => {
    event.preventDefault();
    if (!at.busy && !over()) send();
  }},
  v('h2', {id: 'ask-title'}, order.word),
  v('p', order.what),
  !over() && (order.fields || []).map((name) => v('label', {key: name}, FIELDS[name].label,
    v('input', {type: FIELDS[name].type, name, autocomplete: 'off', oninput: (event) => {
      values[name] = event.target.value;
    }}))),
  at.said && v('p', {key: 'said', class: `answer${at.bad ? ' bad' : ''}`, role: at.bad ? 'alert' : 'status'}, at.said),
  v('div.row', v('button', {key: 'no', type: 'button', class: 'b', onclick: () => dom.close()}, over() ? 'Close' : 'Dismiss'),
    !over() && v('button', {key: 'yes', type: 'submit', class: 'b main', disabled: at.busy}, order.word))));
  const send = async () => {
    at.busy = true;
    draw();
    const body = {...(order.body || {})};
    for (const name of order.fields || []) if (values[name]) body[name] = values[name];
    try {
      at.said = told(await (order.send ? order.send(values) : post(order.path, body)));
      at.bad = false;
      if (order.then) order.then();
    } catch (error) {
      at.bad = true;
      at.said = plain(error.message, 1000) + (error instanceof ApiError && (error.body.hosts || error.body.lines) ? `: ${told({...error.body, text: ''})}` : '');
      if (error.status === 401 && !order.send) askForOrders().catch(() => {});
    }
    at.busy = false;
    draw();
    changed();
    const next = dom.querySelector('input, button.main, button');
    if (next) next.focus();
  };
  dom.w8y = undefined;
  dom.replaceChildren();
  draw();
  dom.showModal();
}

function told(answer) {
  const lines = [];
  if (answer.text) lines.push(answer.text);
  for (const line of answer.lines || []) lines.push(line);
  for (const host of answer.hosts || []) lines.push(`${host.host}: ${[host.text || host.result, ...(host.lines || [])].join('; ')}`);
  for (const host of answer.no_reply || []) lines.push(`${host.host} did not reply`);
  return plain(lines.join('; ') || answer.result || 'done', 2000);
}

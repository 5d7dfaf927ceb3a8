// Orders: asked once with what will happen, then w8yd's own answer.
import {v, patch, plain} from './dom.js';
import {post, setToken, token, ApiError} from './api.js';

let dialog = null;

function close() {
  if (dialog) dialog.close();
}

function box() {
  if (dialog) return dialog;
  dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'ask-title');
  document.body.append(dialog);
  return dialog;
}

/** Buttons of orders: [{word, path, what, fields, body, bad, then}]. */
export function actions(orders) {
  return orders.map((order) => v('button', {key: order.word, class: `b${order.bad ? ' bad' : ''}`, 'aria-haspopup': 'dialog', onclick: () => ask(order)}, `${order.word} …`));
}

const FIELDS = {
  reason: {label: 'Reason (others see it)', type: 'text'},
  for: {label: 'For how long, as in 10m or 2h; empty: until somebody resumes', type: 'text'},
};

function ask(order) {
  const dom = box();
  const values = {};
  const at = {said: null, bad: false, busy: false, needs: false};
  const draw = () => patch(dom, v('form', {method: 'dialog', onsubmit: (event) => {
    event.preventDefault();
    if (!at.busy && !(at.said && !at.bad)) send();
  }},
  v('h2', {id: 'ask-title'}, order.word),
  v('p', order.what),
  !(at.said && !at.bad) && (order.fields || []).map((name) => v('label', {key: name}, FIELDS[name].label,
    v('input', {type: FIELDS[name].type, name, autocomplete: 'off', oninput: (event) => {
      values[name] = event.target.value;
    }}))),
  at.needs && v('label', {key: 'token'}, 'The token of status_token_file: kept in this tab only, until it is closed',
    v('input', {type: 'password', name: 'token', autocomplete: 'off', required: true, oninput: (event) => {
      values.token = event.target.value;
    }})),
  at.said && v('p', {key: 'said', class: `answer${at.bad ? ' bad' : ''}`, role: at.bad ? 'alert' : 'status'}, at.said),
  v('div.row', v('button', {key: 'no', type: 'button', class: 'b', onclick: close}, at.said && !at.bad ? 'Close' : 'Leave it'),
    !(at.said && !at.bad) && v('button', {key: 'yes', type: 'submit', class: 'b main', disabled: at.busy}, order.word))));
  const send = async () => {
    if (values.token) setToken(values.token.trim());
    at.busy = true;
    draw();
    const body = {...(order.body || {})};
    for (const name of order.fields || []) if (values[name]) body[name] = values[name];
    try {
      const answer = await post(order.path, body);
      at.said = told(answer);
      at.bad = false;
      at.needs = false;
      if (order.then) order.then();
    } catch (error) {
      at.bad = true;
      at.said = plain(error.message, 1000) + (error instanceof ApiError && (error.body.hosts || error.body.lines) ? `: ${told({...error.body, text: ''})}` : '');
      if (error.status === 401) {
        const had = token() !== '';
        setToken('');
        values.token = '';
        at.needs = !/no status_token_file/.test(error.message);
        if (at.needs && !had) at.said = 'This needs the token.';
      }
    }
    at.busy = false;
    draw();
    const next = dom.querySelector(at.needs ? 'input[name=token]' : 'button.main, button');
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
  for (const host of answer.missing || []) lines.push(`${host.host} has not answered`);
  return plain(lines.join('; ') || answer.result || 'done', 2000);
}

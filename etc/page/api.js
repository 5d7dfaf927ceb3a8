// Requests to the status API.
import {store} from './store.js';

export class ApiError extends Error {
  constructor(status, text, body) {
    super(text);
    this.status = status;
    this.body = body;
  }
}

/** "lists", key, "items" → the path. Keys are already encoded. */
export function path(...parts) {
  return `/api/v1/${parts.join('/')}`;
}

export function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return pairs.length ? `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}` : '';
}

async function answerOf(response) {
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    body = {error: text.slice(0, 300)};
  }
  if (!response.ok) throw new ApiError(response.status, body.error || `w8yd returned HTTP ${response.status}`, body);
  return body;
}

export async function get(where, signal) {
  return answerOf(await fetch(where, {signal, headers: {Accept: 'application/json'}}));
}

// Kept in this tab only; sent in a header, so that no other page can use it.
const PLACE = 'w8y-token';
const NAME = 'w8y-operator';

export function token() {
  return sessionStorage.getItem(PLACE) || '';
}

export function setToken(text) {
  if (text) sessionStorage.setItem(PLACE, text);
  else sessionStorage.removeItem(PLACE);
}

/** Name of the operator, which changes record; may be empty. */
export function operator() {
  return sessionStorage.getItem(NAME) || '';
}

export function setOperator(text) {
  if (text) sessionStorage.setItem(NAME, text);
  else sessionStorage.removeItem(NAME);
}

// Whether this page may send commands: 'yes', 'token' (with one), 'no'; '': as the event stream states.
let may = '';

export function ordersAre(word) {
  return (may || store.commands) === word;
}

/** Forgets the token. */
export function signOut() {
  setToken('');
  may = 'token';
}

/** Tests the token with a command that changes nothing. */
export async function askForOrders() {
  try {
    await send('POST', path('config', 'compare'), {salt: '', secrets: []});
    may = 'yes';
  } catch (error) {
    if (error.status !== 401) return;
    may = /no status_token_file/.test(error.message) ? 'no' : 'token';
    setToken('');
    throw error;
  }
}

export async function send(method, where, body, more = {}) {
  const headers = {...more, 'Content-Type': 'application/json'};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  return answerOf(await fetch(where, {method, headers, body: JSON.stringify(body)}));
}

/** Polls while a view is open: {data, error, at}. Calls `tell` after each response. */
export function asking(where, every, tell) {
  const asked = {data: null, error: null, at: 0, where};
  let timer = 0;
  let over = false;
  const abort = new AbortController();
  const ask = async () => {
    clearTimeout(timer);
    try {
      const data = await get(asked.where, abort.signal);
      if (over) return;
      asked.data = data;
      asked.error = null;
      asked.at = Date.now();
    } catch (error) {
      if (over) return;
      asked.error = error;
    }
    tell();
    const gap = asked.data?.max_age_ms || every;
    if (gap) later(gap);
  };
  const later = (gap) => {
    timer = setTimeout(() => (document.hidden ? later(1000) : ask()), gap);
  };
  // `discard`: the data so far is of another request.
  asked.again = (to, discard) => {
    if (to) asked.where = to;
    if (discard) asked.data = null;
    return ask();
  };
  asked.stop = () => {
    over = true;
    clearTimeout(timer);
    abort.abort();
  };
  ask();
  return asked;
}

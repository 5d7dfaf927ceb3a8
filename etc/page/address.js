// The address of the view: its path, and parameters. A link to the address shows the same.
import {changed} from './store.js';

let path = '';
let params = new URLSearchParams();
let timer = 0;

/** Reads the address after it has changed. */
export function readAddress() {
  clearTimeout(timer);
  const [first, question] = location.hash.replace(/^#\/?/, '').split('?');
  path = first;
  params = new URLSearchParams(question || '');
  return {path, query: params};
}

export function param(name) {
  return params.get(name) || '';
}

/** Changes a parameter; an empty value removes it. The view stays, and the history has no new entry. */
export function setParam(name, value) {
  if (value) params.set(name, value);
  else params.delete(name);
  clearTimeout(timer);
  // Browsers limit how often an address may change.
  timer = setTimeout(() => history.replaceState(null, '', `#/${path}${params.size ? `?${params}` : ''}`), 200);
  changed();
}

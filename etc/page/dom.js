// Renders plain descriptions: v('p.x', 'text'). Nothing parses markup, so text is always text.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Describes an element: v('p.note', {title: 'x'}, 'text'). Class and properties are optional.
 * `key` identifies the element when its neighbours change.
 */
export function v(name, ...kids) {
  const [first] = kids;
  const props = first && typeof first === 'object' && !first.tag && !Array.isArray(first) ? kids.shift() : {};
  const dot = name.indexOf('.');
  if (dot < 0) return {tag: name, props, kids: flat(kids)};
  props.class = name.slice(dot + 1).replaceAll('.', ' ');
  return {tag: name.slice(0, dot), props, kids: flat(kids)};
}

function flat(kids) {
  const all = [];
  for (const kid of kids.flat(9)) {
    if (kid === null || kid === undefined || kid === false || kid === '') continue;
    all.push(typeof kid === 'object' ? kid : String(kid));
  }
  return all;
}

function keyOf(kid, at) {
  if (typeof kid === 'string') return `#${at}`;
  return kid.props.key === undefined ? `${kid.tag}${at}` : `=${kid.props.key}`;
}

function setProp(dom, name, value, before) {
  if (name === 'key' || value === before) return;
  if (name === 'style') {
    for (const key of Object.keys(before || {})) if (!(value || {})[key]) dom.style.removeProperty(key);
    for (const [key, text] of Object.entries(value || {})) dom.style.setProperty(key, text);
  } else if (name.startsWith('on')) {
    dom[name] = value || null;
  } else if (name === 'checked') {
    dom.checked = Boolean(value);
  } else if (name === 'selected') {
    if (value) dom.selected = true;
  } else if (name === 'value' && dom.tagName !== 'OPTION') {
    if (dom.value !== value && dom !== document.activeElement) dom.value = value;
  } else if (value === null || value === undefined || value === false) {
    dom.removeAttribute(name);
  } else {
    dom.setAttribute(name, value === true ? '' : value);
  }
}

function make(node, parent) {
  if (typeof node === 'string') return document.createTextNode(node);
  const svg = node.tag === 'svg' || (parent.namespaceURI === SVG && parent.tagName !== 'foreignObject');
  const dom = svg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.props)) setProp(dom, name, value);
  patch(dom, node.kids);
  if (node.props.onmade) node.props.onmade(dom);
  return dom;
}

function update(dom, before, node) {
  if (typeof node === 'string') {
    if (before !== node) dom.data = node;
    return;
  }
  for (const name of Object.keys(before.props)) if (!(name in node.props)) setProp(dom, name, null, before.props[name]);
  for (const [name, value] of Object.entries(node.props)) setProp(dom, name, value, before.props[name]);
  patch(dom, node.kids);
}

/** Makes `kids` the children of `parent`. Keeps unchanged elements. */
export function patch(parent, kids) {
  const news = flat([kids]);
  const olds = parent.w8y || new Map();
  if (!parent.w8y) parent.replaceChildren();
  const kept = new Map();
  let last = -1; // old index of the last element that need not move
  const all = news.map((node, at) => {
    let key = keyOf(node, at);
    if (kept.has(key)) key += `#${at}`;
    let old = olds.get(key);
    if (old && old.node.tag !== node.tag) old = null;
    const one = {node, at, old, dom: old?.dom, stays: old && old.at > last};
    if (one.stays) last = old.at;
    kept.set(key, one);
    return one;
  });
  for (const [key, old] of olds) if (!kept.has(key) || kept.get(key).dom !== old.dom) old.dom.remove();
  let next = null;
  for (const one of all.reverse()) {
    if (one.old) update(one.dom, one.old.node, one.node);
    else one.dom = make(one.node, parent);
    if (!one.stays) parent.insertBefore(one.dom, next);
    next = one.dom;
    delete one.old;
  }
  parent.w8y = kept;
}

/** Calls `then` with the index that a key selects among `many` after `at`; -1: none. */
export function pick(event, at, many, then) {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10}[event.key];
  const to = {Escape: -1, Home: 0, End: many - 1}[event.key] ?? (step && ((((at < 0 && step < 0 ? 0 : at) + step) % many) + many) % many);
  if (to === undefined) return;
  event.preventDefault();
  then(to);
}

// ---- text of other programs

// Characters that are invisible, or change how adjacent text is shown.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const NAMES = {'\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e', '\u0000': '\\0'};

function escaped(c) {
  const code = c.charCodeAt(0);
  return NAMES[c] || (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`);
}

/** Text on one line, with invisible characters escaped; for titles and labels. */
export function plain(text, most = 300) {
  let result = '';
  for (const c of String(text).slice(0, most)) result += UNSEEN.test(c) ? escaped(c) : c;
  return String(text).length > most ? `${result}…` : result;
}

/** The same as elements, with an isolated text direction, and a mark if truncated. */
export function shown(text, most = 200, length = 0) {
  const parts = [];
  let run = '';
  const all = String(text);
  for (const c of all.slice(0, most)) {
    if (!UNSEEN.test(c)) {
      run += c;
      continue;
    }
    parts.push(run, v('span.ctl', escaped(c)));
    run = '';
  }
  parts.push(run);
  const cut = all.length > most || length > 0;
  if (cut) parts.push(v('span.cut', length > 0 ? `… (${bytes(length)})` : '…'));
  return v('bdi', parts);
}

const TAIL = 14; // characters after the ellipsis, as in style.css

/**
 * A name on one line: if it is too wide, the ellipsis is in its middle. The title and a copy have the whole
 * text. `length`: bytes of a text that w8yd truncated.
 */
export function name(text, length = 0) {
  const all = String(text);
  if (all.length < 40 && !length) return shown(all);
  let tail = all.slice(-TAIL);
  if (!/^[\x20-\x7e]*$/.test(tail) || length) tail = '';
  const start = shown(all.slice(0, all.length - tail.length), 2000);
  return v('span.mid', {title: plain(all, 2000)},
    v('span', v('span', {class: tail || length ? 'start' : 'start all'}, start), tail, length > 0 && v('span.cut', `… (${bytes(length)})`)));
}

/** A link whose text is a name. */
export function nameLink(href, text, length = 0) {
  return v('a.item', {href}, name(text, length));
}

const decoder = new TextDecoder();

function unbase64(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** Decodes a member with any bytes: {text, key for addresses, length if truncated}. */
export function bytesOf(object, name) {
  const coded = object[`${name}_base64`];
  const length = object[`${name}_length`] || 0;
  if (coded === undefined) {
    const text = object[name] === undefined ? '' : String(object[name]);
    return {text, key: encodeURIComponent(text), length};
  }
  const all = unbase64(coded);
  const key = Array.from(all, (b) => `%${b.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  let text = '';
  for (const b of all) text += b < 128 ? String.fromCharCode(b) : `\\x${b.toString(16)}`;
  return {text, key, length};
}

/** Returns the text of a key in an address. */
export function textOfKey(key) {
  try {
    return decodeURIComponent(key);
  } catch {
    return decoder.decode(Uint8Array.from(unescape(key), (c) => c.charCodeAt(0)));
  }
}

// ---- numbers

// Without Intl, which starts slowly.

export function number(n) {
  return n === null || n === undefined ? '–' : String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function count(n, one, many = `${one}s`) {
  return `${number(n)} ${n === 1 ? one : many}`;
}

function bytes(n) {
  if (n < 1024) return `${n} bytes`;
  return n < 1048576 ? `${Math.round(n / 1024)} KiB` : `${(n / 1048576).toFixed(1)} MiB`;
}

/** Duration in at most two units. */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  const s = ms / 1000;
  if (s < 1) return `${Math.max(0, Math.round(ms))} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Time of day, with the date unless it is today. */
export function time(ms) {
  if (!ms) return '–';
  const at = new Date(ms);
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0'));
  if (at.toDateString() === new Date().toDateString()) return clock.join(':');
  return `${at.getDate()} ${MONTHS[at.getMonth()]}, ${clock[0]}:${clock[1]}`;
}

export function when(ms) {
  return v('time', {title: new Date(ms).toISOString()}, time(ms));
}

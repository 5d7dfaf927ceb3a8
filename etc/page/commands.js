// Commands of w8yctl with the same effect as a view, to copy.
import {v, card, changed} from './parts.js';

const SAFE = /^[\w@%+=:,./-]+$/;

/** A word of the shell, from a key: percent-encoded bytes. */
export function word(key) {
  let text = null;
  try {
    text = decodeURIComponent(key);
  } catch {
    // No UTF-8: each byte that is no ASCII is escaped.
  }
  if (text !== null && SAFE.test(text)) return text;
  if (text !== null && !/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = unescape(text === null ? key : encodeURIComponent(text));
  return `$'${bytes.replace(/[^ -~]|['\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
}

/** Names behind the options of a command. A name may start with "-". */
export function names(...keys) {
  return (keys.some((key) => key.startsWith('-')) ? '-- ' : '') + keys.map(word).join(' ');
}

let copied = '';

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Over plain HTTP, browsers have no clipboard for pages.
    getSelection().selectAllChildren(button.previousElementSibling);
    document.execCommand('copy');
  }
  copied = text;
  changed();
  setTimeout(() => {
    if (copied === text) copied = '';
    changed();
  }, 2000);
}

/** Card with commands: [[effect, arguments]], and those of the buttons. */
export function commands(all, orders = []) {
  return card('commands', 'On the command line', v('ul.cmds', [...all.filter(Boolean), ...orders.map(({word: what, line}) => [what, line])].map(([what, text]) => {
    const line = `w8yctl ${text}`;
    return v('li', {key: what}, v('span.note', what), v('code', {tabindex: 0}, line),
      v('button.b', {'aria-label': `Copy: ${what}`, onclick: (event) => copy(line, event.currentTarget)}, v('span', {role: 'status'}, copied === line ? 'Copied' : 'Copy')));
  })));
}

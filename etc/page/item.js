// One item: why it does not run, and its last runs.
import {
  v, plain, shown, number, count, duration, when, textOfKey, changed, now, asking, path, card, facts, kindOf, reasons, runLink,
  staleNote, state, waiting} from './parts.js';
import {history} from './list.js';
import {actions} from './actions.js';

// States of items that can be run now.
const RUNNABLE = 'free delayed scheduled queued orphaned claimed finished stopped'.split(' ');
const KINDS = ['circular', 'schedule', 'job'];

let open = null;
let why = null;
let config = null;

function orders(key, item, data) {
  const kind = kindOf(config);
  const name = plain(textOfKey(item), 80);
  const to = (word) => path('lists', key, 'items', item, word);
  const then = () => open.again();
  const all = [];
  const circular = kind === 'circular';
  if (data.state === 'quarantined' && circular) all.push({word: 'Release', path: to('release'), then, what: `${name} is released, and its failures are reset.`});
  else if (circular) all.push({word: 'Quarantine', bad: true, path: to('quarantine'), fields: ['reason'], then, what: `${name} does not run until it is released. ${data.state === 'running' ? 'Its active run continues.' : ''}`});
  if (circular && ['running', 'delayed'].includes(data.state)) all.push({word: 'Rerun', path: to('rerun'), then, what: `${name} runs again, after its active run and without a delay.`});
  if (KINDS.includes(kind) && RUNNABLE.includes(data.state)) all.push({word: 'Run now', path: to('run'), then, what: `Runs ${name} now, on a host that serves the list${data.state === 'delayed' ? ', ignoring its delay' : ''}.`});
  return actions(all);
}

export const item = {
  title: ({parts}) => textOfKey(parts[1]),
  enter({parts}) {
    open = asking(path('lists', parts[0], 'items', parts[1]), 2000, changed);
    why = asking(path('lists', parts[0], 'items', parts[1], 'why'), 2000, changed);
    config = asking(`${path('config')}?list=${parts[0]}`, 0, changed);
    return () => {
      open.stop();
      why.stop();
      config.stop();
      open = null;
    };
  },
  render({parts}) {
    const name = textOfKey(parts[1]);
    const top = [
      v('p.crumb', v('a', {href: `#/lists/${parts[0]}`}, shown(textOfKey(parts[0]), 120))),
    ];
    const wait = waiting(open, 'This item');
    if (wait) return [...top, v('h1', v('span.item', shown(name, 300))), wait];
    const data = open.data;
    return [
      ...top,
      v('div.head', v('h1', v('span.item', shown(name, 300))), state(data.state), v('div.act', orders(parts[0], parts[1], data))),
      v('div.grid.two',
        card('why', data.state === 'running' ? 'Why it runs' : 'Why it does not run',
          waiting(why, 'The reason') || reasons(why.data.reasons) || v('p.none', 'Nothing blocks it. A host claims it soon.'), staleNote(why)),
        card('how', 'Status', facts([
          data.reason && ['Reason', plain(data.reason)],
          data.host && ['On', plain(data.host, 80)],
          data.run && typeof data.run === 'string' && ['Run', runLink(data.run)],
          data.since_ms && ['Since', [when(data.since_ms), ` (${duration(Math.max(0, now() - data.since_ms))})`]],
          data.remaining_ms && ['Remaining', duration(data.remaining_ms)],
          data.by && ['By', plain(data.by, 80)],
          data.failures > 0 && ['Failures in a row', number(data.failures)],
          data.copies > 1 && ['In the list', count(data.copies, 'time')],
        ]), staleNote(open))),
      card('runs', 'Recent runs',
        history({data: {runs: data.runs || []}}, null, null, false)),
    ];
  },
};

// One item: why it does not run, its next run, its timeline, and the output of its active run.
import {
  v, plain, shown, number, count, duration, when, textOfKey, changed, now, asking, path, card, facts, keyPrefix, kindOf, nameLink, ofList, reasons, runLink, scope,
  staleNote, state, took, waiting} from './parts.js';
import {actions, itemOrder} from './actions.js';
import {commands, names, word} from './commands.js';
import {Output} from './output.js';

// States of items that can be run now.
const RUNNABLE = 'free delayed scheduled queued orphaned claimed finished stopped'.split(' ');
const KINDS = ['circular', 'schedule', 'job'];

let open = null;
let why = null;
let config = null;
let output = null; // of the active run

/** The commands for an item of a list of this kind. */
function orders(kind, key, item, data) {
  const label = plain(textOfKey(item), 80);
  const both = names(key, item);
  const is = (...states) => states.includes(data.state);
  const add = (known, word, more) => known && itemOrder(word, label, key, item, {line: `${word.toLowerCase().split(' ')[0]} ${both}`, then: () => open.again(), ...more});
  const circular = kind === 'circular';
  const job = path('feeds', key, 'jobs', item);
  return [
    add(circular && is('quarantined', 'delayed'), 'Release'),
    add(circular && !is('quarantined'), 'Quarantine'),
    add(circular && is('running', 'delayed'), 'Rerun'),
    add(kind === 'job' && is('stalled'), 'Retry', {path: `${job}/retry`, line: `job retry ${both}`}),
    add(KINDS.includes(kind) && RUNNABLE.includes(data.state), 'Run now'),
    add(KINDS.includes(kind), 'Remove', kind === 'job' ? {path: job, line: `job retract ${both}`}
      : kind === 'schedule' && {path: path('schedules', key, item), line: `schedule -k ${word(keyPrefix(config, key))} unset ${names(item)}`}),
  ].filter(Boolean);
}

function onCommandLine(kind, key, item, all) {
  const both = names(key, item);
  const job = `schedule -k ${word(keyPrefix(config, key))}`;
  const show = {job: [['Show it', `job show ${both}`]], schedule: [['Show it', `${job} tell ${names(item)}`], ['Next times', `${job} next ${names(item)}`]],
    circular: [['Make it the next one', `run --next ${both}`]]}[kind] || [];
  return commands([['Explain its state', `why ${both}`], ...show], all);
}

function nextRun(data) {
  if (data.next_ms?.length) return [when(data.next_ms[0]), data.next_ms[0] > now() ? ` (in ${duration(data.next_ms[0] - now())})` : ' (late)'];
  if (data.state === 'quarantined' || data.state === 'stalled') return `none until it is ${data.state === 'stalled' ? 'retried' : 'released'}`;
  const ends = data.until_ms || (data.state === 'delayed' && data.remaining_ms && now() + data.remaining_ms);
  if (ends) return ['not before ', when(ends), ` (in ${duration(Math.max(0, ends - now()))})`];
  const ahead = (why.data?.reasons || []).find((one) => one.wait_ms);
  if (ahead) return `in about ${duration(ahead.wait_ms)}, after ${count(ahead.ahead || 0, 'item')}`;
  return data.state === 'free' ? 'next in its order' : data.position ? `after ${count(data.position - 1, 'job')} of its queue` : '';
}

/** Events of the item, newest first: [time, content]. */
function timeline(data) {
  const all = [];
  const changes = data.changes || [];
  const by = ({by: who}) => who && ` by ${plain(who, 80)}`;
  const because = ({reason}) => reason && v('div.note', plain(reason, 300));
  (data.next_ms || []).filter((at) => at > now()).forEach((at) => all.push([at, [state('scheduled'), ' due']]));
  if (data.state === 'delayed' && data.remaining_ms) all.push([now() + data.remaining_ms, [state('free'), ' the delay ends']]);
  if (data.since_ms && changes[0]?.change !== data.state) all.push([data.since_ms, [state(data.state), data.host && ` on ${plain(data.host, 60)}`, by(data), because(data)]]);
  for (const one of changes) all.push([one.time_ms, [state(one.change), by(one), because(one)]]);
  for (const run of data.runs || [])
    all.push([run.ended_ms, [state(run.outcome), ' after ', took(run), run.host && ` on ${plain(run.host, 60)}`, run.attempt > 1 && `, attempt ${run.attempt}`, ' ', runLink(run.run, 'run'), because(run)]]);
  all.sort(([a], [b]) => b - a);
  return v('ol.timeline', all.map(([at, content], i) => v('li', {key: `${at}-${i}`, class: at > now() ? 'later' : null}, when(at), v('div', content))));
}

function follow(data) {
  const run = data?.state === 'running' && typeof data.run === 'string' ? data.run : '';
  if (run === (output?.run || '')) return;
  output?.stop();
  output = run ? new Output(run, () => open.again()) : null;
}

export const item = {
  title: ({parts}) => textOfKey(parts[1]),
  enter({parts}) {
    open = asking(path('lists', parts[0], 'items', parts[1]), 2000, () => {
      follow(open.data);
      changed();
    });
    why = asking(path('lists', parts[0], 'items', parts[1], 'why'), 2000, changed);
    config = asking(ofList('config', parts[0]), 0, changed);
    return () => {
      for (const asked of [open, why, config, output]) asked?.stop();
      open = output = null;
    };
  },
  render({parts: [key, id]}) {
    const list = textOfKey(key);
    const kind = kindOf(config);
    const top = v('p.crumb', nameLink(`#/${kind === 'job' ? 'feeds' : kind === 'schedule' ? 'schedules' : 'lists'}/${key}`, list));
    const title = v('h1', v('span.item', shown(textOfKey(id), 300)));
    const wait = waiting(open, 'This item');
    if (wait) return [top, title, wait];
    const {data} = open;
    const all = orders(kind, key, id, data);
    return [
      top,
      v('div.head', title, state(data.state), scope(open), v('div.act', actions(all))),
      v('div.grid.two',
        card('why', data.state === 'running' ? 'Why it runs' : 'Why it does not run',
          waiting(why, 'The reason') || reasons(why.data.reasons) || v('p.none', 'Nothing blocks it. A host claims it soon.'), staleNote(why)),
        card('how', 'Status', facts([
          data.reason && ['Reason', plain(data.reason)],
          data.host && ['Host', plain(data.host, 80)],
          data.run && typeof data.run === 'string' && [data.state === 'running' ? 'Active run' : 'Run', runLink(data.run)],
          data.since_ms && ['Since', [when(data.since_ms), ` (${duration(Math.max(0, now() - data.since_ms))})`]],
          ['Next run', nextRun(data)],
          data.description && ['Schedule', [plain(data.description), data.rule && v('div.note.item', plain(data.rule))]],
          data.by && ['By', plain(data.by, 80)],
          data.failures > 0 && ['Failures in a row', number(data.failures)],
          data.copies > 1 && ['In the list', count(data.copies, 'time')],
          data.payload !== undefined && ['Payload', v('pre', plain(data.payload, 4000))],
        ]), staleNote(open))),
      output?.view('Output of the active run'),
      v('div.grid.two',
        card('timeline', 'Timeline', timeline(data)),
        onCommandLine(kind, key, id, all)),
    ];
  },
};

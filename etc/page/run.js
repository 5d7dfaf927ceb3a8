// One run: its outcome, or its progress and output.
import {
  v, plain, number, duration, when, bytesOf, changed, now, runsNow, asking, path, bar, card, code, facts,
  itemLink, logOutput, nameLink, share, staleNote, state, took, waiting} from './parts.js';
import {actions, itemOrder} from './actions.js';
import {commands, names, word} from './commands.js';
import {Output} from './output.js';

let open = null; // the request
let output = null;

function going(run) {
  return !run.outcome;
}

/** Opens the stream of an active run, also again if it breaks. */
function follow({data: run, error}) {
  if (run && !error && going(run) && (!output || (output.ended && !output.done))) output = new Output(run.run, () => open?.again());
}

function orders(run, listKey) {
  const item = bytesOf(run, 'item');
  const label = plain(item.text, 80);
  const then = () => open.again();
  const all = {bad: true, path: path('runs', encodeURIComponent(run.run), 'cancel'), then};
  const line = `cancel ${word(run.run)}`;
  const ends = `Stops this run of ${label} on ${plain(run.host || 'its host', 60)}: SIGTERM, then SIGKILL after its kill_grace.`;
  return going(run) ? [
    {...all, word: 'Cancel', line, what: `${ends} The item is free again.`},
    {...all, word: 'Cancel and quarantine', line: line.replace(' ', ' --quarantine '), body: {quarantine: true}, fields: ['reason'], what: `${ends} The item does not run until it is released.`},
  ] : listKey && !item.length ? [itemOrder('Run now', label, listKey, item.key, {then, line: `run ${names(listKey, item.key)}`})] : [];
}

export const run = {
  title: ({parts}) => `Run ${parts[0]}`,
  enter({parts}) {
    open = asking(path('runs', parts[0]), 3000, () => {
      follow(open);
      changed();
    });
    return () => {
      open.stop();
      output?.stop();
      open = output = null;
    };
  },
  render() {
    const wait = waiting(open, 'This run');
    if (wait) return [v('h1', 'Run'), wait];
    const one = open.data;
    const active = going(one);
    const live = runsNow().find((other) => other.run.run === one.run);
    const listKey = one.list !== undefined || one.list_base64 ? bytesOf(one, 'list').key : live?.row.key;
    const all = orders(one, listKey);
    const progress = active ? output?.progress || live?.run.progress || one.progress : one.progress;
    const done = share(progress);
    const result = one.result === undefined || one.result === null ? null : v('pre', {tabindex: 0}, typeof one.result === 'string' ? one.result : JSON.stringify(one.result, null, 2));
    return [
      v('p.crumb', listKey ? nameLink(`#/lists/${listKey}`, bytesOf(one, 'list').text) : 'Run'),
      v('div.head', v('h1', 'Run of ', itemLink(one, listKey)), state(one.outcome || one.state), v('div.act', actions(all))),
      done !== null && v('div.card.grid', bar(done, 'Progress of the run'), v('span.note', `${number(progress.numerator)} of ${number(progress.denominator)}`)),
      v('div.grid.two',
        v('div.grid', card('facts', active ? 'Running' : 'Ended', facts([
          one.reason && ['Reason', plain(one.reason, 1000)],
          ['Host', plain(one.host || live?.host || '', 80)],
          one.pid && ['Process', String(one.pid)],
          one.attempt && ['Attempt', number(one.attempt)],
          one.fence !== undefined && one.fence !== null && ['Fence', String(one.fence)],
          one.started_ms && ['Started', when(one.started_ms)],
          one.ended_ms && ['Ended', when(one.ended_ms)],
          active ? ['Running for', duration(Math.max(0, now() - one.started_ms))] : ['Duration', took(one)],
          one.cpu_ms >= 0 && ['CPU time', duration(one.cpu_ms)],
          one.peak_memory_bytes && ['Peak memory', `${(one.peak_memory_bytes / 1048576).toFixed(1)} MiB`],
          one.exit !== undefined && ['Exit status', String(one.exit)],
          one.signal && ['Signal', plain(one.signal)],
          one.bad_lines && ['Invalid lines', number(one.bad_lines)],
          active && ['CPU and memory', 'known when the run has ended'],
          ['ID', code(one.run)],
        ]), staleNote(open)),
        commands([
          ['Show it', `show ${word(one.run)}`],
          [active ? 'Follow its output' : 'Show its output', `logs ${active ? '--follow ' : ''}${word(one.run)}`],
        ], all)),
        v('div.grid',
          (active || output?.lines.length > 0) && (output ? output.view('Output') : card('says', 'Output', v('p.none', 'No output yet'))),
          result && card('result', 'Result', result),
          one.stderr !== undefined && card('stderr', 'End of log output', logOutput(one)))),
    ];
  },
};

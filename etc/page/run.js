// One run: its outcome, or its progress.
import {
  v, plain, shown, number, count, duration, when, time, bytesOf, changed, now, runsNow, asking, path, bar, card, code, facts,
  itemLink, share, staleNote, state, took, waiting} from './parts.js';
import {actions} from './actions.js';

const MOST = 500; // lines

let open = null;

class Open {
  constructor(id) {
    this.asked = asking(path('runs', id), 3000, () => {
      if (this.asked.data && going(this.asked.data) && !this.source) this.follow(this.asked.data.run);
      changed();
    });
    this.lines = []; // [time, text]
    this.progress = null;
    this.source = null; // output of the run, on any host
  }
  follow(run) {
    this.source = new EventSource(path('runs', encodeURIComponent(run), 'logs'));
    this.hear('run', (told) => {
      this.lines = [];
      bytesOf(told, 'tail').text.split('\n').slice(0, -1).forEach((line) => this.say(0, line));
    });
    this.hear('log', ({lines = [], dropped: more, updates = [], ended}) => {
      for (const one of lines) this.say(now(), bytesOf(one, 'line').text + (one.truncated ? ' …' : ''));
      for (const one of updates) {
        if (one.denominator) this.progress = one;
        if (one.update !== undefined) this.say(now(), `update ${JSON.stringify(one.update)}`);
      }
      if (more) this.say(now(), `${count(more, 'line')} dropped`);
      if (ended) this.asked.again();
    });
    this.source.onerror = () => {
      this.source.close();
      this.source = null; // opened again if the run is still active
    };
  }
  hear(name, act) {
    this.source.addEventListener(name, (event) => {
      act(JSON.parse(event.data));
      changed();
    });
  }
  say(at, text) {
    this.lines.push([at, text]);
    if (this.lines.length > MOST) this.lines.shift();
  }
  stop() {
    this.asked.stop();
    if (this.source) this.source.close();
  }
}

function going(run) {
  return !run.outcome;
}

function head(run, listKey) {
  const item = bytesOf(run, 'item').text;
  const all = {bad: true, path: path('runs', encodeURIComponent(run.run), 'cancel'), then: () => open.asked.again()};
  const ends = `Stops this run of ${plain(item, 80)} on ${plain(run.host || 'its host', 60)}: SIGTERM, then SIGKILL after its kill_grace.`;
  const orders = going(run) ? [
    {...all, word: 'Cancel', what: `${ends} The item is free again.`},
    {...all, word: 'Cancel and quarantine', body: {quarantine: true}, what: `${ends} The item does not run until it is released.`},
  ] : [];
  return [
    v('p.crumb', listKey ? v('a', {href: `#/lists/${listKey}`}, shown(bytesOf(run, 'list').text, 120)) : 'Run'),
    v('div.head', v('h1', 'Run of ', itemLink(run, listKey, 160)), state(going(run) ? 'running' : run.outcome), v('div.act', actions(orders))),
  ];
}

export const run = {
  title: ({parts}) => `Run ${parts[0]}`,
  enter({parts}) {
    open = new Open(parts[0]);
    return () => {
      open.stop();
      open = null;
    };
  },
  render() {
    const wait = waiting(open.asked, 'This run');
    if (wait) return [v('h1', 'Run'), wait];
    const one = open.asked.data;
    const live = runsNow().find((other) => other.run.run === one.run);
    const listKey = one.list !== undefined || one.list_base64 ? bytesOf(one, 'list').key : live?.row.key;
    const progress = going(one) ? open.progress || live?.run.progress || one.progress : one.progress;
    const done = share(progress);
    const result = one.result === undefined || one.result === null ? null : v('pre', typeof one.result === 'string' ? one.result : JSON.stringify(one.result, null, 2));
    return [
      ...head(one, listKey),
      done !== null && v('div.card.grid', bar(done, 'Progress of the run'), v('span.note', `${number(progress.numerator)} of ${number(progress.denominator)}`)),
      v('div.grid.two',
        card('facts', going(one) ? 'Running' : 'Ended', facts([
          one.reason && ['Reason', plain(one.reason, 1000)],
          ['Host', plain(one.host || live?.host || '', 80)],
          one.pid && ['Process', String(one.pid)],
          one.attempt && ['Attempt', number(one.attempt)],
          one.fence !== undefined && one.fence !== null && ['Fence', String(one.fence)],
          one.started_ms && ['Started', when(one.started_ms)],
          one.ended_ms && ['Ended', when(one.ended_ms)],
          going(one) ? ['Running for', duration(Math.max(0, now() - one.started_ms))] : ['Duration', took(one)],
          one.cpu_ms >= 0 && ['CPU time', duration(one.cpu_ms)],
          one.peak_memory_bytes && ['Peak memory', `${(one.peak_memory_bytes / 1048576).toFixed(1)} MiB`],
          one.exit !== undefined && ['Exit status', String(one.exit)],
          one.signal && ['Signal', plain(one.signal)],
          one.bad_lines && ['Invalid lines', number(one.bad_lines)],
          ['ID', code(one.run)],
        ]), staleNote(open.asked)),
        v('div.grid',
          (going(one) || open.lines.length > 0) && card('says', 'Output',
            open.lines.length ? v('div.log', {role: 'log', tabindex: 0}, open.lines.map(([at, text], i) => v('div', {key: `${at}-${i}`}, at > 0 && v('span.cut', `${time(at)} `), shown(text, 2000))))
              : v('p.none', 'No output yet')),
          result && card('result', 'Result', result),
          one.stderr !== undefined && card('stderr', 'End of log output', v('pre', {tabindex: 0}, tail(one))))),
    ];
  },
};

function tail(one) {
  // Newlines stay; other invisible characters are escaped.
  return bytesOf(one, 'stderr').text.split('\n').map((line, at) => [at > 0 && '\n', line && shown(line, 4000)]);
}

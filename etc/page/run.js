// One run: what came of it, or how far it is.
import {v, plain, shown, number, duration, when, time, bytesOf} from './dom.js';
import {changed, now, runsNow} from './store.js';
import {asking, path} from './api.js';
import {bar, card, code, facts, itemLink, share, staleNote, state, waiting} from './parts.js';
import {actions} from './actions.js';

const MOST = 500; // lines

let open = null;

class Open {
  constructor(id) {
    this.id = id;
    this.asked = asking(path('runs', id), 3000, changed);
    this.lines = [];
    this.progress = null;
    this.source = new EventSource(`${path('events')}?run=${id}`);
    this.hear('progress', (event) => {
      this.progress = {numerator: event.numerator, denominator: event.denominator};
    });
    this.hear('update', (event) => this.say(event, JSON.stringify(event.data)));
    this.hear('log', (event) => this.say(event, bytesOf(event, 'line').text));
    this.hear('end', () => this.asked.again());
  }
  hear(name, act) {
    this.source.addEventListener(name, (event) => {
      const news = JSON.parse(event.data);
      if (news.run && news.run !== decodeURIComponent(this.id)) return;
      act(news);
      changed();
    });
  }
  say(event, text) {
    this.lines.push([event.time_ms, text]);
    if (this.lines.length > MOST) this.lines.shift();
  }
  stop() {
    this.asked.stop();
    this.source.close();
  }
}

function going(run) {
  return !run.outcome;
}

function head(run, listKey) {
  const item = bytesOf(run, 'item').text;
  const orders = going(run) ? [
    {word: 'Cancel', bad: true, path: path('runs', encodeURIComponent(run.run), 'cancel'), what: `Ends this run of ${plain(item, 80)} on ${plain(run.host || 'its host', 60)}: told to end, killed after its kill_grace. The item is free again.`, then: () => open.asked.again()},
    {word: 'Cancel and quarantine', bad: true, path: path('runs', encodeURIComponent(run.run), 'cancel'), body: {quarantine: true}, what: `Ends this run of ${plain(item, 80)}, and its item is taken out of circulation until somebody releases it.`, then: () => open.asked.again()},
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
    const told = open.asked.data;
    const one = told;
    const live = runsNow().find((other) => other.run.run === one.run);
    const listKey = one.list !== undefined || one.list_base64 ? bytesOf(one, 'list').key : live && live.row.key;
    const progress = going(one) ? open.progress || (live && live.run.progress) || one.progress : one.progress;
    const done = share(progress);
    const result = one.result === undefined || one.result === null ? null : v('pre', typeof one.result === 'string' ? one.result : JSON.stringify(one.result, null, 2));
    return [
      ...head(one, listKey),
      done !== null && v('div.card.grid', bar(done, 'Progress of the run'), v('span.note', `${number(progress.numerator)} of ${number(progress.denominator)}`)),
      v('div.grid.two',
        card('facts', going(one) ? 'It runs' : 'It has ended', facts([
          one.reason && ['Reason', plain(one.reason, 1000)],
          ['Host', plain(one.host || (live && live.host) || '', 80)],
          one.pid && ['Process', String(one.pid)],
          one.attempt && ['Attempt', number(one.attempt)],
          one.fence !== undefined && one.fence !== null && ['Fence', String(one.fence)],
          one.started_ms && ['Started', when(one.started_ms)],
          one.ended_ms && ['Ended', when(one.ended_ms)],
          [going(one) ? 'For' : 'Took', duration(going(one) ? Math.max(0, now() - one.started_ms) : one.took_ms === undefined ? one.ended_ms - one.started_ms : one.took_ms)],
          one.exit !== undefined && ['Exit status', String(one.exit)],
          one.signal && ['Signal', plain(one.signal)],
          one.bad_lines && ['Bad lines', number(one.bad_lines)],
          ['Id', code(one.run)],
        ]), staleNote(open.asked)),
        v('div.grid',
          (going(one) || open.lines.length > 0) && card('says', 'What it says',
            open.lines.length ? v('div.log', {role: 'log', tabindex: 0}, open.lines.map(([at, text], i) => v('div', {key: `${at}-${i}`}, v('span.cut', `${time(at)} `), shown(text, 2000))))
              : v('p.none', 'Nothing since this was opened.')),
          result && card('result', 'Result', result),
          one.stderr !== undefined && card('stderr', 'End of standard error', v('pre', {tabindex: 0}, tail(one))))),
    ];
  },
};

function tail(one) {
  // Lines stay lines; all else that isn't seen is shown.
  return bytesOf(one, 'stderr').text.split('\n').map((line, at) => [at > 0 && '\n', line && shown(line, 4000)]);
}

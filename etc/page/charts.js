// Runs, durations and cycle times of a list or of the fleet over the last hour or day.
import {
  v, plain, number, count, duration, time, asking, changed, hourOf, now, ofList, param, path, pick, query, setParam, bytesOf, card, facts, staleNote, sums, waiting} from './parts.js';

const EVERY = 10000; // ms; w8yd writes statistics about as often
const WIDE = 600;
const HIGH = 90;

let shown = null; // the only statistics on the page; `at` is the bucket of the cursor

/** Statistics of the view. They are queried while the view draws them. */
function statistics(where) {
  if (shown?.where !== where) {
    shown?.asked.stop();
    const one = {where, drawn: 0, at: -1};
    shown = one;
    one.asked = asking(where, EVERY, () => {
      if (Date.now() - one.drawn > 5000 && !document.hidden) {
        one.asked.stop();
        if (shown === one) shown = null;
      } else changed();
    });
  }
  shown.drawn = Date.now();
  return shown;
}

function barsOf(buckets, most, member, cls) {
  const step = WIDE / buckets.length;
  return v('path', {class: cls, d: buckets.map((one, at) => {
    const high = one[member] && Math.max(1, (one[member] / most) * (HIGH - 4));
    return high ? `M${(at * step + 1).toFixed(1)} ${HIGH}v-${high.toFixed(1)}h${(step - 2).toFixed(1)}v${high.toFixed(1)}z` : '';
  }).join('')});
}

/** Runs of the last hour in a row of a table. */
export function spark(row) {
  const hour = hourOf(row);
  const [runs, failed] = sums(hour);
  if (!runs) return v('span.note', 'none');
  const most = Math.max(...hour.map(([n]) => n));
  return v('svg.spark', {viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `${count(runs, 'run')} in the last hour, ${number(failed)} failed`}, barsOf(hour, most, 0, 'runs'), barsOf(hour, most, 1, 'fails'));
}

const QUARTER = 900000; // ms

/** Chart of cycle times: [{at_ms, cycle_ms}]. */
export function cycles(told) {
  const newest = Math.floor(now() / QUARTER);
  const all = new Array(24).fill(0);
  for (const {at_ms: at, cycle_ms: lap} of told) {
    const place = all.length - 1 - (newest - Math.floor(at / QUARTER));
    if (place in all) all[place] = lap;
  }
  const there = all.filter((lap) => lap > 0);
  const span = there.length ? `between ${duration(Math.min(...there))} and ${duration(Math.max(...there))}` : 'not known';
  return v('figure', v('svg.chart', {viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Cycle time in the last six hours: ${span}`},
    v('line', {x1: 0, x2: WIDE, y1: HIGH - 0.5, y2: HIGH - 0.5}), barsOf(all.map((lap) => [lap]), Math.max(...there), 0, 'runs')),
  v('div.axis.note', {'aria-hidden': 'true'}, ['6 h ago', '4 h', '2 h', 'now'].map((text) => v('span', text))),
  v('figcaption.note', span));
}

/** A line with gaps where a bucket has no value. A value between gaps is a dash. */
function lineOf(buckets, most, member, cls) {
  const step = WIDE / buckets.length;
  let open = false;
  return v('path', {class: `line ${cls}`, d: buckets.map((one, at) => {
    const there = one[member] !== undefined && one[member] !== null;
    const y = there && (HIGH - 1 - (one[member] / most) * (HIGH - 5)).toFixed(1);
    const text = there ? `${open ? 'L' : 'M'}${(at * step).toFixed(1)} ${y}H${((at + 1) * step).toFixed(1)}` : '';
    open = there;
    return text;
  }).join('')});
}

function marksOf(data) {
  const from = data.buckets[0].at_ms;
  const span = data.bucket_ms * data.buckets.length;
  return (data.marks || []).map((mark, at) => {
    const x = (((mark.at_ms - from) / span) * WIDE).toFixed(1);
    return v('path', {key: `m${at}`, class: `mark ${mark.kind}`, d: `M${x} 0V${HIGH}`});
  });
}

function told(mark) {
  const list = mark.list !== undefined || mark.list_base64 !== undefined ? bytesOf(mark, 'list').text : '';
  return [mark.host && plain(mark.host, 60), {start: 'w8yd started', reload: 'config reloaded', breaker: 'breaker opened'}[mark.kind] || mark.kind, list && plain(list, 80)]
    .filter(Boolean).join(', ') + (mark.text ? `: ${plain(mark.text, 200)}` : '');
}

function readout(data, one) {
  const each = [`${time(one.at_ms)}: ${count(one.runs, 'run')}, ${number(one.failed)} failed`];
  if (one.p50_ms !== undefined) each.push(`duration p50 ${duration(one.p50_ms)}, p95 ${duration(one.p95_ms)}`);
  if (one.cycle_p50_ms !== undefined) each.push(`cycle p50 ${duration(one.cycle_p50_ms)}, p95 ${duration(one.cycle_p95_ms)}`);
  for (const mark of data.marks || []) if (mark.at_ms >= one.at_ms && mark.at_ms < one.at_ms + data.bucket_ms) each.push(told(mark));
  return each.join('; ');
}

function chart(of, title, label, most, unit, drawing) {
  const {buckets} = of.asked.data;
  const n = buckets.length;
  const step = WIDE / n;
  const to = (at) => {
    of.at = at;
    changed();
  };
  const move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    to(Math.max(0, Math.min(n - 1, Math.floor(((event.clientX - box.left) / box.width) * n))));
  };
  return v('figure', v('figcaption', v('b', title), v('span.note', most ? `at most ${unit(most)}` : 'no data')),
    v('svg.chart', {viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', tabindex: 0, 'aria-label': label, 'aria-describedby': 'time-at',
      onpointermove: move, onpointerleave: () => to(-1), onkeydown: (event) => pick(event, of.at, n, to)},
    v('line', {x1: 0, x2: WIDE, y1: HIGH - 0.5, y2: HIGH - 0.5}), drawing, marksOf(of.asked.data),
    of.at >= 0 && v('rect.cursor', {key: 'cursor', x: (of.at * step).toFixed(1), y: 0, width: step.toFixed(1), height: HIGH})));
}

function charts(of, span) {
  const {data} = of.asked;
  const {buckets, total} = data;
  const most = (...members) => Math.max(0, ...buckets.flatMap((one) => members.map((member) => one[member] || 0)));
  const runs = most('runs');
  const per = span === 'day' ? 'half hour' : 'minute';
  const last = `the last ${span}`;
  const lines = (title, what, a, b) => {
    const top = most(a, b);
    return chart(of, title, `${title} in ${last}: ${total[a] === undefined ? 'not known' : `p50 ${duration(total[a])}, p95 ${duration(total[b])}`}`, top, duration,
      top > 0 && [lineOf(buckets, top, b, 'p95'), lineOf(buckets, top, a, 'p50')]);
  };
  if (of.at >= buckets.length) of.at = -1;
  const marks = (data.marks || []).slice().reverse();
  return [
    v('div.charts',
      chart(of, `Runs per ${per}`, `Runs per ${per} in ${last}: ${count(total.runs, 'run')}, ${number(total.failed)} failed, at most ${number(runs)} in a ${per}`, runs, number,
        runs > 0 && [barsOf(buckets, runs, 'runs', 'runs'), barsOf(buckets, runs, 'failed', 'fails')]),
      lines('Run duration', 'duration', 'p50_ms', 'p95_ms'), lines('Cycle time', 'cycle', 'cycle_p50_ms', 'cycle_p95_ms')),
    v('div.axis.note', {'aria-hidden': 'true'}, v('span', time(buckets[0].at_ms)),
      v('span.key', v('span.state.on', v('i'), 'ended runs'), v('span.state.bad.elsewhere', v('i'), 'failed runs'), v('span.p50', 'p50'), v('span.p95', 'p95')), v('span', 'now')),
    v('p.note.readout', {id: 'time-at', role: 'status'}, of.at < 0 ? 'Point at a chart, or focus it and use the arrow keys, to read values.' : readout(data, buckets[of.at])),
    facts([
      ['Runs', `${number(total.runs)}, ${number(total.failed)} failed${total.runs ? ` (${((100 * total.failed) / total.runs).toFixed(1)} %)` : ''}`],
      total.p50_ms !== undefined && ['Run duration', `p50 ${duration(total.p50_ms)}, p95 ${duration(total.p95_ms)}`],
      total.cycle_p50_ms !== undefined && ['Cycle time', `p50 ${duration(total.cycle_p50_ms)}, p95 ${duration(total.cycle_p95_ms)}`],
    ]),
    marks.length > 0 && v('details', v('summary', `${count(marks.length, 'mark')}: starts, reloads and open breakers`),
      v('ul', marks.slice(0, 50).map((mark, at) => v('li.note', {key: at}, `${time(mark.at_ms)} ${told(mark)}`)))),
  ];
}

/** A card with charts of a list, or of all lists of the fleet without `key`. */
export function times(key) {
  const span = param('span') === 'day' ? 'day' : 'hour';
  const of = statistics(key ? ofList('statistics', key, {span}) : path('statistics') + query({span}));
  const button = (word, text) => v('button.b', {key: word, 'aria-pressed': String(span === word), onclick: () => setParam('span', word === 'hour' ? '' : word)}, text);
  return card('time', span === 'day' ? 'The last day' : 'The last hour',
    v('p.tools', button('hour', 'Last hour'), button('day', 'Last day'),
      v('span.note.scope', `${key ? 'This list' : 'All lists'} on all hosts${of.asked.at ? `, at ${time(of.asked.data.at_ms)}` : ''}`)),
    waiting(of.asked, 'Statistics') || charts(of, span), staleNote(of.asked));
}

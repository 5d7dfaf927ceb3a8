// Schedules, and feeds with their jobs and queues.
import {
  v, plain, shown, number, duration, when, time, bytesOf, changed, now, asking, path, query, Pages, facts, state, staleNote,
  table, waiting, num, rowHead} from './parts.js';

const CARDS = 20;
const ROWS = 50;

let open = null;
let pages = null;
let key = '';

function strip(one, label) {
  const slots = one.due_per_15min || [];
  const most = Math.max(1, ...slots);
  const due = slots.reduce((a, b) => a + b, 0);
  return v('svg.strip', {viewBox: '0 0 960 56', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: ${number(due)} due in the next 24 hours${one.late ? `, ${number(one.late)} late` : ''}`},
    v('rect.axis', {x: 0, y: 55, width: 960, height: 1}),
    v('path', {d: slots.map((n, at) => (n ? `M${at * 10} 54v-${((n / most) * 52).toFixed(1)}h8V54z` : '')).join('')}));
}

function ask() {
  return path('schedules') + query({limit: key ? ROWS : CARDS, after: pages.after}) + (key ? `&list=${key}` : '');
}

function jobsView(jobs) {
  return table('Jobs', ['Job', 'State', 'Rule', 'Due', 'Next times'], jobs.map((job, at) => v('tr', {key: at}, v('th', {scope: 'row', class: 'item'}, shown(bytesOf(job, 'item').text, 120)),
      v('td', job.due_ms && job.due_ms < now() - 1000 && job.state === 'scheduled' ? state('late', false, `late by ${duration(now() - job.due_ms)}`) : state(job.state || '')),
      v('td', plain(job.description || ''), job.rule && v('div.note.item', plain(bytesOf(job, 'rule').text))),
      v('td', job.due_ms ? when(job.due_ms) : '–'),
      v('td.note', (job.next_ms || []).map((next) => time(next)).join(', ')))));
}

function scheduleCard(one) {
  const name = bytesOf(one, 'list');
  const late = one.late || 0;
  return v('section.card', {key: name.key, 'aria-label': plain(name.text, 80)},
    v('header', v('h2', v('a', {href: `#/schedules/${name.key}`, class: 'item'}, shown(name.text, 100))),
      one.halted && state('paused', false, 'halted'), late > 0 && state('late', false, `${number(late)} late, the oldest since ${time(one.oldest_due_ms)}`)),
    strip(one, plain(name.text, 60)),
    facts([['On the timeline', number(one.timeline)], ['Queued', (one.queues || []).map((queue) => `${plain(bytesOf(queue, 'code').text, 60)}: ${number(queue.queued)}`).join(', ') || 'none'],
      ['Next', (one.due_next || []).map((job) => `${plain(bytesOf(job, 'job').text, 60)} ${time(job.due_ms)}`).join(', ') || 'none']]));
}

export const schedules = {
  title: () => 'Schedules',
  enter({parts}) {
    key = parts[0] || '';
    pages = new Pages();
    open = asking(ask(), 3000, changed);
    return () => open.stop();
  },
  render() {
    const data = open.data;
    const wait = waiting(open, 'Schedules');
    const one = key && data ? data.jobs || [] : null;
    return [
      key && v('p.crumb', v('a', {href: '#/schedules'}, 'Schedules')),
      v('div.head', v('h1', key ? shown(decodeURIComponent(key), 200) : 'Schedules'), v('span.sub', 'Next 24 hours')),
      wait || (one
        ? v('section.card', strip(data.schedule, 'All jobs'), one.length ? jobsView(one) : v('p.none', 'No jobs'))
        : data.schedules.length ? v('div.grid', data.schedules.map(scheduleCard)) : v('p.none', 'The config of this host has no schedules.')),
      pages.view(data, () => open.again(ask())), staleNote(open),
    ];
  },
};

const before = new Map(); // list → [time, finished], for rates

function perMinute(feed) {
  const name = bytesOf(feed, 'list').key;
  const seen = before.get(name) || [];
  if (!seen.length || seen[seen.length - 1][1] !== feed.finished || open.at - seen[seen.length - 1][0] > 5000) seen.push([open.at, feed.finished]);
  while (seen.length > 30) seen.shift();
  before.set(name, seen);
  const [[from, first]] = seen;
  const [to, last] = seen[seen.length - 1];
  return to - from < 3000 ? '–' : number(Math.round(((last - first) * 60000) / (to - from)));
}

function askFeeds() {
  return path('feeds') + query({limit: ROWS, after: pages.after});
}

export const feeds = {
  title: () => 'Feeds',
  enter() {
    before.clear();
    pages = new Pages();
    open = asking(askFeeds(), 3000, changed);
    return () => open.stop();
  },
  render() {
    const all = open.data?.feeds || [];
    return [
      v('div.head', v('h1', 'Feeds'), v('span.sub', 'jobs and queues')),
      v('section.card', waiting(open, 'Feeds') || (all.length ? table('Feeds', ['Feed', '#Queued', '#Claimed', '#Cancelled', '#Stalled', '#Published', '#Finished', '#Per minute', '#Oldest'], all.map((feed) => {
          const name = bytesOf(feed, 'list');
          return v('tr', {key: name.key}, rowHead(v('a.item', {href: `#/lists/${name.key}`}, shown(name.text, 120))),
            ['queued', 'claimed', 'cancelled'].map((one) => v('td.n', {key: one}, number(feed[one]))),
            v('td.n', feed.stalled > 0 ? state('stalled', false, number(feed.stalled)) : number(feed.stalled)),
            num(feed.published), num(feed.finished), v('td.n', perMinute(feed)),
            v('td.n', feed.oldest_ms ? duration(feed.oldest_ms > 1e11 ? now() - feed.oldest_ms : feed.oldest_ms) : '–'));
        })) : v('p.none', 'The config of this host has no feeds.')),
        pages.view(open.data, () => {
          before.clear();
          open.again(askFeeds());
        }), staleNote(open)),
    ];
  },
};

// Schedules, and feeds with their jobs and queues.
import {
  v, plain, shown, number, count, duration, when, time, bytesOf, textOfKey, changed, now, asking, path, query, Pages, card, choice, crumb, facts, itemLink, name, ofList, scope, state,
  staleNote, store, table, tools, waiting, num, rowHead} from './parts.js';
import {actions, itemsOrder, putJobs, Chosen} from './actions.js';
import {commands, names, word} from './commands.js';

const CARDS = 20;
const ROWS = 50;

let open = null;
let pages = null;
let key = '';
let first = []; // requests for bad and died, or stalled, jobs

function strip(one, label) {
  const slots = one.due_per_15min || [];
  const most = Math.max(1, ...slots);
  const due = slots.reduce((a, b) => a + b, 0);
  return v('svg.strip', {viewBox: '0 0 960 56', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: ${number(due)} due in the next 24 hours${one.late ? `, ${number(one.late)} late` : ''}`},
    v('rect.axis', {x: 0, y: 55, width: 960, height: 1}),
    v('path', {d: slots.map((n, at) => (n ? `M${at * 10} 54v-${((n / most) * 52).toFixed(1)}h8V54z` : '')).join('')}));
}

function ask() {
  return key ? ofList('schedules', key, {limit: ROWS, after: pages.after}) : path('schedules') + query({limit: CARDS, after: pages.after});
}

/** How late a job is. */
function lateBy(at) {
  return state('late', false, `late by ${duration(now() - at)}`);
}

function jobsView(jobs) {
  return table('Jobs', ['Job', 'State', 'Rule', 'Due', 'Next times'], jobs.map((job, at) => v('tr', {key: at}, rowHead(itemLink(job, key)),
      v('td', job.due_ms && job.due_ms < now() - 1000 && job.state === 'scheduled' ? lateBy(job.due_ms) : state(job.state || '')),
      v('td.text', plain(job.description || ''), job.reason && v('div.note', plain(job.reason, 160)), job.rule && v('div.note.item', plain(bytesOf(job, 'rule').text))),
      v('td', job.due_ms ? when(job.due_ms) : '–'),
      v('td.note', (job.next_ms || []).map((next) => time(next)).join(', ')))));
}

/** Card with the first jobs of the next day: [[time, job, list key]]. */
function agenda(due, note) {
  const end = now() + 86400000;
  const all = due.filter(([at]) => at > 0 && at < end).sort(([a], [b]) => a - b).slice(0, ROWS);
  return card('agenda', 'Next 24 hours', v('p.note', note), all.length ? table('Due in the next 24 hours', ['Time', 'In', 'Job', 'Schedule'], all.map(([at, job, of], i) => v('tr', {key: i}, v('td', when(at)),
    v('td', at < now() ? lateBy(at) : duration(at - now())), v('td', itemLink({item: bytesOf(job, job.job === undefined && !job.job_base64 ? 'item' : 'job').text}, of)),
    v('td', v('a.item', {href: `#/schedules/${of}`}, name(textOfKey(of))))))) : v('p.none', 'No jobs'));
}

/** Bad and died jobs of a schedule in this state. */
function badJobs(found) {
  const jobs = found.flatMap((asked) => asked.data?.jobs || []);
  return jobs.length > 0 && card('bad', 'Bad and died jobs', jobsView(jobs));
}

function badOf(one) {
  const items = store.all.get(one)?.items || {};
  return ['bad', 'died'].filter((word) => items[word] > 0).map((word) => state(word, false, `${number(items[word])} ${word}`));
}

function scheduleCard(one) {
  const name = bytesOf(one, 'list');
  const late = one.late || 0;
  return v('section.card', {key: name.key, 'aria-label': plain(name.text, 80)},
    v('header', v('h2', v('a', {href: `#/schedules/${name.key}`, class: 'item'}, shown(name.text, 100))),
      badOf(name.key), one.halted && state('paused', false, 'halted'), late > 0 && state('late', false, `${number(late)} late, the oldest since ${time(one.oldest_due_ms)}`)),
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
    first = key ? ['bad', 'died'].map((word) => asking(ofList('schedules', key, {state: word, limit: ROWS}), 5000, changed)) : [];
    return () => [open, ...first].forEach((asked) => asked.stop());
  },
  render() {
    const data = open.data;
    const wait = waiting(open, 'Schedules');
    const one = key && data ? data.jobs || [] : null;
    const prefix = one && word(bytesOf(data.schedule, 'key_prefix').key || key);
    return [
      key && crumb('#/schedules', 'Schedules'),
      v('div.head', v('h1', key ? shown(textOfKey(key), 200) : 'Schedules'), v('span.sub', 'Next 24 hours'), scope(open)),
      wait || (one
        ? [badJobs(first), v('div.grid', v('section.card', strip(data.schedule, 'All jobs'), one.length ? jobsView(one) : v('p.none', 'No jobs'))),
          v('div.grid.two', agenda(one.flatMap((job) => (job.next_ms || []).map((at) => [at, job, key])), 'The next five times of each job above'),
            commands([['List the jobs', `schedule -k ${prefix} list`], one[0] && ['Next times of a job', `schedule -k ${prefix} next ${names(bytesOf(one[0], 'item').key)}`]]))]
        : data.schedules.length ? v('div.grid', agenda(data.schedules.flatMap((each) => (each.due_next || []).map((job) => [job.due_ms, job, bytesOf(each, 'list').key])), 'The next five jobs of each schedule'),
          [...data.schedules].sort((a, b) => badOf(bytesOf(b, 'list').key).length - badOf(bytesOf(a, 'list').key).length).map(scheduleCard)) : v('p.none', 'The config of this host has no schedules.')),
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

let jobState = '';
let chosen = null;

function askFeeds() {
  return (key ? path('lists', key, 'items') : path('feeds')) + query({state: key && jobState, limit: ROWS, after: pages.after});
}

function again() {
  chosen?.all.clear();
  [open, ...first].forEach((asked) => asked.again());
}

/** Jobs of a feed with their payloads. */
function feedJobs(jobs, caption, withBoxes) {
  const thing = (job) => ({key: bytesOf(job, 'item').key, name: bytesOf(job, 'item').text});
  const orders = (things) => ['Retry', 'Remove'].map((word) => itemsOrder(word, things, key, again, (one) => ({path: path('feeds', key, 'jobs', one.key, ...(word === 'Retry' ? ['retry'] : []))})));
  return [withBoxes && chosen.bar(jobs.filter((job) => !job.item_length).map(thing), orders), table(caption, ['Job', 'State', '#Failures', 'Detail', 'Payload'], jobs.map((job, at) => v('tr', {key: at},
    rowHead(v('span.pick', withBoxes && chosen.box(thing(job)), itemLink(job, key))), v('td', state(job.state)), num(job.failures),
    v('td.note', job.host ? `on ${plain(job.host, 60)}${job.since_ms ? ` since ${time(job.since_ms)}` : ''}` : job.position ? `number ${number(job.position)} in the queue` : job.until_ms ? `until ${time(job.until_ms)}` : ''),
    v('td.text.item', job.payload === undefined && !job.payload_base64 ? '–' : shown(bytesOf(job, 'payload').text, 200, job.payload_length)))))];
}

function oneFeed() {
  const stalled = first[0].data?.items || [];
  const jobs = open.data?.items || [];
  const title = textOfKey(key);
  return [
    crumb('#/feeds', 'Feeds'),
    v('div.head', v('h1.name', shown(title, 300)), scope(open), v('a', {href: `#/lists/${key}`}, 'List and hosts'), v('a', {href: `#/errors?list=${key}`}, 'Errors'), v('div.act', actions([putJobs(key, title, again)]))),
    stalled.length > 0 && v('div.grid', card('stalled', 'Stalled jobs', feedJobs(stalled, 'Stalled jobs', true), first[0].data.next && v('p.note', `The first ${count(stalled.length, 'job')}`), staleNote(first[0]))),
    v('div.grid', card('jobs', 'Jobs', tools(choice('State', jobState, ['', 'running', 'queued', 'delayed', 'claimed', 'stalled', 'orphaned'], (text) => {
      jobState = text;
      pages.reset();
      open.again(askFeeds(), true);
    })), waiting(open, 'Jobs') || (jobs.length ? feedJobs(jobs, 'Jobs', false) : v('p.none', 'No jobs')), pages.view(open.data, () => open.again(askFeeds())), staleNote(open))),
    commands([['List the jobs', `items ${names(key)}`], ['Put a job', `job put ${names(key)} PAYLOAD`], stalled[0] && ['Retry a job', `job retry ${names(key, bytesOf(stalled[0], 'item').key)}`]]),
  ];
}

export const feeds = {
  title: ({parts}) => (parts[0] ? textOfKey(parts[0]) : 'Feeds'),
  enter({parts}) {
    key = parts[0] || '';
    jobState = '';
    chosen = new Chosen();
    before.clear();
    pages = new Pages();
    open = asking(askFeeds(), 3000, changed);
    first = key ? [asking(path('lists', key, 'items') + query({state: 'stalled', limit: ROWS}), 3000, changed)] : [];
    return () => [open, ...first].forEach((asked) => asked.stop());
  },
  render() {
    if (key) return oneFeed();
    const all = [...(open.data?.feeds || [])].sort((a, b) => (b.stalled > 0) - (a.stalled > 0));
    return [
      v('div.head', v('h1', 'Feeds'), v('span.sub', 'jobs and queues'), scope(open)),
      v('section.card', waiting(open, 'Feeds') || (all.length ? table('Feeds', ['Feed', '#Queued', '#Claimed', '#Cancelled', '#Stalled', '#Published', '#Finished', '#Per minute', '#Oldest'], all.map((feed) => {
          const name = bytesOf(feed, 'list');
          return v('tr', {key: name.key}, rowHead(v('a.item', {href: `#/feeds/${name.key}`}, shown(name.text, 120))),
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

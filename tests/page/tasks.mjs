// Each task needs at most four clicks of an operator. Typing does not count as a click.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {Host, waitFor} from './host.mjs';
import {open, until, world} from './cases.mjs';

const MOST = 4;

/** Counts clicks of one task. */
class Task {
  constructor(viewer, name) {
    Object.assign(this, {viewer, name, clicks: 0});
  }
  async click(locator) {
    this.clicks++;
    await locator.click();
    assert.ok(this.clicks <= MOST, `"${this.name}" takes more than ${MOST} clicks`);
  }
  /** Clicks a button, types into the first field of its dialog, and confirms. */
  async order(scope, word, ...texts) {
    const {page} = this.viewer;
    await this.click(scope.getByRole('button', {name: `${word} …`}));
    const dialog = page.getByRole('dialog', {name: word});
    await this.viewer.sees(dialog, word);
    for (const text of texts) await page.keyboard.type(text);
    await this.click(dialog.getByRole('button', {name: word, exact: true}));
    return dialog;
  }
  /** Types into the search of the page, and opens the first result of a kind. */
  async find(text, kind) {
    const {page} = this.viewer;
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    const option = page.getByRole('option').filter({hasText: kind}).first();
    await this.viewer.sees(option, `${kind} ${text}`);
    for (let i = 0; i < 20 && (await option.getAttribute('aria-selected')) !== 'true'; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
  }
}

/** Tasks: name → function of the task and the world {page, viewer, redis, host, id}. */
const TASKS = {
  'which list fails most': async (task, {page, viewer}) => {
    await task.click(page.getByRole('link', {name: 'Lists', exact: true}));
    const lists = page.getByRole('table', {name: 'Lists'});
    await task.click(lists.getByRole('button', {name: 'Failed, 1 h'}));
    await viewer.reads(lists.getByRole('row').nth(1), /^\s*broken[^]*3/);
    await waitFor(() => /sort=failed/.test(page.url()), 'the order in the address');
    await page.reload();
    await viewer.reads(lists.getByRole('columnheader', {name: 'Failed, 1 h'}), /↓/);
  },
  'which item failed most today, and why': async (task, {page, viewer}) => {
    await task.click(page.getByRole('link', {name: 'Errors', exact: true}));
    const group = page.getByRole('region', {name: 'Groups of errors'}).getByRole('listitem').filter({hasText: 'upstream is gone'});
    await viewer.reads(group, /exit status 7: upstream is gone[^]*Most failures:\s+invoice-2\s+\(2 runs\)/);
    await task.click(group.getByRole('link', {name: 'invoice-2'}));
    await viewer.reads(page.getByRole('region', {name: 'Why it does not run'}), /after 2 failures in a row, the last: "exit status 7: upstream is gone"/);
  },
  'why an item does not run': async (task, {page, viewer}) => {
    await task.find('invoice-2', 'Item');
    await viewer.reads(page.getByRole('region', {name: 'Why it does not run'}), /delay/i);
  },
  'release all that failed for one reason': async (task, {page, viewer, redis}) => {
    const before = Number(await redis.ask('LLEN', 'broken:failed-runs'));
    await task.click(page.getByRole('link', {name: 'Errors', exact: true}));
    const group = page.getByRole('listitem').filter({hasText: 'upstream is gone'});
    await viewer.reads(await task.order(group, 'Release all'), /2 items: released/);
    await waitFor(async () => Number(await redis.ask('LLEN', 'broken:failed-runs')) === before + 2, 'their runs');
  },
  'find a run by its ID': async (task, {page, viewer, id}) => {
    await task.find(id, 'Run');
    await viewer.reads(page.getByRole('main'), /Run of slow-film\.mkv/);
  },
  'see the live output of a run': async (task, {page, viewer}) => {
    await task.click(runningNow(page));
    await viewer.reads(page.getByRole('log'), /step 1[^]*step 2/);
  },
  'compare the last hour with the last day': async (task, {page, viewer}) => {
    await viewer.sees(page.getByRole('img', {name: /^Runs per minute in the last hour: [1-9]/}), 'the last hour');
    await task.click(page.getByRole('button', {name: 'Last day'}));
    const day = page.getByRole('img', {name: /^Runs per half hour in the last day: [1-9]/});
    await viewer.sees(day, 'the last day');
    await day.focus();
    await page.keyboard.press('End');
    const status = page.getByRole('status').filter({hasText: 'failed'});
    // A half hour that has just started has no runs.
    if (/: 0 runs/.test(await status.textContent())) await page.keyboard.press('ArrowLeft');
    await viewer.reads(status, /\d runs?, \d+ failed; duration p50/);
    await viewer.accessible();
  },
  'pause and resume a list': async (task, {page, redis}) => {
    await task.find('calm', 'List');
    await task.order(page, 'Pause');
    await waitFor(() => redis.ask('EXISTS', 'calm:paused').then(Number), 'the pause');
    await page.keyboard.press('Escape');
    await task.order(page, 'Resume');
    await waitFor(async () => !(await redis.ask('EXISTS', 'calm:paused')), 'the end of the pause');
  },
  'add items': async (task, {page, viewer, redis}) => {
    await task.find('calm', 'List');
    await viewer.reads(await task.order(page, 'Add items', 'two', '\n', 'three'), /2 added/);
    assert.equal(await redis.ask('LLEN', 'calm:list'), 3);
  },
  'quarantine an item': async (task, {page, redis}) => {
    await task.find('one', 'Item');
    await task.order(page, 'Quarantine', 'wrong format');
    const record = await waitFor(() => redis.ask('HGET', 'calm:quarantined', 'one'), 'the quarantine');
    assert.match(record, /wrong format/);
  },
  'when a job runs next': async (task, {page, viewer, host}) => {
    await task.click(page.getByRole('link', {name: 'Schedules', exact: true}));
    await task.click(page.getByRole('region', {name: 'mix'}).getByRole('link', {name: 'mix'}));
    const due = page.getByRole('table', {name: 'Jobs'}).getByRole('row', {name: /daily:A/}).locator('time');
    await viewer.sees(due, 'the time');
    const [next] = host.ctl('schedule', '-k', 'mix', 'next', 'daily:A', '--json').match(/\d{10,13}/g).map(Number);
    assert.equal(Date.parse(await due.getAttribute('title')), next < 1e11 ? next * 1000 : next);
  },
  'put a job': async (task, {page, viewer, redis}) => {
    await task.click(page.getByRole('link', {name: 'Feeds', exact: true}));
    await task.click(page.getByRole('table', {name: 'Feeds'}).getByRole('link', {name: 'sums'}));
    await viewer.reads(await task.order(page, 'Put job', 'the payload'), /1 added/);
    assert.equal(await redis.ask('HLEN', 'feed.items:sums'), 1);
  },
  'retry stalled jobs': async (task, {page, viewer, redis}) => {
    const runs = () => redis.ask('LLEN', 'sums:failed-runs').then(Number);
    await waitFor(async () => (await redis.ask('SCARD', 'feed.stalled:sums')) === 1, 'the stalled job');
    const before = await runs();
    await task.click(page.getByRole('region', {name: 'Problems'}).getByRole('link', {name: /1 job is stalled in sums/}));
    const stalled = page.getByRole('region', {name: 'Stalled jobs'});
    await task.click(stalled.getByRole('checkbox', {name: /Choose all/}));
    await viewer.reads(await task.order(stalled, 'Retry'), /queued again/);
    await waitFor(async () => (await runs()) > before, 'its run');
  },
  'stop the run that holds up a list': async (task, {page, viewer}) => {
    await task.click(runningNow(page));
    await task.order(page, 'Cancel');
    await viewer.reads(page.getByRole('heading', {level: 1}).locator('xpath=..'), /cancelled/);
  },
  // A config is outdated after a minute.
  'which host is behind': async (task, {page, viewer}) => {
    await task.click(page.getByRole('link', {name: 'Fleet'}).first());
    const hosts = page.getByRole('table', {name: 'Hosts of the fleet'});
    await task.click(hosts.getByRole('button', {name: 'Config'}));
    await viewer.reads(hosts.getByRole('row').nth(1), /^alpha[^]*outdated/, 90000);
  },
};

function runningNow(page) {
  return page.getByRole('region', {name: 'Running now'}).getByRole('listitem').filter({hasText: 'slow-film.mkv'}).getByRole('link', {name: 'run', exact: true});
}

async function tasks(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.films]
${until(gate).replace('sleep 0.05', 'n=$((n + 1)); echo step $n >&2; sleep 0.2')}
[lists.broken]
command = ["sh", "-c", "echo upstream is gone >&2; exit 7"]
cooldown = "1h"
backoff = { min = "1h", max = "1h" }
[lists.calm]
command = ["true"]
cooldown = "1h"
[lists.mix]
source = "schedule"
queues = "A"
command = ["true"]
[lists.sums]
source = "job"
max_failures = 1
command = ["false"]
`);
  const beta = new Host(at.bin, join(at.home, 'beta'), 'beta', redis);
  await beta.configure('[lists.other]\ncommand = ["true"]\n');
  await beta.start();
  at.defer(() => beta.stop());
  host.ctl('schedule', '-k', 'mix', 'set', 'daily:A', 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0');
  host.ctl('feed', 'create', 'sums', '--kind', 'job', '--exists-ok');
  await redis.ask('RPUSH', 'films:list', 'slow-film.mkv', 'next-film.mkv');
  await redis.ask('RPUSH', 'broken:list', 'invoice-1', 'invoice-2');
  await redis.ask('RPUSH', 'calm:list', 'one');
  const failures = (n) => waitFor(async () => Number(await redis.ask('LLEN', 'broken:failed-runs')) === n, 'failures');
  await failures(2);
  // Until w8yd has published its list report, no host is known to serve the list.
  await waitFor(() => {
    try {
      return host.ctl('run', 'broken', 'invoice-2') || true;
    } catch (error) {
      if (/no host serves/.test(error.stderr)) return false;
      throw error;
    }
  }, 'a host that serves the list');
  await failures(3);
  const id = /:(\w+)$/.exec(await waitFor(() => redis.ask('GET', 'films:lock:slow-film.mkv'), 'the run'))[1];
  const viewer = await open(at, host, {expected: /404 .*\/api\/v1\/runs\/\w+$/}); // a cancelled run, until its record is written
  await viewer.go('#/');
  await viewer.signIn(host.token);
  for (const [name, act] of Object.entries(TASKS)) {
    await viewer.go('#/');
    await viewer.sees(viewer.heading('Overview'));
    try {
      await act(new Task(viewer, name), {page: viewer.page, viewer, redis, host, id});
    } catch (error) {
      error.message = `"${name}": ${error.message}`;
      throw error;
    }
    await viewer.page.keyboard.press('Escape');
  }
}

export const taskCases = [['tasks of an operator', tasks]];

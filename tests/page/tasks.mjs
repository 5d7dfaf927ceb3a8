// The measure of the page: an operator does twelve tasks, each in at most four clicks. Typing is no click.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {Host, waitFor} from './host.mjs';
import {open, until, world} from './cases.mjs';

export const TASKS = [
  'find the item that failed most today, and why', // tasks_b.mjs
  'stop the run that holds up a list',
  'release all items that failed for one reason', // tasks_b.mjs
  'find the host that is behind',
  'find when a job runs next', // tasks_b.mjs
  'find why an item does not run',
  'find the list that fails most',
  'compare the last hour with the last day',
  'pause a list',
  'run an item now', // tasks_b.mjs
  'open a run by its ID',
  'add an item', // tasks_b.mjs
];
const MOST = 4;

/** Counts clicks of one task. */
export class Task {
  constructor(viewer, name) {
    assert.ok(TASKS.includes(name), name);
    Object.assign(this, {viewer, name, clicks: 0});
  }
  async click(locator) {
    this.clicks++;
    await locator.click();
    assert.ok(this.clicks <= MOST, `"${this.name}" takes more than ${MOST} clicks`);
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

async function tasks(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.films]
${until(gate)}
[lists.broken]
command = ["sh", "-c", "exit 7"]
cooldown = "1h"
backoff = { min = "1h", max = "1h" }
[lists.calm]
command = ["true"]
cooldown = "1h"
`);
  const beta = new Host(at.bin, join(at.home, 'beta'), 'beta', redis);
  await beta.configure('[lists.other]\ncommand = ["true"]\n');
  await beta.start();
  at.defer(() => beta.stop());
  await redis.ask('RPUSH', 'films:list', 'slow-film.mkv', 'next-film.mkv');
  await redis.ask('RPUSH', 'broken:list', 'invoice-1', 'invoice-2');
  await redis.ask('RPUSH', 'calm:list', 'one');
  await waitFor(async () => Number(await redis.ask('LLEN', 'broken:failed-runs')) === 2, 'failures');
  const id = /:(\w+)$/.exec(await waitFor(() => redis.ask('GET', 'films:lock:slow-film.mkv'), 'the run'))[1];
  const viewer = await open(at, host, {expected: /404/}); // a cancelled run, until its record is written
  const {page} = viewer;
  const begin = async (name) => {
    await viewer.go('#/');
    await viewer.sees(viewer.heading('Overview'));
    return new Task(viewer, name);
  };
  await viewer.go('#/');
  await viewer.signIn(host.token);

  let task = await begin('find the list that fails most');
  await task.click(page.getByRole('link', {name: 'Lists', exact: true}));
  const lists = page.getByRole('table', {name: 'Lists'});
  await task.click(lists.getByRole('button', {name: 'Failed, 1 h'}));
  await viewer.reads(lists.getByRole('row').nth(1), /^\s*broken[^]*2/);
  await waitFor(() => /sort=failed/.test(page.url()), 'the order in the address');
  await page.reload();
  await viewer.reads(lists.getByRole('columnheader', {name: 'Failed, 1 h'}), /↓/);

  task = await begin('find why an item does not run');
  await task.find('invoice-2', 'Item');
  await viewer.reads(page.getByRole('region', {name: 'Why it does not run'}), /delay/i);

  task = await begin('open a run by its ID');
  await task.find(id, 'Run');
  await viewer.reads(page.getByRole('main'), /Run of slow-film\.mkv/);

  task = await begin('compare the last hour with the last day');
  await viewer.sees(page.getByRole('img', {name: /^Runs per minute in the last hour: [1-9]/}), 'the last hour');
  await task.click(page.getByRole('button', {name: 'Last day'}));
  const day = page.getByRole('img', {name: /^Runs per half hour in the last day: [1-9]/});
  await viewer.sees(day, 'the last day');
  await day.focus();
  await page.keyboard.press('End');
  await viewer.reads(page.getByRole('status').filter({hasText: 'failed'}), /\d runs?, \d+ failed; duration p50/);
  await viewer.accessible();

  task = await begin('pause a list');
  await task.find('calm', 'List');
  await task.click(page.getByRole('button', {name: 'Pause …'}));
  await task.click(page.getByRole('dialog').getByRole('button', {name: 'Pause'}));
  await waitFor(() => redis.ask('EXISTS', 'calm:paused').then(Number), 'the pause');
  await page.keyboard.press('Escape');

  task = await begin('stop the run that holds up a list');
  await task.click(page.getByRole('region', {name: 'Running now'}).getByRole('listitem').filter({hasText: 'slow-film.mkv'}).getByRole('link', {name: 'run', exact: true}));
  await task.click(page.getByRole('button', {name: 'Cancel …'}));
  await task.click(page.getByRole('dialog').getByRole('button', {name: 'Cancel', exact: true}));
  await viewer.reads(page.getByRole('heading', {level: 1}).locator('xpath=..'), /cancelled/);

  await page.keyboard.press('Escape');
  if (!at.long) return; // a config is outdated after a minute
  task = await begin('find the host that is behind');
  await task.click(page.getByRole('link', {name: 'Fleet'}).first());
  const hosts = page.getByRole('table', {name: 'Hosts of the fleet'});
  await task.click(hosts.getByRole('button', {name: 'Config'}));
  await viewer.reads(hosts.getByRole('row').nth(1), /^alpha[^]*outdated/, 90000);
}

export const taskCases = [['tasks of an operator', tasks]];

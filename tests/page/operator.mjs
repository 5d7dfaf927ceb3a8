// Actions on many items, the timeline of an item, scopes and times of counts, marks on charts, and copies of names.
import assert from 'node:assert/strict';
import {appendFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {waitFor} from './host.mjs';
import {MIX_AND_SUMS, fillMixAndSums, open, until, world} from './cases.mjs';

const LONG = `https://media.example.org/archive/2026/${'0123456789'.repeat(9)}/end-of-the-name.mkv`;

/** Chooses items by their checkboxes, presses a button, confirms, and reads the result. */
async function many(viewer, word, names, result) {
  const {page} = viewer;
  const items = page.getByRole('region', {name: 'Items', exact: true});
  const dialog = page.getByRole('dialog', {name: word});
  for (const name of names) await items.getByRole('checkbox', {name: `Choose ${name}`}).check();
  await viewer.reads(items, new RegExp(`${names.length} chosen`));
  await items.getByRole('button', {name: `${word} …`}).click();
  await viewer.reads(dialog, new RegExp(names.join(', ')));
  await dialog.getByRole('button', {name: word, exact: true}).click();
  await viewer.reads(dialog, result);
  await dialog.getByRole('button', {name: 'Close'}).click();
}

async function actionsCase(at) {
  const {redis, host} = await world(at, '[lists.calm]\ncommand = ["true"]\ncooldown = "1h"\nconcurrency = 20\n');
  const names = ['one', 'two', 'three'];
  await redis.ask('RPUSH', 'calm:list', ...names);
  const runs = (n) => waitFor(async () => Number(await redis.ask('LLEN', 'calm:runs')) === n, `${n} runs`);
  const delayed = async (...items) => {
    for (const item of items) await waitFor(async () => (await redis.ask('GET', `calm:lock:${item}`)) === 'delay:cooldown', `the delay of ${item}`);
  };
  const changes = async () => (await redis.ask('LRANGE', 'calm:changes', '0', '-1')).map((text) => JSON.parse(text));
  await runs(3);
  await delayed(...names);
  // A quarantined item is not rerun. The output of a run is deleted at its end, which can be before the page follows it.
  const viewer = await open(at, host, {expected: /409 .*\/rerun$|404 .*\/api\/v1\/runs\/\w+\/logs$/});
  const {page} = viewer;
  await viewer.go('#/lists/calm');
  await viewer.signIn(host.token, 'alice');

  await many(viewer, 'Rerun', ['one', 'two'], /2 items: is free: its delay has ended/);
  await runs(5);
  await delayed('one', 'two');
  await many(viewer, 'Release', names, /3 items: released/);
  await runs(8);
  await delayed(...names);
  await many(viewer, 'Run now', names, /3 items: run started/);
  await runs(11);
  await delayed(...names);
  await many(viewer, 'Quarantine', ['one', 'two'], /2 items: quarantined/);
  assert.deepEqual((await redis.ask('HKEYS', 'calm:quarantined')).sort(), ['one', 'two']);
  // An item that cannot be changed stays, and the result names it.
  await many(viewer, 'Rerun', names, /2 items: not changed: is quarantined; release it first[^]*three: is free/);
  await runs(12);
  await delayed('three');
  await many(viewer, 'Remove', ['two', 'three'], /2 items: removed/);
  assert.deepEqual(await redis.ask('LRANGE', 'calm:list', '0', '-1'), ['one']);
  assert.equal(await redis.ask('EXISTS', 'calm:lock:two', 'calm:lock:three'), 0);
  assert.deepEqual(await redis.ask('HKEYS', 'calm:quarantined'), ['one']);
  const all = await changes();
  assert.ok(all.every(({by}) => by === 'alice'), JSON.stringify(all));
  const of = (item) => all.filter((one) => one.item === item).map(({change}) => change).join();
  assert.equal(of('two'), 'removed,quarantined,started,released,rerun');
  assert.equal(of('three'), 'removed,rerun,started,released');

  // The timeline of an item has its runs and the changes of operators.
  await viewer.go('#/lists/calm/items/one');
  const timeline = page.getByRole('region', {name: 'Timeline'});
  await viewer.reads(timeline, /quarantined by alice[^]*started by alice[^]*released by alice[^]*rerun by alice/);
  assert.equal(await timeline.getByRole('listitem').filter({hasText: 'quarantined'}).count(), 1);
  assert.equal(await timeline.getByRole('listitem').filter({hasText: 'succeeded'}).count(), 4);
  await page.getByRole('button', {name: 'Release …'}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'Release'}).click();
  await viewer.reads(timeline, /released by alice[^]*quarantined by alice/);
  await page.getByRole('dialog').getByRole('button', {name: 'Close'}).click();
  await viewer.accessible();
}

// ---- scopes and times

const SCOPE = /\bon (all|\d+) hosts?\b|by host|\bhere\b|of the fleet/i;
const TIME = /\bnow\b|\bat \d\d:\d\d|last \d+ min|last (hour|day)|since|next 24 hours/i;

/**
 * Returns the counts of a view whose scope or time is not stated. A count is a number in a column of numbers, in a
 * tile, among facts, or in a heading line. The statement is in the title or in the element `.scope` of its card, or
 * in the heading line of the view.
 */
function unstated([scope, time]) {
  const text = (all) => [...all].map((one) => one.textContent).join(' ');
  const [hasScope, hasTime] = [new RegExp(scope, 'i'), new RegExp(time, 'i')];
  const head = document.querySelector('main .head');
  const counts = [...document.querySelectorAll('main td.n, main .big, main dl.facts dd, main .head .sub, main .head [role=status], main header .note')]
    .filter((one) => /^~?\d/.test(one.textContent.trim()));
  const missing = counts.filter((one) => {
    const card = one.closest('.card');
    const own = card?.querySelector('.scope') ? text(card.querySelectorAll('h2, .scope')) : `${text(card?.querySelectorAll('h2') || [])} ${text(head.children)}`;
    const term = one.tagName === 'DD' ? one.previousElementSibling.textContent : '';
    return !hasScope.test(`${own} ${term}`) || !hasTime.test(`${own} ${term}`);
  });
  return [counts.length, missing.map((one) => `${one.closest('.card')?.querySelector('h2')?.textContent || 'the heading'}: ${one.previousElementSibling?.textContent || ''} ${one.textContent}`)];
}

async function scopesCase(at) {
  const {redis, host} = await world(at, `
[lists.work]
${until(join(at.home, 'go'))}
[lists.broken]
command = ["sh", "-c", "echo gone >&2; exit 3"]
backoff = { min = "1h", max = "1h" }
${MIX_AND_SUMS}`);
  fillMixAndSums(host, ['x']);
  await redis.ask('RPUSH', 'work:list', 'one', 'two');
  await redis.ask('RPUSH', 'broken:list', 'bad');
  await waitFor(async () => Number(await redis.ask('LLEN', 'broken:failed-runs')) === 1, 'the failed run');
  const [group] = (await host.api('errors')).errors;
  const viewer = await open(at, host);
  const {page} = viewer;
  // Each view, and the least number of counts that it has.
  const views = [['#/', 6], ['#/lists', 12], ['#/lists/work', 3], ['#/lists/broken/items/bad', 1], ['#/fleet', 1], ['#/schedules', 1], ['#/feeds', 6],
    ['#/errors', 1], [`#/errors/broken/${group.group}`, 1]];
  for (const [hash, least] of views) {
    await viewer.go(hash);
    let missing = [];
    await waitFor(async () => {
      const loading = /Loading …/.test(await page.getByRole('main').innerText().catch(() => 'Loading …'));
      if (loading) return false;
      let counts = 0;
      [counts, missing] = await page.evaluate(unstated, [SCOPE.source, TIME.source]);
      return counts >= least;
    }, `${least} counts of ${hash}`);
    assert.deepEqual(missing, [], `${hash} has counts without their scope or time`);
  }
  // The check finds a count without them.
  await viewer.go('#/feeds');
  await viewer.reads(page.getByRole('table', {name: 'Feeds'}), /sums/);
  await page.evaluate(() => document.querySelector('.head .scope').remove());
  const [, found] = await page.evaluate(unstated, [SCOPE.source, TIME.source]);
  assert.ok(found.length > 0);
  writeFileSync(join(at.home, 'go'), '');
}

// ---- marks on charts

async function marksCase(at) {
  const {redis, host} = await world(at, `
[lists.flaky]
command = ["false"]
breaker = "80% of 5"
[lists.work]
command = ["true"]
`);
  const kinds = async () => (await redis.ask('ZRANGE', 'w8y-fleet:marks', '0', '-1')).map((text) => JSON.parse(text).kind);
  const has = (kind) => waitFor(async () => (await kinds()).includes(kind), `the mark ${kind}`);
  await redis.ask('RPUSH', 'flaky:list', 'a', 'b', 'c', 'd', 'e', 'f');
  await has('breaker');
  appendFileSync(host.config, '\n[lists.more]\ncommand = ["true"]\n');
  host.ctl('reload');
  await has('reload');
  // The host starts with another version than before.
  await host.stop();
  await redis.ask('SET', 'w8y-fleet:version:alpha', '0.0.9');
  await host.start();
  await has('start');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/');
  const time = page.getByRole('region', {name: 'The last hour'});
  await viewer.reads(time.locator('summary'), /3 marks: starts, reloads and open breakers/);
  const charts = time.locator('.charts svg');
  for (const kind of ['start', 'reload', 'breaker'])
    assert.equal(await charts.locator(`path.mark.${kind}`).count(), await charts.count(), `each chart has the mark ${kind}`);
  await time.locator('summary').click();
  await viewer.reads(time, /alpha, w8yd started: w8yd \S+, before 0\.0\.9/);
  await viewer.reads(time, /alpha, config reloaded/);
  await viewer.reads(time, /breaker opened, flaky/);
  // The mark is at its time, and the cursor reads it.
  await charts.first().focus();
  await page.keyboard.press('End');
  const said = [];
  await waitFor(async () => {
    said.push(await time.getByRole('status').innerText());
    if (/w8yd started/.test(said.join())) return true;
    await page.keyboard.press('ArrowLeft');
    return false;
  }, 'the start under the cursor');
  // Marks of a list are those of its hosts and its breaker.
  await viewer.go('#/lists/flaky');
  await waitFor(async () => (await page.locator('.charts svg path.mark.breaker').count()) > 0, 'the mark of its breaker');
  await viewer.go('#/lists/work');
  await waitFor(async () => (await page.locator('.charts svg path.mark.start').count()) > 0, 'the start of its host');
  assert.equal(await page.locator('path.mark.breaker').count(), 0);
  await viewer.accessible();
}

// ---- copies

async function copyCase(at) {
  const {redis, host} = await world(at, '[lists.films]\ncommand = ["true"]\ncooldown = "1h"\n');
  await redis.ask('RPUSH', 'films:list', LONG);
  const viewer = await open(at, host, {width: 768});
  const {page} = viewer;
  await viewer.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await viewer.go('#/lists/films');
  const link = page.getByRole('table', {name: 'Items'}).getByRole('link');
  await viewer.sees(link, 'the item');
  // The line shows the start and the end of the name.
  const start = link.locator('.start');
  assert.ok(await start.evaluate((dom) => dom.scrollWidth > dom.clientWidth), 'the name is truncated');
  const copied = async (select) => {
    await page.evaluate(() => navigator.clipboard.writeText('nothing'));
    await select();
    await page.keyboard.press('Control+C');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal((await copied(() => link.evaluate((dom) => getSelection().selectAllChildren(dom)))).trim(), LONG);
  // A selection of all rows has the whole text as well.
  const all = await copied(() => page.getByRole('table', {name: 'Items'}).evaluate((dom) => getSelection().selectAllChildren(dom)));
  assert.ok(all.includes(LONG), all);
  assert.equal(await link.locator('.mid').getAttribute('title'), LONG);
}

export const operatorCases = [
  ['actions on many items', actionsCase],
  ['counts name their scope and time', scopesCase],
  ['marks on charts', marksCase],
  ['copies of names', copyCase],
];

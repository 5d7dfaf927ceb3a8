// Cases that take minutes: every width and theme, ten thousand lists and their cost, and the pictures of
// the README.
import assert from 'node:assert/strict';
import {chmodSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Host, waitFor} from './host.mjs';
import {terminalPicture} from './terminal.mjs';
import {open, until, world} from './cases.mjs';

const WIDTHS = [[390, 844], [768, 1024], [1440, 900], [2560, 1440]];
const URL_ITEM = 'https://media.example.org/archive/2026/collections/north-sea/'.padEnd(120, '0123456789');
const HOSTILE = ['<b>item</b>', '\u202egnp.exe', 'x'.repeat(65536), 'plain'];

/** An executor that reports its progress every 0.4 s. */
function stepper(at) {
  mkdirSync(at.home, {recursive: true});
  const path = join(at.home, 'transcode');
  writeFileSync(path, `#!/usr/bin/python3
import json, sys, time
if sys.argv[-1] == "--caps":
    print(json.dumps({"type": "caps", "caps": ["single", "progress", "gpu"]}))
    sys.exit()
item = sys.stdin.read()
steps = 10 + sum(map(ord, item)) % 30
for step in range(steps):
    print(json.dumps({"type": "progress", "numerator": step, "denominator": steps}), flush=True)
    time.sleep(0.4)
print(json.dumps({"type": "complete", "frames": steps * 250}))
`);
  chmodSync(path, 0o755);
  return path;
}

async function everywhere(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.films]
${until(gate)}
concurrency = 3
[lists.gpu]
executor = "/nonexistent"
[lists.mix]
source = "schedule"
queues = "A"
command = ["true"]
[lists.sums]
source = "job"
command = ["true"]
`);
  await redis.ask('RPUSH', 'films:list', ...HOSTILE, URL_ITEM);
  host.ctl('schedule', '-k', 'mix', 'set', 'daily:A', 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0');
  await waitFor(async () => (await redis.ask('KEYS', 'films:lock:*')).length === 3, 'runs');
  const run = /:(\w+)$/.exec(await redis.ask('GET', 'films:lock:<b>item</b>'))[1];
  const views = [['#/', 'Overview'], ['#/lists', 'Lists'], ['#/lists/films', 'films'], [`#/runs/${run}`, /Run/],
    ['#/lists/films/items/plain', 'plain'], ['#/fleet', 'Fleet'], ['#/schedules', 'Schedules'], ['#/feeds', 'Feeds'],
    ['#/?span=day', 'Overview'], ['#/lists?state=problems&sort=-name', 'Lists'], ['#/schedules/mix', 'mix'], [`#/lists/films/items/${encodeURIComponent(URL_ITEM)}`, URL_ITEM]];
  for (const [width, height] of WIDTHS)
    for (const scheme of ['light', 'dark']) {
      const viewer = await open(at, host, {width, height, scheme});
      for (const [hash, heading] of views) {
        await viewer.go(hash);
        await viewer.sees(viewer.page.getByRole('heading', {name: heading, level: 1}), `${hash} at ${width} px`);
        await waitFor(async () => !/Loading …/.test(await viewer.page.getByRole('main').innerText()), 'the answer');
        await viewer.fits();
        await viewer.accessible();
        if (hash === '#/lists') await viewer.isWide(viewer.page.getByRole('rowheader', {name: 'films'}), 80);
        await viewer.picture(`all-${hash.replace(/\W+/g, '-').slice(0, 48)}`);
      }
    }
  writeFileSync(gate, '');
}

/** Returns the CPU time of a process, in seconds. */
function worked(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const sleep = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

async function share(pid, seconds) {
  const begun = [Date.now(), worked(pid)];
  await sleep(seconds);
  return (worked(pid) - begun[1]) / ((Date.now() - begun[0]) / 1000);
}

/** Opens a page's event stream, reads the first full state, and keeps the stream open. */
async function listen(url) {
  const abort = new AbortController();
  const response = await fetch(`${url}/api/v1/live`, {signal: abort.signal});
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let tail = '';
  let bytes = 0;
  // Changes may follow the event in the same chunk.
  while (!/event: ready/.test(tail)) {
    const {value} = await reader.read();
    bytes += value.length;
    tail = tail.slice(-20) + decoder.decode(value);
  }
  const rest = (async () => {
    for (;;) if ((await reader.read()).done) return;
  })().catch(() => {});
  return {bytes, close: () => abort.abort(), rest};
}

async function tenThousand(at) {
  const lists = Array.from({length: 10000}, (_, i) => `[lists.l${String(i).padStart(5, '0')}]\ncommand = ["true"]`);
  const {redis, host} = await world(at, lists.join('\n'));
  const pid = host.child.pid;
  await sleep(15); // until the first claims have ended
  const before = await share(pid, 30);
  const pages = [];
  for (let i = 0; i < 10; i++) pages.push(await listen(host.url));
  await sleep(2);
  const after = await share(pid, 45);
  pages.forEach((page) => page.close());
  await sleep(25); // w8yd keeps the state for 15 s, for a page that reconnects
  const closed = await share(pid, 30);
  const percent = (part) => `${(part * 100).toFixed(2)} % of a core`;
  console.log(`      10,000 lists: w8yd works ${percent(before)} without a page, ${percent(after)} with ten, ${percent(closed)} after they are closed; a picture has ${pages[0].bytes} bytes`);
  assert.ok(after - before <= 0.03, `ten pages cost ${percent(after - before)}`);
  assert.ok(closed - before <= 0.003, `closed pages cost ${percent(closed - before)}`);

  const viewer = await open(at, host);
  const {page} = viewer;
  await watchTasks(page);
  await page.addInitScript(() => {
    const Source = window.EventSource;
    window.EventSource = class extends Source {
      constructor(...all) {
        super(...all);
        this.addEventListener('ready', () => {
          window.readyAt = performance.now();
        });
      }
    };
    new MutationObserver(() => {
      if (window.readyAt && !window.drawnAt && document.querySelector('table.lists tbody th')) window.drawnAt = performance.now();
    }).observe(document, {childList: true, subtree: true});
  });
  await viewer.go('#/lists');
  await page.waitForFunction(() => window.drawnAt);
  const first = await page.evaluate(() => window.drawnAt - window.readyAt);
  // Sorted by name, because in another order a list with runs would change its row.
  await page.getByRole('combobox', {name: 'Sort by'}).selectOption('name');
  await page.mouse.move(600, 500);
  for (let i = 0; i < 40; i++) {
    await page.mouse.wheel(0, 12000);
    await page.waitForTimeout(60);
  }
  await waitFor(async () => (await page.getByRole('rowheader', {name: 'l09999'}).count()) > 0, 'the last list');
  await redis.ask('RPUSH', 'l09998:list', 'now');
  await viewer.sees(page.getByRole('row', {name: /l09998/}).getByRole('img', {name: /1 run|[2-9]\d* runs/}), 'a run far down');
  await page.getByRole('searchbox', {name: 'Search'}).fill('l0777');
  await viewer.reads(page.getByRole('status').filter({hasText: 'lists'}), /10 of 10,000 lists/);
  await viewer.picture('ten-thousand');
  const longest = await page.evaluate(() => window.longest);
  console.log(`      10,000 lists: the first view ${first.toFixed(0)} ms after the last byte; longest task ${longest.toFixed(0)} ms`);
  assert.ok(first <= 300, `the first view took ${first} ms`);
  assert.ok(longest <= 100, `the page's thread was blocked for ${longest} ms`);

  // A second host with all lists, and the other views.
  const beta = new Host(at.bin, join(at.home, 'beta'), 'beta', redis);
  await beta.configure(lists.join('\n'));
  await beta.start();
  at.defer(() => beta.stop());
  await page.evaluate(() => {
    window.longest = 0;
  });
  await viewer.go('#/lists/l09999');
  await viewer.reads(page.getByRole('table', {name: 'Hosts that have this list'}), /alpha[^]*beta/, 120000);
  await page.getByText('Settings in force').click();
  await viewer.reads(page.getByRole('region', {name: 'The list', exact: true}), /command/);
  await viewer.go('#/fleet');
  await viewer.reads(page.getByRole('table', {name: 'Lists by host'}), /l00049/);
  assert.equal(await page.getByRole('table', {name: 'Lists by host'}).getByRole('row').count(), 51);
  await viewer.go('#/');
  await viewer.reads(page.getByRole('main'), /10,000/);
  await viewer.go('#/lists');
  for (const how of ['name', 'rate', 'failed', 'problems']) {
    await page.getByRole('combobox', {name: 'Sort by'}).selectOption(how);
    await page.waitForTimeout(2500);
  }
  const both = await page.evaluate(() => window.longest);
  console.log(`      10,000 lists on two hosts: longest task ${both.toFixed(0)} ms`);
  assert.ok(both <= 100, `the page's thread was blocked for ${both} ms`);
}

/** Records the longest task of a page in window.longest. */
async function watchTasks(page) {
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration);
    }).observe({type: 'longtask', buffered: true});
  });
}

/** A timeline of ten thousand jobs and a thousand feeds load page by page. */
async function manyJobs(at) {
  const feeds = Array.from({length: 1000}, (_, i) => `[lists.feed-${String(i).padStart(3, '0')}]\nsource = "job"\nconcurrency = 0\ncommand = ["true"]`);
  const schedules = Array.from({length: 30}, (_, i) => `[lists.plan-${String(i).padStart(2, '0')}]\nsource = "schedule"\nqueues = "A"\nconcurrency = 0\ncommand = ["true"]`);
  const {redis, host} = await world(at, [...feeds, ...schedules].join('\n'));
  const jobs = join(at.home, 'jobs.csv');
  writeFileSync(jobs, Array.from({length: 10000}, (_, i) => `job-${String(i).padStart(4, '0')}:A,FREQ=DAILY;BYHOUR=${i % 24};BYMINUTE=${i % 60};BYSECOND=0\n`).join(''));
  host.ctl('schedule', '-k', 'plan-00', 'set', `--file=${jobs}`);
  await waitFor(async () => Number(await redis.ask('ZCARD', (await redis.ask('KEYS', '*plan-00*timeline*'))[0] || 'none')) === 10000, 'the timeline');
  const viewer = await open(at, host);
  const {page} = viewer;
  await watchTasks(page);
  await viewer.go('#/schedules');
  const strip = page.getByRole('img', {name: /^plan-00: [\d,]+ due in the next 24 hours/});
  await viewer.sees(strip, 'the strip');
  // Some jobs may become due meanwhile; concurrency 0 leaves them on the timeline, or in their queue.
  const due = Number(/: ([\d,]+) due/.exec(await strip.getAttribute('aria-label'))[1].replace(',', ''));
  assert.ok(due > 9000 && due <= 10000, `${due} are due`);
  const cards = () => page.getByRole('region', {name: /^plan-/}).count();
  await waitFor(async () => (await cards()) === 20, 'the first schedules');
  await page.getByRole('button', {name: 'More'}).click();
  await waitFor(async () => (await cards()) === 10, 'the others');
  await viewer.go('#/schedules/plan-00');
  const table = page.getByRole('table', {name: 'Jobs'});
  await waitFor(async () => (await table.getByRole('row').count()) === 51, 'fifty jobs');
  const before = await table.getByRole('rowheader').first().innerText();
  await page.getByRole('button', {name: 'More'}).click();
  await waitFor(async () => (await table.getByRole('rowheader').first().innerText()) !== before, 'the next jobs');
  await viewer.go('#/feeds');
  const all = page.getByRole('table', {name: 'Feeds'});
  await viewer.reads(all, /feed-049/);
  assert.equal(await all.getByRole('row').count(), 51);
  await page.getByRole('button', {name: 'More'}).click();
  await viewer.reads(all, /feed-050[^]*feed-099/);
  const longest = await page.evaluate(() => window.longest);
  console.log(`      10,000 jobs and 1,000 feeds: longest task ${longest.toFixed(0)} ms`);
  assert.ok(longest <= 100, `the page's thread was blocked for ${longest} ms`);
  await viewer.accessible();
}

async function million(at) {
  const {redis, host} = await world(at, '[lists.huge]\ncommand = ["sleep", "30"]\nconcurrency = 2\ncooldown = "1h"\n');
  await redis.ask('EVAL', "for i = 1, 1000000 do redis.call('RPUSH', KEYS[1], 'item:' .. i) end", 1, 'huge:list');
  const viewer = await open(at, host);
  const begun = Date.now();
  await viewer.go('#/lists/huge');
  await viewer.sees(viewer.page.getByRole('img', {name: /The ring of huge: 1,000,000 items, a sample of 10,000/}), 'the ring of a million');
  console.log(`      1,000,000 items: the ring is there after ${Date.now() - begun} ms`);
  await viewer.accessible();
  await viewer.picture('list-million');
}

/** etc/pictures has copies: readme-ring is page-light.png and page-dark.png there, readme-top top.png. */
async function pictures(at) {
  const program = stepper(at);
  const {redis, host} = await world(at, `
[lists.films]
executor = "${program}"
concurrency = 4
cooldown = "40s"
[lists.mail]
command = ["sh", "-c", "sleep 0.3; test $(($(date +%N) % 9)) != 0"]
concurrency = 3
cooldown = "4s"
[lists.faces]
executor = "${program}"
requires = ["tpu"]
`, {name: 'alpha'});
  for (let i = 1; i <= 48; i++) await redis.ask('RPUSH', 'films:list', `film-${String(i).padStart(2, '0')}.mkv`);
  for (let i = 0; i < 60; i++) await redis.ask('RPUSH', 'mail:list', `box-${i}`);
  await redis.ask('SET', 'films:lock:film-31.mkv', 'quarantine:by hand');
  await sleep(70);
  for (const scheme of ['light', 'dark'])
    for (const [name, hash] of [['overview', '#/'], ['ring', '#/lists/films']]) {
      const viewer = await open(at, host, {scheme, width: 1200, height: 760});
      await viewer.go(hash);
      await viewer.reads(viewer.page.getByRole('main'), /Running now/);
      await viewer.page.waitForTimeout(2500);
      await viewer.picture(`readme-${name}`);
    }
  await terminalPicture(at.browser, `${join(at.bin, 'w8yctl')} --config ${host.config} top`, join(at.pictures, 'readme-top.png'), {rows: 20});
}

export const longCases = [
  ['every view at every width, light and dark', everywhere],
  ['ten thousand lists', tenThousand],
  ['many jobs and feeds', manyJobs],
  ['a million items', million],
  ['pictures', pictures],
];

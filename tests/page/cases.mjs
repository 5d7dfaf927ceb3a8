// Each case has its own Redis and hosts, and reads the page by roles and names.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Host, Redis, waitFor} from './host.mjs';
import {Viewer} from './browser.mjs';

export async function world(at, lists, {name = 'alpha', more = ''} = {}) {
  mkdirSync(at.home, {recursive: true});
  const redis = new Redis(at.home);
  await redis.start();
  at.defer(() => redis.stop());
  const host = new Host(at.bin, join(at.home, name), name, redis);
  await host.configure(lists, more);
  await host.start();
  at.defer(() => host.stop());
  return {redis, host};
}

export async function open(at, host, options = {}) {
  const viewer = await Viewer.open(at.browser, {url: host.url, axe: at.axe, pictures: at.pictures, ...options});
  at.defer(() => viewer.close());
  return viewer;
}

/** A schedule, and a feed whose jobs stay queued. */
export const MIX_AND_SUMS = `[lists.mix]
source = "schedule"
queues = "A"
command = ["true"]
[lists.sums]
source = "job"
concurrency = 0
command = ["true"]
`;

/** Gives the schedule one entry, and the feed these jobs. */
export function fillMixAndSums(host, jobs = []) {
  host.ctl('schedule', '-k', 'mix', 'set', 'daily:A', 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0');
  host.ctl('feed', 'create', 'sums', '--kind', 'job', '--exists-ok');
  for (const job of jobs) host.ctl('job', 'put', 'sums', job);
}

/** Command of a child that runs until a file exists. */
export function until(file) {
  return `command = ["sh", "-c", "while [ ! -e ${file} ]; do sleep 0.05; done"]`;
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>document.title="owned"</script>',
  'line\nbreak\tand\u0007bell\u001b[31m',
  '\u202egnp.exe\u2066 rtl \u05d0\u05d1',
  'x'.repeat(65536),
  '',
  'a/b?c#d%2F&e=f',
];

async function overviewCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.films]
${until(gate)}
concurrency = 2
[lists.gpu]
executor = "${at.source}/executors/superman.py"
requires = ["gpu"]
[lists.broken]
command = ["false"]
max_failures = 2
[lists.rest]
command = ["true"]
`);
  const viewer = await open(at, host);
  await viewer.go('#/');
  await viewer.sees(viewer.heading('Overview'));
  const {page} = viewer;
  await viewer.reads(page.getByRole('banner'), /live/);
  const wrong = page.getByRole('region', {name: 'Problems'});
  await viewer.reads(wrong.getByRole('listitem').filter({hasText: 'Ineligible'}), /no host serves gpu: alpha: lacks the capability "gpu"/);

  // The page shows added items as running. Redis has their locks.
  await redis.ask('RPUSH', 'films:list', 'holiday.mkv', 'wedding.mkv', 'later.mkv');
  const running = page.getByRole('region', {name: 'Running now'});
  await viewer.reads(running, /holiday\.mkv in films[^]*on alpha for/);
  await viewer.reads(running, /wedding\.mkv/);
  assert.equal(await running.getByText('later.mkv').count(), 0);
  const [held] = await redis.ask('KEYS', 'films:lock:holiday.mkv').then((keys) => Promise.all(keys.map((key) => redis.ask('GET', key))));
  assert.match(held, /^run:alpha:/);

  await redis.ask('RPUSH', 'broken:list', 'bad-one');
  await viewer.reads(wrong, /Quarantined\s+1 item is quarantined in broken/);
  await viewer.reads(wrong, /Failing\s+\d of \d runs? of broken on this host failed within the last hour/);
  host.ctl('pause', 'rest', '--reason', 'moving <b>house</b>');
  await viewer.reads(wrong, /Paused\s+rest is paused: [^]*moving <b>house<\/b>/);
  // The problems are those of `w8yctl status`.
  const told = await host.api('problems');
  assert.deepEqual(told.problems.map((one) => one.kind).sort(), ['failing', 'ineligible', 'paused', 'quarantined']);
  for (const {text} of told.problems.filter((one) => one.kind !== 'failing')) assert.ok(host.ctl('status').replace(/\s+/g, ' ').includes(text.slice(0, 30)), text);
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('overview');

  writeFileSync(gate, '');
  await viewer.reads(page.getByRole('region', {name: 'Failed, last hour'}).or(page.locator('.tile').filter({hasText: 'Failed, last hour'})), /2/);
  await waitFor(async () => Number(await redis.ask('LLEN', 'films:runs')) >= 3, 'runs');
  await viewer.reads(page.getByRole('region', {name: 'The last hour'}).filter({has: page.getByRole('img', {name: /Runs per minute in the last hour: [1-9]/})}), /ended/);
  host.ctl('resume', 'rest');
  await waitFor(async () => !/Paused/.test(await wrong.innerText()), 'the pause to be over');
}

async function listsCase(at) {
  const lists = [];
  for (let i = 0; i < 300; i++) lists.push(`[lists.list-${String(i).padStart(3, '0')}]\ncommand = ["true"]`);
  const {redis, host} = await world(at, `${lists.join('\n')}\n[lists.stuck]\nexecutor = "/nonexistent"\n[lists."<b>odd</b>"]\ncommand = ["true"]\n`);
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/lists');
  await viewer.reads(page.getByRole('status').filter({hasText: 'lists'}), /302 lists/);
  const table = page.getByRole('table', {name: 'Lists'});
  const row = (at2) => table.getByRole('row').nth(at2);
  assert.equal(await table.getAttribute('aria-rowcount'), '303');
  // Problems come first, as text.
  await viewer.reads(table, /^[^]*?stuck\s+ineligible/);
  assert.match(await table.getByRole('rowheader').first().innerText(), /stuck/);
  assert.ok((await table.getByRole('row').count()) < 120, 'only what is in view is drawn');
  // The table scrolls to its end.
  await page.mouse.move(400, 500);
  await waitFor(async () => {
    await page.mouse.wheel(0, 4000);
    return (await table.getByRole('rowheader', {name: 'list-299'}).count()) > 0;
  }, 'the last list');
  await page.getByRole('searchbox', {name: 'Search'}).fill('LIST-12');
  await viewer.reads(page.getByRole('status').filter({hasText: 'lists'}), /10 of 302 lists/);
  assert.deepEqual((await table.getByRole('rowheader').allInnerTexts()).map((text) => text.trim()), Array.from({length: 10}, (_, i) => `list-12${i}`));
  await page.getByRole('searchbox', {name: 'Search'}).fill('');
  await page.getByRole('combobox', {name: 'State'}).selectOption('ineligible');
  await viewer.reads(page.getByRole('status').filter({hasText: 'lists'}), /1 of 302/);
  await page.getByRole('combobox', {name: 'State'}).selectOption('');
  // A run updates the statistics of its list without a reload.
  await redis.ask('RPUSH', 'list-007:list', 'one');
  await page.getByRole('searchbox', {name: 'Search'}).fill('list-007');
  await viewer.sees(table.getByRole('img', {name: /^[1-9][\d,]* runs? in the last hour, 0 failed/}), 'the sparkline');
  await page.getByRole('searchbox', {name: 'Search'}).fill('<b>');
  await viewer.follow(table.getByRole('link', {name: '<b>odd</b>'}));
  await viewer.sees(viewer.heading('<b>odd</b>'));
  await viewer.go('#/lists');
  await viewer.sees(row(1));
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('lists');
}

async function ringCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.round]
${until(gate)}
concurrency = 2
[lists.none]
command = ["true"]
`);
  await redis.ask('SET', 'round:lock:resting', 'delay:cooldown', 'PX', '600000');
  await redis.ask('SET', 'round:lock:parked', 'quarantine:by hand');
  await redis.ask('RPUSH', 'round:list', 'one', 'two', 'three', 'resting', 'parked');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/lists/round');
  const ring = page.getByRole('img', {name: /The ring of round: 5 items: 2 running, 1 quarantined, 1 delayed, 1 free/});
  await viewer.sees(ring, 'the ring of five');
  const legend = page.getByRole('list', {name: 'Items'});
  await viewer.reads(legend, /2\s*running[^]*1\s*quarantined[^]*1\s*delayed[^]*1\s*free/);
  // The keyboard alone reaches each item, its holder and the time.
  await ring.focus();
  const said = new Map(); // position → text
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('ArrowRight');
    await waitFor(async () => {
      const text = await page.getByRole('status').filter({hasText: /of 5:/}).innerText({timeout: 1000}).catch(() => '');
      const place = /^(\d) of 5:/.exec(text);
      return place && !said.has(place[1]) && said.set(place[1], text);
    }, 'the next item');
  }
  const all = [...said.values()].join('\n');
  assert.match(all, /one, running on alpha for/);
  assert.match(all, /resting, delayed, .* left/);
  assert.match(all, /parked, quarantined/);
  assert.match(all, /three, free/);
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('list-5');
  writeFileSync(gate, '');
  await waitFor(async () => Number(await redis.ask('LLEN', 'round:runs')) >= 3, 'runs');
  await page.getByRole('img', {name: /0 running, 1 quarantined|1 running, 1 quarantined|2 running, 1 quarantined/}).waitFor();

  await viewer.go('#/lists/none');
  await viewer.reads(page.getByRole('main'), /The list has no items/);
  await redis.ask('EVAL', "for i = 1, 500 do redis.call('RPUSH', KEYS[1], 'i' .. i) redis.call('SET', 'none:lock:i' .. i, 'delay:cooldown', 'PX', 600000) end", 1, 'none:list');
  await viewer.sees(page.getByRole('img', {name: /The ring of none: 500 items: 0 running, 0 quarantined, 500 delayed, 0 free/}), 'the ring of 500');
  await redis.ask('EVAL', "for i = 501, 30000 do redis.call('RPUSH', KEYS[1], 'i' .. i) redis.call('SET', 'none:lock:i' .. i, 'delay:cooldown', 'PX', 600000) end", 1, 'none:list');
  await viewer.sees(page.getByRole('img', {name: /The ring of none: 30,000 items, a sample of 10,000/}), 'the sample');
  await viewer.reads(page.getByRole('main'), /A sample: 10,000 of 30,000 items/);
}

async function hostileCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.odd]
${until(gate)}
concurrency = 10
[lists.pile]
command = ["sh", "-c", "printf '\\u001b[31m<b>bad</b>' >&2; exit 3"]
cooldown = "1h"
`);
  await redis.ask('RPUSH', 'odd:list', ...HOSTILE, Buffer.from([0xff, 0xfe, 0x41]));
  const viewer = await open(at, host, {width: 360, height: 800});
  const {page} = viewer;
  await viewer.go('#/');
  const running = page.getByRole('region', {name: 'Running now'});
  await viewer.reads(running, /<img src=x onerror=alert\(1\)>/);
  const text = await viewer.reads(running, /\\xff\\xfeA/);
  assert.match(text, /"><script>document\.title="owned"<\/script>/);
  assert.match(text, /line\\nbreak\\tand\\x07bell\\e\[31m/);
  assert.match(text, /\\u202egnp\.exe/);
  assert.match(text, /x{50,}… \(64 KiB\)/);
  assert.match(text, /\(empty\)/);
  assert.equal(await page.title(), 'Overview – w8y');
  assert.equal(await page.locator('img[src=x], main script').count(), 0);
  await viewer.fits();
  await viewer.picture('hostile');
  await viewer.go('#/lists/odd');
  await viewer.sees(page.getByRole('img', {name: /The ring of odd: 8 items: 8 running/}), 'the ring');
  await viewer.fits();
  await viewer.accessible();
  writeFileSync(gate, '');
}

async function keyboardCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `[lists.work]\n${until(gate)}\n`);
  await redis.ask('RPUSH', 'work:list', 'first', 'second');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/');
  await viewer.sees(viewer.heading('Overview'));
  const focusOn = async (name) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const label = await page.evaluate(() => document.activeElement && (document.activeElement.getAttribute('aria-label') || document.activeElement.textContent || ''));
      if (name.test(label.trim())) return;
    }
    throw new Error(`Tab does not come to ${name}`);
  };
  await focusOn(/^Lists$/);
  await page.keyboard.press('Enter');
  await viewer.sees(viewer.heading('Lists'));
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await focusOn(/^work$/);
  await page.keyboard.press('Enter');
  await viewer.sees(viewer.heading('work'));
  await focusOn(/^Sign in/);
  await page.keyboard.press('Enter');
  await viewer.sees(page.getByRole('dialog', {name: 'Sign in'}), 'where the token is entered');
  await page.keyboard.type(host.token);
  await page.keyboard.press('Enter');
  await viewer.reads(page.getByRole('dialog', {name: 'Sign in'}), /Signed in/);
  await page.keyboard.press('Escape');
  await focusOn(/^Pause/);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', {name: 'Pause'});
  await viewer.reads(dialog, /No host of the fleet claims items of work\. 1 run continues to the end/);
  await viewer.accessible();
  await page.keyboard.press('Escape');
  await dialog.waitFor({state: 'hidden'});
  assert.equal(await redis.ask('GET', 'work:paused'), null);
  writeFileSync(gate, '');
}

async function ordersCase(at) {
  const {host} = await world(at, '[lists.work]\ncommand = ["true"]\n');
  const viewer = await open(at, host, {expected: /401|409/});
  const {page} = viewer;
  await viewer.go('#/fleet');
  // Without the token there are no buttons for commands. The server refuses a wrong token.
  await page.getByRole('button', {name: 'Sign in …'}).click();
  assert.equal(await page.getByRole('button', {name: /Quiet|Reload|Drain/}).count(), 0);
  const entry = page.getByRole('dialog', {name: 'Sign in'});
  await entry.getByLabel(/The token/).fill('wrong');
  await entry.getByRole('button', {name: 'Sign in'}).click();
  await viewer.reads(entry, /with the token of status_token_file/);
  assert.equal(await page.getByRole('button', {name: /Quiet|Reload|Drain/, includeHidden: true}).count(), 0);
  await entry.getByRole('button', {name: 'Dismiss'}).click();
  await viewer.signIn(host.token);
  await page.getByRole('button', {name: 'Quiet …'}).click();
  const dialog = page.getByRole('dialog', {name: 'Quiet'});
  await viewer.reads(dialog, /alpha starts no new runs/);
  await dialog.getByRole('button', {name: 'Quiet'}).click();
  await viewer.reads(dialog, /alpha/);
  await waitFor(async () => (await host.api('status?lists=no')).state === 'quiet', 'quiet');
  await dialog.getByRole('button', {name: 'Close'}).click();
  await page.getByRole('button', {name: 'Resume …'}).click();
  await page.getByRole('dialog', {name: 'Resume'}).getByRole('button', {name: 'Resume'}).click();
  await waitFor(async () => (await host.api('status?lists=no')).state === 'running', 'the end of quiet');
  assert.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, '']);
  await page.getByRole('dialog').getByRole('button', {name: 'Close'}).click();

  // For a config with errors, the page names each, and nothing changes.
  const good = readFileSync(host.config, 'utf8');
  writeFileSync(host.config, `${good}\n[lists.bad]\nconcurrency = "many"\n`);
  await page.getByRole('button', {name: 'Reload …'}).click();
  const reload = page.getByRole('dialog', {name: 'Reload'});
  await reload.getByRole('button', {name: 'Reload'}).click();
  await viewer.reads(reload, /concurrency/);
  await reload.getByRole('button', {name: /Dismiss|Close/}).click();
  await viewer.go('#/');
  await viewer.reads(page.getByRole('region', {name: 'Problems'}), /Config outdated\s+the config file is not in force, since the last reload failed: [^]*lists\.bad: /);

  // If the config has no token, the page has no form for it.
  await host.stop();
  await host.configure('[lists.work]\ncommand = ["true"]\n', '', {token: false});
  await host.start();
  const other = await open(at, host);
  await other.go('#/fleet');
  await other.sees(other.page.getByRole('table', {name: 'Hosts of the fleet'}));
  assert.equal(await other.page.getByRole('button', {name: /Sign in|Quiet|Reload|Drain/}).count(), 0);
}

async function plainCase(at) {
  const {host} = await world(at, '[lists."<i>x</i>"]\ncommand = ["true"]\n[lists.gpu]\nexecutor = "/nonexistent"\n');
  const viewer = await open(at, host, {javaScriptEnabled: false});
  await viewer.go('');
  const table = viewer.page.getByRole('table', {name: 'Lists'});
  await viewer.reads(table.getByRole('row', {name: /gpu/}), /ineligible/);
  await viewer.reads(table, /<i>x<\/i>/);
  await viewer.picture('without-javascript');
}

export const cases = [
  ['overview', overviewCase],
  ['lists', listsCase],
  ['ring', ringCase],
  ['hostile items', hostileCase],
  ['keyboard', keyboardCase],
  ['orders', ordersCase],
  ['no JavaScript', plainCase],
];

// Errors, actions on many items, jobs of feeds, schedules, and commands to copy.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {waitFor} from './host.mjs';
import {open, until, world} from './cases.mjs';

const WIDTHS = [[1440, 900], [390, 844]];

/** Opens the view at both widths, checks that it fits and is accessible, and makes pictures. */
async function look(at, host, hash, name, ready) {
  for (const scheme of ['light', 'dark'])
    for (const [width, height] of WIDTHS) {
      const viewer = await open(at, host, {width, height, scheme});
      await viewer.go(hash);
      await viewer.reads(viewer.page.getByRole('main'), ready);
      await viewer.fits();
      await viewer.accessible();
      await viewer.picture(name);
    }
}

async function errorsCase(at) {
  const {redis, host} = await world(at, `
[lists.work]
command = ["sh", "-c", "echo 'Traceback: upstream is gone' >&2; exit 3", "{}"]
backoff = { min = "1h", max = "1h" }
`);
  await redis.ask('RPUSH', 'work:list', 'one', 'two', 'https://example.org/a/long/address/of/an/item?with=parameters&more=of-them-that-do-not-fit-in-a-line-of-a-phone');
  await waitFor(async () => Number(await redis.ask('LLEN', 'work:failed-runs')) >= 3, 'runs');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/errors');
  await viewer.signIn(host.token);
  const dialog = page.getByRole('dialog');
  const groups = page.getByRole('region', {name: 'Groups of errors'});
  await viewer.reads(groups, /exit status 3: Traceback: upstream is gone[^]*3 runs of 3 items/);
  await groups.getByRole('button', {name: 'Quarantine all …'}).click();
  await viewer.reads(dialog, /3 items of work that failed with this message/);
  await dialog.getByRole('button', {name: 'Quarantine all'}).click();
  await viewer.reads(dialog, /3 items: quarantined/);
  assert.equal(await redis.ask('HLEN', 'work:quarantined'), 3);
  // The dialog closes when the view changes.
  await page.evaluate(() => {
    location.hash = '#/fleet';
  });
  await dialog.waitFor({state: 'hidden'});
  await viewer.go('#/errors');
  await viewer.follow(groups.getByRole('link', {name: /upstream is gone/}));
  await viewer.reads(page.getByRole('region', {name: 'Traceback'}), /Traceback: upstream is gone/);
  await viewer.reads(page.getByRole('table', {name: 'Runs that ended'}), /one[^]*failed/);
  await viewer.reads(page.getByRole('region', {name: 'On the command line'}), /w8yctl errors --since 1d work [0-9a-f]{8} --release/);
  await look(at, host, new URL(page.url()).hash, 'error', /Traceback: upstream/);
  await look(at, host, '#/errors', 'errors', /3 runs of 3 items/);
}

async function bulkCase(at) {
  const {redis, host} = await world(at, `[lists.work]\n${until(join(at.home, 'go'))}\n`);
  await redis.ask('RPUSH', 'work:list', 'one');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/lists/work');
  await viewer.signIn(host.token);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', {name: 'Add items …'}).click();
  await dialog.getByLabel('Items, one on each line').fill('two\nthree\none\n');
  await dialog.getByRole('button', {name: 'Add items'}).click();
  await viewer.reads(dialog, /2 added; 1 there already/);
  const added = await redis.ask('LRANGE', 'work:changes', '0', '-1');
  assert.deepEqual(added.map((text) => JSON.parse(text)).map(({change, item, by}) => [change, item, by]), [['added', 'three', 'the page'], ['added', 'two', 'the page']]);
  await dialog.getByRole('button', {name: 'Close'}).click();
  const items = page.getByRole('region', {name: 'Items', exact: true});
  for (const name of ['two', 'three']) await items.getByRole('checkbox', {name: `Choose ${name}`}).check();
  await viewer.reads(items, /2 chosen/);
  await items.getByRole('button', {name: 'Quarantine …'}).click();
  await dialog.getByRole('button', {name: 'Quarantine'}).click();
  await viewer.reads(dialog, /2 items: quarantined/);
  await dialog.getByRole('button', {name: 'Close'}).click();
  assert.equal(await redis.ask('HLEN', 'work:quarantined'), 2);
  await page.getByRole('button', {name: 'Sign out'}).click();
  await viewer.sees(page.getByRole('button', {name: 'Sign in …'}));
}

async function workCase(at) {
  const {redis, host} = await world(at, `
[lists.mix]
source = "schedule"
key_prefix = "bike"
queues = "A"
command = ["true"]
[lists.sums]
source = "job"
concurrency = 0
command = ["true"]
`);
  host.ctl('schedule', '-k', 'bike', 'set', 'hourly:A', 'FREQ=HOURLY;BYMINUTE=0;BYSECOND=0');
  host.ctl('feed', 'create', 'sums', '--kind', 'job', '--exists-ok');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/schedules/mix');
  await page.getByText('schedule -k bike list').waitFor();
  // The page shows bad jobs above all other jobs.
  await redis.ask('HSET', 'bike-schedules', 'broken:A', 'FREQ=DALY');
  await redis.ask('HSET', 'bike-statuses', 'broken:A', `BAD:${Math.floor(Date.now() / 1000)}`);
  const bad = page.getByRole('region', {name: 'Bad and died jobs'});
  await viewer.reads(bad, /broken:A/);
  const top = async (part) => (await part.boundingBox()).y;
  assert.ok(await top(bad) < await top(page.getByRole('img', {name: /^All jobs:/})));
  const times = host.ctl('schedule', '-k', 'bike', 'next', 'hourly:A', '--json').match(/\d{10,13}/g).map(Number);
  const agenda = page.getByRole('table', {name: 'Due in the next 24 hours'});
  await viewer.reads(agenda, /hourly:A/);
  const shown = await agenda.locator('time').evaluateAll((all) => all.map((one) => Date.parse(one.title)));
  assert.deepEqual(shown, times.map((each) => (each < 1e11 ? each * 1000 : each)));
  await viewer.go('#/feeds/sums');
  await viewer.signIn(host.token, 'alice');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', {name: 'Put job …'}).click();
  await dialog.getByLabel('Payloads, one on each line').fill('the payload');
  await dialog.getByLabel(/^ID/).fill('j1');
  await dialog.getByRole('button', {name: 'Put job'}).click();
  await viewer.reads(dialog, /1 added/);
  await dialog.getByRole('button', {name: 'Close'}).click();
  await viewer.reads(page.getByRole('table', {name: 'Jobs'}), /j1[^]*queued[^]*the payload/);
  assert.match(await redis.ask('LINDEX', 'sums:changes', '0'), /"change":"added","item":"j1","by":"alice"/);
  await redis.ask('LREM', 'feed.ids:sums', '0', 'j1');
  await redis.ask('SADD', 'feed.stalled:sums', 'j1');
  const stalled = page.getByRole('region', {name: 'Stalled jobs'});
  await stalled.getByRole('checkbox', {name: /Choose all/}).check();
  await stalled.getByRole('button', {name: 'Retry …'}).click();
  await dialog.getByRole('button', {name: 'Retry'}).click();
  await viewer.reads(dialog, /j1: queued again/);
  assert.equal(await redis.ask('SCARD', 'feed.stalled:sums'), 0);
  await look(at, host, '#/schedules/mix', 'schedule-next', /hourly:A/);
  await look(at, host, '#/feeds/sums', 'feed', /the payload/);
}

export const errorCases = [
  ['errors', errorsCase],
  ['many items', bulkCase],
  ['schedules and feeds', workCase],
];

// Pauses, restarts, several hosts, and runs with their items.
import assert from 'node:assert/strict';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Host, waitFor} from './host.mjs';
import {MIX_AND_SUMS, fillMixAndSums, open, until, world} from './cases.mjs';

/** Any client pauses lists from which this host does not claim: full, ineligible or disabled lists. */
async function pauseCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.full]
${until(gate)}
[lists.ineligible]
executor = "/nonexistent"
[lists.off]
command = ["true"]
enabled = false
`);
  await redis.ask('RPUSH', 'full:list', 'one', 'two');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/lists');
  const table = page.getByRole('table', {name: 'Lists'});
  await viewer.reads(table.getByRole('row', {name: /full/}), /running/);
  // Hosts receive a notification of pauses by any client.
  assert.equal((await redis.ask('PUBSUB', 'NUMSUB', 'w8y-fleet:changes'))[1], 1);
  for (const name of ['full', 'ineligible', 'off']) host.ctl('pause', name, '--reason', 'by ctl');
  for (const name of ['full', 'ineligible', 'off']) await viewer.reads(table.getByRole('row', {name}), /paused: by ctl/);
  host.ctl('resume', 'ineligible');
  await waitFor(async () => !/by ctl/.test(await table.getByRole('row', {name: 'ineligible'}).innerText()), 'the end of the pause');
  const answer = await host.api('lists/ineligible/pause', {method: 'POST', headers: {'Content-Type': 'application/json', Authorization: `Bearer ${host.token}`}, body: '{"reason":"by API"}'});
  assert.equal(answer.result, 'paused');
  await viewer.reads(table.getByRole('row', {name: 'ineligible'}), /paused: by API/);
  writeFileSync(gate, '');
}

async function breakCase(at) {
  const {redis, host} = await world(at, '[lists.work]\ncommand = ["true"]\ncooldown = "1h"\n');
  const viewer = await open(at, host, {expected: /net::ERR|503/});
  const {page} = viewer;
  await viewer.go('#/');
  await viewer.reads(page.getByRole('banner'), /live/);
  await redis.stop();
  await viewer.reads(page.getByRole('region', {name: 'Problems'}), /Redis\s+Redis unavailable: /);
  await viewer.reads(page.getByRole('alert'), /Redis unavailable since \d\d:\d\d:\d\d/);
  await redis.start();
  await viewer.reads(page.getByRole('main'), /No problems/);
  await host.stop('SIGKILL');
  await viewer.reads(page.getByRole('alert'), /Disconnected since \d\d:\d\d:\d\d/);
  await viewer.reads(page.getByRole('banner'), /disconnected since/);
  await viewer.picture('not-connected');
  await redis.ask('RPUSH', 'work:list', 'meanwhile');
  await host.start();
  await viewer.reads(page.getByRole('banner'), /live/);
  assert.equal(await page.getByRole('alert').count(), 0);
  await viewer.sees(page.getByRole('img', {name: /in the last hour: 1 run,/}), 'what ran meanwhile');
}

async function fleetCase(at) {
  const gate = join(at.home, 'go');
  const lists = `[lists.work]\n${until(gate)}\n[lists.gpu]\nexecutor = "${at.source}/executors/superman.py"\n`;
  const {redis, host} = await world(at, lists, {more: 'host_concurrency = 4'});
  const beta = new Host(at.bin, join(at.home, 'beta'), 'beta', redis);
  await beta.configure(`${lists}requires = ["gpu"]\n[lists.own]\ncommand = ["true"]\n`);
  await beta.start();
  at.defer(() => beta.stop());
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go('#/fleet');
  const grid = page.getByRole('table', {name: 'Lists by host'});
  await viewer.reads(grid.getByRole('row', {name: /gpu/}), /ineligible[^]*lacks the capability "gpu"/);
  await viewer.reads(grid.getByRole('row', {name: /own/}), /–/);
  await redis.ask('RPUSH', 'work:list', 'a', 'b');
  await viewer.go('#/lists/work');
  await viewer.reads(page.getByRole('table', {name: 'Hosts that have this list'}), /alpha[^]*beta/);
  await viewer.reads(page.getByRole('region', {name: 'Running now'}), /on beta for/);
  await viewer.go('#/fleet');
  await viewer.sees(page.getByRole('progressbar', {name: 'Slots in use on alpha'}), 'the slots of alpha');
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('fleet');
  writeFileSync(gate, '');
  if (!at.long) return; // takes 30 s
  await beta.stop('SIGKILL');
  await viewer.reads(page.getByRole('table', {name: 'Hosts of the fleet'}).getByRole('row', {name: /beta/}), /unresponsive/, 60000);
}

/** The page of any host shows the output of a run, and the cycle time while hosts come and go. */
async function farCase(at) {
  const gate = join(at.home, 'go');
  mkdirSync(at.home, {recursive: true});
  const program = join(at.home, 'teller');
  writeFileSync(program, `#!/usr/bin/python3
import json, os, sys, time
if sys.argv[-1] == "--caps":
    print(json.dumps({"type": "caps", "caps": ["single", "progress", "updates"]}))
    sys.exit()
def tell(**what):
    print(json.dumps(what), flush=True)
sys.stdin.read()
print("first line", file=sys.stderr, flush=True)
step = 0
while not os.path.exists(${JSON.stringify(gate)}):
    step += 1
    tell(type="progress", numerator=min(step, 7), denominator=10)
    tell(type="update", data={"frame": "<b>%d</b>" % step})
    print("step %d" % step, file=sys.stderr, flush=True)
    time.sleep(0.2)
tell(type="complete")
`);
  chmodSync(program, 0o755);
  // Another host has left this: half an hour ago, the cycle time was ten minutes.
  const now = Date.now();
  const seeded = {at_ms: now, items: {length: 2}, cycle_ms: 60000, cycles: [Math.floor(now / 900000) - 2, 600000]};
  const {redis, host} = await world(at, '[lists.far]\ncommand = ["true"]\nconcurrency = 0\n[lists.round]\ncommand = ["true"]\noverdue_after = "1h"\n');
  await redis.ask('HSET', 'w8y-fleet:stats', 'list:round', JSON.stringify(seeded));
  await redis.ask('RPUSH', 'round:list', 'a', 'b');
  const beta = new Host(at.bin, join(at.home, 'beta'), 'beta', redis);
  await beta.configure(`[lists.far]\nexecutor = "${program}"\n`);
  await beta.start();
  at.defer(() => beta.stop());
  await redis.ask('RPUSH', 'far:list', 'item');
  const lock = await waitFor(() => redis.ask('GET', 'far:lock:item'), 'the run');
  const viewer = await open(at, host);
  const {page} = viewer;
  await viewer.go(`#/runs/${/:(\w+)$/.exec(lock)[1]}`);
  await viewer.reads(page.getByRole('main'), /Run of item[^]*running[^]*beta/);
  const log = page.getByRole('log');
  await viewer.reads(log, /first line[^]*step \d/);
  await viewer.reads(log, /update {"frame":"<b>\d+<\/b>"}/);
  await viewer.reads(page.getByRole('main'), /7 of 10/);
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('run-far');
  writeFileSync(gate, '');
  await viewer.reads(page.getByRole('heading', {level: 1}).locator('xpath=..'), /succeeded/);

  await viewer.go('#/lists/round');
  await viewer.sees(page.getByRole('img', {name: /Cycle time in the last six hours: between .+ and 10 min/}), 'the cycle times');
  await viewer.accessible();
}

async function runsCase(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.work]
command = ["sh", "-c", "echo oh, '<b>no</b>' >&2; while [ ! -e ${gate} ]; do sleep 0.05; done; exit 3", "{}"]
cooldown = "1h"
backoff = { min = "1h", max = "1h" }
${MIX_AND_SUMS}`);
  fillMixAndSums(host, ['one', 'two']);
  await redis.ask('RPUSH', 'work:list', 'a/b <i>', 'second');
  // A run that has just ended has no output stream, and no record until w8yd has written it.
  const viewer = await open(at, host, {expected: /404 .*\/api\/v1\/runs\/\w+(\/logs)?$/});
  const {page} = viewer;
  await viewer.go('#/lists/work');
  const items = page.getByRole('table', {name: 'Items'});
  await viewer.reads(items.getByRole('row', {name: /a\/b <i>/}), /running[^]*on alpha/);
  await viewer.reads(items.getByRole('row', {name: /second/}), /free/);
  const id = /:(\w+)$/.exec(await redis.ask('GET', 'work:lock:a/b <i>'))[1];
  await viewer.follow(page.getByRole('region', {name: 'Running now'}).getByRole('link', {name: 'run'}));
  await viewer.reads(page.getByRole('main'), new RegExp(`Run of a/b <i>[^]*running[^]*alpha[^]*${id}`));
  // A command cancels a run and quarantines its item.
  await viewer.signIn(host.token);
  await page.getByRole('button', {name: 'Cancel and quarantine …'}).click();
  const dialog = page.getByRole('dialog');
  await viewer.reads(dialog, /does not run until it is released/);
  await dialog.getByRole('button', {name: 'Cancel and quarantine'}).click();
  await dialog.getByRole('button', {name: 'Close'}).click();
  await viewer.reads(page.getByRole('heading', {level: 1}).locator('xpath=..'), /cancelled/);
  await waitFor(async () => (await redis.ask('HEXISTS', 'work:quarantined', 'a/b <i>')) === 1, 'the quarantine');
  writeFileSync(gate, '');
  await waitFor(async () => Number(await redis.ask('LLEN', 'work:failed-runs')) >= 2, 'the second run');
  await viewer.go('#/lists/work');
  const past = page.getByRole('table', {name: 'Runs that ended'});
  await viewer.reads(past.getByRole('row', {name: /second/}), /failed[^]*exit status 3/);
  await viewer.reads(past.getByRole('row', {name: /a\/b <i>/}), /cancelled/);
  await viewer.follow(past.getByRole('row', {name: /second/}).getByRole('link', {name: 'show'}));
  await viewer.reads(page.getByRole('region', {name: 'End of log output'}), /oh, <b>no<\/b>/);
  await viewer.reads(page.getByRole('main'), /Exit status\s+3/);
  await viewer.accessible();
  await viewer.picture('run');

  await viewer.go('#/lists/work');
  await viewer.follow(items.getByRole('link', {name: 'a/b <i>'}));
  await viewer.sees(viewer.heading('a/b <i>'));
  await viewer.reads(page.getByRole('region', {name: 'Status'}), /./);
  await page.getByRole('button', {name: 'Release …'}).click();
  await dialog.getByRole('button', {name: 'Release'}).click();
  await waitFor(async () => (await redis.ask('HEXISTS', 'work:quarantined', 'a/b <i>')) === 0, 'the release');
  await dialog.getByRole('button', {name: 'Close'}).click();
  await viewer.accessible();
  await viewer.picture('item');

  // Run now ignores the delay of an item.
  await viewer.go('#/lists/work/items/second');
  await viewer.reads(page.getByRole('region', {name: 'Why it does not run'}), /delay/i);
  const before = Number(await redis.ask('LLEN', 'work:failed-runs'));
  await page.getByRole('button', {name: 'Run now …'}).click();
  await viewer.reads(dialog, /Runs second now[^]*ignoring a delay/);
  await dialog.getByRole('button', {name: 'Run now'}).click();
  await dialog.getByRole('button', {name: 'Close'}).click();
  await waitFor(async () => Number(await redis.ask('LLEN', 'work:failed-runs')) > before, 'the run');

  await viewer.go('#/schedules');
  await viewer.reads(page.getByRole('region', {name: 'mix'}), /On the timeline\s+1[^]*daily:A/);
  await viewer.follow(page.getByRole('region', {name: 'mix'}).getByRole('link', {name: 'mix'}));
  await viewer.reads(page.getByRole('table', {name: 'Jobs'}).getByRole('row', {name: /daily:A/}), /every day at 09:00/i);
  await viewer.accessible();
  await viewer.picture('schedule');
  await viewer.go('#/feeds');
  await viewer.reads(page.getByRole('table', {name: 'Feeds'}).getByRole('row', {name: /sums/}), /^sums\s+2\s+0\s+0\s+0\s+2\s+0/);
  await viewer.accessible();
  await viewer.picture('feeds');
}

export const runCases = [
  ['a pause', pauseCase],
  ['restarts', breakCase],
  ['fleet', fleetCase],
  ['another host', farCase],
  ['runs and items', runsCase],
];

// Lists with jobs from a gearmand.
import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Gearman, waitFor} from './host.mjs';
import {open, until, world} from './cases.mjs';

async function gearmanCase(at) {
  mkdirSync(at.home, {recursive: true});
  const server = new Gearman(at.home);
  await server.start();
  at.defer(() => server.kill());
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[gearman]
servers = ["127.0.0.1:${server.port}"]
[lists.thumbs]
source = "gearman"
${until(gate)}
concurrency = 2
`);
  const viewer = await open(at, host, {expected: /409/}); // no ring, no items
  const {page} = viewer;
  await viewer.go('#/');
  server.put('thumbs', '<b>cat</b>.png', 'one');
  const running = page.getByRole('region', {name: 'Running now'});
  await viewer.reads(running, /<b>cat<\/b>\.png in thumbs[^]*on alpha for/);

  // There is no ring to draw and there are no items to list: the page names the location of the jobs.
  await viewer.go('#/lists/thumbs');
  await viewer.reads(page.getByRole('region', {name: 'Running now'}), /<b>cat<\/b>\.png/);
  await viewer.reads(page.getByRole('region', {name: 'The ring'}), /only circular lists have a ring/);
  await viewer.reads(page.getByRole('region', {name: 'Items'}), /gearmand/);
  await viewer.accessible();
  await viewer.fits();
  await viewer.picture('gearman');

  writeFileSync(gate, '');
  await waitFor(async () => Number(await redis.ask('LLEN', 'thumbs:runs')) === 1, 'the run to be over');
  await viewer.reads(page.getByRole('table', {name: /runs/i}), /succeeded[^]*<b>cat<\/b>\.png|<b>cat<\/b>\.png[^]*succeeded/);

  // An unavailable server is a problem until it is available again.
  await server.kill();
  await viewer.go('#/');
  const wrong = page.getByRole('region', {name: 'Problems'});
  await viewer.reads(wrong, new RegExp(`Gearman\\s+gearmand unavailable: 127\\.0\\.0\\.1:${server.port}: `));
  await viewer.accessible();
  await server.start();
  await waitFor(async () => (await wrong.filter({hasText: 'Gearman'}).count()) === 0, 'the trouble to be over');
  assert.equal((await host.api('status?lists=no')).gearman[0].connected, 1);
}

export const gearmanCases = Gearman.isHere() ? [['gearman', gearmanCase]] : [];

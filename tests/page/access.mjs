// The central views for operators that use only a keyboard, or a screen reader: walks by roles and names.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {waitFor} from './host.mjs';
import {MIX_AND_SUMS, fillMixAndSums, open, until, world} from './cases.mjs';

/** A host whose views all have content: {viewer, views}; each view is [address, heading, parts by role and name]. */
async function walk(at) {
  const gate = join(at.home, 'go');
  const {redis, host} = await world(at, `
[lists.films]
${until(gate)}
[lists.broken]
command = ["sh", "-c", "echo upstream is gone >&2; exit 7"]
max_failures = 1
${MIX_AND_SUMS}`, {more: 'host_concurrency = 4'});
  at.defer(() => writeFileSync(gate, ''));
  fillMixAndSums(host);
  await redis.ask('RPUSH', 'films:list', 'reel');
  await redis.ask('RPUSH', 'broken:list', 'invoice');
  await waitFor(async () => Number(await redis.ask('LLEN', 'broken:failed-runs')) === 1, 'the failure');
  const id = /:(\w+)$/.exec(await waitFor(() => redis.ask('GET', 'films:lock:reel'), 'the run'))[1];
  const viewer = await open(at, host);
  await viewer.go('#/');
  await viewer.signIn(host.token);
  return {viewer, views: [
    ['#/', 'Overview', ['region "Problems"', 'heading "Running now" [level=2]', 'table "Slots in use by host"', 'link "reel"']],
    ['#/lists', 'Lists', ['searchbox "Search"', 'combobox "State"', 'table "Lists"', 'rowheader "films"', 'columnheader "Failed, 1 h"']],
    ['#/lists/films', 'films', ['img "The ring of films: 1 item', 'region "Running now"', 'region "Items"', 'region "History"', 'button "Pause …"']],
    ['#/lists/broken/items/invoice', 'invoice', ['region "Why it does not run"', 'region "Timeline"', 'button "Release …"', 'button "Copy: Explain its state"']],
    [`#/runs/${id}`, 'Run of reel', ['region "Running"', 'button "Cancel …"', 'region "On the command line"']],
    ['#/errors', 'Errors', ['region "Groups of errors"', 'link "exit status 7: upstream is gone"', 'button "Release all …"']],
    ['#/fleet', 'Fleet', ['table "Hosts of the fleet"', 'progressbar "Slots in use on alpha"', 'table "Lists by host"', 'button "Quiet …"']],
    ['#/schedules', 'Schedules', ['region "mix"', 'img "mix: 1 due in the next 24 hours"', 'table "Due in the next 24 hours"']],
    ['#/feeds', 'Feeds', ['table "Feeds"', 'link "sums"']],
  ]};
}

async function screenReader(at) {
  const {viewer, views} = await walk(at);
  const {page} = viewer;
  for (const [address, heading, parts] of views) {
    await viewer.go(address);
    await viewer.sees(viewer.heading(heading), heading);
    // A reader has the role and name of each part, and no element without a name.
    let tree = '';
    await waitFor(async () => {
      tree = (await page.locator('body').ariaSnapshot()).replace(/^(\s*- )'(.*?)'/gm, '$1$2'); // YAML quotes a name with a colon
      return parts.every((part) => tree.includes(`- ${part}`));
    }, `the parts of ${heading}`, 30000).catch((error) => {
      throw new Error(`${error.message}: ${parts.filter((part) => !tree.includes(`- ${part}`)).join(', ')} not in\n${tree}`);
    });
    const nameless = tree.split('\n').filter((line) => /^\s*- (button|link|searchbox|textbox|combobox|checkbox|img|table|region|progressbar|log)(?! ")/.test(line));
    assert.deepEqual(nameless, [], `${heading} has elements without a name`);
    // Landmarks, one heading of level 1, and no skipped level.
    for (const mark of ['- banner:', '- navigation "Views":', '- main:']) assert.ok(tree.includes(mark), `${heading} lacks ${mark}`);
    const levels = [...tree.matchAll(/- heading .*\[level=(\d)\]/g)].map(([, level]) => Number(level));
    assert.equal(levels.filter((level) => level === 1).length, 1, `${heading}: ${levels}`);
    levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `${heading}: levels ${levels}`));
    assert.match(await page.title(), / – w8y$/);
  }
}

/** Presses Tab through a view. Returns the names in their order; each has the focus where it can be seen. */
async function tabs(page, most = 80) {
  const names = [];
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const {left, top, right, bottom} = one.getBoundingClientRect();
      const {outlineStyle, outlineWidth} = getComputedStyle(one);
      return {name: (one.getAttribute('aria-label') || one.innerText || one.name || one.tagName).trim(), last: one.dataset.walked === 'yes',
        seen: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight, outline: outlineStyle !== 'none' && outlineWidth !== '0px', mark: (one.dataset.walked = 'yes')};
    });
    if (!at || at.last) return names; // the end of the page, or its start again
    assert.ok(at.seen && at.outline, `the focus on "${at.name}" cannot be seen: ${JSON.stringify(at)}`);
    names.push(at.name);
  }
  return names;
}

async function keyboardOnly(at) {
  const {viewer, views} = await walk(at);
  const {page} = viewer;
  // Elements that Tab reaches in each view, in this order.
  const order = {
    Overview: [/^Quarantined/, /^Last hour$/, /^reel$/],
    Lists: [/^broken$/, /^films$/],
    films: [/^Lists$/, /^Pause …$/, /^The ring of films/, /^reel$/],
    invoice: [/^broken$/, /^Release …$/, /^Copy: Explain its state$/],
    'Run of reel': [/^films$/, /^Cancel …$/, /^Copy: Show it$/],
    Errors: [/^exit status 7/, /^Release all …$/],
    Fleet: [/^Reload …$/, /^Quiet …$/, /^Drain …$/],
    Schedules: [/^daily:A$/, /^mix$/],
    Feeds: [/^sums$/],
  };
  for (const [address, heading] of views) {
    await page.goto('about:blank'); // the start of the page has the focus again
    await viewer.go(address);
    await viewer.sees(viewer.heading(heading), heading);
    await waitFor(async () => !/Loading …/.test(await page.getByRole('main').innerText()), `${heading}, whole`);
    const names = await tabs(page);
    assert.equal(names[0], 'Skip to content', heading);
    let from = -1;
    for (const part of order[heading]) {
      const next = names.findIndex((name, i) => i > from && part.test(name));
      assert.ok(next > from, `${heading}: Tab does not reach ${part} after ${names[from]}: ${names.join(' | ')}`);
      from = next;
    }
  }
  // The dialog keeps the focus. After it, the button has the focus again.
  await viewer.go('#/lists/films');
  const pause = page.getByRole('button', {name: 'Pause …'});
  await pause.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', {name: 'Pause'});
  await viewer.sees(dialog, 'the dialog');
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('dialog')), 'the focus leaves the dialog');
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({state: 'hidden'});
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Pause …');
}

export const accessCases = [
  ['screen reader', screenReader],
  ['keyboard only', keyboardOnly],
];

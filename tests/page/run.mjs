// Tests of the page in Debian's Chromium: compares its text with Redis, processes and files.
//
//   node run.mjs --bin BUILD/src/app --modules DIRECTORY [--pictures DIRECTORY] [--long] [NAME...]
//
// Uses one width and theme. With --long, uses all widths and themes, and measures ten thousand lists.
import {parseArgs} from 'node:util';
import {rmSync} from 'node:fs';
import {CHROMIUM, launch, load} from './browser.mjs';
import {makeHome} from './host.mjs';
import {accessCases} from './access.mjs';
import {cases} from './cases.mjs';
import {errorCases} from './errors.mjs';
import {gearmanCases} from './gearman.mjs';
import {longCases} from './long.mjs';
import {operatorCases} from './operator.mjs';
import {runCases} from './runs.mjs';
import {taskCases} from './tasks.mjs';

const CASES_AT_ONCE = 2;

const {values, positionals} = parseArgs({allowPositionals: true, options: {
  bin: {type: 'string'}, modules: {type: 'string'}, source: {type: 'string'}, pictures: {type: 'string'}, long: {type: 'boolean', default: Boolean(process.env.W8Y_TEST_LONG)}}});

if (!CHROMIUM) {
  console.log('skipped: there is no Chromium');
  process.exit(77);
}
let parts;
try {
  parts = load(values.modules);
} catch (error) {
  console.log(`skipped: playwright-core and axe-core are not in ${values.modules}: ${error.message.split('\n')[0]}`);
  process.exit(77);
}

let passed = 0;
let failed = 0;
const {home, remove} = makeHome();
const browser = await launch(parts.chromium);
// The case of taskCases takes longest, so it starts first.
const all = [...taskCases, ...cases, ...runCases, ...accessCases, ...errorCases, ...gearmanCases, ...operatorCases, ...(values.long ? longCases : [])];
if (values.pictures) rmSync(values.pictures, {recursive: true, force: true});
const chosen = all.filter(([name]) => !positionals.length || positionals.some((word) => name.includes(word)));

async function run(name, test, number) {
  const begun = Date.now();
  const after = [];
  const at = {bin: values.bin, source: values.source, home: `${home}/${number}`, browser, axe: parts.axe, pictures: values.pictures, long: values.long, defer: (act) => after.unshift(act)};
  try {
    await test(at);
    passed++;
    console.log(`ok    ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
  for (const act of after)
    try {
      await act();
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}, behind it: ${error.message}`);
    }
}

// Cases share only the browser, and mostly wait. The long cases measure the cost of w8yd and of the page.
const waiting = chosen.map(([name, test], number) => () => run(name, test, number));
async function runWaiting() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
}
await Promise.all(Array.from({length: values.long ? 1 : CASES_AT_ONCE}, runWaiting));
await browser.close();
remove();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

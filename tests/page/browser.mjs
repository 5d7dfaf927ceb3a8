// Chromium, and the steps that all page tests share. They read the page by roles and names.
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {waitFor} from './host.mjs';

/** Loads both modules from a directory outside of the sources, where scripts/test installs them. */
export function load(modules) {
  const require = createRequire(join(modules, 'package.json'));
  return {chromium: require('playwright-core').chromium, axe: readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')};
}

export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export async function launch(chromium) {
  return chromium.launch({executablePath: CHROMIUM, timeout: 120000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--hide-scrollbars']});
}

export class Viewer {
  static async open(browser, {url, width = 1440, height = 900, scheme = 'light', pictures, axe, expected, javaScriptEnabled = true}) {
    const context = await browser.newContext({viewport: {width, height}, colorScheme: scheme, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC', javaScriptEnabled, bypassCSP: false});
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    const viewer = new Viewer();
    // `expected`: errors in the console that the case causes.
    Object.assign(viewer, {context, page, url, pictures, axe, width, scheme, expected, complaints: []});
    // The page must send no request to another server.
    page.on('request', (request) => {
      if (!request.url().startsWith(url)) viewer.complaints.push(`asked ${request.url()}`);
    });
    page.on('pageerror', (error) => viewer.complaints.push(`threw ${error.stack}`));
    page.on('console', (message) => {
      const text = `${message.text()} ${message.location().url}`;
      if (message.type() === 'error' && !viewer.expected?.test(text)) viewer.complaints.push(text);
    });
    return viewer;
  }
  async go(hash) {
    await this.page.goto(`${this.url}/${hash}`);
  }
  heading(name, level = 1) {
    return this.page.getByRole('heading', {name, level, exact: true});
  }
  text(name) {
    return this.page.getByText(name, {exact: true}).first();
  }
  async sees(locator, what) {
    await waitFor(() => locator.isVisible(), what || `${locator}`, 30000);
  }
  /** Waits until the text of a locator matches. */
  async reads(locator, pattern, limit = 30000) {
    let said = '';
    try {
      return await waitFor(async () => {
        said = await locator.innerText({timeout: 1000}).catch((error) => String(error));
        return pattern.test(said) ? said : false;
      }, `${pattern}`, limit);
    } catch (error) {
      const all = await this.page.locator('main').innerText({timeout: 1000}).catch(String);
      throw new Error(`${error.message}; it says: ${said.slice(0, 600)}; ${this.page.url()} says: ${all.slice(0, 2000)}`);
    }
  }
  /** Uses the keyboard: while content above a link still loads, the link moves and a mouse misses it. */
  async follow(link) {
    await link.press('Enter');
  }
  /** Checks that nothing extends beyond the width of the page. */
  async fits() {
    const [wide, room] = await this.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (wide <= room) return;
    const widest = await this.page.evaluate(() => [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('nav, .wide, .hidden')).slice(-3).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`));
    throw new Error(`the page is ${wide} px wide, in ${room} px: ${widest.join('; ')}`);
  }
  /** Checks that an element is wide enough to be read. */
  async isWide(locator, least) {
    const {width} = await locator.boundingBox();
    if (width < least) throw new Error(`${locator} is ${width} px wide`);
  }
  async picture(name) {
    if (!this.pictures) return;
    mkdirSync(this.pictures, {recursive: true});
    await this.page.screenshot({path: join(this.pictures, `${name}-${this.width}-${this.scheme}.png`)});
  }
  /** Signs in with the token. After that the page has buttons for commands. */
  async signIn(token, name = '') {
    await this.page.getByRole('button', {name: 'Sign in …'}).click();
    const dialog = this.page.getByRole('dialog', {name: 'Sign in'});
    await dialog.getByLabel(/The token/).fill(token);
    await dialog.getByLabel(/Your name/).fill(name);
    await dialog.getByRole('button', {name: 'Sign in'}).click();
    await this.reads(dialog, /Signed in/);
    await dialog.getByRole('button', {name: 'Close'}).click();
  }
  /** Runs the checks of axe-core, and fails with each finding and its location. */
  async accessible() {
    const session = await this.context.newCDPSession(this.page);
    await session.send('Runtime.evaluate', {expression: this.axe});
    const {result} = await session.send('Runtime.evaluate', {awaitPromise: true, returnByValue: true,
      expression: `axe.run(document, {resultTypes: ['violations']}).then((all) => JSON.stringify(all.violations.map((one) => one.id + ': ' + one.help + ' at ' + one.nodes.slice(0, 3).map((node) => node.target.join(' ') + ' [' + node.failureSummary + ']').join(', '))))`});
    await session.detach();
    const found = JSON.parse(result.value);
    if (found.length) throw new Error(`axe finds ${found.join('; ')}`);
  }
  async close() {
    await this.context.close();
    if (this.complaints.length) throw new Error(`the page ${this.complaints.join('; ')}`);
  }
}

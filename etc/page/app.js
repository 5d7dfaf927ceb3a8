// Frame: selects the view, and shows whether its data is current.
import {v, patch, plain, duration, time} from './dom.js';
import {store, start, watch, changed, now} from './store.js';
import {readAddress} from './address.js';
import {askForOrders, token} from './api.js';
import {signIn} from './actions.js';
import {searchBox} from './search.js';
import {overview} from './overview.js';
import {lists} from './lists.js';
import {list} from './list.js';
import {run} from './run.js';
import {item} from './item.js';
import {errors} from './errors.js';
import {fleet} from './fleet.js';
import {feeds, schedules} from './work.js';

const ROUTES = [
  [/^$/, overview, 'overview'],
  [/^lists$/, lists, 'lists'],
  [/^lists\/([^/]*)$/, list, 'lists'],
  [/^lists\/([^/]*)\/items\/([^/]*)$/, item, 'lists'],
  [/^runs\/([^/]+)$/, run, ''],
  [/^errors(?:\/([^/]*)\/([^/]*))?$/, errors, 'errors'],
  [/^fleet$/, fleet, 'fleet'],
  [/^schedules(?:\/([^/]*))?$/, schedules, 'schedules'],
  [/^feeds(?:\/([^/]*))?$/, feeds, 'feeds'],
];
const TABS = [['overview', '#/', 'Overview'], ['lists', '#/lists', 'Lists'], ['errors', '#/errors', 'Errors'], ['fleet', '#/fleet', 'Fleet'], ['schedules', '#/schedules', 'Schedules'], ['feeds', '#/feeds', 'Feeds']];

const app = document.getElementById('app');
let here = null; // {view, tab, args, leave}

function route() {
  const {path, query} = readAddress();
  for (const [pattern, view, tab] of ROUTES) {
    const match = pattern.exec(path);
    if (match) return {view, tab, args: {parts: match.slice(1), query}, path};
  }
  return {view: nothing, tab: '', args: {parts: [], query}, path};
}

const nothing = {
  title: () => 'Not found',
  render: () => [v('h1', 'Page not found'), v('p', v('a', {href: '#/'}, 'Overview'))],
};

function go() {
  const next = route();
  if (here?.leave) here.leave();
  const first = here === null;
  here = {...next, leave: null};
  document.title = `${plain(here.view.title(here.args), 80)} – w8y`;
  if (here.view.enter) here.leave = here.view.enter(here.args);
  render();
  scrollTo(0, 0);
  if (!first) focusMain();
}

function focusMain() {
  const main = document.getElementById('main');
  if (main) main.focus({preventScroll: true});
}

function connection() {
  const text = store.state === 'live' ? 'live' : store.state === 'lost' ? `disconnected since ${time(store.since)}` : 'connecting';
  return v('span', {class: `link ${store.state}`, role: 'status'}, v('span.dot', {'aria-hidden': 'true'}), text);
}

function redisAway() {
  return store.host?.has_redis && !store.host.redis.connected;
}

function banner() {
  if (store.state === 'lost')
    return v('div.banner', {key: 'banner', role: 'alert'},
      v('p', `Disconnected since ${time(store.since)}: ${store.why}. Showing the last known state, ${duration(Date.now() - store.since)} old. Reconnecting …`));
  if (redisAway()) {
    const since = store.host.redis.unavailable_since_ms;
    return v('div.banner', {key: 'banner', role: 'alert'},
      v('p', `Redis unavailable${since ? ` since ${time(since)}` : ''}. Showing the last known state${since ? `, ${duration(Math.max(0, now() - since))} old` : ''}. w8yd reconnects by itself.`));
  }
  if (store.page && !document.querySelector(`script[src*="${store.page}"]`))
    return v('div.banner.calm', {key: 'banner', role: 'status'},
      v('p', 'A new version of this page is available. ', v('a', {href: location.pathname, onclick: () => location.reload()}, 'Reload')));
  return null;
}

function render() {
  const ready = store.host !== null;
  patch(app, [
    v('button.hidden.skip', {key: 'skip', onclick: focusMain}, 'Skip to content'),
    v('header.top', {key: 'top'}, v('div.bar',
      v('a.brand', {href: '#/', 'aria-label': 'w8y, overview'}, v('img', {src: document.querySelector('link[rel=icon]').href, alt: ''}), 'w8y'),
      v('nav', {'aria-label': 'Views'}, TABS.map(([tab, href, text]) => v('a', {key: tab, href, 'aria-current': tab === here.tab ? 'page' : null}, text))),
      searchBox(), signIn(), connection())),
    banner(),
    v('main', {key: 'main', id: 'main', tabindex: -1, class: store.state !== 'live' || redisAway() ? 'stale' : ''},
      v('div.content', {key: here.path}, ready ? here.view.render(here.args)
        : v('p.none', {role: 'status'}, store.why ? `${store.why}. Reconnecting …` : 'Loading …'))),
  ]);
}

watch(() => render());
addEventListener('hashchange', go);
go();
start();
changed();
if (token()) askForOrders().catch(() => {}).then(changed);

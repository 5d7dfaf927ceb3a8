// Problems, active runs, and the last hour.
import {
  v, plain, number, count, time, duration, store, runsNow, fleetHour, now, rows, placesBar, card, rate, rateText, runList,
  sums, table, Sort, num, rowHead} from './parts.js';
import {times} from './charts.js';

const FRESH = 3600000;

function few(rows) {
  const names = rows.slice(0, 3).map((row) => plain(row.name, 60));
  return names.join(', ') + (rows.length > 3 ? ` and ${number(rows.length - 3)} more` : '');
}

function causes(rows, text) {
  const by = new Map();
  for (const row of rows) {
    const why = text(row);
    if (by.has(why)) by.get(why).push(row);
    else by.set(why, [row]);
  }
  return by;
}

/** Returns one line for each problem: {bad, word, text, href}. */
function problems(rows) {
  const all = [];
  const host = store.host;
  const add = (bad, word, text, href) => all.push({bad, word, text, href});
  if (!host) return all;
  for (const {server, error} of host.gearman) if (error) add(true, 'Gearman', `${plain(server)}: ${plain(error)}`, '#/lists');
  if (host.has_redis && !host.redis.connected) {
    const since = host.redis.unavailable_since_ms ? ` since ${time(host.redis.unavailable_since_ms)}` : '';
    add(true, 'Redis', `unavailable${since}: ${plain(host.redis.error)}`, '#/fleet');
  }
  if (host.last_reload_failed) add(true, 'Reload', `failed ${time(host.last_reload_ms)}: ${plain(host.last_reload, 1200)}`, '#/fleet');
  if (host.state !== 'running') add(false, 'Host', `${plain(host.host)} is ${host.state}${host.state === 'quiet' ? ': it starts no new runs' : ''}`, '#/fleet');
  const lines = (bad, word, chosen, text, filter) => {
    for (const [why, of] of causes(chosen, text))
      add(bad, word, `${few(of)}${why ? `: ${plain(why)}` : ''}`, of.length === 1 ? `#/lists/${of[0].key}` : `#/lists?state=${filter}`);
  };
  const on = (name) => (row) => row.hosts.some((one) => one.row.state === name);
  const why = (name) => (row) => row.hosts.find((one) => one.row.state === name).row.reason || '';
  lines(true, 'Unavailable', rows.filter((row) => row.state === 'unavailable' && (host.redis.connected || !host.has_redis)), (row) => row.reason, 'unavailable');
  for (const [word, name] of [['Starved', 'starved'], ['Breaker', 'breaker_open']]) lines(true, word, rows.filter(on(name)), why(name), name);
  lines(true, 'Write error', rows.filter((row) => row.write_error), (row) => row.write_error, 'problems');
  lines(true, 'Ineligible', rows.filter((row) => row.state === 'ineligible'), (row) => row.reason, 'ineligible');
  const parked = rows.filter((row) => quarantined(row) > 0);
  if (parked.length) {
    const items = parked.reduce((sum, row) => sum + quarantined(row), 0);
    add(true, 'Quarantined', `${count(items, 'item')} in ${few(parked)}`, parked.length === 1 ? `#/lists/${parked[0].key}?items=quarantined` : '#/lists?state=quarantined');
  }
  const failing = rows.filter((row) => row.last_error && now() - row.last_error_ms < FRESH);
  if (failing.length) {
    const last = failing.reduce((a, b) => (b.last_error_ms > a.last_error_ms ? b : a));
    add(false, 'Failing', `${few(failing)}; last failure ${time(last.last_error_ms)}: ${plain(last.last_error)}`,
      failing.length === 1 ? `#/lists/${last.key}` : '#/lists?state=failing');
  }
  lines(false, 'Paused', rows.filter((row) => row.pause || row.state === 'paused'), (row) => (row.pause ? row.pause.reason || '' : ''), 'paused');
  const slow = rows.filter((row) => row.overdue_after_ms && row.longest_wait_ms > row.overdue_after_ms);
  if (slow.length) add(false, 'Overdue', `${few(slow)}: items wait longer than overdue_after`, slow.length === 1 ? `#/lists/${slow[0].key}` : '#/lists?state=problems');
  addFleet(add);
  return all;
}

function addFleet(add) {
  const fleet = store.fleet;
  if (!fleet) return;
  if (store.host.format_conflict) add(true, 'Format', plain(store.host.format_conflict), '#/fleet');
  if (fleet.error && store.host.redis.connected) add(false, 'Fleet', plain(fleet.error), '#/fleet');
  for (const host of fleet.hosts || []) {
    const name = plain(host.host || host.host_id);
    if (host.unresponsive_since_ms) add(true, 'Unresponsive', `${name} since ${time(host.unresponsive_since_ms)}`, '#/fleet');
    else if (host.config_outdated) add(false, 'Outdated config', `${name} does not have the latest config of the fleet`, '#/fleet');
    else if (host.error) add(false, 'Fleet', `${name}: ${plain(host.error)}`, '#/fleet');
    if (host.duplicate_name) add(false, 'Fleet', `two hosts have the name ${name}`, '#/fleet');
  }
}

export function quarantined(row) {
  if (row.items?.quarantined !== undefined) return row.items.quarantined;
  return row.quarantined || 0;
}

function places() {
  const hosts = (store.fleet?.hosts || []).filter((host) => !host.unresponsive_since_ms && host.host_id !== store.host.host_id);
  const all = [{host: store.host.host, slots: store.host.slots}, ...hosts];
  const sort = new Sort({Host: (host) => host.host, Used: (host) => host.slots.used, Share: (host) => host.slots.limit && host.slots.used / host.slots.limit}, '', 'slots');
  return v('div.card', v('h2', 'Slots in use'),
    table('Slots in use by host', ['Host', '#Used', '#Limit', 'Share'], sort.of(all).map((host) => v('tr', {key: host.host_id || 'own'},
      rowHead(plain(host.host || '', 60)), num(host.slots.used),
      v('td.n', host.slots.limit ? number(host.slots.limit) : 'none'),
      v('td', host.slots.limit ? placesBar(host) : '–'))), sort));
}

export const overview = {
  title: () => 'Overview',
  render() {
    const lists = rows();
    const wrong = problems(lists);
    const hour = fleetHour();
    const [ended, failed] = sums(hour);
    const running = lists.reduce((sum, row) => sum + row.running, 0);
    const runs = runsNow();
    const hosts = count(1 + store.remote.size, 'host');
    return [
      v('div.head', v('h1', 'Overview'),
        v('span.sub', `${plain(store.host.host)}, w8yd ${plain(store.host.version)}, up ${duration(now() - store.host.started_ms)}`)),
      wrong.length
        ? v('section', {'aria-labelledby': 'wrong'}, v('h2', {id: 'wrong', class: 'hidden'}, 'Problems'),
          v('ul.wrong', wrong.slice(0, 40).map((one) => v('li', {class: one.bad ? 'bad' : ''},
            v('a', {href: one.href}, v('b', one.word), v('span', one.text)))),
          wrong.length > 40 && v('li', v('div', `and ${number(wrong.length - 40)} more`))))
        : v('p.well', 'No problems'),
      v('div.tiles',
        tile('Runs now', number(running), `in ${count(lists.filter((row) => row.running > 0).length, 'list')}, on ${hosts}`),
        tile('Runs per minute', rateText(rate(sums(hour.slice(-11))[0])), `average of the last 10 min, on ${hosts}`),
        tile('Failed, last hour', number(failed), `of ${count(ended, 'run')} on ${hosts}`),
        tile('Lists', number(lists.length), `${number(lists.filter((row) => row.state === 'idle').length)} idle now, on ${hosts}`)),
      v('div.grid', times('')),
      v('div.grid.main',
        card('now', 'Running now',
          runList(runs, running)),
        places()),
    ];
  },
};

function tile(name, value, note) {
  return v('div.card.tile', v('h2.note', name), v('div.big', value), v('span.note', note));
}

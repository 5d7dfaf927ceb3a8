// Hosts by lists: runs of each, and ineligible lists with the reason.
import {
  v, plain, number, count, duration, time, now, rows as allLists, searchField, store, Slice, Sort, card, listLink, param, placesBar, scope, state,
  table, tools, rowHead, path, query} from './parts.js';
import {actions} from './actions.js';

let lists = null;
let columns = null;

function hostOrders(host) {
  const to = (word) => path(word) + query({host: host.host_id});
  const name = plain(host.host, 60);
  const runs = host.slots.used;
  const all = [{word: 'Reload', path: to('reload'), what: `${name} reads its config file again. If the file has errors, nothing changes, and this dialog lists them.`}];
  if (host.state === 'quiet') all.push({word: 'Resume', path: to('resume'), what: `${name} starts runs again.`});
  else all.push({word: 'Quiet', path: to('quiet'), what: `${name} starts no new runs; ${runs === 1 ? '1 run continues' : `${number(runs)} runs continue`}. Resume ends the quiet state.`});
  all.push({word: 'Drain', bad: true, path: to('drain'), what: `${name} starts no new runs. After drain_timeout, w8yd stops the runs that are still active (now ${number(runs)}), and exits.`});
  return actions(all);
}

const order = new Sort({
  Host: (host) => host.host || host.host_id,
  State: (host) => host.state,
  Config: (host) => (host.config_outdated ? 0 : 1),
  Version: (host) => host.version,
  'Last heartbeat': (host) => -host.last_heartbeat_ms,
  Slots: (host) => host.slots.used,
  'Min lease margin': (host) => host.min_lease_margin_ms,
});

function hostsTable(hosts) {
  return card('hosts', 'Hosts',
    table('Hosts of the fleet', ['Host', 'State', 'Config', 'Version', 'Last heartbeat', 'Slots', 'Min lease margin', 'Actions'], hosts.map((host) => v('tr', {key: host.host_id},
        rowHead(v('b', plain(host.host || host.host_id, 60)), host.host_id === store.host.host_id && v('div.note', 'this page')),
        v('td', state(host.state), host.unresponsive_since_ms && v('div.note', `since ${time(host.unresponsive_since_ms)}`), host.error && v('div.note', plain(host.error)), host.duplicate_name && v('div.note', 'another host has this name')),
        v('td', `generation ${number(host.generation)}`, v('div.note.item', plain((host.config_hash || '').slice(0, 12))), host.config_outdated && state('outdated')),
        v('td', plain(host.version, 30)),
        v('td', duration(Math.max(0, now() - host.last_heartbeat_ms)), ' ago'),
        v('td', host.slots.limit ? [`${number(host.slots.used)} / ${number(host.slots.limit)}`, placesBar(host)] : number(host.slots.used)),
        v('td', host.min_lease_margin_ms === null ? '–' : duration(host.min_lease_margin_ms)),
        v('td', v('div.acts', hostOrders(host))))), order));
}

function cell(row, hosts, host) {
  const found = row.hosts.find((one) => host.host_id === (one.id || store.host.host_id));
  if (!found) return v('td.cell.note', {key: host.host_id}, '–', v('span.hidden', 'not configured'));
  const {state: name, reason: why, running, concurrency} = found.row;
  const title = plain(why || name);
  if (running > 0) return v('td.cell', {key: host.host_id, title}, state('running', true, `${number(running)} / ${number(concurrency)}`), v('span.hidden', ' running'));
  const fine = name === 'ineligible' && row.state !== 'ineligible';
  return v('td.cell', {key: host.host_id, title, tabindex: why ? 0 : null}, state(name, fine), why && name === 'ineligible' && v('div.note', plain(why, 60)));
}

export const fleet = {
  title: () => 'Fleet',
  enter() {
    lists = new Slice(50);
    columns = new Slice(10);
  },
  render() {
    const told = store.fleet;
    const search = param('search').toLowerCase();
    const known = order.of((told?.hosts || []).filter((host) => host.slots && (host.host || host.host_id).toLowerCase().includes(search)));
    const hosts = columns.of(known);
    const all = told?.hosts || [];
    const head = [v('div.head', v('h1', 'Fleet'), told?.fleet && v('span.sub', plain(told.fleet, 60)), scope(), v('span.note', {role: 'status'}, search ? `${number(known.length)} of ${count(all.length, 'host')}` : count(all.length, 'host'))),
      (search || all.length > 5) && tools(searchField())];
    if (!told) return [...head, v('p.none', 'Loading …')];
    const rows = allLists();
    return [
      ...head,
      told.error && v('p.answer.bad', plain(told.error)),
      hosts.length > 0 ? hostsTable(hosts) : v('p.none', 'No matching hosts'),
      columns.view(known, 'hosts') || v('div.grid'),
      v('section.card', {'aria-labelledby': 'grid'}, v('header', v('h2', {id: 'grid'}, 'Lists by host'), v('span.note', 'running of limit, or the reason')),
        v('div.wide', {tabindex: 0, role: 'group', 'aria-label': 'Lists by host'}, v('table', v('caption.hidden', 'Lists by host'),
          v('thead', v('tr', v('th', {scope: 'col'}, 'List'), hosts.map((host) => v('th', {key: host.host_id, scope: 'col', class: 'cell'}, plain(host.host, 40))))),
          v('tbody', lists.of(rows).map((row) => v('tr', {key: row.key}, rowHead(listLink(row)), hosts.map((host) => cell(row, hosts, host))))))),
        lists.view(rows, 'lists')),
    ];
  },
};

// Problems, active runs, and the last hour.
import {
  v, plain, number, count, duration, bytesOf, store, runsNow, fleetHour, now, rows, asking, changed, path, placesBar, card, rate, rateText, runList,
  staleNote, sums, table, waiting, Sort, num, rowHead} from './parts.js';
import {times} from './charts.js';

const MOST = 40;
const BAD = 'redis format gearman unavailable unresponsive clock write_error starved breaker_open quarantined stalled invalid died ineligible'.split(' ');

let asked = null; // problems as in `w8yctl status`

/** Where an operator sees more about a problem. */
function placeOf({kind, lists: many, first_lists: [first]}) {
  if (!many || kind === 'redis') return '#/fleet';
  if (many > 1) return `#/lists?state=${/^(ineligible|paused|quarantined|starved|breaker_open|unavailable|failing)$/.test(kind) ? kind : 'problems'}`;
  const {key} = bytesOf(first, 'list');
  return kind === 'stalled' ? `#/feeds/${key}` : ['invalid', 'died'].includes(kind) ? `#/schedules/${key}` : `#/lists/${key}${kind === 'quarantined' ? '?items=quarantined' : ''}`;
}

function problems() {
  const wait = waiting(asked, 'Problems');
  if (wait) return wait;
  const {problems: all, fleet_error: error} = asked.data;
  const line = (kind, href, text) => v('li', {key: text, class: BAD.includes(kind) ? 'bad' : ''}, v('a', {href}, v('b', kind[0].toUpperCase() + kind.slice(1).replace('_', ' ')), v('span', plain(text, 1200))));
  return [all.length || error ? v('section', {'aria-labelledby': 'wrong'}, v('h2', {id: 'wrong', class: 'hidden'}, 'Problems'),
    v('ul.wrong', all.slice(0, MOST).map((one) => line(one.kind, placeOf(one), one.text)),
      error && line('fleet', '#/fleet', `the fleet cannot be read: ${error}`),
      all.length > MOST && v('li', v('div', `and ${number(all.length - MOST)} more`))))
    : v('p.well', 'No problems'), staleNote(asked)];
}

function places() {
  const hosts = (store.fleet?.hosts || []).filter((host) => !host.unresponsive_since_ms && host.host_id !== store.host.host_id);
  const all = [{host: store.host.host, slots: store.host.slots}, ...hosts];
  const sort = new Sort({Host: (host) => host.host, Used: (host) => host.slots.used, Share: (host) => host.slots.limit && host.slots.used / host.slots.limit}, '', 'slots');
  return v('div.card', v('h2', 'Slots in use by host, now'),
    table('Slots in use by host', ['Host', '#Used', '#Limit', 'Share'], sort.of(all).map((host) => v('tr', {key: host.host_id || 'own'},
      rowHead(plain(host.host || '', 60)), num(host.slots.used),
      v('td.n', host.slots.limit ? number(host.slots.limit) : 'none'),
      v('td', host.slots.limit ? placesBar(host) : '–'))), sort));
}

export const overview = {
  title: () => 'Overview',
  enter() {
    asked = asking(path('problems'), 5000, changed);
    return asked.stop;
  },
  render() {
    const lists = rows();
    const hour = fleetHour();
    const [ended, failed] = sums(hour);
    const running = lists.reduce((sum, row) => sum + row.running, 0);
    const hosts = count(1 + store.remote.size, 'host');
    return [
      v('div.head', v('h1', 'Overview'),
        v('span.sub', `${plain(store.host.host)}, w8yd ${plain(store.host.version)}, up ${duration(now() - store.host.started_ms)}`)),
      problems(),
      v('div.tiles',
        tile('Runs now', number(running), `in ${count(lists.filter((row) => row.running > 0).length, 'list')}, on ${hosts}`),
        tile('Runs per minute', rateText(rate(sums(hour.slice(-11))[0])), `average of the last 10 min, on ${hosts}`),
        tile('Failed, last hour', number(failed), `of ${count(ended, 'run')} on ${hosts}`),
        tile('Lists', number(lists.length), `${number(lists.filter((row) => row.state === 'idle').length)} idle now, on ${hosts}`)),
      v('div.grid', times('')),
      v('div.grid.main',
        card('now', 'Running now',
          runList(runsNow(), running)),
        places()),
    ];
  },
};

function tile(name, value, note) {
  return v('div.card.tile', v('h2.note', name), v('div.big', value), v('span.note.scope', note));
}

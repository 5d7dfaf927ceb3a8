// A circular list as a ring of its items. The ring rotates with the list.
import {v, pick, plain, number, count, duration, time} from './dom.js';
import {changed, now} from './store.js';

const MIDDLE = 200;
const OUT = 176;
const IN = 128;
const SINGLE = 240; // more items are drawn in groups
const GROUPS = 180;
const STATES = [['r', 'running'], ['q', 'quarantined'], ['d', 'delayed'], ['f', 'free']];
const WORD = Object.fromEntries(STATES);

function point(radius, turns) {
  const angle = (turns - 0.25) * 2 * Math.PI;
  return `${(MIDDLE + radius * Math.cos(angle)).toFixed(2)} ${(MIDDLE + radius * Math.sin(angle)).toFixed(2)}`;
}

function arc(from, to, inner, outer) {
  const big = to - from > 0.5 ? 1 : 0;
  if (to - from > 0.9999) return `${arc(0, 0.5, inner, outer)} ${arc(0.5, 0.9998, inner, outer)}`;
  return `M${point(outer, from)} A${outer} ${outer} 0 ${big} 1 ${point(outer, to)} L${point(inner, to)} A${inner} ${inner} 0 ${big} 0 ${point(inner, from)} Z`;
}

/** Drawn groups: [{first, end, counts}], as positions in the response. */
function groupsOf(ring) {
  const n = ring.length;
  const many = n <= SINGLE ? n : GROUPS;
  const all = [];
  for (let g = 0; g < many; g++) {
    const first = Math.floor((g * n) / many);
    const end = Math.floor(((g + 1) * n) / many);
    const counts = {r: 0, q: 0, d: 0, f: 0};
    for (let i = first; i < end; i++) counts[ring[i]]++;
    all.push({first, end, counts});
  }
  return all;
}

/** Where the examined item `at` is drawn; with `by` -1, the item that is drawn at `at`. */
function drawn(answer, at, by = 1) {
  const n = answer.ring.length;
  return (((at + by * (answer.rotation || 0)) % n) + n) % n;
}

/** A ring in which the pointer or the arrow keys select an item. */
export class Ring {
  constructor() {
    this.picked = -1;
    this.hovering = false;
  }

  /** Index in the list of the item that is drawn at `at`. */
  place(answer, at) {
    let rest = drawn(answer, at, -1);
    for (const [first, size] of answer.segments) {
      if (rest < size) return first + rest;
      rest -= size;
    }
    return at;
  }

  caption(answer, groups) {
    if (!groups.length) return 'The list has no items.';
    const group = groups[this.picked];
    if (!group) return 'Point at the ring, or focus it and use the arrow keys, to see an item.';
    const held = answer.locked.filter((one) => {
      const at = drawn(answer, one.index);
      return at >= group.first && at < group.end;
    });
    const from = this.place(answer, group.first) + 1;
    if (group.end - group.first === 1) {
      const named = held[0] || (answer.items && answer.items[drawn(answer, group.first, -1)]) || {};
      return [v('b', `${number(from)} of ${number(answer.length)}: `), v('span.item', nameOf(named)), `, ${doing(held[0], group)}`];
    }
    const words = STATES.filter(([letter]) => group.counts[letter]).map(([letter, word]) => `${number(group.counts[letter])} ${word}`);
    const to = this.place(answer, group.end - 1) + 1;
    return [v('b', `${number(from)} to ${number(to)}: `), words.join(', '),
      held.slice(0, 3).map((one) => ['; ', v('span.item', nameOf(one)), ` ${doing(one)}`])];
  }

  view(answer, name, lap) {
    const n = answer.ring.length;
    const turn = answer.rotation || 0;
    // An item keeps its position on the ring; the whole ring rotates.
    const cut = n ? (n - (turn % n)) % n : 0;
    const groups = groupsOf(answer.ring.slice(cut) + answer.ring.slice(0, cut));
    const many = groups.length;
    if (this.picked >= many) this.picked = -1;
    const total = {r: 0, q: 0, d: 0, f: 0};
    for (const letter of answer.ring) total[letter]++;
    const gap = many > 1 ? Math.min(0.0035, 0.18 / many) : 0;
    const arcs = groups.map((group, at) => {
      const size = group.end - group.first;
      const from = at / many + gap / 2;
      const to = (at + 1) / many - gap / 2;
      const parts = [];
      let inner = IN;
      for (const [letter, word] of STATES) {
        if (!group.counts[letter]) continue;
        const outer = inner + ((OUT - IN) * group.counts[letter]) / size;
        parts.push(v('path', {key: word, class: word, d: arc(from, to, inner, outer)}));
        inner = outer;
      }
      return v('g', {key: `g${at}`, onpointerenter: () => this.pick(at), onpointerleave: () => this.pick(-1)}, parts,
        v('path', {key: 'hit', fill: 'none', 'pointer-events': 'all', d: arc(at / many, (at + 1) / many, IN - 8, OUT + 8)}));
    });
    const picked = groups[this.picked];
    const summary = STATES.map(([letter, word]) => `${number(total[letter])} ${word}`).join(', ');
    return [
      v('svg.ring', {viewBox: '0 0 400 400', tabindex: 0, role: 'img', 'aria-label': `The ring of ${plain(name, 100)}: ${count(answer.length, 'item')}${answer.sampled ? `, a sample of ${number(answer.examined)}` : ''}: ${summary}`,
        'aria-describedby': 'ring-caption', onkeydown: (event) => many && pick(event, this.picked, many, (at) => this.pick(at))},
      v('circle.track', {cx: MIDDLE, cy: MIDDLE, r: OUT + 8}),
      !many && v('circle.track', {cx: MIDDLE, cy: MIDDLE, r: IN}),
      v('g.turn', {style: {transform: `rotate(${n ? ((-turn / n) * 360).toFixed(3) : 0}deg)`}}, arcs,
        picked && v('path.pick', {key: 'pick', 'pointer-events': 'none', d: arc(this.picked / many, (this.picked + 1) / many, IN - 4, OUT + 4)})),
      // The end of the list from which items are claimed.
      v('path.notch', {d: 'M192 0 L208 0 L200 14 Z'}),
      v('text.mid', {x: MIDDLE, y: MIDDLE - 2}, number(answer.length)),
      v('text.mid2', {x: MIDDLE, y: MIDDLE + 22}, answer.length === 1 ? 'item' : 'items'),
      lap && v('text.mid2', {x: MIDDLE, y: MIDDLE + 44}, `cycle ${duration(lap)}`)),
      v('p.caption', {id: 'ring-caption', role: 'status'}, this.caption(answer, groups)),
      v('ul.legend', {'aria-label': answer.sampled ? 'Items of the sample' : 'Items'}, STATES.map(([letter, word]) => v('li', {key: word},
        v('span', {class: `swatch ${word}`, 'aria-hidden': 'true'}), v('b', number(total[letter])), ` ${word}`))),
      answer.sampled && v('p.note.sample', `A sample: ${number(answer.examined)} of ${count(answer.length, 'item')}, from 100 parts of the list.`),
    ];
  }

  pick(at) {
    this.picked = at;
    changed();
  }
}

function nameOf(object) {
  if (object.item === undefined && object.item_base64 === undefined) return 'an item';
  const text = object.item === undefined ? atob(object.item_base64) : object.item;
  return plain(text === '' ? '(empty)' : text, 60);
}

function doing(held, group) {
  if (!held) return group ? WORD[Object.keys(group.counts).find((letter) => group.counts[letter])] : '';
  if (held.state === 'running') return `running${held.host ? ` on ${plain(held.host, 40)}` : ''}${held.since_ms ? ` for ${duration(Math.max(0, now() - held.since_ms))}` : ''}`;
  if (held.state === 'delayed') return `delayed${held.until_ms ? `, ${duration(Math.max(0, held.until_ms - now()))} left` : ''}`;
  return `quarantined${held.since_ms ? ` since ${time(held.since_ms)}` : ''}${held.reason ? `: ${plain(held.reason, 120)}` : ''}`;
}

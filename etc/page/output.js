// Output of an active run of any host: its lines, updates and progress, as they arrive.
import {v, shown, count, time, bytesOf, changed, now, path} from './parts.js';

const MOST = 500; // lines

export class Output {
  /** `over`: called when the run ends. */
  constructor(run, over) {
    Object.assign(this, {run, over, lines: [], number: 0, progress: null, follow: true, dom: null});
    this.source = new EventSource(path('runs', encodeURIComponent(run), 'logs'));
    this.hear('run', (told) => {
      this.lines = [];
      bytesOf(told, 'tail').text.split('\n').slice(0, -1).forEach((line) => this.say(0, line));
    });
    this.hear('log', ({lines = [], dropped, updates = [], ended}) => {
      for (const one of lines) this.say(now(), bytesOf(one, 'line').text + (one.truncated ? ' …' : ''));
      for (const one of updates) {
        if (one.denominator) this.progress = one;
        if (one.update !== undefined) this.say(now(), `update ${JSON.stringify(one.update)}`);
      }
      if (dropped) this.say(now(), `${count(dropped, 'line')} dropped`);
      if (!ended) return;
      this.done = true;
      this.stop();
      over();
    });
    this.source.onerror = () => this.stop();
  }
  hear(name, act) {
    this.source.addEventListener(name, (event) => {
      act(JSON.parse(event.data));
      changed();
    });
  }
  say(at, text) {
    this.lines.push({key: this.number++, at, text});
    if (this.lines.length > MOST) this.lines.shift();
  }
  get ended() {
    return this.source.readyState === EventSource.CLOSED;
  }
  stop() {
    this.source.close();
  }
  /** Scrolls to the last line, unless the reader has scrolled up. */
  scroll() {
    if (this.follow && this.dom) this.dom.scrollTop = this.dom.scrollHeight;
  }
  view(title) {
    requestAnimationFrame(() => this.scroll());
    return v('section.card', {'aria-labelledby': 'says'},
      v('header', v('h2', {id: 'says'}, title), v('label.check.note', v('input', {type: 'checkbox', checked: this.follow, onchange: (event) => {
        this.follow = event.target.checked;
        this.scroll();
        changed();
      }}), 'Follow')),
      this.lines.length ? v('div.log', {role: 'log', tabindex: 0, 'aria-labelledby': 'says', onmade: (dom) => {
        this.dom = dom;
      }, onscroll: ({target}) => {
        const end = target.scrollTop + target.clientHeight > target.scrollHeight - 8;
        if (end === this.follow) return;
        this.follow = end;
        changed();
      }}, this.lines.map(({key, at, text}) => v('div', {key}, at > 0 && v('span.cut', `${time(at)} `), shown(text, 2000))))
        : v('p.none', this.ended ? 'No output' : 'No output yet'));
  }
}

// Draws the output of a terminal program as a picture. Supports the escapes that `w8yctl top` uses.
import {spawn} from 'node:child_process';

const COLOURS = ['#2a343f', '#e0705a', '#5fb37a', '#d9a63f', '#5aa9fa', '#b48ead', '#5fb3b3', '#d5dbe2'];

class Screen {
  constructor(columns, rows) {
    Object.assign(this, {columns, rows, x: 0, y: 0, style: ''});
    this.cells = Array.from({length: rows}, () => this.line());
  }
  line() {
    return Array.from({length: this.columns}, () => [' ', '']);
  }
  paint(codes) {
    for (const code of codes.length ? codes : [0]) {
      if (code === 0) this.style = '';
      else if (code === 1) this.style += 'font-weight:700;';
      else if (code === 2) this.style += 'opacity:.65;';
      else if (code === 7) this.style += 'background:#d5dbe2;color:#11161c;';
      else if (code >= 30 && code <= 37) this.style += `color:${COLOURS[code - 30]};`;
      else if (code >= 90 && code <= 97) this.style += `color:${COLOURS[code - 90]};`;
      else if (code === 39) this.style += 'color:inherit;';
    }
  }
  control(letter, text) {
    const numbers = text.replace('?', '').split(';').filter(Boolean).map(Number);
    const n = numbers[0] || 1;
    const row = this.cells[this.y];
    if (letter === 'H' || letter === 'f') [this.y, this.x] = [(numbers[0] || 1) - 1, (numbers[1] || 1) - 1];
    else if (letter === 'A') this.y -= n;
    else if (letter === 'B') this.y += n;
    else if (letter === 'C') this.x += n;
    else if (letter === 'D') this.x -= n;
    else if (letter === 'G') this.x = n - 1;
    else if (letter === 'd') this.y = n - 1;
    else if (letter === 'X') row.splice(this.x, n, ...this.line().slice(0, n));
    else if (letter === 'P') row.splice(this.x, n);
    else if (letter === 'b') for (let i = 0; i < n; i++) row[this.x] = row[this.x++ - 1];
    else if (letter === 'm') this.paint(numbers);
    else if (letter === 'K') row.splice(this.x, this.columns, ...this.line().slice(this.x));
    else if (letter === 'J') {
      row.splice(this.x, this.columns, ...this.line().slice(this.x));
      const from = numbers[0] === 2 ? 0 : this.y + 1;
      for (let y = from; y < this.rows; y++) this.cells[y] = this.line();
    }
    this.y = Math.max(0, Math.min(this.rows - 1, this.y));
  }
  write(text) {
    for (const part of text.match(/\x1b\[[?0-9;]*[A-Za-z]|\x1b[()].|\x1b[^[]|[^\x1b]/gsu) || []) {
      if (part.startsWith('\x1b[')) this.control(part.at(-1), part.slice(2, -1));
      else if (part === '\r') this.x = 0;
      else if (part === '\b') this.x = Math.max(0, this.x - 1);
      else if (part === '\n') this.y = Math.min(this.rows - 1, this.y + 1);
      else if (part >= ' ' && this.x < this.columns) this.cells[this.y][this.x++] = [part, this.style];
    }
  }
  html() {
    const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    return this.cells.map((row) => row.map(([c, style] = [' ', '']) => (style ? `<span style="${style}">${escape(c)}</span>` : escape(c))).join('')).join('\n');
  }
}

/** Runs a program for some seconds, and saves a picture of its screen. */
export async function terminalPicture(browser, command, path, {columns = 100, rows = 24, seconds = 6} = {}) {
  const child = spawn('script', ['-qfc', `stty cols ${columns} rows ${rows}; ${command}`, '/dev/null'], {env: {...process.env, TERM: 'xterm-256color'}});
  const screen = new Screen(columns, rows);
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  await new Promise((done) => setTimeout(done, seconds * 1000));
  screen.write(text);
  child.stdin.write('q');
  await Promise.race([new Promise((done) => child.on('exit', done)), new Promise((done) => setTimeout(done, 3000))]);
  child.kill('SIGKILL');
  const page = await browser.newPage({viewport: {width: 1000, height: 100}});
  await page.setContent(`<body style="margin:0;background:#11161c"><pre style="margin:0;padding:18px 22px;display:inline-block;color:#d5dbe2;font:14px/1.4 'DejaVu Sans Mono',monospace">${screen.html()}</pre>`);
  await page.locator('pre').screenshot({path});
  await page.close();
}

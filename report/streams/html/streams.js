'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const LINE = 64, NAMESPACE = 'http://www.w3.org/2000/svg';

function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

const share = (part) => data.references ? (100 * part / data.references).toFixed(1) + '%' : '0%';
const plural = (count, what) => count.toLocaleString('en') + ' ' + what + (count === 1 ? '' : 's');

// Cache lines by number, each with the parts of objects in it and what is used of these.
function linesOf(stream) {
  const lines = new Map();
  const add = (start, size, part) => {
    for (let at = start, end = start + Math.max(size, 1); at < end;) {
      const line = Math.floor(at / LINE), upTo = Math.min(end, (line + 1) * LINE);
      if (!(upTo > at)) break; // numbers that large have no next line
      if (!lines.has(line)) lines.set(line, { object: [], used: [] });
      lines.get(line)[part].push([at - line * LINE, upTo - at]);
      at = upTo;
    }
  };
  stream.steps.forEach((s) => {
    if (s.object !== undefined) add(stream.objects[s.object].address + s.offset, s.size, 'used');
  });
  stream.objects.forEach((o) => {
    const first = Math.floor(o.address / LINE), last = Math.floor((o.address + Math.max(o.size, 1) - 1) / LINE);
    for (const [line, parts] of lines) {
      if (line < first || line > last) continue;
      const from = Math.max(o.address, line * LINE), to = Math.min(o.address + o.size, (line + 1) * LINE);
      parts.object.push([from - line * LINE, to - from]);
    }
  });
  return [...lines].sort((a, b) => a[0] - b[0]);
}

function drawLines(stream) {
  const box = element('div', undefined, 'lines');
  for (const [number, line] of linesOf(stream)) {
    const svg = document.createElementNS(NAMESPACE, 'svg');
    svg.setAttribute('width', 2 * LINE);
    svg.setAttribute('height', 14);
    const title = document.createElementNS(NAMESPACE, 'title');
    title.textContent = 'cache line at 0x' + (number * LINE).toString(16);
    svg.append(title);
    for (const part of ['object', 'used'])
      for (const [from, size] of line[part]) {
        const rect = document.createElementNS(NAMESPACE, 'rect');
        rect.setAttribute('x', 2 * from);
        rect.setAttribute('width', 2 * size);
        rect.setAttribute('height', 14);
        rect.setAttribute('class', part);
        svg.append(rect);
      }
    box.append(svg);
  }
  return box;
}

function table(head, rows) {
  const t = element('table'), top = element('tr');
  head.forEach((h) => top.append(element('th', h)));
  t.append(top);
  for (const row of rows) {
    const tr = element('tr');
    row.forEach(([text, className]) => tr.append(element('td', text, className)));
    t.append(tr);
  }
  return t;
}

function describe(o) {
  if (o.kind === 'symbol') return o.name;
  if (o.kind === 'heap') return 'allocated under ' + (o.path || '(unknown)');
  return o.kind === 'stack' ? 'of a stack' : 'of other memory';
}

function stepRow(s) {
  const what = s.load && s.store ? 'update' : s.load ? 'load' : s.store ? 'store' : 'run';
  const place = s.file ? s.file.replace(/.*\//, '') + ':' + s.line : '';
  return [[what], [s.object === undefined ? '' : (s.object + 1) + ' +' + s.offset, 'number'], [s.function, 'code'], [place, 'code']];
}

function drawStream(s, number) {
  const section = element('section');
  section.append(element('h2', (number + 1) + '. ' + share(s.alike.heat) + ': ' + plural(s.alike.streams, 'stream') + (data.of === 'data' ? ' over ' + plural(s.alike.objects, 'object') : '')));
  section.append(element('p', 'The hottest: ' + s.length + ' in this order, ' + plural(s.occurrences, 'time') + ' (' + share(s.length * s.occurrences) + ').'));
  if (data.of === 'data') {
    const all = s.alike.lines;
    section.append(element('p', 'All: ' + plural(all.touched, 'cache line') + ', where ' + all.together + ' would do side by side, and ' + all.used + ' for the bytes that are used.'));
    section.append(drawLines(s));
    section.append(table(['object', 'bytes', 'what'], s.objects.map((o, i) => [[i + 1, 'number'], [o.size, 'number'], [describe(o), 'path']])));
  }
  const walks = s.paths.reduce((sum, p) => sum + p.walks, 0);
  if (!s.paths.length) section.append(element('p', 'Under unknown paths: no burst with it began in one of its functions, or in what these called.', 'soft'));
  else section.append(table(['walks', 'under'], s.paths.map((p) => [[(100 * p.walks / walks).toFixed(1) + '%', 'number'], [p.path || '(unknown)', 'path']])));
  section.append(table(['step', 'object', 'function', 'line'], s.steps.map(stepRow)));
  return section;
}

document.getElementById('summary').textContent = plural(data.references, data.of === 'data' ? 'reference' : 'execution') + ' in ' + plural(data.bursts, 'burst') + '; ' + plural(data['hot-streams'], 'hot stream') + ' of ' + plural(data.kinds, 'kind') + ' are ' + share(data.hot) + ' of them.';
data.streams.forEach((s, i) => document.getElementById('streams').append(drawStream(s, i)));

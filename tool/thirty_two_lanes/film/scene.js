// The warp at work and the banks, drawn at one step.

function rangeOf(values) {
  const numbers = values.map(Number).filter(Number.isFinite);
  const low = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  return [low, numbers.reduce((a, b) => Math.max(a, b), -Infinity)];
}

// Of each array and variable: its range, and how wide its numbers are.
function scalesOf(film, pen) {
  const of = new Map();
  film.record.arrays.forEach((array, at) => {
    of.set(at, [[...initialCells(array.initial).values()]]);
  });
  for (const step of film.steps) {
    for (const { r, x } of step.a || [])
      if (x !== undefined) of.get(r).push([x].flat());
    for (const [name, x] of Object.entries(step.v || {})) {
      if (!of.has(name)) of.set(name, []);
      of.get(name).push(x);
    }
  }
  return new Map([...of].map(([key, given]) => [key, scaleOf(pen, given)]));
}

// A value that all lanes share has a box of their width, and needs no room in one.
function scaleOf(pen, given) {
  const known = (values) => [...new Set(values)].filter((it) => it !== null);
  const apart = known(given.filter(Array.isArray).flat());
  const width = (digits) =>
    apart.reduce((most, it) => Math.max(most, pen.width(numeral(it, digits))), 0);
  const widths = [4, 3, 2, 1].map((it) => [it, width(it)]);
  return { range: rangeOf(known(given.flat())), widths, texts: new Map() };
}

// A number in its cell if those of the whole film fit, so that all cells look alike.
function textOf(scene, key, value, room) {
  const { widths, texts } = scene.scales.get(key) || { widths: [] };
  const fit = widths.find(([, width]) => width <= room - 2);
  if (!fit) return "";
  const known = `${fit[0]} ${value}`;
  if (!texts.has(known)) texts.set(known, numeral(value, fit[0]));
  return texts.get(known);
}

function fillOf(scene, key, value) {
  const { range } = scene.scales.get(key) || { range: [0, 0] };
  const [low, high] = range;
  const number = Number(value);
  if (!Number.isFinite(number)) return scene.pen.theme.middle;
  const share = high > low ? (number - low) / (high - low) : 0.35;
  return scene.pen.shade(0.08 + 0.84 * share);
}

function drawScene(scene, n) {
  const { pen, film, page } = scene;
  scene.n = n;
  scene.joins = [];
  scene.hits = [];
  film.seek(n);
  Object.assign(scene.block, { n, hits: [] });
  drawBlock(scene.block);
  pen.clear();
  scene.topPen.clear();
  const top = { ...scene, pen: scene.topPen }; // stands above lines and dots
  drawFocus(scene);
  drawBanks(scene, top);
  film.record.arrays.forEach((_, at) => {
    drawGlobal(top, at);
    paintShared(scene, at);
    if (page.shared[at]) pen.copy(scene.cellPen, areaOf(page.shared[at]));
  });
  drawJoins(scene);
  drawTouched(top);
  film.record.arrays.forEach((_, at) => drawValues(top, at));
  for (const [array, cell] of film.markedAt(n)) drawMark(top, array, cell);
  pen.copy(scene.topPen, [0, 0, ...pen.size]);
  drawFollowed(scene);
}

function shortened(pen, text, room) {
  if (pen.width(text) <= room) return text;
  const letters = Math.max(1, Math.floor(room / pen.width("m")) - 1);
  return `${text.slice(0, letters)}…`;
}

// The box of a lane or a bank, or of several side by side.
const laneBox = (page, lane, y, high, across = 1) => [
  page.left + lane * page.lane + 0.5,
  y,
  across * page.lane - 1.5,
  high,
];

function drawFocus(scene) {
  const { pen, film, page, n } = scene;
  const { focus } = page;
  const step = film.steps[n];
  for (let lane = 0; lane < WARP; lane += 1) {
    const x = page.left + lane * page.lane;
    const thread = step.w * WARP + lane;
    const fill = drawLane(scene, thread, x, focus.top, page.lane, focus.height);
    numberLane(scene, lane, x, fill);
  }
  const label = page.narrow ? `w${step.w}` : `warp ${step.w}`;
  const middle = focus.top + focus.height / 2;
  pen.text(page.left - 6, middle, label, { align: "right", bold: true });
  if (!page.narrow) pen.text(page.right + 4, middle, "lanes 0–31");
  focus.sources.forEach((y, at) => drawSources(scene, y, at));
  for (const row of focus.rows) drawVariable(scene, row);
}

// The lane from which each lane gets its value in a shuffle; pale, that of the warp's
// last one.
function drawSources({ pen, film, page, n, hits }, y, at) {
  const last = film.shuffledAt(n);
  const from = new Map(last < 0 ? [] : film.sourcesAt(last)[at]);
  const { faint, ink, rule, paper, low, finding } = pen.theme;
  const bold = last === n && from.size > 0;
  const colour = bold ? ink : faint;
  pen.text(page.left - 6, y + 7, "from", { align: "right", bold, colour });
  pen.context.globalAlpha = last === n ? 1 : 0.45;
  for (let lane = 0; lane < WARP; lane += 1) {
    const box = laneBox(page, lane, y, 14);
    const source = from.get(lane);
    if (source === undefined) {
      pen.box(...box, { rim: rule });
      continue;
    }
    const absent = !bit(film.steps[last].m, source);
    const fill = absent ? finding : source === lane ? paper : low;
    pen.box(...box, { fill, rim: absent || source !== lane ? ink : rule });
    pen.label(box, String(source), fill);
    hits.push([...box, { source, lane }]);
  }
  pen.context.globalAlpha = 1;
}

// A lane's number, in its box or, where that is too small, above some.
function numberLane({ pen, page }, lane, x, fill) {
  const { top, height } = page.focus;
  if (page.lane >= 15) {
    if (fill) pen.label([x, top, page.lane, height], String(lane), fill);
  } else if (lane % 8 === 0 || lane === 31) {
    const [align, at] = lane < 31 ? ["left", x] : ["right", x + page.lane];
    pen.text(at, top - 7, String(lane), { align, colour: pen.theme.faint });
  }
}

function drawVariable(scene, { name, y, high }) {
  const { pen, film, page, n } = scene;
  const step = film.steps[n];
  const first = step.w * WARP;
  const values = film.state.values.get(name).slice(first, first + WARP);
  const given = step.v && name in step.v;
  const label = shortened(pen, name, page.left - 8);
  const colour = given ? pen.theme.ink : pen.theme.faint;
  pen.text(page.left - 6, y + high / 2, label, { align: "right", bold: given, colour });
  const known = values.filter((it) => it !== null);
  if (known.length > 1 && known.every((it) => it === known[0])) {
    return drawAlike(scene, name, values, known[0], [y, high]);
  }
  values.forEach((value, lane) => {
    const box = laneBox(page, lane, y, high);
    if (first + lane >= film.record.threads) return;
    scene.hits.push([...box, { thread: first + lane, name, value }]);
    if (value === null) return pen.box(...box, { rim: pen.theme.rule });
    const fill = fillOf(scene, name, value);
    const told = given && bit(step.m, lane);
    pen.box(...box, { fill, rim: told ? pen.theme.ink : undefined });
    if (high > 14) pen.upright(box, textOf(scene, name, value, HIGHEST + 1), fill);
    else pen.label(box, textOf(scene, name, value, page.lane), fill);
  });
}

// One box for a value that all lanes share.
function drawAlike(scene, name, values, value, [y, high]) {
  const { pen, film, page, n } = scene;
  const { v } = film.steps[n];
  const [from, end] = [values.indexOf(value), values.lastIndexOf(value) + 1];
  const box = laneBox(page, from, y, high, end - from);
  const fill = fillOf(scene, name, value);
  pen.box(...box, { fill, rim: v && name in v ? pen.theme.ink : undefined });
  pen.label(box, numeral(value), fill);
}

// The words that each bank serves in each wavefront, as { bank, wave, group, lanes,
// cells }; a group of lanes is served together.
function wordsOf(film, access) {
  const cells = new Map(film.touched(access));
  const { itemsize } = film.record.arrays[access.r];
  const found = new Map();
  const groups = (access.g || [access.b.length]).flatMap((waves, group) =>
    new Array(waves).fill(group),
  );
  access.b.forEach((mask, wave) => {
    const group = groups[wave];
    for (const lane of lanesOf(mask)) {
      const cell = cells.get(lane);
      if (cell === undefined) continue;
      const word = Math.floor(film.address(access.r, cell) / 4);
      const key = `${wave} ${itemsize < 4 ? word : cell}`;
      if (!found.has(key))
        found.set(key, { bank: word % 32, wave, group, lanes: [], cells: [] });
      found.get(key).lanes.push(lane);
      found.get(key).cells.push(cell);
    }
  });
  return [...found.values()];
}

function drawBanks(scene, above) {
  const { pen, film, page, n } = scene;
  if (!page.banks) return;
  const { top, high, most } = page.banks;
  const middle = top + high / 2;
  pen.text(page.left - 6, middle, "banks", { align: "right", bold: true });
  for (let bank = 0; bank < 32; bank += 1) {
    pen.box(...laneBox(page, bank, top, most * high - 1), { fill: pen.theme.rule });
  }
  let wave = 0;
  for (const access of film.accesses(n).filter((it) => it.b)) {
    drawQueue(above, access, wave);
    const count = access.b.length;
    const text = page.narrow ? String(count) : counted(count, "wavefront");
    if (!wave || high > 10) pen.text(page.right + 4, middle + wave * high, text);
    wave += count;
  }
}

// The bytes that a lane asks for at once: a wide access goes on in those behind it.
function widthOf(film, access) {
  const { itemsize } = film.record.arrays[access.r];
  const { a } = film.steps[film.state.step];
  const behind = a.slice(a.indexOf(access) + 1);
  const other = behind.findIndex(
    (it) => it.r !== access.r || it.k !== access.k || it.b,
  );
  return itemsize * (1 + (other < 0 ? behind.length : other));
}

function drawQueue(scene, access, before) {
  const { pen, film, page } = scene;
  const { top, high, most } = page.banks;
  const words = wordsOf(film, access);
  const across = Math.max(1, widthOf(film, access) / 4);
  for (const word of words) {
    const { bank, group, lanes } = word;
    const queue = words.filter((it) => it.bank === bank && it.group === group);
    const colour = pen.theme[queue.length > 1 ? "finding" : KINDS[access.k]];
    const wave = Math.min(before + word.wave, most - 1);
    const box = laneBox(page, bank, top + wave * high, high - 1, across);
    pen.box(...box, { fill: colour });
    const text = lanes.length > 1 ? `×${lanes.length}` : String(lanes[0]);
    if (page.lane >= 13) pen.label(box, text, colour);
    scene.hits.push([...box, { bank, lanes }]);
    word.cells.forEach((cell, at) => {
      join(scene, access, lanes[at], cell, box, word.wave);
    });
  }
}

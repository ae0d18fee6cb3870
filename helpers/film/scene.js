// The block, the warp at work and the banks, drawn at one step.

const KINDS = { load: "load", store: "store", copy: "store", atomic: "atomic" };

const shade = ({ low, middle, high }, share) =>
  share < 0.5 ? mixed(low, middle, 2 * share) : mixed(middle, high, 2 * share - 1);

function rangeOf(values) {
  const numbers = values.map(Number).filter(Number.isFinite);
  const low = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  return [low, numbers.reduce((a, b) => Math.max(a, b), -Infinity)];
}

// The least and the greatest value of each array and variable, over the film.
function rangesOf(film) {
  const of = new Map();
  film.record.arrays.forEach((array, at) => {
    of.set(at, [...initialCells(array.initial).values()]);
  });
  for (const step of film.steps) {
    for (const { r, x } of step.a || []) if (x !== undefined) of.get(r).push(x);
    for (const [name, x] of Object.entries(step.v || {})) {
      of.set(name, of.get(name) || [])
        .get(name)
        .push(x);
    }
  }
  return new Map(
    [...of].map(([key, values]) => {
      return [key, rangeOf(values.flat().filter((it) => it !== null))];
    }),
  );
}

function fillOf(scene, key, value) {
  const [low, high] = scene.ranges.get(key) || [0, 0];
  const number = Number(value);
  if (!Number.isFinite(number)) return scene.pen.theme.middle;
  const share = high > low ? (number - low) / (high - low) : 0.35;
  return shade(scene.pen.theme, 0.08 + 0.84 * share);
}

function drawScene(scene, n) {
  const { pen, film } = scene;
  scene.n = n;
  scene.joins = [];
  scene.hits = [];
  film.seek(n);
  pen.clear();
  drawBlock(scene);
  drawFocus(scene);
  drawBanks(scene);
  film.record.arrays.forEach((_, at) => {
    drawGlobal(scene, at);
    drawShared(scene, at);
  });
  drawJoins(scene);
  film.record.arrays.forEach((_, at) => drawValues(scene, at));
  drawTouched(scene);
  drawFollowed(scene);
}

const kindOf = (step) => (step.a && step.a.length ? KINDS[step.a[0].k] : "busy");

// How a thread looks: [fill, rim, hatch].
function lookOf(scene, thread) {
  const {
    film,
    n,
    pen: { theme },
  } = scene;
  const { state } = film;
  const step = film.steps[n];
  const warp = Math.floor(thread / WARP);
  const status = state.status[thread];
  if (status === AT_BARRIER || status === AT_WARP) {
    return [theme.paper, theme.idle, theme.idle];
  }
  if (warp === step.w && bit(step.m, thread % WARP)) {
    return [theme[kindOf(step)], theme[kindOf(step)]];
  }
  if (status === LEFT) return [];
  if (state.stood[thread] < 0) return [theme.paper, theme.rule];
  const beside = warp !== step.w && state.stood[thread] === state.warps[warp];
  return beside ? [theme.middle, theme.middle] : [theme.paper, theme.idle];
}

function drawLane(scene, thread, x, y, w, h) {
  const { pen } = scene;
  if (thread >= scene.film.record.threads) return pen.theme.paper;
  const [fill, rim, hatch] = lookOf(scene, thread);
  const inner = [x + 0.5, y, Math.max(2, w - 1.5), h];
  if (!fill) pen.box(x + w / 2 - 1, y + h / 2 - 1, 2, 2, { fill: pen.theme.idle });
  else pen.box(...inner, { fill, rim });
  if (hatch) pen.hatch(...inner, hatch);
  scene.hits.push([x, y, w, h, { thread }]);
  return fill || pen.theme.paper;
}

function drawBlock(scene) {
  const { pen, film, page, n } = scene;
  const { block } = page;
  const step = film.steps[n];
  pen.text(0, block.title, page.narrow ? "warps" : "warps of the block", {
    bold: true,
  });
  const [edge, align] = page.narrow
    ? [page.width, "right"]
    : [page.right + SHIFT + 10, "left"];
  pen.text(edge, block.title, "line", { align, colour: pen.theme.faint });
  for (let warp = 0; warp < film.record.warps; warp += 1) {
    const y = block.top + warp * block.pitch;
    const statuses = film.state.status.slice(warp * WARP, warp * WARP + WARP);
    const shift = statuses.includes(AT_BARRIER) ? SHIFT : 0;
    for (let lane = 0; lane < WARP; lane += 1) {
      const x = page.left + lane * page.lane + shift;
      drawLane(scene, warp * WARP + lane, x, y, page.lane, block.pitch - 3);
    }
    const bold = warp === step.w;
    if (warp % block.every && !bold) continue;
    const at = film.state.warps[warp];
    const middle = y + (block.pitch - 3) / 2;
    const colour = bold ? pen.theme.ink : pen.theme.faint;
    const label = `${page.narrow ? "w" : "warp "}${warp}`;
    pen.text(page.left - 6, middle, label, { align: "right", bold, colour });
    const line = at < 0 ? "–" : String(film.steps[at].l);
    pen.text(page.right + SHIFT + 10, middle, line, { bold, colour });
  }
  if (film.barriers) drawGate(scene, step.e === "pass");
}

// The barrier: a closed line at which warps pile up, dashed when it opens.
function drawGate(scene, open) {
  const { pen, film, page } = scene;
  const { context } = pen;
  const { top, pitch } = page.block;
  const x = page.right + SHIFT + 3;
  context.save();
  context.strokeStyle = open ? pen.theme.busy : pen.theme.ink;
  context.lineWidth = 3;
  if (open) context.setLineDash([3, 5]);
  context.beginPath();
  context.moveTo(x, top - 3);
  context.lineTo(x, top + film.record.warps * pitch);
  context.stroke();
  context.restore();
  if (page.narrow) return;
  const label = open ? "barrier: open" : "barrier";
  pen.text(page.right + SHIFT, page.block.title, label, { align: "right" });
}

function shortened(pen, text, room) {
  if (pen.width(text) <= room) return text;
  const letters = Math.max(1, Math.floor(room / pen.width("m")) - 1);
  return `${text.slice(0, letters)}…`;
}

function drawFocus(scene) {
  const { pen, film, page, n } = scene;
  const { focus } = page;
  const step = film.steps[n];
  for (let lane = 0; lane < WARP; lane += 1) {
    const x = page.left + lane * page.lane;
    const thread = step.w * WARP + lane;
    const fill = drawLane(scene, thread, x, focus.top, page.lane, focus.height);
    const waits = [AT_BARRIER, AT_WARP].includes(film.state.status[thread]);
    numberLane(scene, lane, x, waits ? null : fill);
  }
  const label = page.narrow ? `w${step.w}` : `warp ${step.w}`;
  const middle = focus.top + focus.height / 2;
  pen.text(page.left - 6, middle, label, { align: "right", bold: true });
  if (!page.narrow) pen.text(page.right + 4, middle, "lanes 0–31");
  for (const [name, y] of focus.rows) drawVariable(scene, name, y);
}

// A lane's number, in its box or, where that is too small, above some.
function numberLane({ pen, page }, lane, x, fill) {
  const { top, height } = page.focus;
  if (page.lane >= 15) {
    if (fill) pen.digits(x, top, page.lane, height, lane, fill);
  } else if (lane % 8 === 0 || lane === 31) {
    const [align, at] = lane < 31 ? ["left", x] : ["right", x + page.lane];
    pen.text(at, top - 7, String(lane), { align, colour: pen.theme.faint });
  }
}

function drawVariable(scene, name, y) {
  const { pen, film, page, n } = scene;
  const step = film.steps[n];
  const first = step.w * WARP;
  const values = film.state.values.get(name).slice(first, first + WARP);
  const given = step.v && name in step.v;
  const label = shortened(pen, name, page.left - 8);
  const colour = given ? pen.theme.ink : pen.theme.faint;
  pen.text(page.left - 6, y + 7, label, { align: "right", bold: given, colour });
  const known = values.filter((it) => it !== null);
  if (known.length > 1 && known.every((it) => it === known[0])) {
    const fill = fillOf(scene, name, known[0]);
    const at = values.indexOf(known[0]),
      end = values.lastIndexOf(known[0]) + 1;
    const box = [page.left + at * page.lane + 0.5, y, (end - at) * page.lane - 1.5, 14];
    pen.box(...box, { fill, rim: given ? pen.theme.ink : undefined });
    pen.digits(...box, known[0], fill);
    return;
  }
  values.forEach((value, lane) => {
    const box = [page.left + lane * page.lane + 0.5, y, page.lane - 1.5, 14];
    if (value === null) return pen.box(...box, { rim: pen.theme.rule });
    const fill = fillOf(scene, name, value);
    const told = given && bit(step.m, lane);
    pen.box(...box, { fill, rim: told ? pen.theme.ink : undefined });
    pen.digits(...box, value, fill);
    scene.hits.push([...box, { thread: first + lane, name, value }]);
  });
}

// The words that each bank serves in each wavefront: [bank, wave, lanes, cell].
function wordsOf(film, access) {
  const cells = new Map(film.touched(access));
  const { itemsize } = film.record.arrays[access.r];
  const found = new Map();
  access.b.forEach((mask, wave) => {
    for (const lane of lanesOf(mask)) {
      const cell = cells.get(lane);
      if (cell === undefined) continue;
      const word = Math.floor(film.address(access.r, cell) / 4);
      const key = `${wave} ${itemsize < 4 ? word : cell}`;
      if (!found.has(key))
        found.set(key, { bank: word % 32, wave, lanes: [], cells: [] });
      found.get(key).lanes.push(lane);
      found.get(key).cells.push(cell);
    }
  });
  return [...found.values()];
}

function drawBanks(scene) {
  const { pen, film, page, n } = scene;
  if (!page.banks) return;
  const { top, high, title, most } = page.banks;
  const middle = top + high / 2;
  pen.text(page.left - 6, middle, "banks", { align: "right", bold: true });
  for (let bank = 0; bank < 32; bank += 1) {
    const x = page.left + bank * page.lane;
    pen.box(x + 0.5, top, page.lane - 1.5, most * high - 1, { fill: pen.theme.rule });
  }
  let wave = 0;
  for (const access of film.steps[n].a || []) {
    if (!access.b) continue;
    drawQueue(scene, access, wave);
    wave += access.b.length;
  }
  if (!wave) return;
  const text = page.narrow ? `${wave}×` : counted(wave, "wavefront");
  pen.text(page.right + 4, middle, text);
}

function drawQueue(scene, access, before) {
  const { pen, film, page } = scene;
  const { top, high, most } = page.banks;
  const words = wordsOf(film, access);
  const { itemsize } = film.record.arrays[access.r];
  const ideal = Math.max(1, Math.ceil((itemsize * film.touched(access).length) / 128));
  const across = Math.max(1, itemsize / 4);
  for (const word of words) {
    const queue = words.filter((it) => it.bank === word.bank).length;
    const colour = queue > ideal ? pen.theme.conflict : pen.theme[KINDS[access.k]];
    const wave = Math.min(before + word.wave, most - 1);
    const x = page.left + word.bank * page.lane,
      y = top + wave * high;
    const box = [x + 0.5, y, page.lane * across - 1.5, high - 1];
    pen.box(...box, { fill: colour });
    const lanes = word.lanes;
    pen.digits(
      ...box,
      lanes.length > 1 ? `×${lanes.length}` : String(lanes[0]),
      colour,
    );
    scene.hits.push([...box, { bank: word.bank, lanes }]);
    word.cells.forEach((cell, at) => {
      join(scene, access, lanes[at], cell, box, wave);
    });
  }
}

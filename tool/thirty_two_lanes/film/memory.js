// Arrays in the scene, and the lines that join their cells to lanes.

function heading(scene, array, place, more) {
  const { pen, film, page } = scene;
  const { name, dtype, shape, space } = film.record.arrays[array];
  const { paper: halo, faint: colour } = pen.theme;
  const x = place.x || page.left;
  const facts = [`${dtype} ${shape.join(" × ")}`, space, ...more];
  const from = x + name.length * 7 + 8;
  const wide = Math.max(130, (place.columns || 0) * place.w);
  const room = (place.columns ? x + wide : page.width) - from;
  const texts = [facts, facts.slice(1), more].map((it) => it.join(" · "));
  const text = texts.find((it) => pen.width(it) <= room) || "";
  pen.box(x - 2, place.title - 7, from - x + pen.width(text) + 4, 14, { fill: halo });
  pen.text(x, place.title, name, { bold: true });
  pen.text(from, place.title, text, { colour });
}

// The sectors that this step moves; pale, those of the last step that moved some.
function drawGlobal(scene, array) {
  const { pen, film, page, n } = scene;
  const place = page.globals[array];
  if (!place) return;
  const last = film.touching[array][n];
  const now = last === n;
  const sectors = last < 0 ? [] : film.sectors(array, last);
  pen.box(page.left, place.top, page.span, place.rows * 20 + 6, {
    fill: pen.theme.paper,
  });
  pen.context.globalAlpha = now ? 1 : 0.4;
  const touched = new Set();
  for (const access of last < 0 ? [] : film.accesses(last, array)) {
    film.touched(access).forEach(([, it]) => touched.add(it));
  }
  const shown = sectors.slice(0, place.across * place.rows);
  shown.forEach((sector, at) => drawSector(scene, array, sector, at, touched, now));
  pen.context.globalAlpha = 1;
  if (last < 0) {
    pen.box(page.left, place.top, page.span, 16, { rim: pen.theme.rule });
  }
  drawWhole(scene, array, now ? sectors : []);
}

// What a step moves of a global array: how many sectors, and from where to where.
function movedInWords(film, array, n) {
  const accesses = film.accesses(n, array);
  const cells = accesses.flatMap((it) => film.touched(it).map(([, cell]) => cell));
  if (!cells.length) return [];
  const { shape } = film.record.arrays[array];
  const ends = [Math.min(...cells), Math.max(...cells)];
  const where = [...new Set(ends)].map((it) => bracketed(shape, it)).join(" … ");
  const sectors = accesses.reduce((sum, it) => sum + (it.s || []).length, 0);
  return [sectors ? `${counted(sectors, "sector")}: ${where}` : where];
}

function drawSector(scene, array, sector, at, touched, now) {
  const { pen, film, page } = scene;
  const { itemsize } = film.record.arrays[array];
  const { across, wide, top } = page.globals[array];
  const [x, y] = [page.left + (at % across) * wide, top + Math.floor(at / across) * 20];
  pen.box(x, y, wide - 3, 16, { fill: pen.theme.rule });
  const cells = film.state.cells[array];
  const w = Math.min(wide - 3, ((wide - 3) * itemsize) / 32);
  for (const cell of cellsIn(film, array, sector, touched)) {
    const byte = ((film.address(array, cell) % 32) + 32) % 32;
    const box = [x + (byte / 32) * (wide - 3), y, w, 16];
    scene.hits.push([...box, { array, cell }]);
    if (!touched.has(cell)) continue;
    const value = cells.get(cell);
    const fill = fillOf(scene, array, value === undefined ? NaN : value);
    pen.box(...box, { fill, rim: w > 4 ? pen.theme.paper : undefined });
    if (now) pen.label(box, textOf(scene, array, value, w), fill);
  }
}

// The cells of a sector; of an array that lies with gaps, those that are touched.
function cellsIn(film, array, sector, touched) {
  const { itemsize, shape, offset, strides } = film.record.arrays[array];
  if (strides) {
    const inside = (it) => Math.floor(film.address(array, it) / 32) === sector;
    return [...touched].filter(inside);
  }
  const first = Math.ceil((sector * 32 - offset) / itemsize);
  const count = Math.max(1, 32 / itemsize);
  const cells = Array.from({ length: count }, (_, at) => first + at);
  return cells.filter((it) => it >= 0 && it < sizeOf(shape));
}

// The whole array as a bar, with the sectors of this step where they lie in it.
function drawWhole(scene, array, sectors) {
  const { pen, film, page } = scene;
  const [low, bytes] = film.extent(array);
  const { top, rows } = page.globals[array];
  const y = top + rows * 20 + 1;
  pen.box(page.left, y, page.span, 5, { fill: pen.theme.rule });
  const [access] = film.accesses(scene.n, array);
  for (const sector of sectors) {
    const from = Math.max(0, (sector * 32 - low) / bytes);
    const w = Math.min(page.span, Math.max(2, (32 / bytes) * page.span));
    const x = page.left + Math.min(from * page.span, page.span - w);
    pen.box(x, y, w, 5, { fill: pen.theme[KINDS[access.k]] });
  }
}

// Paints the cells that changed; the numbers apart, to stand above the lines.
function paintShared(scene, array) {
  const { film, page } = scene;
  const place = page.shared[array];
  if (!place) return;
  const cells = film.state.cells[array];
  const painted = scene.painted[array];
  for (let cell = 0; cell < painted.length; cell += 1) {
    const value = cells.get(cell);
    if (painted[cell] === value) continue;
    painted[cell] = value;
    paintCell(scene, array, cell, value);
  }
}

function paintCell({ film, page, n, cellPen, digitPen, ...scene }, array, cell, value) {
  const place = boxOf(film, page, array, cell, n);
  if (!place) return;
  const [x, y, w, h] = place;
  const gap = w > 7 ? 1 : 0.5;
  const box = [x, y, w - gap, h - gap];
  digitPen.context.clearRect(...box);
  cellPen.box(x, y, w, h, { fill: cellPen.theme.paper });
  if (value === undefined || value === null) {
    cellPen.hatch(...box, cellPen.theme.idle);
    return;
  }
  const fill = fillOf(scene, array, value);
  cellPen.box(...box, { fill });
  digitPen.label(box, textOf(scene, array, value, w), fill, true);
}

// All cells are to be painted again: the page or the colours are others.
function forgetPainted(scene) {
  const { film, page, cellPen, digitPen } = scene;
  for (const pen of [cellPen, digitPen]) pen.clear();
  scene.cells = [];
  scene.painted = film.record.arrays.map(({ shape }, array) => {
    const size = page.shared[array] ? sizeOf(shape) : 0;
    for (let cell = 0; cell < size; cell += 1) {
      const box = boxOf(film, page, array, cell, 0);
      if (box) scene.cells.push([...box, { array, cell }]);
    }
    return new Array(size).fill(UNPAINTED);
  });
}

const UNPAINTED = {};
const areaOf = ({ x, y, w, columns, height }) => [x, y, columns * w, height];

// Names and numbers.
function drawValues(scene, array) {
  const { pen, film, page, n } = scene;
  const strip = page.globals[array];
  if (strip) heading(scene, array, strip, movedInWords(film, array, n));
  const place = page.shared[array];
  if (!place) return;
  heading(scene, array, place, []);
  drawTicks(scene, array, place);
  pen.copy(scene.digitPen, areaOf(place));
  for (const fold of place.folds) drawFold(scene, array, place, fold);
}

// Numbers of rows and columns beside a grid.
function drawTicks(scene, array, { x, y, w, h, rows, columns, tops }) {
  const { pen, film } = scene;
  const flat = film.record.arrays[array].shape.length === 1;
  const { faint: colour, paper: halo } = pen.theme;
  const every = everyOf(w, 18, 64);
  for (let it = 0; it < columns && (rows > 1 || !flat); it += every) {
    const middle = x + (it + 0.5) * w;
    const wide = pen.width(String(it)) + 2;
    pen.box(middle - wide / 2, y - 13, wide, 12, { fill: halo });
    pen.text(middle, y - 7, String(it), { align: "center", colour });
  }
  const apart = everyOf(h, 12, 32);
  for (let it = 0, next = 0; it < rows; it += 1) {
    if (tops[it] === undefined) next = it + 1; // each part that is shown has a number
    if (it < next || tops[it] === undefined) continue;
    next = it + apart;
    const label = String(flat ? it * columns : it);
    const [wide, middle] = [pen.width(label) + 2, tops[it] + 0.5 * h];
    pen.box(x - 4 - wide, middle - 6, wide, 12, { fill: halo });
    pen.text(x - 5, middle, label, { align: "right", colour });
  }
}

// Rows that are left out: a dashed line, and how many there are.
function drawFold(scene, array, { x, w, columns }, { first, rows, y }) {
  const { pen, film } = scene;
  const { shape } = film.record.arrays[array];
  const middle = y + FOLD / 2;
  const { faint: colour, idle, paper: halo } = pen.theme;
  pen.line(idle, 1, (line) => {
    for (let at = x; at < x + columns * w; at += 8) {
      line.moveTo(at, middle);
      line.lineTo(Math.min(at + 4, x + columns * w), middle);
    }
  });
  const flat = shape.length === 1;
  const cells = Math.min(sizeOf(shape) - first * columns, rows * columns);
  const many = flat ? counted(cells, "cell") : counted(rows, "row");
  const texts = [`${many} left out: no step touches them`, `${many} left out`, many];
  const text = texts.find((it) => pen.width(it) <= columns * w - 16) || many;
  const [from, wide] = [x + (columns * w) / 2, pen.width(text) + 8];
  pen.box(from - wide / 2, middle - 7, wide, 14, { fill: halo });
  pen.text(from, middle, text, { align: "center", colour });
}

// When an access has its turn: after the wavefronts of those before it.
function turnOf({ a }, access) {
  const before = a.slice(0, a.indexOf(access));
  return before.reduce((sum, it) => sum + (it.b ? it.b.length : 1), 0);
}

// The line of one lane: through its bank, where the array is shared.
function join(scene, access, lane, cell, bank, wave = 0) {
  const { film, page, n } = scene;
  const box = boxOf(film, page, access.r, cell, n);
  if (!box) return;
  const x = page.left + (lane + 0.5) * page.lane;
  const [across, down] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
  const { top, bottom } = page.focus;
  const through = bank && [bank[0] + bank[2] / 2, bank[1], bank[1] + bank[3]];
  const legs = through
    ? [
        [x, bottom, through[0], through[1]],
        [through[0], through[2], across, down],
      ]
    : film.isShared(access.r)
      ? [[x, bottom, across, down]]
      : [[x, top, across, box[1] + box[3]]];
  const turn = turnOf(film.steps[n], access) + wave;
  scene.joins.push({ legs, access, lane, cell, turn });
}

// All lines, or faint but for those of the thread that is followed or under the mouse.
function drawJoins(scene) {
  const { pen, film, n } = scene;
  for (const access of film.accesses(n).filter((it) => !it.b)) {
    for (const [lane, cell] of film.touched(access)) join(scene, access, lane, cell);
  }
  const wanted = [scene.thread, scene.under];
  const fades = scene.joins.some(({ lane }) => {
    return wanted.includes(film.steps[n].w * WARP + lane);
  });
  for (const { legs, access, lane, cell } of scene.joins) {
    const marked = film.isMarked(n, access.r, cell);
    const chosen = wanted.includes(film.steps[n].w * WARP + lane);
    const [width, alpha] = chosen ? [2, 1] : [1.2, fades ? 0.12 : 0.6];
    const colour = pen.theme[marked ? "finding" : KINDS[access.k]];
    for (const leg of legs) pen.curve(leg, colour, width, alpha);
  }
}

function drawTouched(scene) {
  const { pen, film, page, n } = scene;
  for (const { access, cell } of scene.joins) {
    const [x, y, w, h] = boxOf(film, page, access.r, cell, n);
    const rim = pen.theme[KINDS[access.k]];
    const thick = w > 9 && h > 9 ? 2 : 1.5;
    if (w < 5 || h < 5) pen.box(x, y, w, h, { fill: rim });
    else pen.box(x - 0.5, y - 0.5, w, h, { rim, thick });
  }
}

// A cell in which something is wrong: a thick rim, and a cross inside of it; of a cell
// with digits, a small one on its corner.
function drawMark(scene, array, cell) {
  const { pen, film, page, n } = scene;
  const box = boxOf(film, page, array, cell, n);
  if (!box) return;
  const [x, y, w, h] = box;
  const { finding, paper } = pen.theme;
  if (w < 9 || h < 9) {
    pen.box(x, y, w, h, { fill: finding });
    return pen.cross([x + 1, y + 1, w - 3, h - 3], paper, 1);
  }
  pen.box(x - 1, y - 1, w + 1, h + 1, { rim: paper, thick: 1 });
  pen.box(x, y, w - 1, h - 1, { rim: finding, thick: 3 });
  if (h >= 11 && textOf(scene, array, film.state.cells[array].get(cell), w)) {
    const corner = [x + w - 7, y - 3, 10, 10];
    pen.box(...corner, { fill: finding });
    return pen.cross(corner.map((it, at) => it + (at < 2 ? 3 : -6)), paper, 1.6);
  }
  return pen.cross([x + 2, y + 2, w - 5, h - 5], finding, 1.8);
}

function drawFollowed(scene) {
  const { pen, film, page, n, thread, cell } = scene;
  const around = (target, [x, y, w, h]) =>
    target.box(x - 2, y - 2, w + 3, h + 3, { rim: pen.theme.ink, thick: 2 });
  const box = cell && boxOf(film, page, ...cell, n);
  if (box) around(pen, box);
  for (const view of thread === null ? [] : [scene, scene.block]) {
    for (const hit of view.hits) {
      if (hit[4].thread === thread && !hit[4].name) around(view.pen, hit);
    }
  }
}

const turnsOf = ({ joins }) =>
  1 + joins.reduce((most, it) => Math.max(most, it.turn), 0);

// Dots that run along the lines, wavefront after wavefront; `t` goes from 0 to 1.
function drawMotion(scene, pen, t) {
  pen.clear();
  const turns = turnsOf(scene);
  for (const { legs, access, turn } of scene.joins) {
    const share = (t * (turns + 1) - turn) / 2;
    if (share <= 0 || share >= 1) continue;
    const along = access.k === "load" ? 1 - share : share;
    const leg = Math.min(legs.length - 1, Math.floor(along * legs.length));
    const [x, y] = pointOn(legs[leg], along * legs.length - leg);
    pen.dot(x, y, 3.2, scene.pen.theme[KINDS[access.k]], scene.pen.theme.paper);
  }
  pen.copy(scene.topPen, [0, 0, ...pen.size]);
}

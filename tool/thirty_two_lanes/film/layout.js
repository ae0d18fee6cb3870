// Where everything stands in the scene: fixed for a film and a width, so nothing jumps.

const GAP = 14;
const MOST_VARIABLES = 8;
const HIGHEST = 48; // pixels of an upright number
const MOST_SHUFFLES = 3; // of a line
const MOST_ROWS = 64;
const MOST_WAVES = 32;
const BETWEEN = 28; // pixels between two grids, with the numbers of rows
const FOLD = 18; // pixels of the mark for rows that are left out

function layoutOf(film, width, scales) {
  const narrow = width < 440;
  const [left, right] = narrow ? [40, 40] : [62, 92];
  const lane = Math.min(24, (width - left - right) / WARP);
  const span = lane * WARP;
  const page = { width, narrow, left, lane, span, right: left + span, y: 0 };
  page.globals = placeGlobals(film, page);
  page.focus = placeFocus(film, page, scales);
  page.banks = placeBanks(film, page);
  page.shared = placeShared(film, page);
  page.height = page.y + 4;
  return page;
}

const isGlobal = (array) => array.space !== "shared";

function placeGlobals(film, page) {
  return film.record.arrays.map((array, at) => {
    if (!isGlobal(array) || !film.touching[at].some((it) => it >= 0)) return null;
    const most = Math.max(1, ...film.steps.map((_, n) => film.sectors(at, n).length));
    const shown = Math.min(most, 64);
    const across = shown <= 4 ? 4 : shown <= 8 ? shown : Math.ceil(shown / 2);
    const rows = Math.ceil(shown / across);
    const top = page.y + TITLE;
    page.y = top + rows * 20 + 10;
    return { top, title: top - TITLE / 2, across, rows, wide: page.span / across };
  });
}

// Numbers of which two digits are wider than a lane are written upright, in a higher
// row.
function rowHeight({ widths } = { widths: [] }, lane) {
  const fits = widths.some(([digits, width]) => digits > 1 && width <= lane - 2);
  const [, width] = widths.find(([, it]) => it <= HIGHEST) || [0, 0];
  return fits || lane < 13 || !width ? 14 : Math.ceil(width) + 6;
}

function placeFocus(film, page, scales) {
  const names = film.record.variables.slice(0, MOST_VARIABLES);
  const top = page.y + (page.globals.some(Boolean) ? 32 : 4);
  const shuffles = Math.min(film.shuffles, MOST_SHUFFLES);
  const sources = Array.from({ length: shuffles }, (_, at) => top + 22 + at * 17);
  let bottom = top + 22 + 17 * shuffles;
  const rows = names.map((name) => {
    const high = rowHeight(scales.get(name), page.lane);
    bottom += high + 3;
    return { name, y: bottom - high - 3, high };
  });
  page.y = bottom;
  return { top, sources, rows, bottom, height: 20 };
}

// The wavefronts of each shared request of a step, one below the other.
function wavesAt(film, n) {
  return film.accesses(n).reduce((sum, it) => sum + (it.b || []).length, 0);
}

function placeBanks(film, page) {
  const most = Math.max(0, ...film.steps.map((_, n) => wavesAt(film, n)));
  if (!most) return null;
  const high = most <= 4 ? 17 : most <= 8 ? 14 : Math.max(5, Math.floor(180 / most));
  const top = page.y + 36;
  page.y = top + Math.min(most, MOST_WAVES) * high + 1;
  return { top, high, most: Math.min(most, MOST_WAVES) };
}

function gridOf({ shape }) {
  const cells = sizeOf(shape);
  const last = shape[shape.length - 1] || 1;
  if (shape.length > 1 && last <= 128) return [cells / last, last];
  const across = Math.max(
    1,
    Math.min(cells, WARP * Math.ceil(cells / WARP / MOST_ROWS)),
  );
  return [Math.ceil(cells / across), across];
}

// Shared arrays: side by side while they fit with cells of 8 pixels, else one by one.
function placeShared(film, page) {
  const arrays = film.record.arrays.map((it, at) => [it, at]);
  const shared = arrays.filter(([it]) => !isGlobal(it));
  const places = film.record.arrays.map(() => null);
  if (!shared.length) return places;
  page.y += page.banks ? 24 : 28;
  const columns = shared.reduce((sum, [it]) => sum + gridOf(it)[1], 0);
  const room = page.width - page.left - BETWEEN * (shared.length - 1) - 8;
  const given = shared.length > 1 && room / columns >= 8 ? room / columns : 0;
  const top = page.y;
  let [x, low] = [page.left, top];
  for (const [, at] of shared) {
    const place = placeGrid(film, page, at, x, given ? top : page.y, given);
    places[at] = place;
    low = Math.max(low, place.y + place.height);
    if (given) x += place.columns * place.w + BETWEEN;
    else page.y = low + GAP;
  }
  page.y = low + GAP / 2;
  return places;
}

function placeGrid(film, page, at, x, top, given) {
  const array = film.record.arrays[at];
  const [rows, columns] = gridOf(array);
  const line = array.shape.length === 1 && rows === 1;
  const fit = given || Math.min(page.width - x - 4, page.span) / columns;
  const w = Math.min(fit, columns <= 16 ? 32 : 26);
  const high = (shown) => {
    const tall = shown <= 10 ? Math.max(16, Math.min(w, 22)) : Math.min(w, 18);
    return line ? 20 : Math.max(3, Math.min(tall, 440 / shown));
  };
  const folds = foldsOf(film.cellsTouched(at), rows, columns, high(rows));
  const h = high(rows - folds.reduce((sum, it) => sum + it.rows, 0));
  const y = top + TITLE + (line ? 0 : 13);
  const [tops, height] = stack(rows, folds, y, h);
  return { x, y, w, h, rows, columns, tops, folds, height, title: top + 7 };
}

// Rows that no step touches, where their mark is lower than they are.
function foldsOf(touched, rows, columns, high) {
  const used = new Set([...touched].map((cell) => Math.floor(cell / columns)));
  const folds = [];
  for (let row = 0; row < rows; row += 1) {
    const last = folds[folds.length - 1];
    if (used.has(row)) continue;
    if (last && last.first + last.rows === row) last.rows += 1;
    else folds.push({ first: row, rows: 1 });
  }
  return used.size ? folds.filter((it) => it.rows * high > FOLD) : [];
}

// The top of each row that is shown, by its number, and the height of all; a fold gets
// the top of its mark.
function stack(rows, folds, y, high) {
  const tops = new Array(rows);
  let low = y;
  for (let row = 0; row < rows; row += 1) {
    const fold = folds.find((it) => it.first === row);
    if (fold) {
      fold.y = low;
      low += FOLD;
      row += fold.rows - 1;
    } else {
      tops[row] = low;
      low += high;
    }
  }
  return [tops, low - y];
}

// The cell of an array as a box of the scene, or null where it is not shown.
function boxOf(film, page, array, cell, n) {
  const grid = page.shared[array];
  if (grid) {
    const [row, column] = [Math.floor(cell / grid.columns), cell % grid.columns];
    const y = grid.tops[row];
    return y === undefined ? null : [grid.x + column * grid.w, y, grid.w, grid.h];
  }
  const strip = page.globals[array];
  const last = film.touching[array][n];
  if (!strip || last < 0) return null;
  const byte = film.address(array, cell);
  const at = film.sectors(array, last).indexOf(Math.floor(byte / 32));
  if (at < 0 || at >= strip.across * strip.rows) return null;
  const wide = strip.wide - 3;
  const { itemsize } = film.record.arrays[array];
  const x = page.left + (at % strip.across) * strip.wide + ((byte % 32) / 32) * wide;
  const y = strip.top + Math.floor(at / strip.across) * 20;
  return [x, y, Math.min(wide, (wide * itemsize) / 32), 16];
}

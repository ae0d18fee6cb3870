// Where everything stands in the scene: fixed for a film and a width, so nothing jumps.

const SHIFT = 9; // pixels that a waiting warp moves towards the barrier
const TITLE = 17,
  GAP = 14;
const MOST_VARIABLES = 8,
  MOST_ROWS = 64,
  MOST_WAVES = 32;

function layoutOf(film, width) {
  const narrow = width < 460;
  const [left, right] = narrow ? [40, 40] : [62, 86];
  const lane = Math.min(24, (width - left - right) / WARP);
  const span = lane * WARP;
  const page = { width, narrow, left, lane, span, right: left + span, y: 2 };
  page.block = placeBlock(film, page);
  page.globals = placeGlobals(film, page);
  page.focus = placeFocus(film, page);
  page.banks = placeBanks(film, page);
  page.shared = placeShared(film, page);
  page.height = page.y + 4;
  return page;
}

function placeBlock(film, page) {
  const { warps } = film.record;
  const pitch = warps <= 4 ? 18 : warps <= 8 ? 15 : warps <= 16 ? 12 : 9;
  const top = page.y + TITLE;
  page.y = top + warps * pitch + GAP;
  return { title: top - TITLE / 2, top, pitch, every: pitch < 12 ? 2 : 1 };
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

function placeFocus(film, page) {
  const names = (film.record.variables || []).slice(0, MOST_VARIABLES);
  const top = page.y + (page.globals.some(Boolean) ? 32 : 4);
  const rows = names.map((name, at) => [name, top + 22 + at * 17]);
  const bottom = top + 22 + names.length * 17;
  page.y = bottom;
  return { top, rows, bottom, height: 20 };
}

// The wavefronts of each shared request of a step, one below the other.
function wavesAt(film, n) {
  return (film.steps[n].a || []).reduce((sum, it) => sum + (it.b || []).length, 0);
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

// Shared arrays: in a row while they fit with cells of 11 pixels, else one by one.
function placeShared(film, page) {
  const arrays = film.record.arrays.map((it, at) => [it, at]);
  const shared = arrays.filter(([it]) => !isGlobal(it));
  const places = film.record.arrays.map(() => null);
  if (!shared.length) return places;
  page.y += page.banks ? 26 : 30;
  const columns = shared.reduce((sum, [it]) => sum + gridOf(it)[1], 0);
  const room = page.width - page.left * shared.length - 8;
  const beside = shared.length > 1 && room / columns >= 11;
  const top = page.y;
  let x = page.left,
    low = top;
  for (const [array, at] of shared) {
    const place = placeGrid(
      page,
      array,
      x,
      beside ? top : page.y,
      beside && room / columns,
    );
    places[at] = place;
    low = Math.max(low, place.y + place.rows * place.h);
    if (beside) x += place.columns * place.w + page.left;
    else page.y = low + GAP + 4;
  }
  page.y = low + GAP;
  return places;
}

function placeGrid(page, array, x, top, given) {
  const [rows, columns] = gridOf(array);
  const room = page.width - x - 4;
  const fit = given || Math.min(room, page.span) / columns;
  const w = Math.min(fit, columns <= 16 ? 32 : 26);
  const h = Math.max(3, Math.min(w, 22, 440 / rows));
  const flat = array.shape.length === 1;
  const y = top + TITLE + (flat && rows === 1 ? 0 : 13);
  return { x, y, w, h: flat && rows === 1 ? 20 : h, rows, columns, title: top + 7 };
}

// The cell of an array as a box of the scene, or null where it is not shown.
function boxOf(film, page, array, cell, n) {
  const grid = page.shared[array];
  if (grid) {
    const [row, column] = [Math.floor(cell / grid.columns), cell % grid.columns];
    return [grid.x + column * grid.w, grid.y + row * grid.h, grid.w, grid.h];
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

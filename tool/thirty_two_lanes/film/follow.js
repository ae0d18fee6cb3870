// A thread or a cell that the reader follows through the film: { thread } or
// { array, cell }.

// What a reader types: "thread 5", "5" or "tile[3, 7]"; null where there is none.
function wantedBy(record, words) {
  const thread = words.match(/^\s*(?:thread\s*)?(\d+)\s*$/);
  if (thread) {
    return Number(thread[1]) < record.threads ? { thread: Number(thread[1]) } : null;
  }
  const [, name, index] = words.match(/^\s*(\w+)\s*\[([\d\s,]+)\]\s*$/) || [];
  const array = record.arrays.findIndex((it) => it.name === name);
  const cell = array < 0 ? -1 : flatOf(record.arrays[array].shape, index.split(","));
  return cell < 0 ? null : { array, cell };
}

// [step, what happens in it] of each step that has to do with it.
function historyOf(film, { thread, array, cell }) {
  if (thread !== undefined) {
    const turns = film.historyOfThread(thread);
    return turns.map((n) => [n, turnInWords(film, n, thread % WARP)]);
  }
  const visits = array === undefined ? [] : film.historyOfCell(array, cell);
  return visits.map((it) => [it.n, visitInWords(film, it)]);
}

// What a cell holds before the first step, in words.
function beginningOf(film, { array, cell }) {
  if (array === undefined) return "";
  const { initial } = film.record.arrays[array];
  const value = initialCells(initial).get(cell);
  if (value !== undefined && value !== null) return `before: ${numeral(value)}`;
  return initial === null || value === null ? "before: nothing written" : "";
}

function nameOf(film, { thread, array, cell }) {
  if (thread !== undefined) return threadInWords(film, thread).split(":")[0];
  if (array === undefined) return "";
  return nameOfCell(film.record.arrays[array], cell);
}

// What the mouse points at, in words.
function tipOf(film, { thread, array, cell, bank, lanes, name, value, ...more }) {
  if (bank !== undefined) return `bank ${bank} serves ${lanesInWords(lanes)}`;
  if (more.source !== undefined) {
    return `lane ${more.lane} gets the value of lane ${more.source}`;
  }
  if (name !== undefined) {
    return `${name} = ${numeral(value) || "?"} in thread ${thread}`;
  }
  if (thread !== undefined) return threadInWords(film, thread);
  return cellInWords(film, array, cell);
}

// Where the mouse is in an element, in the element's own pixels: slides are scaled.
function placeIn(element, { clientX, clientY }) {
  const box = element.getBoundingClientRect();
  const scale = box.width / element.offsetWidth || 1;
  return [(clientX - box.left) / scale, (clientY - box.top) / scale];
}

// What a view shows under the mouse.
function hitBy(view, event) {
  const [x, y] = placeIn(view.pen.canvas, event);
  const found = [...view.hits, ...(view.cells || [])].find(
    ([left, top, w, h]) => x >= left && x < left + w && y >= top && y < top + h,
  );
  return found && found[4];
}

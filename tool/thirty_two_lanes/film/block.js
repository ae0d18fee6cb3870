// The warps of the block: rows of 32 lanes, and the barrier at which they pile up.

const SHIFT = 9; // pixels that a waiting warp moves towards the barrier
const TITLE = 17;
const KINDS = { load: "load", store: "store", copy: "store", atomic: "atomic" };

const kindOf = (step) => (step.a && step.a.length ? KINDS[step.a[0].k] : "busy");

function blockPage(film, width) {
  const { warps } = film.record;
  const [left, right] = width < 400 ? [32, 42] : [58, 66];
  const lane = Math.min(24, (width - left - right) / WARP);
  const pitch = warps <= 4 ? 18 : warps <= 8 ? 15 : warps <= 16 ? 12 : 9;
  const page = { width, left, lane, pitch, top: TITLE + 2, every: pitch < 12 ? 2 : 1 };
  page.narrow = width < 400;
  page.right = left + lane * WARP;
  page.height = page.top + warps * pitch + 4;
  return page;
}

// How a thread looks: [fill, rim, hatch]; nothing for one that is done.
function lookOf({ film, n, pen }, thread) {
  const { paper, idle, middle, rule, ...theme } = pen.theme;
  const { state } = film;
  const step = film.steps[n];
  const warp = Math.floor(thread / WARP);
  const status = state.status[thread];
  if (status === AT_BARRIER || status === AT_WARP) return [paper, idle, idle];
  if (warp === step.w && bit(step.m, thread % WARP)) {
    return [theme[kindOf(step)], theme[kindOf(step)]];
  }
  if (status === LEFT) return [];
  if (state.stood[thread] < 0) return [paper, rule];
  const beside = warp !== step.w && state.stood[thread] === state.warps[warp];
  return beside ? [middle, middle] : [paper, idle];
}

// A lane as a box; gives its fill, on which its number may be written.
function drawLane(view, thread, x, y, w, h) {
  const { pen } = view;
  if (thread >= view.film.record.threads) return null;
  const [fill, rim, hatch] = lookOf(view, thread);
  const inner = [x + 0.5, y, Math.max(2, w - 1.5), h];
  if (!fill) pen.box(x + w / 2 - 1, y + h / 2 - 1, 2, 2, { fill: pen.theme.idle });
  else pen.box(...inner, { fill, rim });
  if (hatch) pen.hatch(...inner, hatch);
  view.hits.push([x, y, w, h, { thread }]);
  return hatch ? null : fill || pen.theme.paper;
}

function drawBlock(view) {
  const { pen, film, page, n } = view;
  pen.clear();
  pen.text(0, 8, page.narrow ? "warps" : "warps of the block", { bold: true });
  const end = { align: "right", colour: pen.theme.faint };
  if (!page.narrow || !film.barriers) pen.text(page.width, 8, "line", end);
  for (let warp = 0; warp < film.record.warps; warp += 1) drawWarp(view, warp);
  if (film.barriers) drawGate(view, film.steps[n].e === "pass");
}

function drawWarp(view, warp) {
  const { pen, film, page, n } = view;
  const y = page.top + warp * page.pitch;
  const high = page.pitch - (page.pitch > 10 ? 3 : 2);
  const statuses = film.state.status.slice(warp * WARP, warp * WARP + WARP);
  const shift = statuses.includes(AT_BARRIER) ? SHIFT : 0;
  for (let lane = 0; lane < WARP; lane += 1) {
    const x = page.left + lane * page.lane + shift;
    drawLane(view, warp * WARP + lane, x, y, page.lane, high);
  }
  const bold = warp === film.steps[n].w;
  const beside = page.every > 1 && Math.abs(warp - film.steps[n].w) === 1;
  if ((warp % page.every || beside) && !bold) return;
  const last = film.state.warps[warp];
  const colour = bold ? pen.theme.ink : pen.theme.faint;
  const how = { align: "right", bold, colour, halo: pen.theme.paper };
  pen.text(page.left - 5, y + high / 2, `${page.narrow ? "w" : "warp "}${warp}`, how);
  pen.text(page.width, y + high / 2, last < 0 ? "–" : `${film.steps[last].l}`, how);
}

// A closed line, at which warps wait; dashed when it opens.
function drawGate({ pen, film, page }, open) {
  const { context } = pen;
  const x = page.right + SHIFT + 3;
  context.setLineDash(open ? [3, 5] : []);
  pen.line(pen.theme.ink, 3, (line) => {
    line.moveTo(x, page.top - 3);
    line.lineTo(x, page.top + film.record.warps * page.pitch);
  });
  context.setLineDash([]);
  const label = open ? "barrier opens" : "barrier";
  pen.text(x + 2, 8, label, { align: "right" });
}

// The page of one film: its elements, and what they say at a step.

const ICONS = {
  play: "M4 2l10 6-10 6z",
  pause: "M4 2h3v12H4zM9 2h3v12H9z",
  back: "M13 2L5 8l8 6zM2 2h2v12H2z",
  step: "M3 2l8 6-8 6zM12 2h2v12h-2z",
};
const BUTTONS = [
  ["play", "Play", "Play or pause (space)"],
  ["back", "", "Step back (left arrow)"],
  ["step", "Step", "Step (right arrow)"],
  [
    "line",
    "Same line",
    "To the next step of the same line (down arrow; up: the one before)",
  ],
  ["barrier", "Barrier", "To the next barrier (b; with shift: the one before)"],
  ["fault", "Fault", "To the next fault (f; with shift: the one before)"],
  ["cost", "Cost", "To the next cost (c; with shift: the one before)"],
];
const SPEEDS = [1, 2, 4, 8, 16, 30, 60];
const MOST_STEPS = 4; // of a finding, as buttons
const SIGNS = { wrong: "✖", costly: "▲", slight: "△" };

const svgOf = (icon) =>
  `<svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">` +
  `<path d="${ICONS[icon] || "M2 3l6 5-6 5zM8 3l6 5-6 5z"}"/></svg>`;

const BODY = `
<div class="film" role="group" tabindex="0">
  <div class="head"><strong></strong> <span></span>
    <span class="said" role="status"></span><span class="count"></span></div>
  <div class="panel">
  <div class="controls" role="group" aria-label="Controls of the film">
    ${BUTTONS.map(
      ([name, label, title]) =>
        `<button type="button" data-do="${name}"
      title="${title}" aria-label="${title.split(" (")[0]}">${svgOf(name)}` +
        `<span>${label}</span></button>`,
    ).join("")}
    <label>speed <select aria-label="Steps a second">${SPEEDS.map(
      (it) => `<option value="${it}">${it}/s</option>`,
    ).join("")}</select></label>
  </div>
  <div class="time"><canvas aria-hidden="true"></canvas><i></i>
    <input type="range" min="0" step="1" aria-label="Step"></div></div>
  <p class="told" role="status"></p>
  <div class="body">
    <ol class="source" aria-label="Source" tabindex="0"></ol>
    <div class="block">
      <canvas role="img" aria-label="Warps of the block"></canvas></div>
    <div class="stage"><canvas class="scene" role="img"></canvas>
      <canvas class="motion" aria-hidden="true"></canvas>
    </div>
    <div class="side">
      <div class="findings"></div>
      <details class="moments"><summary>moments</summary><ol></ol></details>
      <div class="following">
        <label>follow <input type="text" size="20" spellcheck="false"></label>
        <button type="button" class="leave" hidden>stop</button>
        <div class="who" role="status"></div><ol class="history"></ol>
      </div>
    </div>
  </div>
  <div class="legend"></div><dl class="key"></dl>
  <div class="tip" hidden></div>
</div>`;

function element(name, text, more = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more });
}

// A text in an element, what is between backticks as code.
function withCode(box, text) {
  box.append(...text.split("`").map((it, at) => (at % 2 ? element("code", it) : it)));
  return box;
}

// The axes of a grid or a block that are in use.
const axesOf = (sizes) => sizes.slice(0, sizes[2] > 1 ? 3 : sizes[1] > 1 ? 2 : 1);

function headOf({ kernel, grid, block, watched, warps, left_out }) {
  const at = watched.slice(0, axesOf(grid).length).join(", ");
  const facts = [
    `block ${axesOf(grid).length > 1 ? `(${at})` : at} of ${axesOf(grid).join(" × ")}`,
    `${axesOf(block).join(" × ")} ${sizeOf(block) > 1 ? "threads" : "thread"}`,
    counted(warps, "warp"),
  ];
  return [
    kernel,
    [...facts, (left_out || "").replace(/\.$/, "")].filter(Boolean).join(" · "),
  ];
}

const NO_SOURCE = "Python did not find the source of this function.";

// The source, with the warps that stand at each line.
function fillSource(list, film, choose) {
  film.record.files.forEach((file, at) => {
    if (at) list.append(element("li", file.place, { className: "place" }));
    const none = file.lines.length ? [] : [NO_SOURCE];
    list.append(...none.map((it) => element("li", it, { className: "place" })));
    file.lines.forEach((text, offset) => {
      const number = file.first + offset;
      const row = element("li", "");
      const code = element("code", text || " ");
      const indent = text.search(/\S|$/) + 2;
      code.style = `padding-left: ${indent}ch; text-indent: -${indent}ch`;
      row.append(
        element("span", String(number), { className: "number" }),
        code,
        element("span", "", { className: "warps" }),
      );
      row.dataset.place = `${at} ${number}`;
      row.addEventListener("click", () => choose(at, number));
      list.append(row);
    });
  });
}

// A button that goes to a step.
function buttonTo(step, text, go) {
  const button = withCode(element("button", "", { type: "button" }), text);
  button.addEventListener("click", () => go(step));
  return button;
}

// The moments that matter, as buttons.
function fillMoments(box, film, go) {
  for (const { step, caption } of film.record.moments) {
    const item = element("li", "");
    item.append(buttonTo(step, `${step + 1}: ${caption}`, go));
    box.querySelector("ol").append(item);
  }
  box.hidden = !film.record.moments.length;
}

function runsOf(numbers) {
  const runs = [];
  for (const it of numbers) {
    const run = runs[runs.length - 1];
    if (run && run[1] === it - 1) run[1] = it;
    else runs.push([it, it]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(",");
}

function warpsInWords(warps) {
  const runs = `w${runsOf(warps)}`;
  return runs.length > 12 ? counted(warps.length, "warp") : runs;
}

function markSource(list, film, n, scrolls) {
  const step = film.steps[n];
  const standing = new Map();
  film.state.warps.forEach((at, warp) => {
    if (at < 0) return;
    const place = `${film.steps[at].f} ${film.steps[at].l}`;
    standing.set(place, [...(standing.get(place) || []), warp]);
  });
  for (const row of list.querySelectorAll("[data-place]")) {
    const { place } = row.dataset;
    const here = place === `${step.f} ${step.l}`;
    if (here !== row.classList.contains("here")) {
      row.classList.toggle("here", here);
      row.ariaCurrent = here ? "step" : null;
      if (here && scrolls) keepInSight(list, row);
    }
    const level = here ? film.levelAt(n) : "";
    if (row.dataset.level !== level) row.dataset.level = level;
    const warps = standing.get(place);
    const text = warps ? warpsInWords(warps) : "";
    if (row.lastChild.textContent !== text) row.lastChild.textContent = text;
  }
}

function keepInSight(list, row) {
  const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
  if (top < list.scrollTop) list.scrollTop = top - 20;
  if (bottom > list.scrollTop + list.clientHeight) {
    list.scrollTop = bottom - list.clientHeight + 20;
  }
}

// A step in a few words.
function stepName(film, step, steps) {
  const { w, l } = film.steps[step];
  const where = steps.length < 3 ? `: warp ${w}, line ${l}` : "";
  return `step ${step + 1}${where}`;
}

const NOTHING_FOUND =
  "No rule was broken here. Whether the result is right, a film cannot know.";

function fillFindings(box, film, go) {
  if (!film.record.findings.length) box.append(element("p", NOTHING_FOUND));
  film.record.findings.forEach((finding, at) => {
    const part = element("div", "", { className: "finding" });
    part.dataset.level = finding.level;
    part.append(withCode(element("b", ""), `${SIGNS[finding.level]} ${finding.title}`));
    const { steps } = finding;
    for (const step of steps.slice(0, MOST_STEPS)) {
      part.append(" ", buttonTo(step, stepName(film, step, steps), go));
    }
    const more = steps.length - MOST_STEPS;
    if (more > 0) part.append(` and ${counted(more, "more step")}`);
    part.append(withCode(element("p", ""), finding.text));
    part.dataset.at = at;
    box.append(part);
  });
}

function markFindings(box, film, n) {
  const now = film.steps[n].n || [];
  for (const part of box.children) {
    part.classList.toggle("now", now.includes(Number(part.dataset.at)));
  }
}

// One row for each warp, one column for each step: what happens when.
function paintScore(pen, film, followed) {
  const { theme } = pen;
  const [width, height] = pen.size;
  const x = (step) => placeInScore(pen, film, step);
  const wide = Math.max(1, (width - GUTTER - 14) / Math.max(1, film.last));
  const row = (height - BELOW) / film.record.warps;
  pen.clear();
  nameRows(pen, film, row);
  film.steps.forEach((step, at) => {
    const kind = kindOf(step);
    const fill = kind === "busy" ? theme.middle : theme[kind];
    const y = step.w * row;
    const from = Math.max(GUTTER, x(at) - wide / 2);
    pen.box(from, y, x(at) + wide / 2 - from, Math.max(1, row - 0.5), { fill });
    if (step.e === "pass") pen.box(x(at), 0, 1, height - 12, { fill: theme.ink });
  });
  film.steps.forEach((_, at) => markScore(pen, film.levelAt(at), x(at), height - 8));
  for (const at of followed) pen.box(x(at) - 1, height - 6, 2, 6, { fill: theme.ink });
}

// Of rows so high, each one or each second, fourth, ... that leaves room for a name.
function everyOf(size, room, most) {
  let every = 1;
  while (every < most && every * size < room) every *= 2;
  return every;
}

// The warps' names, as many as fit.
function nameRows(pen, film, row) {
  const every = everyOf(row, 10, 32);
  const how = { align: "right", colour: pen.theme.faint };
  for (let warp = 0; warp < film.record.warps; warp += every) {
    pen.text(GUTTER - 2, warp * row + Math.max(row, 10) / 2, `w${warp}`, how);
  }
}

// A cross for a fault, a triangle for a cost.
function markScore(pen, level, x, y) {
  const { finding } = pen.theme;
  if (level === "wrong") pen.cross([x - 3, y - 3, 6, 6], finding, 2);
  else if (level) pen.triangle(x, y, 3, finding);
}

const GUTTER = 26; // pixels of the warps' names, as in the style sheet
const BELOW = 14; // pixels of the marks

// Seven pixels are half of the slider's thumb.
const placeInScore = (pen, film, step) =>
  GUTTER + 7 + (step / Math.max(1, film.last)) * (pen.size[0] - GUTTER - 14);

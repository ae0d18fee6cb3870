// What happens in a step, a cell or a thread, in words.

const VERBS = { load: "load", store: "store", atomic: "update", copy: "copy" };
const AFTER = {
  barrier: "They wait at the barrier.",
  pass: "All warps have come to the barrier, and it opens.",
  leave: "These lanes are done.",
  split: "The lanes part here.",
  wait: "They wait for other lanes of their warp.",
};

const counted = (count, noun) =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// A number with so many digits, or more where they stand before its point. With one
// it is what is nearest with one behind the point: .0 is not 0.
function numeral(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  if (Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e7) {
    return String(Math.round(value));
  }
  const rounded = digits > 1 ? value.toPrecision(digits) : value.toFixed(1);
  const text = Number(rounded) ? String(Number(rounded)) : "0.0";
  return text.replace(/^(-?)0\./, "$1.");
}

// A flat index by axes.
function indexOf(shape, cell) {
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(cell % size);
    cell = Math.floor(cell / size);
  }
  return index;
}

// A cell as the kernel writes it: tile[3, 7].
const bracketed = (shape, cell) => `[${indexOf(shape, cell).join(", ")}]`;
const nameOfCell = ({ name, shape }, cell) => `${name}${bracketed(shape, cell)}`;

// The flat index of one by axes, or -1 where there is none.
function flatOf(shape, index) {
  const inside = (it, at) => Number(it) < shape[at];
  if (shape.length !== index.length || !index.every(inside)) return -1;
  return index.reduce((sum, it, at) => sum * shape[at] + Number(it), 0);
}

const lineOf = (film, step) => {
  const { first, lines } = film.record.files[step.f];
  return (lines[step.l - first] || "").trim();
};

function lanesInWords(lanes) {
  if (lanes.length === 1) return `lane ${lanes[0]}`;
  const [first, last] = [lanes[0], lanes[lanes.length - 1]];
  if (lanes.length === WARP) return "32 lanes";
  if (last - first === lanes.length - 1) return `lanes ${first} to ${last}`;
  return `${lanes.length} lanes`;
}

// The lane whose store stays in a cell, of all that store there in one step.
function lastIn(film, access, cell) {
  return film.touched(access).findLast((it) => it[1] === cell)[0];
}

function accessInWords(film, access) {
  const touched = film.touched(access);
  const array = film.record.arrays[access.r];
  const cells = new Set(touched.map(([, cell]) => cell));
  const where = cells.size === 1 ? nameOfCell(array, touched[0][1]) : array.name;
  const many = cells.size > 1 ? [counted(cells.size, "cell")] : [];
  if (access.b) many.push(counted(access.b.length, "wavefront"));
  if (access.s) many.push(counted(access.s.length, "sector"));
  const lost = access.k === "store" ? touched.length - cells.size : 0;
  if (lost) many.push(`${counted(lost, "value")} overwritten at once`);
  const who = lanesInWords(touched.map(([lane]) => lane));
  const verb = VERBS[access.k] || access.k;
  return (
    `${who} ${verb}${touched.length === 1 ? "s" : ""} ${where}` +
    (many.length ? ` (${many.join(", ")})` : "")
  );
}

// The variables that a step gives values, with the value where all lanes share it.
function assignedInWords({ v }) {
  return Object.entries(v || {}).map(([name, it]) => {
    return Array.isArray(it) ? name : `${name} = ${numeral(it)}`;
  });
}

// The same words once, with how often they hold.
function oncePerWord(texts) {
  return [...new Set(texts)].map((text) => {
    const times = texts.filter((it) => it === text).length;
    return times > 1 ? `${text}, ${times} times` : text;
  });
}

// An array of a kernel: how many of what, where the film knows it.
function arrayInWords(film, name, space) {
  const array = film.record.arrays.find((it) => it.name === name && it.space === space);
  const whose = space === "local" ? ", an array for each thread" : "";
  const many = array ? ` of ${array.shape.join(" × ")} ${array.dtype}` : whose;
  return `${name} is ${space} memory${many}`;
}

// What a line does that neither touches an array nor sets a variable.
const QUIET = [
  [
    /^(\w+)\s*=.*\b(shared|local)\.array\s*\(/,
    (film, _, [, name, space]) => arrayInWords(film, name, space),
  ],
  [/^(if|elif|while)\b/, (_, who) => `${who} decide alike`],
  [/^for\b/, (_, who) => `${who} are through with the loop`],
];

function quietInWords(film, step, who) {
  for (const [pattern, words] of step.e ? [] : QUIET) {
    const found = lineOf(film, step).match(pattern);
    if (found) return words(film, who, found);
  }
  return who;
}

// Where the values of a shuffle come from.
function shuffleInWords(pairs) {
  const others = pairs.filter(([lane, source]) => lane !== source);
  const sources = new Set(pairs.map((it) => it[1]));
  if (sources.size === 1) return `take the value of lane ${pairs[0][1]}`;
  if (!others.length) return "keep their own values";
  const apart = new Set(others.map(([lane, source]) => source - lane));
  const [by] = apart;
  const own = pairs.length - others.length;
  const whole = own ? `shuffle: ${others.length} ` : "";
  const keep = own ? `, ${own} keep their own` : "";
  if (apart.size > 1) return `${whole}take values of other lanes${keep}`;
  const far = Math.abs(by) === 1 ? "the next lane" : `the lane ${Math.abs(by)}`;
  return `${whole}take the value of ${far} ${by > 0 ? "above" : "below"}${keep}`;
}

function stepInWords(film, n) {
  const step = film.steps[n];
  if (!step.m) {
    return `Line ${step.l}: the other threads are done, and the barrier opens.`;
  }
  const who = lanesInWords(lanesOf(step.m));
  const told = oncePerWord((step.a || []).map((it) => accessInWords(film, it)));
  for (const pairs of film.sourcesAt(n)) told.push(`${who} ${shuffleInWords(pairs)}`);
  const names = assignedInWords(step);
  const apart = told.some((it) => !it.startsWith(who)) && who !== "32 lanes";
  if (!told.length) {
    const set = `${who} set ${names.join(", ")}`;
    told.push(names.length ? set : quietInWords(film, step, who));
  }
  const after = step.e ? ` ${AFTER[step.e]}` : "";
  const part = apart ? `${who} at work: ` : "";
  return `Warp ${step.w}, line ${step.l}: ${part}${told.join("; ")}.${after}`;
}

function cellInWords(film, array, cell) {
  const value = film.state.cells[array].get(cell);
  const at = nameOfCell(film.record.arrays[array], cell);
  if (value !== undefined && value !== null) return `${at} = ${numeral(value)}`;
  return film.isShared(array) ? `${at}: nothing written yet` : at;
}

function threadInWords(film, thread) {
  const { block, files } = film.record;
  const [x, y] = [block[0], block[1]];
  const at = [thread % x, Math.floor(thread / x) % y, Math.floor(thread / x / y)];
  const axes = block[2] > 1 ? 3 : y > 1 ? 2 : 1;
  const name = axes > 1 ? ` (${at.slice(0, axes).join(", ")})` : "";
  const step = film.steps[film.state.stood[thread]];
  const states = ["", ", waits at the barrier", ", waits for its warp", ", done"];
  const place = step && step.f ? ` of ${files[step.f].place}` : "";
  const where = step ? `: line ${step.l}${place}` : ": not started";
  return `thread ${thread}${name}${where}${states[film.state.status[thread]]}`;
}

function visitInWords(film, { n, access, lanes, value }) {
  const step = film.steps[n];
  const verb = VERBS[access.k] || access.k;
  const known = value !== undefined && value !== null;
  const nothing = verb === "load" ? " what nobody wrote" : "";
  const what = known ? ` ${numeral(value)}` : nothing;
  const threads = lanes.map((lane) => step.w * WARP + lane);
  const who = lanes.length > 1 ? `threads ${runsOf(threads)}` : `thread ${threads[0]}`;
  return `${who} ${verb}${lanes.length > 1 ? "" : "s"}${what}, line ${step.l}`;
}

function turnInWords(film, n, lane) {
  const step = film.steps[n];
  const given = Object.entries(step.v || {}).map(
    ([name, it]) => `${name} = ${numeral(inLane(it, lane))}`,
  );
  const cells = (step.a || []).flatMap((access) => {
    const array = film.record.arrays[access.r];
    return film
      .touched(access)
      .filter(([it]) => it === lane)
      .map(([, cell]) => {
        const last = access.k === "store" ? lastIn(film, access, cell) : lane;
        const lost = last === lane ? "" : `, overwritten by lane ${last}`;
        return `${VERBS[access.k]}s ${nameOfCell(array, cell)}${lost}`;
      });
  });
  const taken = film
    .sourcesAt(n)
    .map((pairs) => `takes lane ${new Map(pairs).get(lane)}'s value`);
  return [`line ${step.l}`, ...cells, ...taken, ...given].join(", ");
}

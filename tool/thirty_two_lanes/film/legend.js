// What the marks and the words of a film mean: only those that this film has.

const accesses = (film) => film.steps.flatMap(({ a }) => a || []);
const hasBanks = (film) => accesses(film).some((it) => it.b);
const hasCells = ({ record }) => record.findings.some((it) => it.cells.length);
const isUnwritten = ({ initial }) => !initial || Object.values(initial).includes(null);

// [name, what it means, does this film need it?]
const LEGEND = [
  ["busy", "lanes of this step"],
  ["load", "load"],
  ["store", "store"],
  ["atomic", "atomic update", (film) => accesses(film).some((it) => it.k === "atomic")],
  ["other", "at another line"],
  ["aside", "not in this branch"],
  ["waits", "waits"],
  ["gone", "done"],
  ["none", "nothing written yet", (film) => film.record.arrays.some(isUnwritten)],
  ["queue", "queue at a bank", hasBanks],
  ["fault", "cell of a fault", hasCells],
];

// The colours of the marks that are filled to their rims.
const FILLS = {
  load: "load",
  store: "store",
  atomic: "atomic",
  other: "middle",
  queue: "finding",
};

const KEYBOARD =
  "← → step, space plays, ↑ ↓ same line, b barrier, f fault, c cost, m moment; " +
  "they work under the mouse, and after a click here";

const LOCAL = /\blocal\s*\.\s*array\s*\(/;

const WORDS = [
  [
    "timeline",
    "A row for each warp (w0, w1 …), a column for each step; a line where a " +
      "barrier opens, ✖ a fault, ▲ a cost.",
  ],
  [
    "bank",
    "One of the 32 parts of shared memory. The number in it is the lane that it " +
      "serves; ×4: four lanes that ask for one word.",
    hasBanks,
  ],
  [
    "wavefront",
    "One pass of a request through shared memory, in which each bank serves one " +
      "word; a row of the banks.",
    hasBanks,
  ],
  [
    "sector",
    "32 bytes of global memory, which move together. The bar below an array shows " +
      "where in it they lie.",
    (film) => accesses(film).some((it) => it.s),
  ],
  [
    "from",
    "The lane whose value a lane gets in a shuffle; framed, where that is another " +
      "one; pale behind the warp's last shuffle.",
    (film) => film.shuffles > 0,
  ],
  [
    "cell",
    "Its value is told under the mouse; a tap follows it, and so does its name.",
    (film) => film.record.arrays.some((it) => it.space === "shared"),
  ],
  [
    "local arrays",
    "They are not shown.",
    (film) => film.record.files.some((it) => it.lines.some((row) => LOCAL.test(row))),
  ],
  ["keys", KEYBOARD],
];

function fillLegend(box, key, film) {
  const needed = ([, , needs = () => true]) => needs(film);
  for (const [name, text] of LEGEND.filter(needed)) {
    const part = element("span", text);
    const style = FILLS[name] ? `--fill: var(--${FILLS[name]})` : "";
    part.prepend(element("i", "", { className: name, style }));
    box.append(part);
  }
  for (const [word, meaning] of WORDS.filter(needed)) {
    for (const [tag, text] of Object.entries({ dt: word, dd: meaning })) {
      key.append(element(tag, text, { className: word }));
    }
  }
}

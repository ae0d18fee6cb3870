// The film at one step: replays the stores of the record, with keyframes for jumps.

const WARP = 32;
const KEYFRAME = 256;
const RUNS = 0,
  AT_BARRIER = 1,
  AT_WARP = 2,
  LEFT = 3;
const STATUS = { barrier: AT_BARRIER, pass: AT_BARRIER, wait: AT_WARP, leave: LEFT };

const sizeOf = (shape) => shape.reduce((product, it) => product * it, 1);
const bit = (mask, lane) => (mask >>> lane) & 1;

function lanesOf(mask) {
  return Array.from({ length: WARP }, (_, lane) => lane).filter((it) => bit(mask, it));
}

// What a value by lane is in one lane: `given` is a list, or one value for all.
const inLane = (given, lane) => (Array.isArray(given) ? given[lane] : given);

function initialCells(initial) {
  if (initial === null) return new Map();
  const cells = Array.isArray(initial) ? initial : initial.only;
  return new Map(Object.entries(cells).map(([cell, value]) => [Number(cell), value]));
}

class Film {
  constructor(record) {
    this.record = record;
    this.steps = record.steps;
    this.last = this.steps.length - 1;
    this.lanes = record.warps * WARP;
    this.pairs = new WeakMap();
    this.keyframes = [this.opening()];
    this.state = structuredClone(this.keyframes[0]);
    this.touching = record.arrays.map((_, at) => this.stepsTouching(at));
    this.moved = new Map();
    this.marked = new Map();
    this.shuffles = Math.max(0, ...this.steps.map((it) => (it.h || []).length));
  }

  opening() {
    const each = (value) => new Array(this.lanes).fill(value);
    const { variables } = this.record;
    return {
      step: -1,
      cells: this.record.arrays.map((it) => initialCells(it.initial)),
      values: new Map(variables.map((name) => [name, each(null)])),
      status: each(RUNS),
      stood: each(-1), // the last step of each thread
      warps: new Array(this.record.warps).fill(-1),
    };
  }

  // The state after step n; -1 is before the first.
  seek(n) {
    const key = Math.min(Math.floor((n + 1) / KEYFRAME), this.keyframes.length - 1);
    const near = this.keyframes[key];
    if (n < this.state.step || near.step > this.state.step) {
      this.state = structuredClone(near);
    }
    while (this.state.step < n) {
      this.advance(this.state.step + 1);
      if ((this.state.step + 1) / KEYFRAME === this.keyframes.length) {
        this.keyframes.push(structuredClone(this.state));
      }
    }
    return this.state;
  }

  advance(n) {
    const { state } = this;
    const step = this.steps[n];
    if (n > 0 && this.steps[n - 1].e === "pass") {
      state.status = state.status.map((it) => (it === AT_BARRIER ? RUNS : it));
    }
    for (const lane of lanesOf(step.m)) {
      state.status[step.w * WARP + lane] = STATUS[step.e] || RUNS;
      state.stood[step.w * WARP + lane] = n;
    }
    if (step.m) state.warps[step.w] = n; // without lanes, a barrier opens for others
    for (const access of step.a || []) this.store(access);
    this.assign(step);
    state.step = n;
  }

  store(access) {
    if (access.x === undefined) return;
    const cells = this.state.cells[access.r];
    for (const [lane, cell] of this.touched(access)) {
      cells.set(cell, inLane(access.x, lane));
    }
  }

  assign(step) {
    for (const [name, given] of Object.entries(step.v || {})) {
      const values = this.state.values.get(name);
      for (const lane of values ? lanesOf(step.m) : []) {
        const value = inLane(given, lane);
        if (value !== null) values[step.w * WARP + lane] = value;
      }
    }
  }

  // [lane, cell] of each lane that takes part in an access.
  touched(access) {
    if (!this.pairs.has(access)) this.pairs.set(access, this.pairsOf(access));
    return this.pairs.get(access);
  }

  pairsOf(access) {
    const found = [];
    this.record.patterns[access.p].forEach((cell, lane) => {
      if (cell !== null) found.push([lane, cell + access.o]);
    });
    return found;
  }

  // The accesses of a step; of one array, where that is given.
  accesses(n, array) {
    const all = this.steps[n].a || [];
    return array === undefined ? all : all.filter((it) => it.r === array);
  }

  // The step up to each one in which an array was last touched, or -1.
  stepsTouching(array) {
    let last = -1;
    return this.steps.map((_, n) => {
      if (this.accesses(n, array).length) last = n;
      return last;
    });
  }

  // The cells that some step touches.
  cellsTouched(array) {
    const all = this.steps.flatMap((_, n) => this.accesses(n, array));
    return new Set(all.flatMap((it) => this.touched(it).map(([, cell]) => cell)));
  }

  isShared(array) {
    return this.record.arrays[array].space === "shared";
  }

  // Where one cell lies: its bytes from the start of shared memory, or modulo 128.
  address(array, cell) {
    const { offset, itemsize, shape, strides } = this.record.arrays[array];
    if (!strides) return offset + cell * itemsize;
    return indexOf(shape, cell).reduce((sum, it, at) => sum + it * strides[at], offset);
  }

  // The bytes in which a global array lies: the first, and how many.
  extent(array) {
    const { offset, itemsize, shape, strides } = this.record.arrays[array];
    if (!strides) return [offset, sizeOf(shape) * itemsize];
    const ends = shape.map((it, at) => (it - 1) * strides[at]);
    const low = ends.reduce((sum, it) => sum + Math.min(it, 0), offset);
    return [low, ends.reduce((sum, it) => sum + Math.abs(it), itemsize)];
  }

  // The sectors that a step moves of a global array, in order.
  sectors(array, n) {
    const key = `${array} ${n}`;
    if (!this.moved.has(key)) {
      const found = new Set(this.accesses(n, array).flatMap((it) => it.s || []));
      this.moved.set(key, [...found].sort((a, b) => a - b));
    }
    return this.moved.get(key);
  }

  // What happens to a cell, in order: { n, access, lanes, value }.
  historyOfCell(array, cell) {
    const found = [];
    let value = this.keyframes[0].cells[array].get(cell);
    this.steps.forEach((_, n) => {
      for (const access of this.accesses(n, array)) {
        for (const [lane, it] of this.touched(access)) {
          if (it !== cell) continue;
          if (access.x !== undefined) value = inLane(access.x, lane);
          const last = found[found.length - 1] || {};
          if (last.access === access && last.value === value) last.lanes.push(lane);
          else found.push({ n, access, lanes: [lane], value });
        }
      }
    });
    return found;
  }

  // The steps in which a thread takes part.
  historyOfThread(thread) {
    const [warp, lane] = [Math.floor(thread / WARP), thread % WARP];
    const numbers = this.steps.keys();
    return [...numbers].filter((n) => {
      return this.steps[n].w === warp && bit(this.steps[n].m, lane);
    });
  }

  findingsAt(n) {
    return (this.steps[n].n || []).map((it) => this.record.findings[it]);
  }

  // The cells that the findings of a step are about, [array, cell]: of those that the
  // step touches; and of cells that nobody wrote, those that a lane reads now.
  markedAt(n) {
    if (!this.marked.has(n)) this.marked.set(n, this.marksOf(n));
    return this.marked.get(n);
  }

  marksOf(n) {
    const found = new Map();
    for (const { kind, cells } of this.findingsAt(n)) {
      const about = new Set(cells.map(String));
      for (const access of this.accesses(n)) {
        const lanes = kind === "uninitialised" ? access.u || 0 : -1;
        for (const [lane, cell] of this.touched(access)) {
          const key = `${access.r},${cell}`;
          if (bit(lanes, lane) && about.has(key)) found.set(key, [access.r, cell]);
        }
      }
    }
    return [...found.values()];
  }

  isMarked(n, array, cell) {
    return this.markedAt(n).some(([r, it]) => r === array && it === cell);
  }

  // [lane, the lane whose value it gets] of each shuffle of a step.
  sourcesAt(n) {
    return (this.steps[n].h || []).map(([p, o]) => this.pairsOf({ p, o }));
  }

  // The last step up to n in which its warp shuffled, or -1.
  shuffledAt(n) {
    const { w } = this.steps[n];
    while (n >= 0 && (this.steps[n].w !== w || !this.steps[n].h)) n -= 1;
    return n;
  }

  // The worst level of the findings of a step, or nothing.
  levelAt(n) {
    const levels = this.findingsAt(n).map((it) => it.level);
    return ["wrong", "costly", "slight"].find((it) => levels.includes(it)) || "";
  }

  hasLevel(n, levels) {
    return this.findingsAt(n).some((it) => levels.includes(it.level));
  }

  // Where the film opens: at the first moment with a finding, or else at the first.
  firstShown() {
    const moments = this.record.moments.map((it) => it.step);
    return moments.find((it) => this.findingsAt(it).length) ?? moments[0] ?? 0;
  }

  momentAt(n) {
    return this.record.moments.find((it) => it.step === n);
  }

  // The steps that a button stops at, in order.
  stops(kind, n) {
    const here = this.steps[n];
    const opens = this.steps.some((it) => it.e === "pass");
    const tests = {
      line: (it) => it.l === here.l && it.f === here.f,
      barrier: (it) => it.e === (opens ? "pass" : "barrier"),
      fault: (_, at) => this.hasLevel(at, ["wrong"]),
      cost: (_, at) => this.hasLevel(at, ["costly", "slight"]),
      moment: (_, at) => this.momentAt(at) !== undefined,
    };
    return [...this.steps.keys()].filter((it) => tests[kind](this.steps[it], it));
  }
}

"""A program as rows for its warps, made once: for each basic block its trace, or, where
there is none, that NumPy runs it.
"""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.events import AccessSite
from thirty_two_lanes.core.liveness import writes
from thirty_two_lanes.emulator.native import kernels
from thirty_two_lanes.emulator.native.instructions import trace_of
from thirty_two_lanes.emulator.native.tracing import (
    BOOL,
    Untraceable,
    Value,
    Word,
    is_number,
)

SPACES = ("global", "shared", "local", "const")  # of requests that are told
KINDS = ("number", "threads", "fixed", "temporary", "block")


class Tape:
    """The rows of a program; where it `tells`, judges hear what they do.

    `words` are numbers, or of what `kinds` says: rows of a warp's memory, whose first
    ones are `fixed`. `results` are what the machine gets of a basic block's
    end; one that NumPy runs is not in it. `unsure` are the variables that may be read
    before they are written, and `names` those that only ever are another array.
    """

    def __init__(self, program, tells):
        self.program, self.tells = program, tells
        self.types, self.slots = program.ir.types, program.ir.slot_of
        self.names = array_names(program)
        self.unsure = _unsure(program)
        self.fixed_rows, self.sources = {("active",): (0, BOOL)}, []
        self.results, self.temporaries, self.most_stores = {}, 0, 0
        self.written = [
            [n for i in block for n in writes(i) if n in self.slots]
            for block in program.ir.blocks
        ]
        rows, self.begins = [], {}
        for pc, block in enumerate(program.ir.blocks):
            trace = self._traced(pc, block)
            self.begins[pc] = len(rows)
            if trace is None:
                rows.append((("machine",), (pc,)))
            else:
                rows += [*trace.rows, self._end_of(pc, block[-1])]
        self.begins["take"] = len(rows)
        rows.append((("take",), ()))
        for pc in sorted(self._headers()):
            self.begins["look", pc] = len(rows)
            rows += self._look(pc)
        self._assemble(rows)

    def fixed(self, dtype, *key) -> Word:
        """Numbers of each thread that are known by a key."""
        rows = self.fixed_rows
        return Word("fixed", rows.setdefault(key, (len(rows), np.dtype(dtype)))[0])

    def source(self, reference, dtype) -> int:
        """The number of an access, in its first space."""
        self.sources += [AccessSite(reference, space, dtype) for space in SPACES]
        return len(self.sources) - len(SPACES)

    def _traced(self, pc, block):
        """The trace of a basic block; None where NumPy runs it."""
        for usual in (False, True):
            try:
                trace, self.results[pc] = trace_of(self, usual, pc, block)
            except Untraceable:
                continue
            self.temporaries = max(self.temporaries, trace.temporaries)
            stores = sum(key[0] == "scatter" for key, _ in trace.rows)
            self.most_stores = max(self.most_stores, stores)
            return trace
        return None

    def _end_of(self, pc, end):
        """The row behind a basic block's last: where it leads."""
        block, result = self.program.code[pc], self.results[pc]
        then, otherwise = ((Word("block", n), n) for n in (block.then, block.otherwise))
        if isinstance(end, ir.Jump):
            return ("jump",), then
        if isinstance(end, ir.WaitForLanes):
            return ("meet",), then
        if isinstance(end, ir.Branch) and isinstance(result, Value):
            return ("branch", self.tells), (result.word, *then, *otherwise)
        return ("end",), ()

    def _headers(self):
        """Where the back edges of loops lead to."""
        ends = [(n, b.then, b.otherwise) for n, b in enumerate(self.program.code)]
        return {to for pc, *both in ends for to in both if 0 <= to <= pc}

    def _look(self, pc):
        """The rows that look at a loop's variables; the machine looks at tuples."""
        needs = self.program.code[pc].needs
        needed = {n: self.types.get(n) for n, s in self.slots.items() if needs >> s & 1}
        numbers = {n: t for n, t in needed.items() if not isinstance(t, ir.ArrayType)}
        if not all(map(is_number, numbers.values())):
            return [(("ask",), ())]
        mixed = [
            (("mix", dtype.itemsize), (self.fixed(dtype, "slot", name),))
            for name, dtype in sorted(numbers.items())
        ]
        return [(("look",), ()), *mixed, (("looked",), ())]

    def _assemble(self, rows):
        """Write the rows as words, each behind its kernel and their number."""
        keys = {key for key, _ in rows} | {("run",)}
        self.kernels = kernels.addresses_of(keys)
        self.run = kernels.function_of(self.kernels["run",])
        words, kinds, starts = [], [], []
        for key, operands in rows:
            starts.append(len(words))
            given = [o if isinstance(o, Word) else Word("number", o) for o in operands]
            given = [
                Word("number", self.kernels[key]),
                Word("number", len(given) + 2),
                *given,
            ]
            words += [word.number for word in given]
            kinds += [KINDS.index(word.kind) for word in given]
        self.begins = {pc: starts[row] for pc, row in self.begins.items()}
        self.words, self.kinds = np.array(words, np.int64), np.array(kinds)
        blocks = self.kinds == KINDS.index("block")
        self.words[blocks] = [self.begins[pc] for pc in self.words[blocks].tolist()]


def array_names(program) -> dict:
    """For each variable that only ever is another array: the name of that array.

    A variable written in one place has one value there, and is read behind it.
    """
    slots, blocks = program.ir.slot_of, program.ir.blocks
    written = [name for block in blocks for i in block for name in writes(i)]
    written += [name for name, slot in slots.items() if slot in program.arguments]
    once = {name for name in written if written.count(name) == 1} & slots.keys()
    copies = {
        target: source
        for block in blocks
        for i in block
        if isinstance(i, ir.Copy)
        for target, source in zip(i.targets, i.sources, strict=True)
        if isinstance(program.ir.types.get(target), ir.ArrayType)
        and {target, source} <= once
    }
    for target in copies:
        while copies[target] in copies:
            copies[target] = copies[copies[target]]
    return copies


def _unsure(program) -> set:
    """The variables that a block may need and that not all ways to it write."""
    slots, code = program.ir.slot_of, program.code
    known = {slot: name for name, slot in slots.items()}
    before = [set(slots) for _ in code]
    before[0] = {known[slot] for slot in program.arguments}
    changed = True
    while changed:
        changed = False
        for pc, block in enumerate(program.ir.blocks):
            written = before[pc] | {n for i in block for n in writes(i)}
            if code[pc].then in program.results:
                written.add(known[program.results[code[pc].then]])
            for following in {code[pc].then, code[pc].otherwise} - {-1}:
                if not before[following] <= written:
                    before[following], changed = before[following] & written, True
    return {
        name
        for pc, block in enumerate(code)
        for name, slot in slots.items()
        if block.needs >> slot & 1 and name not in before[pc]
    }

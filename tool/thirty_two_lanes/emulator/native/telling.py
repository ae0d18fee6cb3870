"""What compiled code tells the judges: each request of a warp as a row of a buffer, and
counts of steps and splits.

A piece writes its rows before it counts them, so that one that stops has told nothing;
it also stops where the machine would tell more, at a negative index or a number that
does not fit. The buffer is emptied before judges hear anything else.
"""

from functools import partial

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.events import Access, BranchSplit, Requests, Source, Step
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.codegen.writer import is_narrower
from thirty_two_lanes.emulator.native import scalars
from thirty_two_lanes.emulator.native.driver import MOST_TOLD
from thirty_two_lanes.emulator.native.layout import AT
from thirty_two_lanes.emulator.native.lowering import Lowering
from thirty_two_lanes.emulator.native.pieces import type_of
from thirty_two_lanes.emulator.native.state import SPACES, is_part
from thirty_two_lanes.emulator.native.words import CONTEXT, I64, number

FACTS = ("source", "active", "iterations", "warp")  # of a request, beside its lanes
AFTER = ("global", "shared", "local", "sync", "fence", "end")  # have a place in order


class Telling(Lowering):
    """A piece that tells; `told` are the places that ask, each with its type."""

    def __init__(self, *arguments, told):
        super().__init__(*arguments)
        self.told, self.asked = told, []

    def instruction(self, i):
        """Stop where an integer does not fit, unless the source says that it may."""
        super().instruction(i)
        source = self.types.get(i.operand) if isinstance(i, ir.Cast) else None
        if source is not None and not i.explicit and is_narrower(i.dtype, source):
            b, made = self.builder, self.values[i.target]
            back = scalars.convert(b, made, i.dtype, source)
            self.unless(b.icmp_signed("==", back, self.value(i.operand)))
            if i.dtype.kind == "i" and source.kind == "u":
                self.unless(b.icmp_signed(">=", made, made.type(0)))

    def address(self, i):
        """Write where this thread asks, and what it stores."""
        b = self.builder
        for operand in i.indices:
            if type_of(operand, self.types).kind == "i":
                index = self.value(operand)
                self.unless(b.icmp_signed(">=", index, index.type(0)))
        at = super().address(i)
        place = self.layout.place("told", i.array, words=2)
        lane = b.add(self.thread, number(WARP_SIZE * len(self.asked)))
        b.store(b.sub(at, self.word(place)), b.gep(self._rows("addresses"), [lane]))
        if isinstance(i, ir.Store):
            bits = self.bits(self.value(i.value))
            bits = bits if bits.type == I64 else b.zext(bits, I64)
            b.store(bits, b.gep(self._rows("values"), [lane]))
        self.asked.append((self._number(i), self.word(place + 1)))
        return at

    def _number(self, i):
        self.told.append((i.reference, self.types[i.array].dtype))
        return len(SPACES) * (len(self.told) - 1)

    def _rows(self, name, width=WARP_SIZE):
        """The first rows of a buffer that are not taken."""
        if name not in self.shared:
            h = self.head
            told = h.load(h.inttoptr(self.word(AT["told"]), CONTEXT))
            base = h.inttoptr(self.word(AT[name]), CONTEXT)
            self.shared[name] = h.gep(base, [h.mul(told, number(width))])
        return self.shared[name]

    def _note_written(self):
        """Count the requests, each with its facts."""
        super()._note_written()
        if not self.asked:
            return
        b, rows = self.builder, self._rows("facts", len(FACTS))
        active = b.load(b.inttoptr(self.word(AT["active"]), CONTEXT))
        turns = b.add(self.word(AT["turns"]), self.word(AT["iterated"]))
        for row, (source, space) in enumerate(self.asked):
            facts = (b.add(number(source), space), active, turns, self.word(AT["warp"]))
            for place, fact in enumerate(facts, row * len(FACTS)):
                b.store(fact, b.gep(rows, [number(place)]))
        told = b.inttoptr(self.word(AT["told"]), CONTEXT)
        b.store(b.add(b.load(told), number(len(self.asked))), told)


class Teller:
    """The buffers of a launch of one block, and what they say to its listeners."""

    def __init__(self, launch):
        self.launch, self.compiled = launch, None
        self.told = np.zeros(1, np.int64)  # how many requests wait
        self.counted = []  # of each warp: who it is, and its counts by pc

    def begin(self, compiled):
        """Make room for what compiled code tells; from here on it is told first."""
        if self.compiled is not None:
            return
        self.compiled = compiled
        size = MOST_TOLD + max(len(p.instructions) for p in compiled.pieces)
        self.addresses = np.zeros((size, WARP_SIZE), np.int64)
        self.values = np.zeros((size, WARP_SIZE), np.uint64)
        self.facts = np.zeros((size, len(FACTS)), np.int64)
        self.sources = [
            Source(reference, space, dtype)
            for reference, dtype in compiled.told
            for space in SPACES
        ]
        heard = self.launch.listeners
        for topic in AFTER:
            if heard[topic]:
                heard[topic] = (partial(self._hear, heard[topic]),)

    def connect(self, state):
        """Let a warp's compiled code find the buffers."""
        for name in ("told", "addresses", "values", "facts"):
            state.set(name, state.keep(getattr(self, name)))
        state.set("warp", state.warp.number)
        self.counted.append((state.warp.who, state.counts))

    def _hear(self, listeners, event):
        """Tell what was before; an access keeps no numbers that are ours to change."""
        self.tell()
        if isinstance(event, Access):
            cells, value = (_kept(part) for part in (event.cells, event.value))
            event = event._replace(cells=cells, value=value)
        for listener in listeners:
            listener(event)

    def tell(self):
        """Tell the requests that wait."""
        count, self.told[0] = int(self.told[0]), 0
        if not count:
            return
        heard = self.launch.listeners
        source, active, iterations, warp = self.facts[:count].T
        known = np.flatnonzero(np.bincount(source))
        requests = Requests(
            tuple(self.sources[number] for number in known.tolist()),
            0,
            np.searchsorted(known, source).astype(np.int32),
            self.addresses[:count],
            active.astype(np.uint32),
            warp.astype(np.int32),
            np.zeros(count, np.int32),
            iterations.astype(np.int32),
            self.values[:count] if heard["values"] else None,
        )
        for listener in heard["requests"]:
            listener(requests)

    def tell_counts(self):
        """Tell the steps and splits of each warp, once."""
        self.tell()
        heard = self.launch.listeners
        for who, counts in self.counted:
            for pc, (lanes, steps, splits) in enumerate(counts.T.tolist()):
                both = np.ones((1, splits), bool)
                for listener in heard["step"] if steps else ():
                    listener(Step(pc, None, who, lanes, steps))
                for listener in heard["split"] if splits else ():
                    site = self.launch.program.code[pc].ending.site
                    listener(BranchSplit(site, both, both, who._replace(blocks=splits)))


def _kept(part):
    return part.copy() if is_part(part) else part


def has_fence(program) -> bool:
    """Does the order of requests matter to the judges?"""
    calls = (i for block in program.ir.blocks for i in block if isinstance(i, ir.Call))
    return any(i.function.startswith("cuda.threadfence") for i in calls)

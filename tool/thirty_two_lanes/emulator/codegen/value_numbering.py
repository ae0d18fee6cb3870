"""Finds what a kernel computes or loads again, though the compiler does so once.

Value numbering along the dominator tree: what is computed from equal values in a block
through which all ways to another lead has the same number there. A load's number
depends on its memory's, too, which each change renews. What counts as a change is what
NVIDIA's compiler makes of small kernels, which
`tests/emulator/codegen/test_value_numbering.py` compiles. Arrays in global memory may
overlap, as Numba promises nothing, so a store to one changes all; shared and local
arrays are apart from those, and from each other. A barrier, `syncwarp` and a fence
change shared and global memory, a shuffle and a vote change none. A load behind a store
to the same index is what was stored.

Not modelled, and so counted: what is the same in all branches before they join; stores
that others overwrite, and sums that a loop keeps in a register; indices that are
constant and apart; local arrays that become registers; whole loops, unrolled;
`b + a` for `a + b`.
"""

from collections import defaultdict
from dataclasses import fields
from itertools import count

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import named_in, writes
from thirty_two_lanes.emulator.codegen.aliasing import memories_of
from thirty_two_lanes.emulator.codegen.dominators import graph_of
from thirty_two_lanes.language.twin_registry import is_loading
from thirty_two_lanes.language.warp_intrinsics import INTRINSICS

BRANCHING = ("sin", "cos", "tan", "sinf", "cosf", "tanf")  # inlined with a slow path
DIVISIONS = ("floordiv", "mod", "pow")  # so are these, unless by a constant
ORDERING = ("cuda.threadfence", "cuda.syncwarp", "cuda.nanosleep")
APART = {"target", "site", "reference", "explicit"}  # fields that change no value
OTHERS = {  # the fields that are part of a value, and no operands
    node: [f.name for f in fields(node) if f.name not in {*node.nature.reads, *APART}]
    for node in ir.NODES
}


def repeated_in(kernel, blocks) -> dict[int, set[int]]:
    """The places of what is computed or loaded again, by the number of their block."""
    graph, changes = graph_of(blocks, kernel.entry), Changes(kernel, blocks)
    numbering, states, found = Numbering(kernel, changes), {None: ({}, {})}, {}
    for number in sorted(blocks, key=lambda it: len(graph.dominators[it])):
        nearest = graph.nearest(number)
        numbers, known = states[nearest]
        changed = changes.of(graph.between(nearest, graph.before[number]))
        kept = {it: value for it, value in numbers.items() if it not in changed}
        state = defaultdict(numbering.fresh, kept), dict(known)
        found[number] = numbering.repeated(blocks[number], *state)
        states[number] = state
    return found


def is_merged(i) -> bool:
    """Does the compiler merge such an instruction with an equal one?"""
    if isinstance(i, ir.Call):
        return INTRINSICS[i.function].fixed
    if isinstance(i, ir.Operation):
        divides = i.operator in DIVISIONS and isinstance(i.operands[-1], str)
        return not divides and i.operator.rpartition(".")[2] not in BRANCHING
    return i.nature.pure or is_load(i)


def is_load(i) -> bool:
    """Does an instruction load, and nothing else?"""
    return isinstance(i, ir.Load) or isinstance(i, ir.Twin) and is_loading(i.function)


class Changes:
    """What may change: variables, and the memories that arrays lie in."""

    def __init__(self, kernel, blocks):
        self.memories = memories_of(kernel, blocks.values())
        every = {it for memories in self.memories.values() for it in memories}
        self.common = {it for it in every if getattr(it, "space", "") != "local"}
        self.of_block = {
            number: {it for i in block for it in self.by(i)}
            for number, block in blocks.items()
        }

    def of(self, numbers) -> set:
        """What some blocks may change."""
        return set().union(*(self.of_block[number] for number in numbers))

    def by(self, instruction) -> set:
        """What an instruction may change."""
        barrier = getattr(instruction, "barrier", None)
        changed = {*writes(instruction), *writes(barrier)}
        function = getattr(getattr(instruction, "sync", instruction), "function", "")
        orders = isinstance(function, str) and function.startswith(ORDERING)
        if is_load(instruction):
            return changed
        if barrier or orders or isinstance(instruction, (ir.Twin, ir.Print)):
            return changed | self.common
        return changed | self.memory_of(instruction, instruction.nature.stores)

    def memory_of(self, instruction, fields) -> set:
        """The memories of the arrays in some fields of an instruction."""
        return {m for it in named_in(instruction, fields) for m in self.memories[it]}


class Numbering:
    """Gives values their numbers, one block after the other."""

    def __init__(self, kernel, changes):
        self.types, self.changes = kernel.types, changes
        self.fresh = count().__next__

    def repeated(self, block, numbers, known) -> set[int]:
        """The places of a block's instructions that compute or load what is known."""
        found = set()
        for index, i in enumerate(block):
            if isinstance(i, ir.Copy):
                values = [self.value_of(it, numbers) for it in i.sources]
                numbers.update(zip(i.targets, values, strict=True))
                continue
            key = self.key_of(i, numbers)
            for changed in self.changes.by(i):
                numbers.pop(changed, None)
            if isinstance(i, ir.Store):
                known[self.load_of(i, numbers)] = self.fresh()
            elif key is not None:
                if key in known:
                    found.add(index)
                numbers[i.target] = known.setdefault(key, self.fresh())
        return found

    def key_of(self, i, numbers):
        """What decides an instruction's value; None where the compiler keeps each."""
        if not is_merged(i):
            return None
        if is_load(i):
            return self.load_of(i, numbers)
        operands = (self.value_of(getattr(i, it), numbers) for it in i.nature.reads)
        others = (getattr(i, it) for it in OTHERS[type(i)])
        others = (id(it) if isinstance(it, np.ndarray) else it for it in others)
        return type(i), self.types.get(i.target), *operands, *others

    def load_of(self, i, numbers):
        """What decides the value at the index of a load or a store."""
        memories = self.changes.memory_of(i, i.nature.loads or i.nature.stores)
        memory = frozenset(numbers[it] for it in memories)
        if isinstance(i, ir.Twin):
            return i.function, memory, self.value_of(i.operands, numbers)
        return ir.Load, memory, self.value_of((i.array, i.indices), numbers)

    def value_of(self, operand, numbers):
        """An operand's number; a constant is its own."""
        if isinstance(operand, str):
            return numbers[operand]
        if isinstance(operand, ir.Const):
            return type(operand.value), repr(operand.value)
        if isinstance(operand, ir.Slice):
            operand = operand.start, operand.stop, operand.step
        if isinstance(operand, tuple):
            return tuple(self.value_of(it, numbers) for it in operand)
        return operand

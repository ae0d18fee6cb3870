"""Finds the atomics of which nothing is needed back that add 1, or that exchange. For
the first a GPU has an instruction of its own in shared memory, ATOMS.POPC.INC, which
counts the lanes of each word; the others only store.
"""

from dataclasses import replace

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WORD_BYTES
from thirty_two_lanes.core.liveness import reads
from thirty_two_lanes.emulator.codegen.static_facts import Definitions


def with_increments(kernel, blocks):
    """The blocks, with references that know it where an atomic is an increment, or only
    stores.
    """
    if not any(isinstance(i, ir.Atomic) for block in blocks.values() for i in block):
        return blocks
    read = {name for block in blocks.values() for i in block for name in reads(i)}
    definitions = Definitions(kernel, blocks.values())

    def known(i):
        if not isinstance(i, ir.Atomic) or i.target in read:
            return i
        facts = {"adds_one": _adds_one(i, definitions)}
        facts["only_stores"] = i.operator == "exch"
        return replace(i, reference=replace(i.reference, **facts))

    return {number: list(map(known, block)) for number, block in blocks.items()}


def _adds_one(atomic, definitions) -> bool:
    """Does an atomic add the number 1, to whole numbers of 4 bytes?"""
    dtype = definitions.types[atomic.array].dtype
    whole = dtype.kind in "iu" and dtype.itemsize == WORD_BYTES
    origin = definitions.origin(atomic.values[0])
    one = isinstance(origin, ir.Const) and origin.value == 1
    return atomic.operator == "add" and whole and one

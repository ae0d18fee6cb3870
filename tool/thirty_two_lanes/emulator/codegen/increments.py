"""Finds the atomics that add 1 and need nothing back. A GPU has an instruction of its
own for them in shared memory, ATOMS.POPC.INC, which counts the lanes of each word.
"""

from dataclasses import replace

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WORD_BYTES
from thirty_two_lanes.emulator.codegen.liveness import reads
from thirty_two_lanes.emulator.codegen.static_facts import Definitions


def with_increments(kernel, blocks):
    """The blocks, with references that know it where an atomic is an increment."""
    if not any(isinstance(it, ir.Atomic) for block in blocks.values() for it in block):
        return blocks
    read = {name for block in blocks.values() for it in block for name in reads(it)}
    definitions = Definitions(kernel, blocks.values())

    def known(it):
        if not isinstance(it, ir.Atomic) or it.target in read:
            return it
        adds_one = _adds_one(it, definitions)
        return replace(it, reference=replace(it.reference, adds_one=adds_one))

    return {number: [known(it) for it in block] for number, block in blocks.items()}


def _adds_one(atomic, definitions) -> bool:
    """Does an atomic add the number 1, to whole numbers of 4 bytes?"""
    dtype = definitions.types[atomic.array].dtype
    whole = dtype.kind in "iu" and dtype.itemsize == WORD_BYTES
    origin = definitions.origin(atomic.values[0])
    one = isinstance(origin, ir.Const) and origin.value == 1
    return atomic.operator == "add" and whole and one

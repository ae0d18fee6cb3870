"""What each basic block of a program does, by source line: instructions and arithmetic.

Instructions are those of our IR that become machine code of their own: operations,
conversions, calls, accesses and branches, and no copies. What stores to many elements
counts once for the first, and the machine tells of the others. Operations count as in a
roofline: one for an add, a subtraction, a product, a division, a root, a function of
`math`; two for `fma`; of complex numbers 2 to add, 6 to multiply, 8 for the rest. A
conversion, a comparison and a choice are none. An atomic update is one. Not modelled:
what the compiler leaves out, joins or moves out of loops; the steps of a library
function.
"""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.program import KINDS, LineCounts

NO_OPERATION = {
    *"lt le gt ge eq ne choose cuda.selp not pos real imag exch cas view".split(),
    *"math.isnan math.isinf math.isfinite np.isnan np.equal np.not_equal".split(),
    *"np.less np.less_equal np.greater np.greater_equal".split(),
    "in range",
}
FUSED = {"cuda.fma", "cuda.fp16.hfma", "cuda.libdevice.fma", "cuda.libdevice.fmaf"}
_COMPLEX = {"add": 2, "sub": 2, "neg": 2, "complex mul": 6}


def work_of(block, types, repeated=()) -> tuple[LineCounts, ...]:
    """The work of a block, line by line, but for the places of what is repeated."""
    lines = {}
    for index, instruction in enumerate(block):
        site = _site(instruction)
        counts = instruction.nature.counts and index not in repeated
        if counts and site is not None:
            total = lines.setdefault(site, np.zeros(1 + len(KINDS), np.int64))
            total[0] += 1
            total[1:] += _operations(instruction, types)
    return tuple(
        LineCounts(site, int(count), tuple(map(int, operations)))
        for site, (count, *operations) in lines.items()
    )


def _site(instruction):
    references = ir.references_of(instruction)
    return references[0].site if references else getattr(instruction, "site", None)


def _operations(instruction, types):
    """How many operations of each kind an instruction is."""
    counts = np.zeros(len(KINDS), np.int64)
    if isinstance(instruction, ir.Operation):
        dtype = _type(instruction.operands[-1], types)
        if dtype.kind != "c":  # the absolute value of a complex number is a real one
            dtype = _number(types[instruction.target])
    elif isinstance(instruction, ir.Atomic):
        dtype = _type(instruction.values[-1], types)
    else:
        return counts
    if instruction.operator not in NO_OPERATION and dtype.kind in "iufc":
        count = 2 if instruction.operator in FUSED else 1
        kind = "integer" if dtype.kind in "iu" else dtype.name
        if dtype.kind == "c":
            count = _COMPLEX.get(instruction.operator, 8)
            kind = f"float{dtype.itemsize * 4}"
        counts[KINDS.index(kind)] = count
    return counts


def _type(operand, types):
    if isinstance(operand, ir.Const):
        value = operand.value
        return value[0].dtype if isinstance(value, tuple) else value.dtype
    return _number(types[operand])


def _number(dtype):
    """The type of a number, or of the first of a tuple."""
    while isinstance(dtype, tuple):
        dtype = dtype[0]
    return dtype

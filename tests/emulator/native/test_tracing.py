"""Rows of machine code give what the tables of `language` give, for each operator."""

import warnings
from functools import cache

import numpy as np
import pytest

from tests.emulator.native.comparison import bits
from tests.quick import beside, turn_of
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.codegen.translate import translate
from thirty_two_lanes.emulator.machine.machine import Launch
from thirty_two_lanes.emulator.native.accelerator import Accelerator
from thirty_two_lanes.emulator.native.instructions import function_of
from thirty_two_lanes.emulator.native.loops import loop_of
from thirty_two_lanes.language.operators import FUNCTIONS, OPERATORS

SITE = Site("rows.py", 1, "a row of the table")
KNOWN = {"static pow"}  # its exponent is known
SLOW = "cuda.libdevice.", "cuda.fp16."
COUNTS = {"choose": 3, "in range": 3, "cuda.selp": 3}
WHOLE = [0, 1, -1, 2, -2, 3, 7, 63, 64, 127, -128, 255, 2**31 - 1, -(2**31), 2**63 - 1]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.7, 1e-300, 3e38, -7e9, 2.0**63]
ODD = [np.inf, -np.inf, np.nan, 1e300]
TYPES = [np.dtype(t) for t in ("?", "i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8")]


def numbers(dtype, turn):
    """Thirty-two special numbers of a type, in another order for each operand."""
    if dtype.kind == "f":
        special = np.resize([*REAL, *ODD, 4.0, 9.0, -3.0, 12.25], 32)
    else:
        special = np.resize(np.array(WHOLE, np.int64), 32)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.roll(special.astype(dtype), turn * (1 + 32 // 5))


def program_of(operator, dtypes, result):
    """`out[t] = operator(a[t], b[t], …)`."""
    names = [f"a{n}" for n in range(len(dtypes))]
    types = {name: ir.ArrayType(d, 1) for name, d in zip(names, dtypes, strict=True)}
    types |= {"out": ir.ArrayType(result, 1), "y": result, "t": np.dtype(np.int32)}
    types |= {f"x{n}": dtype for n, dtype in enumerate(dtypes)}
    loads = [
        ir.Load(f"x{n}", name, ("t",), Reference(SITE, "load", name))
        for n, name in enumerate(names)
    ]
    operands = tuple(f"x{n}" for n in range(len(dtypes)))
    block = [
        ir.Call("t", "cuda.threadIdx.x", (), SITE),
        *loads,
        ir.Operation("y", operator, operands, SITE),
        ir.Store("out", ("t",), "y", Reference(SITE, "store", "out")),
        ir.Return(),
    ]
    return translate(ir.Kernel("row", (*names, "out"), types, {0: block}, 0, SITE))


def results(operator, dtypes):
    """What NumPy gives, what rows give, and are there any; None of what no kernel asks
    for.
    """
    inputs = [numbers(dtype, turn) for turn, dtype in enumerate(dtypes)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function_of(operator, len(dtypes))(*(a[:, None] for a in inputs))
        except Exception:
            return None
    if not hasattr(expected, "dtype") or expected.dtype not in TYPES:
        return None
    if np.shape(expected)[1:] not in ((), (1,)):
        return None
    program = program_of(operator, dtypes, expected.dtype)
    arrays = {f"a{n}": a for n, a in enumerate(inputs)}
    out = np.zeros(32, expected.dtype)
    launch = Launch(program, ((1, 1, 1), (32, 1, 1), 0), arrays | {"out": out})
    accelerator = Accelerator(launch, {})
    accelerator.patience = -1
    launch.run({}, accelerator)
    rows = 0 in program.compiled["plain"]["tape"].results
    return bits(np.broadcast_to(expected, (32, 1))), bits(out), rows


def cases(operator):
    """Lists of types of an operator's operands: one type, and one of a shift."""
    for count in (COUNTS.get(operator),) if operator in COUNTS else (1, 2, 3):
        for dtype in TYPES:
            first = {"cuda.selp": np.dtype("?"), "choose": np.dtype("i8")}
            yield [first.get(operator, dtype), *[dtype] * (count - 1)]


@cache
def results_of(operator):
    """The results of each case, which two tests ask for."""
    return [results(operator, types) for types in cases(operator)]


MADE = "add sub mul truediv floordiv mod lshift rshift and or xor lt le gt ge eq ne"
MADE += " neg pos invert not abs round min max choose cuda.selp math.sin math.sqrt"
MADE += " math.floor math.isnan cuda.popc np.hypot fmin pow"
TABLE = sorted({*OPERATORS, *FUNCTIONS} - KNOWN)
QUICK = [it for it in TABLE if not it.startswith(SLOW) and turn_of(it, 4) == 0]


@pytest.mark.parametrize("operator", beside(sorted({*MADE.split(), *QUICK}), TABLE))
def test_a_row_of_the_table_gives_the_same_bits(operator):
    """Of every type that has it, of zeros, limits, infinities and NaN."""
    found = zip(cases(operator), results_of(operator), strict=True)

    differ = [types for types, r in found if r is not None and r[0] != r[1]]
    assert [] == differ


@pytest.mark.parametrize("operator", MADE.split())
def test_a_usual_row_becomes_machine_code(operator):
    """Of a float64 or an int64, whichever has it."""
    assert any(r is not None and r[2] for r in results_of(operator))


def test_a_loop_that_may_raise_an_error_is_left_to_python():
    """NumPy refuses a negative power of an integer, and none of a float."""
    of = {kind: (np.dtype(kind),) * 3 for kind in ("i8", "u4", "f8")}

    assert [True, True, False] == [loop_of(np.power, it) is None for it in of.values()]

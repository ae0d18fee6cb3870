"""What is said of accesses of local memory: whose index is not known, and whose is."""

import numpy as np
import pytest
from numba import cuda, float32

from helpers import assemble
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.assembly.findings import findings_of
from thirty_two_lanes.assembly.instructions import Instruction

STORE = Instruction(0, "STL.128", "[R1+0x10], RZ", 3)
LOAD = Instruction(16, "LDL", "R0, [R9]", 5)
ROUTINE = Instruction(32, "LDL", "R0, [R9]", None, routine="$div")
REMEDY = "Index it in loops of fixed length"


def said(*instructions, spilled=0):
    """The advice of each line."""
    found = findings_of(instructions, {}, spilled, {})
    return {it.site.line: it.advice for it in found}


def test_a_known_index_is_not_called_unknown():
    """The line is named that keeps the array in memory, and the remedy is there."""
    advice = said(STORE, LOAD)

    assert advice[3] == (
        "1 access of local memory: this index is known, but an array lies in one "
        "place, and the index in line 5 is not known"
    )
    assert "is not known at compile time" in advice[5] and REMEDY in advice[5]


def test_without_a_line_to_blame_none_is_named():
    """Whatever a routine does."""
    assert said(STORE, ROUTINE) == {3: "1 access of local memory: this index is known"}


@pytest.mark.parametrize(
    "others, because",
    [((), "registers. Keep"), ((LOAD,), "registers, or an array lies there, since")],
)
def test_what_is_spilled_lies_at_a_known_place(others, because):
    """An address that is computed is an array's, in a kernel that spills, too."""
    advice = said(STORE, *others, spilled=8)

    assert f"there were not enough {because}" in advice[3]
    assert all("is not known at compile time" in advice[it.line] for it in others)


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
def test_the_compiler_writes_known_places_so():
    """Of three lines that touch the array, one alone has an index that data give."""

    @cuda.jit
    def looked_up(x, places):
        own = cuda.local.array(64, float32)
        for k in range(64):
            own[k] = x[0]
        own[places[0]] += x[1]
        x[2] = own[7]

    made = assemble(looked_up)[1, 32](np.ones(9, np.float32), np.arange(9))
    first = looked_up.py_func.__code__.co_firstlineno
    local = {
        it.site.line - first: it.what for it in made.findings if it.topic == "spills"
    }

    assert ["is known" in it for it in local.values()] == [True, False, True]
    assert [*local] == [4, 5, 6]


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
def test_a_range_is_blamed_for_its_own_counting_and_the_body_for_the_sign():
    """Each with its own remedy, both of one kernel."""

    @cuda.jit
    def add_up(x, n):
        total = np.float32(0)
        for k in range(n):
            total += x[k]
        x[0] = total

    made = assemble(add_up)[1, 32](np.ones(9, np.float32), 9)
    counting, body = (
        next(it.advice for it in made.findings if it.site.text.startswith(begin))
        for begin in ("for k", "total +=")
    )

    assert "A `range` keeps two numbers" in counting and "sign" not in counting
    assert "checks the sign" in body

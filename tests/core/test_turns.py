"""Atomics in shared memory take as many wavefronts as an H200 counted."""

import pytest

from helpers import emulate
from tests.on_gpu import agreement
from tests.specimens.requests.turns import turns

RECORDED = agreement.counters().get("turns", {})
CASES = {case.name: case for case in turns()}
KINDS = sorted({name.rpartition("_")[0] for name in CASES})
HALVES_WAIT = {  # both half warps want one word or bank: not modelled
    f"turns_adds_{dtype}_1_{n}"
    for dtype in ("int64", "float64")
    for n in (3, 7, 8, 9, 12, 13, 14)
}


def emulated(name):
    """The wavefronts and conflicts of a case's atomic."""
    case = CASES[name]
    run = emulate(case.kernel)[case.launch](*case.fresh())
    row = run.bank_conflicts.by_kind["atomic"]
    return row.wavefronts, row.conflicts


def is_loop(name):
    """Did the compiler make a loop of compare-and-swaps of it?"""
    return any("CAST.SPIN" in it[1] for it in RECORDED[name]["instructions"])


def test_all_atomics_were_counted():
    """As they are now: `python -m tests.on_gpu.counters` counts what is new."""
    digests = {name: case.digest for name, case in CASES.items()}
    assert digests == {name: it["digest"] for name, it in RECORDED.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_lanes_of_one_bank_take_turns_but_for_increments_of_one_word(kind):
    """A loop of compare-and-swaps takes two wavefronts a turn."""
    names = [it for it in CASES if it.rpartition("_")[0] == kind]
    wrong = set()
    for name in names:
        totals = RECORDED[name]["totals"]
        there = [totals[f"shared_atomic_{it}"] for it in ("wavefronts", "conflicts")]
        wavefronts, conflicts = emulated(name)
        here = [2 * wavefronts, 0] if is_loop(name) else [wavefronts, conflicts]
        if here != there:
            wrong.add(name)
    assert HALVES_WAIT & set(names) == wrong


def test_an_increment_is_an_instruction_of_its_own():
    """Numba's compiler makes ATOMS.POPC.INC where the emulator says so."""
    increments = {
        name
        for name, it in RECORDED.items()
        if any("POPC.INC" in row[1] for row in it["instructions"])
    }
    kinds = {name.rpartition("_")[0] for name in increments}
    assert {"turns_adds_int32_1", "turns_adds_uint32_1"} == kinds

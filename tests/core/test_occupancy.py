"""Occupancy: how many blocks a multiprocessor holds, and what limits them."""

import json

import pytest

from tests.paths import RECORDED
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.core.occupancy import occupancy_of, resident_blocks


def test_occupancy_is_that_of_nvidias_own_calculator():
    """5,292 launches, seven capabilities: what tests/on_gpu/occupancy.c recorded."""
    rows = json.loads((RECORDED / "occupancy.json").read_text())

    wrong = [
        row
        for row in rows
        if occupancy_of((row[0], row[1]), *row[2:5]).blocks != row[5]
    ]

    assert 5292 == len(rows)
    assert [] == wrong


@pytest.mark.parametrize(
    "registers, shared, limited",
    [(34, 0, ("registers",)), (32, 0, ()), (32, 120_000, ("shared memory",))],
)
def test_occupancy_says_what_limits_it(registers, shared, limited):
    """Blocks of 1,024 threads on an H200: 34 registers leave room for one only."""
    found = occupancy_of((9, 0), 1024, registers, shared)

    assert limited == found.limited_by
    assert (64 if not limited else 32) == found.warps


def test_shared_memory_is_handed_out_in_steps_of_128_bytes():
    """45,600 bytes and the reserved 1,024 become 46,720, of which 4 fit, and not 5."""
    assert (4, 5) == tuple(
        occupancy_of((9, 0), 128, 0, used).blocks for used in (45_600, 45_568)
    )


def test_registers_that_nobody_knows_limit_nothing():
    """The emulator has none to count: threads and shared memory decide alone."""
    assert 132 * 16 == resident_blocks(H200, 128, 0)
    assert 132 * 2 == resident_blocks(H200, 1024, 0)
    assert 132 * 32 == resident_blocks(H200, 1, 0)

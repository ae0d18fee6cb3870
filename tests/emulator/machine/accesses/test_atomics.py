"""The machine's table of atomic updates, beside what the language has."""

from thirty_two_lanes.emulator.machine.accesses import atomics
from thirty_two_lanes.language import warp_intrinsics


def test_the_machine_has_each_atomic_of_the_language_and_no_other():
    """What the front end writes into an `ir.Atomic` is a row of the machine's table."""
    assert set(warp_intrinsics.ATOMICS.values()) == set(atomics.ATOMICS)

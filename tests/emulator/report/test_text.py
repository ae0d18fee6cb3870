"""A run as text: remedies stand below what is wrong, and each is told once."""

import re

import pytest

from tests.emulator.report.made_by_hand import (
    hand_made,
    missed,
    race,
    site,
    stray,
    unwritten,
    warning,
)
from thirty_two_lanes.emulator.report.text import as_text


def test_what_is_wrong_has_its_remedy_below_it():
    """Missed barriers, missing lanes, cells that nobody wrote, and a mistake whose
    sentence is too long for its line.
    """
    sentence = f"`ValueError` ends a thread{' or so' * 10}. Debug it"
    long = warning(kind="exception")._replace(text=sentence)
    found = {"barriers": [missed()], "lanes": [stray("absent")]}
    found |= {"uninitialised": [unwritten()], "warnings": [long]}
    text = " ".join(as_text(hand_made(**found)).split())

    for what, remedy in (
        ("barrier missed", "Let all threads reach it: guard the work, not the barrier"),
        ("reads lanes", "Launch whole warps of 32 threads, or read only lanes that"),
        ("reads 3 cells", "Store to each cell first, and wait at a barrier before"),
        ("ends a thread", "Debug it"),
    ):
        assert re.search(f"{what}[^.]*? {re.escape(remedy)}", text)


def test_a_remedy_of_several_findings_is_told_once():
    """Below all of them, which stand together; of others each has its own."""
    alike = [race(cell=f"tile[{n}]") for n in range(3)]
    other = race(first=site(3), second=site(4))
    text = as_text(hand_made(races=[alike[0], other, *alike[1:]]))

    assert 4 == text.count("RAW race")
    assert 1 == text.count("between line 7 and line 8")
    remedy = "For these 3: put `cuda.syncthreads()` between line 7 and line 8"
    assert text.index("tile[2]") < text.index(remedy) < text.index("line 3")


def test_a_race_of_equal_stores_has_its_remedy_and_one_that_is_implied_has_none():
    """Lines that race between warps, too, have that remedy."""
    equal = race(kind="WAW", second_kind="store", same_value=True)
    implied = race(scope="warp", implied=True)
    text = as_text(hand_made(minor=[equal, implied]))

    assert 2 == text.count("minor: ")
    below = text.partition("all store the same")[2].partition("minor: ")
    assert "Let one thread write the cell" in below[0]
    assert "Put" not in below[2]


@pytest.mark.parametrize(
    "text, left, how",
    [
        ("return", True, "returned at line 9"),
        ("raise ValueError", True, "ended by the exception of line 9"),
        ("x[i] = 1", True, "came past line 9 to the kernel's end"),
        ("cuda.syncthreads()", False, "waiting at the barrier of line 9"),
    ],
)
def test_a_missed_barrier_says_what_the_others_did(text, left, how):
    """They returned, raised, came to the end, or wait at another one."""
    assert how == missed()._replace(elsewhere=site(9, text), left=left).how

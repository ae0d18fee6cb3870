"""What exercises ask of a run: each assertion on tables made by hand."""

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from tests.emulator.report.made_by_hand import (
    hand_made,
    missed,
    race,
    sectors,
    share,
    site,
    stray,
    traffic,
    unwritten,
    warning,
    wavefronts,
)

SPREAD = {site(4): sectors(10, 320, 40), site(5): sectors(10, 50, 40, "b")}
QUEUED = {site(6): wavefronts(1, 2, 1), site(7): wavefronts(10, 320, 10, "other")}
SPLIT = {site(3): share(4, 128, 4, 1), site(4): share(4, 4)}

# what went wrong, the assertion that sees it, and the words that its sentence holds
FAILURES = {
    "a race": (
        {"races": [race()]},
        lambda run: run.assert_no_races(),
        ["31 hazards", "line 7, `tile[t] = src[i]`: thread 31 stores", "syncthreads"],
    ),
    "a minor race, asked for": (
        {"minor": [race(scope="warp")]},
        lambda run: run.assert_no_races(minor=True),
        ["within a warp"],
    ),
    "a barrier that threads miss, the most first": (
        {"barriers": [missed(12, 3), missed(14, 24)]},
        lambda run: run.assert_barriers(),
        [
            "line 14, `cuda.syncthreads()`: 24 threads of 2 blocks missed "
            "this barrier (returned at line 9); the first is thread 40 of block 0",
            "guard the work, not the barrier. There is 1 more such barrier",
        ],
    ),
    "warps at two barriers": (
        {"barriers": [missed(left=False)]},
        lambda run: run.assert_barriers(),
        ["waiting at the barrier of line 9", "takes the two for one barrier"],
    ),
    **{
        f"lanes that are {kind}": (
            {"lanes": [stray(kind)]},
            lambda run: run.assert_lanes(),
            [f"line 13, `x = cuda.shfl_sync(m, v, 16)`: {words}", advice],
        )
        for kind, words, advice in (
            ("left", "reads lanes 16 to 18, which have ended", "guard what follows"),
            ("past", "reads lanes 16 to 18, which skip this line", "out of the `if`"),
            ("outside", "reads lanes 16 to 18, which its mask", "Name in the mask"),
            ("absent", "reads lanes 16 to 18, which the block does", "whole warps"),
            ("unnamed", "lanes 16 to 18 call it, and thei", "exactly the lanes that"),
        )
    },
    "the worst conflict first": (
        {"bank_conflicts": QUEUED},
        lambda run: run.assert_no_bank_conflicts(),
        ["line 7", "`other` takes 32 wavefronts (ideally 1)", "Pad each row", "1 more"],
    ),
    "a conflict of one array": (
        {"bank_conflicts": QUEUED},
        lambda run: run.assert_no_bank_conflicts(array="tile"),
        ["line 6", "2 wavefronts"],
    ),
    "more sectors than the ideal": (
        {"coalescing": SPREAD},
        lambda run: run.assert_coalesced(line=5),
        ["line 5", "`b` takes 5 sectors (ideally 4)", "side by side"],
    ),
    "more sectors than a number": (
        {"coalescing": SPREAD},
        lambda run: run.assert_coalesced(at_most=8),
        ["line 4", "32 sectors (at most 8 allowed)"],
    ),
    "what nobody wrote": (
        {"uninitialised": [unwritten(9, "tile", 3), unwritten(10, "tile", 7)]},
        lambda run: run.assert_initialised(),
        ["line 10", "reads 7 cells of shared `tile`", "1 more such line."],
    ),
    "a branch that splits": (
        {"divergence": SPLIT},
        lambda run: run.assert_no_divergence(),
        ["line 3", "splits 1 of the 4 warps"],
    ),
    "too few lanes in all": (
        {"divergence": SPLIT},
        lambda run: run.assert_no_divergence(at_least=0.75),
        ["51.562% of the lanes", "75.000%", "line 4"],
    ),
    "too few lanes on a line": (
        {"divergence": SPLIT},
        lambda run: run.assert_no_divergence(4, at_least=0.75),
        ["line 4", "3% of the lanes"],
    ),
    "a silent mistake": (
        {"warnings": [warning(), warning(12)]},
        lambda run: run.assert_no_warnings(),
        ["line 9", "a wrap happens", "1 more warning."],
    ),
    "several mistakes": (
        {"warnings": [warning(), warning(12), warning(14)]},
        lambda run: run.assert_no_warnings(),
        ["There are 2 more warnings."],
    ),
    "a note, asked for": (
        {"warnings": [warning(note=True)]},
        lambda run: run.assert_no_warnings(notes=True),
        ["a wrap happens"],
    ),
    "an element that is loaded again": (
        {"reuse": {"a": traffic([[1, 1], [1, 4]])}},
        lambda run: run.assert_loads_once(),
        ["`a[1, 1]` is loaded 4 times", "the limit is 1", "register"],
    ),
    "an array that is not there": (
        {"coalescing": SPREAD},
        lambda run: run.assert_no_races(array="tile"),
        ["no array `tile`", "`a`, `b`"],
    ),
    "a line where nothing is": (
        {"coalescing": SPREAD},
        lambda run: run.assert_coalesced(line=40),
        ["line 40 did not run", "4, 5"],
    ),
}


@pytest.mark.parametrize(
    ("found", "ask", "words"), FAILURES.values(), ids=FAILURES.keys()
)
def test_a_failure_names_the_line_the_figure_and_the_remedy(found, ask, words):
    """The sentence is all that a learner needs."""
    with pytest.raises(AssertionError) as failure:
        ask(hand_made(**found))

    assert [] == [word for word in words if word not in str(failure.value)]
    assert str(failure.value).endswith((".", "…"))


def test_assertions_chain():
    """Each returns the run; minor races, notes and other lines do not fail."""
    run = hand_made(
        coalescing={
            site(4): sectors(10, 40, 40),
            site(5): sectors(1, 9, 4, "b"),
            site(8): sectors(1, 16, 16, "a"),  # of `load4`: no bound is below the ideal
        },
        bank_conflicts={site(6): wavefronts(10, 10, 10), site(7): wavefronts(1, 2, 1)},
        divergence={site(3): share(4, 120, 4, 0)},
        minor=[race()],
        warnings=[warning(note=True)],
        reuse={"a": traffic([1, 1]), "b": traffic([2, 2])},
    )

    chained = (
        run.assert_no_races()
        .assert_no_bank_conflicts(line=6)
        .assert_coalesced(array="a")
        .assert_coalesced(at_most=9)
        .assert_initialised()
        .assert_no_divergence()
        .assert_no_divergence(at_least=0.9)
        .assert_no_warnings()
        .assert_loads(2)
        .assert_loads_once("a")
    )
    assert run is chained


def test_a_real_run_is_asserted_about():
    """A transpose through an unpadded tile: right, coalesced, in conflict."""

    @cuda.jit
    def turn(out):
        tile = cuda.shared.array((32, 32), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x] = 1
        cuda.syncthreads()
        out[y, x] = tile[x, y]

    run = emulate(turn)[1, (32, 32)](np.zeros((32, 32), np.float32))

    run.assert_no_races(minor=True).assert_coalesced().assert_initialised()
    run.assert_no_divergence(at_least=1).assert_loads_once("out")
    with pytest.raises(AssertionError, match=r"32 wavefronts \(ideally 1\)"):
        run.assert_no_bank_conflicts()


def test_a_line_of_a_device_function_is_asked_for_by_the_line_of_its_call():
    """Both numbers find it."""
    run = hand_made(bank_conflicts={site(3, called_from=12): wavefronts(1, 2, 1)})

    for line in (3, 12):
        with pytest.raises(AssertionError, match="2 wavefronts"):
            run.assert_no_bank_conflicts(line=line)


def test_loads_may_be_bounded_on_average():
    """A window of three: each element is loaded three times, but for the ends."""

    @cuda.jit
    def window(a, out):
        i = cuda.grid(1)
        out[i] = a[max(i - 1, 0)] + a[i] + a[min(i + 1, a.size - 1)]

    run = emulate(window)[1, 64](np.ones(64, np.float32), np.ones(64, np.float32))

    assert run is run.assert_loads(3, "a", average=True)
    with pytest.raises(AssertionError, match="loaded 3 times on average"):
        run.assert_loads(2.5, "a", average=True)

"""Figures of a tiled product: the numbers in their sentences."""

import math

import numpy as np
import pytest

from helpers import plotting
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.hardware import H200

ROOF = (
    "The roof of NVIDIA H200: 4,800 GB/s up to 14 operations per byte, "
    "then 67,000 GFLOP/s"
)
SENTENCES = {
    "instructions": (
        lambda: plotting.plot_instructions(
            {"one": {"float32": 2, "global loads": 1}, "none": {"calls": 1}}
        ),
        "one: 3 instructions, 2 arithmetic, 1 loads and stores; "
        "none: 1 instruction, 1 control and the rest.",
    ),
    "of each step": (
        lambda: plotting.plot_steps({"one": (1, 1.25, 4), "two": (1, 2, None)}),
        "Instructions for each step. one: 4.0, of which 1.0 product, 1.2 loads, "
        "1.8 all else; two: not counted.",
    ),
    "over an edge": (
        lambda: plotting.plot_ragged_walk(1, block=(1, 1)),
        "Step 1 of 2 steps through A, 5 × 7, and B, 7 × 6, in tiles of 4 × 4: of the "
        "16 threads of block (1, 1), 3 load an element of A and 6 one of B, and the "
        "others put zeros into the tiles; 2 make an element of C.",
    ),
    "each element as often": (
        lambda: plotting.plot_reuse(np.full((4, 4), 2), "a"),
        "Each of the 4 × 4 elements of a was loaded 2 times.",
    ),
    "some more often": (
        lambda: plotting.plot_reuse([[1, 2, 3]]),
        "Each of the 1 × 3 elements of array was loaded 1 to 3 times.",
    ),
    "a large matrix": (
        lambda: plotting.plot_reuse(np.ones((64, 48), int), "b"),
        "Each of the 64 × 48 elements of b was loaded 1 time.",
    ),
    "the last step of a walk": (
        lambda: plotting.plot_tile_walk(1, block=(1, 0)),
        "Step 1 of 2 steps: block (1, 0) loads rows 0 to 1, columns 2 to 3 of A and "
        "rows 2 to 3, columns 2 to 3 of B, one element per thread; its 4 sums in C "
        "then hold the products of k = 0 to 3.",
    ),
    "a row times a column": (
        plotting.plot_row_times_column,
        "c00 = a00 · b00 + a01 · b10 + a02 · b20 + a03 · b30.",
    ),
    "a row times a column, by steps": (
        lambda: plotting.plot_row_times_column(2, 1, 5, tile=2),
        "c21 is a sum: a20 · b01 + a21 · b11 in step 0, then a22 · b21 + a23 · b31 in "
        "step 1, then a24 · b41 in step 2.",
    ),
    "the cycle of a tile": (
        lambda: plotting.plot_tile_cycle(3, 2),
        "2 warps of a block go through 3 steps. In each, every warp loads its part of "
        "the tiles, waits at a barrier for the slowest, computes, and waits at a "
        "barrier again.",
    ),
    "speeds far apart": (
        lambda: plotting.plot_speeds(["a", "b", "c"], [0.8551, 33840, None], 67000),
        "GFLOP/s: 0.855 for a; 33,840 for b; not measured for c; the peak is 67,000.",
    ),
    "speeds, none measured": (
        lambda: plotting.plot_speeds(["a"], [math.nan]),
        "GFLOP/s: not measured for a.",
    ),
    "rates of several inputs": (
        lambda: plotting.plot_rates(
            {"a": {"p": 1.25, "q": 2000}, "b": {"p": None, "q": None}}, 4000, "limit"
        ),
        "GB/s: a: 1.25 for p, 2,000 for q; b: not measured for p, not measured for q; "
        "limit is 4,000.",
    ),
    "a roofline": (
        lambda: plotting.plot_roofline({"one": (0.25, 900), "two": (32, math.nan)}),
        f"{ROOF}; one: 0.25 operations a byte, at most 1,200 GFLOP/s, 900 measured; "
        "two: 32 operations a byte, at most 67,000 GFLOP/s, not measured.",
    ),
    "a roofline without what nobody counted": (
        lambda: plotting.plot_roofline({"one": (math.nan, 900)}),
        f"{ROOF}.",
    ),
    "an empty roofline": (lambda: plotting.plot_roofline({}, H200), f"{ROOF}."),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_figure_of_a_product_says_what_it_shows(case):
    """The text alternative holds the numbers that the picture was drawn from."""
    draw, sentence = SENTENCES[case]

    assert sentence == draw().alt


def test_a_walk_names_each_loading_thread_and_the_products_in_each_sum():
    """Two tiles of four threads, and four sums of the first two products."""
    texts = [it.get_text() for it in plotting.plot_tile_walk(0).axes[0].texts]

    assert [2] * 4 == [texts.count(it) for it in ("0,0", "0,1", "1,0", "1,1")]
    assert 4 == texts.count("0–1")


def texts_of(picture):
    """What is written in a figure."""
    return [it.get_text() for it in picture.axes[0].texts]


def test_a_walk_gives_a_thread_as_cuda_does():
    """The thread right of (0, 0) is (1, 0), in the tile of A as in that of B."""
    threads = ["0,0", "1,0", "0,1", "1,1"]
    texts = texts_of(plotting.plot_tile_walk(0))

    assert 2 * threads == [it for it in texts if it in threads]


def test_a_row_times_a_column_names_each_element_once_in_its_place():
    """Row 1 of A, column 2 of B, and a product for each pair."""
    picture = plotting.plot_row_times_column(1, 2, 3)
    places = {it.get_text(): it.get_position() for it in picture.axes[0].texts}

    assert [(0.5, 1.5), (1.5, 1.5), (2.5, 1.5)] == [places[f"a1{k}"] for k in range(3)]
    assert [0.5, 1.5, 2.5] == [places[f"b{k}2"][1] for k in range(3)]
    assert [f"a1{k} · b{k}2" for k in range(3)] == [it for it in places if "·" in it]
    assert "step 0" not in places


@pytest.mark.slow
def test_products_stand_in_the_steps_of_a_tile():
    """Four products in two steps of two, with a line below each."""
    picture = plotting.plot_row_times_column(tile=2)

    assert ["step 0", "step 1"] == [it for it in texts_of(picture) if "step" in it]
    assert 2 == len(picture.axes[0].lines)


def test_a_warp_waits_until_the_slowest_of_its_phase_has_come():
    """Work and wait of each warp end at the barrier, and one warp does not wait."""
    axes = plotting.plot_tile_cycle(2, 4).axes[0]
    boxes = axes.patches
    ends = {round(it.get_x() + it.get_width(), 6) for it in boxes}
    barriers = [round(line.get_xdata()[0], 6) for line in axes.lines]

    assert 4 == len(barriers)
    assert set(barriers) <= ends
    assert max(ends) == barriers[-1]
    assert 4 * 4 < len(boxes) < 2 * 4 * 4


def test_a_value_near_the_peak_stands_above_its_mark():
    """So that the line of the peak does not cross it."""
    picture = plotting.plot_speeds(["slow", "fast"], [5, 30_000], 67_000)
    sides = {it.get_text(): it.get_ha() for it in picture.axes[0].texts}

    assert ("left", "center") == (sides["5"], sides["30,000"])


def test_rates_that_round_to_one_are_written_once():
    """Beside the marks of each row stand its lowest and its highest rate."""
    rates = {"far": {"p": 1, "q": 500}, "near": {"p": 700.1, "q": 699.9}}
    picture = plotting.plot_rates(rates)
    texts = [it.get_text() for it in picture.axes[0].texts]

    assert ["1", "500", "700"] == texts


def test_a_matrix_of_many_elements_is_drawn_in_squares():
    """The means of 3 × 3 elements, and of what is left at the edges."""
    loads = np.zeros((300, 130), int)
    loads[297:, 129] = 6
    picture = plotting.plot_reuse(loads, "a")

    (mesh,) = picture.figure.axes[0].collections
    shown = mesh.get_array()
    assert ((100, 44), 6.0, 6.0) == (shown.shape, shown.max(), shown.sum())
    (title,) = picture.figure.axes[0].texts
    assert "loads of a, means of 3 × 3 elements" == title.get_text()
    whole = "Each of the 300 × 130 elements of a was loaded 0 to 6 times."
    assert whole == picture.alt


@pytest.mark.parametrize("shape", [(2, 3, 4), (0,)])
def test_what_is_no_matrix_is_refused_in_words(shape):
    """Loads of an argument have its shape."""
    with pytest.raises(ArgumentError, match="`plot_reuse` draws a matrix, or a row"):
        plotting.plot_reuse(np.ones(shape, int))

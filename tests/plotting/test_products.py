"""Figures of a tiled product: the numbers in their sentences."""

import math

import numpy as np
import pytest

from helpers import plotting
from helpers.core.hardware import H200

ROOF = (
    "The roof of NVIDIA H200: 4,800 GB/s up to 14 operations a byte, "
    "then 67,000 GFLOP/s"
)
SENTENCES = {
    "instructions": (
        lambda: plotting.plot_instructions(
            {"one": {"float32": 2, "global loads": 1}, "none": {"calls": 1}}
        ),
        "one: 3 instructions, 2 arithmetic, 1 loads and stores; "
        "none: 1 instruction, 1 the rest.",
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
        "Step 1 of 2 steps: block (1, 0) loads rows 2 to 3, columns 2 to 3 of A and "
        "rows 2 to 3, columns 0 to 1 of B, an element a thread; its 4 sums in C then "
        "hold the products of k = 0 to 3.",
    ),
    "a roofline": (
        lambda: plotting.plot_roofline({"one": (0.25, 900), "two": (32, math.nan)}),
        f"{ROOF}; one does 0.25 operations a byte, may reach 1,200: 900 GFLOP/s; "
        "two does 32 operations a byte, may reach 67,000: not measured.",
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
    assert 4 == texts.count("0+1")

"""Advice on races, followed to the letter: the race is gone, the result is right."""

import numpy as np
import pytest

from helpers import emulate
from tests.core.advice.telling import made, told

FOR = """
def more(a):
    step = {}
    for i in range({}, a.size, step):
        a[i] += 1
"""
WHILE = """
def more(a):
    i = cuda.grid(1)
    while i < a.size:
        a[i] = a[i] * 2 + 1
        i += {}
"""
TILE = """
def more(a):
    s = cuda.shared.array(512, float32)
    for i in range(cuda.threadIdx.x, 512, {}):
        s[i] = a[i] + 1
    cuda.syncthreads()
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
            a[i] = s[i]
"""
SUM = "cuda.gridDim.x + cuda.blockDim.x"


@pytest.mark.parametrize(
    "text, step, blocks",
    [
        (FOR.format("{}", "cuda.grid(1)"), SUM, 4),
        (FOR.format("{}", "cuda.grid(1)"), "64", 4),
        (
            FOR.format("{}", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
            "cuda.blockDim.x",
            4,
        ),
        (WHILE, "cuda.blockDim.x", 4),
        (WHILE, "1", 1),
        (TILE, "32", 1),
    ],
)
def test_a_step_below_the_number_of_threads_is_to_be_larger(text, step, blocks):
    """No atomic: each element is to be visited once."""
    a = np.arange(512, dtype=np.float32)
    right = {FOR: a + 1, WHILE: a * 2 + 1, TILE: a + 1}.get(text, a + 1)
    sentences = told(made(text.format(step)), (blocks, 64), a)

    new = "cuda.blockDim.x" if text is TILE else "cuda.gridsize(1)"
    assert sentences
    for it in sentences:
        assert "is smaller than the number of threads of the " in it
        assert f"so that several come to one cell: use `{new}` in place of `" in it
    emulate(made(text.format(new)))[blocks, 64](a)
    assert (a == right).all()


@pytest.mark.parametrize(
    "step",
    ["cuda.gridsize(1)", "cuda.blockDim.x * cuda.gridDim.x", "cuda.gridsize(2)[0]"],
)
def test_a_step_that_is_the_number_of_threads_is_not_blamed(step):
    """Threads of other rows come to the same cells."""
    kernel = made(FOR.format(step, "cuda.grid(1)"))
    sentences = told(kernel, ((2, 2), (32, 2)), np.zeros(512, np.float32))

    assert sentences and not any("step" in it for it in sentences)

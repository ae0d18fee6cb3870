"""Advice on bank conflicts, followed to the letter."""

import numpy as np
import pytest

from helpers import emulate
from tests.core.advice.telling import made

PAIRS = """
def pairs(a, out):
    s = cuda.shared.array(160, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    s[t + 32] = a[t + 32]
    cuda.syncthreads()
    out[t] = s[{} * t % 64]
"""
ROWS = """
def rows(a, out):
    s = cuda.shared.array((32, {}), float32)
    t = cuda.threadIdx.x
    for k in range(32):
        s[k, t] = a[t]
    cuda.syncwarp()
    out[t] = s[t, 0]
"""


def said(text):
    a = np.ones(64, np.float32)
    run = emulate(made(text))[1, 32](a, a.copy())
    return " ".join(repr(run).split()), run.bank_conflicts.conflicts


@pytest.mark.parametrize(
    "text, before, after, told_of",
    [
        (PAIRS, 2, 1, "take neighbouring cells, or cells that are an odd number of"),
        (PAIRS, 2, 3, "take neighbouring cells, or cells that are an odd number of"),
        (ROWS, 32, 33, "Pad each row by one element, so that the stride is odd"),
    ],
)
def test_only_an_array_with_rows_is_to_be_padded(text, before, after, told_of):
    """One axis has a stride alone."""
    sentence, conflicts = said(text.format(before))
    assert told_of in sentence and conflicts
    assert ("Pad" in sentence) is (text is ROWS)

    assert 0 == said(text.format(after))[1]


TILE = """
def box(a, out):
    s = cuda.shared.array(({}, 40), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(0, 18, cuda.blockDim.y):
        s[y + k, x] = a[x]
    cuda.syncthreads()
    if y < 16:
        for k in range(3):
            out[x] += s[y + k, k + x]
"""


def test_lanes_of_several_rows_are_no_matter_of_padding():
    """Rows that are one element longer share as many banks."""
    a = np.ones(64, np.float32)

    def run_of(text, threads):
        return emulate(made(text))[1, threads](a, a.copy())

    def conflicts(*given):
        return run_of(*given).bank_conflicts.conflicts

    text = TILE.format(34)
    run = run_of(text, (16, 16))
    sentence = " ".join(repr(run).split())
    assert "et each warp be in one row, in blocks 32 threads wide" in sentence
    assert "ad each row" not in sentence and run.bank_conflicts.conflicts
    assert run.bank_conflicts.conflicts == conflicts(text.replace("40", "41"), (16, 16))
    assert 0 == conflicts(text, (32, 8))

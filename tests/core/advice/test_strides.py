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

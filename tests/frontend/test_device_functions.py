"""What Numba keeps of a device function is as it was before somebody looked at it."""

import sys

import numpy as np
import pytest
from numba import cuda

from helpers import assemble, emulate
from thirty_two_lanes.assembly.compiler import missing

SIZE = 64
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")


@cuda.jit(device=True)
def scaled(i):
    return SIZE * i


@cuda.jit(device=True)
def scaled_twice(i):
    return scaled(scaled(i))


def store(out):
    out[cuda.threadIdx.x] = scaled_twice(cuda.threadIdx.x)


VERBS = [emulate, pytest.param(assemble, marks=needs_compiler)]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_leaves_no_device_function_compiled(verb):
    """Numba would take it for a later kernel, on a GPU, with the globals of then."""
    before = [dict(it.overloads) for it in (scaled, scaled_twice)]

    verb(cuda.jit(store))[1, 4](np.zeros(4, np.int64))

    assert before == [dict(it.overloads) for it in (scaled, scaled_twice)]


@needs_compiler
def test_a_kernel_that_is_compiled_later_has_the_globals_of_later(monkeypatch):
    """Also in the functions that it calls, as on a GPU that had seen no other."""
    out, here = np.zeros(4, np.int64), sys.modules[__name__]

    def constants():
        code = assemble(cuda.jit(store))[1, 4](out).instructions
        return [part for it in code for part in str(it).split(", ") if part[:2] == "0x"]

    first = constants()
    emulate(cuda.jit(store))[1, 4](out)
    monkeypatch.setattr(here, "SIZE", 32)

    assert "0x1000" in first and "0x400" not in first
    later = constants()
    assert "0x400" in later and "0x1000" not in later

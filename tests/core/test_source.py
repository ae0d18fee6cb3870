"""A function's source as syntax, wherever the function stands."""

import ast

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, watch
from thirty_two_lanes.core.source import definition_of


def nested():
    """A kernel whose text begins further left than the kernel."""

    @cuda.jit
    def half_stored(a):
        """Half of a tile is stored, by an `if`:
without a barrier."""
        tile = cuda.shared.array(64, np.float32)
        i = cuda.threadIdx.x
        if i < 40:
            tile[i] = a[i]
        a[i] = tile[63 - i]

    @cuda.jit
    def misspelt(a):
        """A name that is
not there."""
        a[0] = np.arrange(3)

    return half_stored, misspelt


def test_a_definition_has_the_lines_of_its_file():
    """Also of a function within another, whose text is not indented."""
    for function in (nested, nested()[0].py_func):
        first = function.__code__.co_firstlineno
        found = definition_of(function)
        assert first == min(it.lineno for it in [found, *found.decorator_list])
    assert definition_of(len) is None
    assert definition_of(eval("lambda: 0")) is None


def test_a_kernel_within_a_function_is_watched_and_refused_in_words():
    """The `if` around its store is found, and the name that is meant."""
    kernel, misspelt = nested()
    line = next(
        it.lineno
        for it in ast.walk(definition_of(kernel.py_func))
        if isinstance(it, ast.If)
    )

    film = watch(kernel)[1, 64](np.zeros(64, np.float32))

    assert f"outside the `if` of line {line}" in film.record()["findings"][0]["text"]
    with pytest.raises(TypeError, match="`numpy` has no `arrange`"):
        emulate(misspelt)[1, 1](np.zeros(3))

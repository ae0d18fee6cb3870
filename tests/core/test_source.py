"""A function's source as syntax, wherever the function stands."""

import ast
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.compilerop import CachingCompiler
from numba import cuda

from helpers import emulate, watch
from thirty_two_lanes.core.source import definition_of, source_line, source_of


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

    assert f"between the `if` of line {line}" in film.record()["findings"][0]["text"]
    with pytest.raises(TypeError, match="`numpy` has no `arrange`"):
        emulate(misspelt)[1, 1](np.zeros(3))


@pytest.mark.parametrize("end", "\x0b\x0c\x1c\x85\u2028\u2029")
def test_lines_of_a_cell_are_those_that_python_counts(monkeypatch, end):
    """IPython keeps more of them, and would quote the line above."""
    text = f"# one{end}two\ndef first(a):\n    pass  # one{end}two\n    a[0] = 1\n"
    compiler = CachingCompiler()
    shell = SimpleNamespace(compile=compiler, user_ns={"In": ["", text]})
    module = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    file, space = compiler.cache(text, 1), {}
    exec(compile(text, file, "exec"), space)

    assert "a[0] = 1" == source_line(file, 4)
    assert ("def first(a):", f"    pass  # one{end}two", "    a[0] = 1") == (
        source_of(space["first"]).lines
    )

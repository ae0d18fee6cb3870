"""What a kernel that Numba refuses gets: one sentence with its line and the remedy."""

import numpy as np
import pytest
from kernels import BUILT_IN, add, line_of, message, unguarded
from numba import cuda, float32

from helpers import emulate
from helpers.simt import KernelError

HERE = "test_emulator_refusals.py"


def refused(kernel, *arguments):
    """What a kernel's refusal says."""
    return message(KernelError, kernel, 1, 32, *(arguments or (np.zeros(32),)))


def test_a_misspelt_name_is_told_with_its_line():
    """Of a variable, a function of `cuda`, or an attribute."""

    @cuda.jit
    def unknown(a):
        a[0] = vallue  # noqa: F821

    @cuda.jit
    def function(a):
        a[cuda.gird(1)] = 1

    @cuda.jit
    def attribute(a):
        a[0] = a.lenght

    for kernel, name in (
        (unknown, "vallue"),
        (function, "gird"),
        (attribute, "lenght"),
    ):
        text = refused(kernel)
        assert f"`{name}`" in text
        assert f"{HERE}, line {line_of(kernel, name)}" in text


@pytest.mark.parametrize(
    "name, instead", [("sqrt", "math.sqrt"), ("exp", "math.exp"), ("abs", "abs")]
)
def test_numpys_functions_on_one_number_are_told_what_to_use_instead(name, instead):
    """They type well in Numba and fail in its last stage."""
    source = f"def kernel(a):\n    a[0] = np.{name}(a[1])\n"
    namespace = {"np": np}
    exec(source, namespace)

    text = refused(cuda.jit(namespace["kernel"]))

    assert f"`np.{name}`" in text and f"use `{instead}`" in text and "line 2" in text


@pytest.mark.parametrize(
    "line, remedy",
    [
        ("i = cuda.grid(2)\n    a[0] = i < 3", "x, y = cuda.grid(2)"),
        ("i, j = cuda.grid(1)\n    a[i] = 1", "`cuda.grid(1)` is one number"),
        ("a[cuda.threadIdx] = 1", "take `.x`, `.y` or `.z`"),
        ("tile = cuda.shared.array(8)\n    a[0] = tile[0]", "needs a type"),
        ("a[0] = vallue", "Did you mean `value`?"),
        ("a[cuda.gird(1)] = 1", "Did you mean `grid`?"),
        ("a[0] = max(a)", "go through it in a loop"),
    ],
)
def test_a_beginners_slip_is_told_with_what_to_write(line, remedy):
    """The sentence quotes the line and says what to write in its place."""
    source = f"def kernel(a):\n    {line}\n    value = 1\n"
    namespace = {"cuda": cuda, "np": np}
    exec(source, namespace)

    assert remedy in refused(cuda.jit(namespace["kernel"]))


@pytest.mark.skipif(BUILT_IN, reason="Numba's built-in target gives no such reason")
def test_a_new_array_is_told_to_be_a_local_one():
    """Kernels cannot allocate."""

    @cuda.jit
    def allocates(a):
        b = np.zeros(3)
        a[0] = b[0]

    assert "cuda.local.array" in refused(allocates)


def test_what_kernels_cannot_do_is_told():
    """`try`, a float as an index, a returned value, a shape that an argument gives."""

    @cuda.jit
    def tries(a):
        try:
            a[0] = 1
        except Exception:
            a[0] = 2

    @cuda.jit
    def float_index(a):
        a[cuda.grid(1) / 2] = 1

    @cuda.jit
    def returns(a):
        return a[0]

    @cuda.jit
    def sized_by_argument(a, n):
        tile = cuda.shared.array(n, float32)
        a[0] = tile[0]

    assert "`try`" in refused(tries)
    assert "`//`" in refused(float_index)
    assert "returns nothing" in refused(returns)
    assert "known when the kernel is compiled" in refused(
        sized_by_argument, np.zeros(3), 4
    )


def test_an_array_of_another_shape_is_told():
    """Two indices for one axis are too many; a whole row is not one number."""

    @cuda.jit
    def two(a):
        row, col = cuda.grid(2)
        a[row, col] = 1

    @cuda.jit
    def column(a):
        a[cuda.grid(1), 0] = 1

    assert "gives 2 indices to a 1-dimensional array" in refused(two, np.zeros(32))
    assert "too many indices to a 1-dimensional array" in refused(
        column, np.zeros(32)
    )
    assert "as many indices" in refused(unguarded, np.zeros((32, 2)), np.zeros(32))


def test_errors_name_no_path_of_the_machine():
    """Only the file's own name."""
    for text in (
        message(IndexError, unguarded, 4, 32, np.zeros(100), np.zeros(128)),
        refused(unguarded, np.zeros((32, 2)), np.zeros(32)),
    ):
        assert "/" not in text.replace(" / ", "").replace("//", "")


def test_a_refused_kernel_runs_once_it_is_given_what_it_takes():
    """A refusal of some argument types leaves the others alone."""
    out = np.zeros(8)

    refused(add, np.zeros(8), np.zeros((8, 2, 2)), out)
    emulate(add)[1, 8](np.ones(8), np.ones(8), out)

    assert [2] * 8 == out.tolist()

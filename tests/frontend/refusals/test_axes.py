"""A row, or a shape, where one number is needed: the message says so."""

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate, load4
from tests.frontend.by_python import function_of
from tests.specimens.kernels import message
from thirty_two_lanes.emulator import KernelError


def kernel_of(*lines):
    """A kernel of some lines, on `a` and `out` of shape (3, 4)."""
    body = "".join(f"    {line}\n" for line in lines)
    space = {"cuda": cuda, "float32": float32, "np": np, "load4": load4}
    return cuda.jit(function_of(f"def kernel(out, a, i):\n{body}", space))


def refused(*lines):
    """What the refusal says."""
    arguments = np.zeros((3, 4)), np.ones((3, 4)), 1
    return message(KernelError, kernel_of(*lines), 1, 1, *arguments)


@pytest.mark.parametrize(
    "line",
    [
        "out[i, 0] = a[i]",
        "out[i, 0] = a[i] + a[i, 1]",
        "out[i, 0] = max(a[i], 0)",
        "out[i] = a[i] * 2",
        "out[i] = 0 if i < 0 else a[i]",
        "out[i, 0] = 1 if a[i] > 0 else 2",
        "cuda.atomic.add(out, (i, 0), a[i])",
    ],
)
def test_a_row_that_is_used_as_a_number_is_named(line):
    """With the number of indices that its array needs."""
    said = refused(line)
    assert "`a` has 2 axes, so `a[i]` is many elements, not one" in said
    assert "as in `a[i, j]`" in said


def test_an_array_of_the_kernels_own_has_axes_too():
    """A tile of two axes, loaded with one index."""
    said = refused(
        "tile = cuda.shared.array((4, 4), float32)",
        "tile[i, 0] = a[i, 0]",
        "out[i, 0] = tile[i]",
    )
    assert "`tile` has 2 axes, so `tile[i]` is many elements, not one" in said
    assert "out[i, 0] = tile[i]" in said


@pytest.mark.parametrize(
    "line",
    [
        "if i < a.shape: out[i, 0] = 1",
        "out[i, 0] = a.shape - 1",
        "for k in range(a.shape): out[k, 0] = 1",
        "out[i, 0] = min(i, a.shape)",
    ],
)
def test_a_shape_that_is_used_as_a_number_is_named(line):
    """With what to write for one axis, and for all of them."""
    said = refused(line)
    assert "`a.shape` is a tuple, one number for each axis" in said
    assert "`a.shape[0]`, or `a.size`" in said


SIGNS = {
    **{"add": "+", "subtract": "-", "multiply": "*"},
    **{"floor_divide": "//", "remainder": "%", "power": "**"},
}


@pytest.mark.parametrize("name", SIGNS)
def test_the_operator_that_stands_for_a_function_of_numpy_is_named(name):
    """Whatever the function."""
    said = refused(f"out[i, 0] = np.{name}(a[i, 0], 3)")

    assert f"`np.{name}` does not exist in kernels: write `{SIGNS[name]}`" in said


def test_the_operator_computes_what_the_function_of_numpy_does():
    """Of one number and another."""
    lines = [f"out[{row}, 0] = a[i, 0] {it} 3" for row, it in enumerate(SIGNS.values())]
    out = np.zeros((6, 4))

    emulate(kernel_of(*lines))[1, 1](out, np.full((3, 4), 7.0), 1)

    assert [getattr(np, name)(7.0, 3) for name in SIGNS] == out[:, 0].tolist()


def test_a_choice_of_numpys_has_its_expression():
    """`np.where` of two numbers."""
    said = refused("out[i, 0] = np.where(a[i, 0] > 0, 1, 2)")
    assert "for one element, write `a if condition else b`" in said


def test_a_call_of_the_courses_own_says_what_it_lacks():
    """By the name of the argument; the number that Numba counts is another one."""
    assert "this call of `load4` lacks 'index'" in refused("x = load4(a[0, 0])")
    said = refused("x = load4(a, 0, 1)")
    assert "this call of `load4` passes too many values" in said
    assert "is one tuple, `(row, col)`" in said


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("shared.array(4, 5, float32)", "one tuple: `cuda.shared.array((4, 5), float"),
        ("shared.array(float32, 4)", "its type: `cuda.shared.array(4, float32)`"),
        ("shared.zeros(4, float32)", "Did you mean `cuda.shared.array`?"),
        ("shared_array(4, float32)", "Did you mean `cuda.shared.array`?"),
        ("local_array(4, float32)", "Did you mean `cuda.local.array`?"),
    ],
)
def test_an_array_that_is_made_in_a_wrong_way_has_the_right_one(made, told):
    """Sizes without parentheses, the type first, a function that there is not."""
    said = refused(f"tile = cuda.{made}", "tile[0] = 1")
    assert told in said


def test_a_list_that_is_repeated_is_a_list():
    """And no operator on whole arrays."""
    assert "lists do not exist in kernels" in refused("x = [0] * 8", "out[0, 0] = x[0]")


def test_an_array_that_stands_for_a_number_asks_for_the_order_of_arguments():
    """The kernel takes `n, out` and gets them the other way round."""

    @cuda.jit
    def first_n(n, out):
        if cuda.grid(1) < n:
            out[0] = 1

    said = message(KernelError, first_n, 1, 8, np.zeros(8), 8)
    assert "in another order than the kernel's?" in said

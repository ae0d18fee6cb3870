"""What is seldom meant: reported where it happens, and nowhere else."""

import numpy as np
import pytest
from numba import cuda, float32, int8, int32, uint8, uint32

from helpers import emulate
from tests.specimens.kernels import (
    add,
    grid_stride,
    line_of,
    matrix_product,
    numbers,
    raising,
    reduce_by_shuffles,
    reduce_in_shared,
    stencil,
    table,
    transpose_with,
)


def warnings_of(run):
    """What a run accuses: kind and line."""
    return [(w.kind, w.line) for w in run.warnings if not w.note]


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    "expression, cause",
    [
        ("a[i] * 2.5", "the number 2.5"),
        ("2 * a[i]", "the number 2 is not a float32: write `float32(2)`"),
        ("a[i] / 4294967296.0", "the number 4294967296.0 "),
        ("a[i] + 1e-20", "the number 1e-20 "),
        ("a[i] + i", "the integer `i` makes"),
        ("a[i] * factor", "the argument `factor`"),
        ("i / 3", "dividing integers gives a float64"),
        ("a[i] + (i + 1)", "an integer makes this a float64"),
        ("math.sqrt(i)", "the integer `i` makes"),
    ],
)
def test_float64_among_float32_is_told_with_what_makes_it(expression, cause):
    """The line, the cause and the remedy."""
    import math

    source = f"""
def kernel(a, factor, out):
    i = cuda.grid(1)
    out[i] = {expression}
"""
    namespace = {"cuda": cuda, "math": math}
    exec(source, namespace)

    run = emulate(cuda.jit(namespace["kernel"]))[1, 32](zeros(32), 1.5, zeros(32))

    assert [("float64", 4)] == warnings_of(run)
    assert cause in run.warnings[0].text
    assert run.warnings[0].text.startswith(f"computes in float64: {cause}")


@pytest.mark.parametrize(
    "lines, also",
    [(2, ", as line 5 does: the"), (4, ", as 3 more lines do (5, 6, 7): the")]
    + [(15, ", as 14 more lines do (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …):")],
)
def test_float64_on_many_lines_is_one_warning(lines, also):
    """At the first, with the number of the others and where they are."""
    body = "\n".join(f"    out[i] += a[i] * {k}.5" for k in range(lines))
    namespace = {"cuda": cuda}
    exec(f"\ndef kernel(a, out):\n    i = cuda.grid(1)\n{body}", namespace)

    run = emulate(cuda.jit(namespace["kernel"]))[1, 32](zeros(32), zeros(32))

    assert [("float64", 4)] == warnings_of(run)
    assert f"computes in float64{also}" in run.warnings[0].text
    said = "the number 0.5 is not a float32: write `float32(0.5)`"
    assert said in run.warnings[0].text
    for line in range(4, 4 + lines):
        with pytest.raises(AssertionError, match="line 4.*computes in float64"):
            run.assert_no_warnings(line)
    run.assert_no_warnings(3)


def test_a_float64_accumulator_is_named():
    """`total` begins as 0.0, so every sum is a float64 one."""

    @cuda.jit
    def sums(a, out):
        total = 0.0
        for k in range(a.size):
            total += a[k]
        out[0] = total

    run = emulate(sums)[1, 1](zeros(4), zeros(1))

    assert [("float64", line_of(sums, "total += a[k]"))] == warnings_of(run)
    assert "`total`" in run.warnings[0].text


def test_a_variable_of_a_function_that_numba_inlines_has_its_own_name():
    """Numba puts the functions' names before it, and numbers of its own."""

    @cuda.jit(device=True, inline=True)
    def area(x):
        area_sum = 0.0
        for i in range(x.size):
            area_sum += x[i]
        return area_sum

    @cuda.jit(device=True, inline=True)
    def total(x):
        return area(x) + area(x)

    @cuda.jit
    def kernel(x, out):
        out[cuda.grid(1)] = total(x)

    run = emulate(kernel)[1, 32](zeros(32), zeros(32))

    told = [w.text for w in run.warnings if w.kind == "float64"]
    assert len(told) == 1 and "`area_sum` starts as a Python number" in told[0]


@pytest.mark.parametrize("grown", ["value * 1.5 + 2.0", "2 * value", "value / 3"])
def test_a_float32_that_a_loop_makes_float64_is_told_once(grown):
    """`value` is loaded as a float32, and is a float64 for what it becomes."""
    source = f"""
def kernel(a, out):
    value = a[0]
    for _ in range(4):
        value = {grown}
    out[0] = value
"""
    namespace = {"cuda": cuda}
    exec(source, namespace)

    run = emulate(cuda.jit(namespace["kernel"]))[1, 1](zeros(1), zeros(1))

    assert [("float64", 5)] == warnings_of(run)
    assert "the number" in run.warnings[0].text


@pytest.mark.parametrize(
    "expression",
    [
        "a[i] * float32(2.5)",
        "float32(i) / float32(3)",
        "math.sqrt(a[i]) + a[i]",
        "float64(a[i]) * 2.5",
        "-a[i]",
        "a[i] if a[i] > 0.5 else float32(0)",
    ],
)
def test_float32_and_what_is_asked_for_are_left_alone(expression):
    """`float64(...)` says that it is meant, and comparisons are cheap."""
    import math

    source = f"""
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = {expression}
"""
    namespace = {"cuda": cuda, "math": math, "float32": float32, "float64": np.float64}
    exec(source, namespace)

    assert [] == warnings_of(
        emulate(cuda.jit(namespace["kernel"]))[1, 32](*[zeros(32)] * 2)
    )


def test_a_kernel_with_float64_arrays_computes_in_float64():
    """Nothing to tell, where any array is a float64 one."""
    assert [] == warnings_of(emulate(grid_stride)[1, 32](np.zeros(64), zeros(64)))


def test_an_integer_that_does_not_fit_is_told():
    """Two of 32 values are beyond an int8, and the first is named."""

    @cuda.jit
    def small(out):
        t = cuda.threadIdx.x
        out[t] = t + 98

    run = emulate(small)[1, 32](np.zeros(32, np.int8))

    assert [("overflow", line_of(small, "t + 98"))] == warnings_of(run)
    text = run.warnings[0].text
    assert "128 does not fit into int8 and becomes -128" in text
    assert "thread 30 of block 0" in text and "(2 such values)" in text
    one = emulate(small)[1, 31](np.zeros(31, np.int8)).warnings[0].text
    assert "(1 such value): use a wider type" in one


def test_a_narrowed_index_is_told_and_a_masked_one_is_not():
    """`int32` of a large product; `uint32` and `uint8` cut off on purpose."""

    @cuda.jit
    def narrow(out):
        t = cuda.grid(1)
        out[t] = int32(t * 1_000_000_000)

    @cuda.jit
    def cut(out):
        t = cuda.grid(1)
        out[t] = uint32(t * 1_000_000_000) + uint8(t * 100)

    @cuda.jit
    def fitting(out):
        t = cuda.grid(1)
        if t < 100:
            out[t] = int8(t)

    assert ["overflow"] == [
        k for k, _ in warnings_of(emulate(narrow)[1, 32](np.zeros(32)))
    ]
    assert [] == warnings_of(emulate(cut)[1, 32](np.zeros(32)))
    assert [] == warnings_of(emulate(fitting)[4, 32](np.zeros(100)))


@cuda.jit
def adds_none(a, out):
    i = cuda.grid(1)
    x = None
    if a[i] != 40:
        x = a[i]
    out[i] = x + 1


@cuda.jit
def unpacks_pairs(a, out):
    i = cuda.grid(1)
    x, y = a[i : i + 2]
    out[i] = x + y


@pytest.mark.parametrize(
    ("kernel", "line", "said"),
    [
        (adds_none, "x + 1", "`TypeError: expected int64, got None` ends a thread in "),
        (adds_none, "x + 1", "silence; it is thread 8 of block 1."),
        (unpacks_pairs, "x, y =", "values to unpack` ends a thread in silence; it is "),
        (raising(), "raise", "`ValueError: seven` ends a thread in silence; it is "),
        (raising(), "assert", "`AssertionError: too many` ends 24 threads in silence"),
        (raising(), "assert", "the first is thread 8 of block 1. Under `@cuda.jit(deb"),
    ],
)
def test_an_exception_that_a_gpu_is_silent_about_is_told(kernel, line, said):
    """The language's own exceptions as well as those that a kernel raises."""
    run = emulate(kernel)[2, 32](np.arange(64), np.zeros(64))

    (found,) = (it for it in run.warnings if it.line == line_of(kernel, line))
    assert "exception" == found.kind and said in found.text


def test_a_grid_that_ends_before_its_array_is_told():
    """4 blocks of 32 for 130 elements; the guard says that 130 were meant."""
    run = emulate(add)[4, 32](zeros(130), zeros(130), zeros(130))

    assert [("grid", line_of(add, "out[i] ="))] == warnings_of(run)
    assert "128 threads" in run.warnings[0].text
    assert "the last 2 are" in run.warnings[0].text
    assert [] == warnings_of(emulate(add)[5, 32](zeros(130), zeros(130), zeros(130)))


def test_a_grid_that_ends_along_one_axis_is_told():
    """33 rows by 32: the rows end too early."""
    run = emulate(table)[(2, 2), (16, 16)](zeros(33, 20))

    assert [("grid", line_of(table, "out[row, col]"))] == warnings_of(run)


def test_a_size_that_is_an_argument_guards_too():
    """`if i < n`, with n elements and fewer threads."""

    @cuda.jit
    def fill(out, n):
        i = cuda.grid(1)
        if i < n:
            out[i] = 1

    assert ["grid"] == [k for k, _ in warnings_of(emulate(fill)[2, 32](zeros(70), 70))]
    assert [] == warnings_of(emulate(fill)[2, 32](zeros(70), 64))
    assert [] == warnings_of(emulate(fill)[2, 32](zeros(70), 50))


def test_partial_writes_that_are_meant_are_left_alone():
    """A grid-stride loop, a sum of each block, a part of an array, an unguarded one."""

    @cuda.jit
    def part(out):
        out[cuda.grid(1)] = 1

    @cuda.jit
    def strided(a, out):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            out[i] = a[i]

    runs = [
        emulate(strided)[2, 32](zeros(500), zeros(500)),
        emulate(part)[1, 32](zeros(64)),
        emulate(reduce_in_shared)[2, 256](zeros(500), zeros(9)),
        emulate(add)[2, 32](zeros(64), zeros(64), zeros(64)),
    ]

    assert [[]] * 4 == [warnings_of(run) for run in runs]


def test_a_row_that_one_thread_may_write_is_not_a_grid_too_short():
    """A stride loop over the rows writes few of them; the grid has one axis."""

    @cuda.jit
    def best(a, out):
        i = cuda.grid(1)
        if i < a.size:
            for k in range(out.shape[1]):
                if a[i] > 1 + k:
                    out[i, k] = a[i]

    a = zeros(201)
    a[0] = 9

    assert [] == warnings_of(emulate(best)[1, 512](a, zeros(201, 3)))


def test_notes_accuse_nobody():
    """Host arrays; with device arrays nothing is said, however small the grid is:
    `measure` says that where time is asked for.
    """
    run = emulate(add)[4, 32](*(zeros(128) for _ in "abo"))
    device = [cuda.to_device(zeros(128)) for _ in "abo"]

    assert ["host arrays"] == [w.kind for w in run.warnings]
    assert all(w.note for w in run.warnings)
    assert "`a`, `b`, `out` are NumPy arrays" in run.warnings[0].text
    assert "copies their 1,536 bytes" in run.warnings[0].text
    assert () == emulate(add)[4, 32](*device).warnings


def test_correct_kernels_are_not_accused():
    """A product, a transpose, a stencil, and sums."""
    a, b, out = numbers(20, 37), numbers(37, 33), zeros(20, 33)
    runs = [
        emulate(matrix_product)[(3, 2), (16, 16)](a, b, out),
        emulate(transpose_with(33))[(2, 2), (32, 32)](a, zeros(37, 20)),
        emulate(stencil)[3, 128](zeros(300), zeros(300)),
        emulate(reduce_by_shuffles)[2, 256](zeros(300), zeros(2)),
    ]

    assert [[]] * 4 == [warnings_of(run) for run in runs]

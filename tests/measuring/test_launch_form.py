"""Two launches have one form if, and only if, a GPU would do the same for both."""

import itertools
import linecache
import math

import numpy as np
import pytest
from numba import cuda, float32, int32

from thirty_two_lanes.frontend.launch_form import form_of, launch_text

PLAIN = """
@cuda.jit
def kernel(array):
    i = cuda.grid(1)
    if i < array.size:
        array[i] = half(array[i]) + SHIFT
"""
HALF = """
@cuda.jit(device=True)
def half(x):
    return x / 2
"""
CELLS = itertools.count()


def define(source, **scope):
    """What a notebook's cell defines as `kernel`, its source at hand as in IPython."""
    cell = f"<cell {next(CELLS)}>"
    linecache.cache[cell] = (len(source), None, source.splitlines(keepends=True), cell)
    scope = {"cuda": cuda, "math": math, "SHIFT": 1, **scope}
    exec(compile(source, cell, "exec"), scope)
    return scope["kernel"]


def form(kernel=None, launch=(4, 32), arguments=()):
    kernel = kernel or define(HALF + PLAIN)
    return form_of(kernel, launch_text(*launch), arguments)


def body_form(body, **scope):
    """The form of a kernel with this one line for a body."""
    return form(define(f"@cuda.jit\ndef kernel(array):\n    {body}\n", **scope))


# ---------------------------------------------------------------- the code


@pytest.mark.parametrize("old, new", [
    ("    i = cuda", "    '''One thread an element.'''\n    i = cuda"),
    ("    i = cuda", "    # the index\n\n    i  =  cuda"),
    ("kernel(array)", "kernel(array: 'numbers') -> None"),
    ("@cuda.jit\ndef kernel", "@cuda.jit(lineinfo=True)\ndef kernel"),
    ("array[i] = half(array[i]) + SHIFT", "array[i] = (half(array[i])\n+ SHIFT)"),
])
def test_what_a_compiler_ignores_is_no_part_of_the_form(old, new):
    """Docstrings, comments, layout, annotations and line information."""
    assert old in PLAIN
    assert form() == form(define(HALF + PLAIN.replace(old, new)))


def test_a_new_name_for_the_kernel_keeps_its_form():
    """A copy under another name is as fast."""
    renamed = PLAIN.replace("def kernel", "def copy") + "\nkernel = copy"

    assert form() == form(define(HALF + renamed))
    assert "copy" == form(define(HALF + renamed)).kernel


@pytest.mark.parametrize("old, new", [
    ("i < array", "i <= array"),
    ("+ SHIFT", "- SHIFT"),
    ("+ SHIFT", "+ 1"),
    ("x / 2", "x * 0.5"),
    ("@cuda.jit\n", "@cuda.jit(fastmath=True)\n"),
    ("device=True", "device=True, fastmath=True"),
])
def test_what_changes_the_instructions_changes_the_form(old, new):
    """The body, a device function's body, and what the compiler is asked for."""
    assert old in HALF + PLAIN
    assert form() != form(define((HALF + PLAIN).replace(old, new)))


@pytest.mark.parametrize("one, other", [
    (1, 2), (1, 1.0), (np.float32(1), 1.0), ((1, 2), (1, 3)),
    (np.arange(3), np.arange(3) + 1), (float32, int32), (np.float32, np.float64),
])
def test_the_value_of_a_global_is_part_of_the_form(one, other):
    """Numba compiles the values of globals into the kernel."""
    body = "array[0] = SHIFT"

    assert body_form(body, SHIFT=one) != body_form(body, SHIFT=other)
    assert body_form(body, SHIFT=one) == body_form(body, SHIFT=one)


def test_a_type_is_the_same_whichever_library_names_it():
    """`np.float32` and `numba.float32` are one type to a kernel."""
    body = "array[0] = SHIFT(1)"

    assert body_form(body, SHIFT=float32) == body_form(body, SHIFT=np.float32)


def test_a_global_that_only_an_attribute_is_named_after_is_no_part_of_the_form():
    """`array.size` does not read a notebook's variable `size`."""
    assert body_form("array[0] = array.size", size=1) == body_form(
        "array[0] = array.size", size=2
    )


def test_a_global_hidden_by_a_local_name_is_no_part_of_the_form():
    """A kernel's own `i` is not the notebook's."""
    body = "i = cuda.grid(1); array[i] = i"

    assert body_form(body, i=1) == body_form(body, i=2)


def test_a_number_in_a_module_is_part_of_the_form():
    """`math.pi` is compiled in, like a global."""
    assert "math.pi = 3.14159" in " ".join(body_form("array[0] = math.pi").constants)


def with_stride(stride):
    @cuda.jit
    def kernel(array):
        i = cuda.grid(1)
# a comment at the margin does not disturb
        array[i] = array[i * stride]

    return kernel


def test_a_factory_makes_a_form_for_each_value():
    """The value that a kernel is made for is named, the code is the same."""
    two, three = form(with_stride(2)), form(with_stride(3))

    assert (("stride = 2",), ("stride = 3",)) == (two.constants, three.constants)
    assert two.code == three.code and two == form(with_stride(2))


def test_the_constants_of_a_device_function_count():
    """They are named with the function's name."""
    half = HALF.replace("x / 2", "x / TWO")
    forms = [form(define(half + PLAIN, TWO=two)) for two in (2, 2.5)]

    assert ["half.TWO = 2", "half.TWO = 2.5"] == [form.constants[-1] for form in forms]


def test_a_kernel_without_source_has_a_form_of_its_own():
    """Code from nowhere is told apart by its bytecode."""
    plain, shifted = (
        eval(f"cuda.jit(lambda a: a.itemset({n}))", {"cuda": cuda}) for n in (1, 2)
    )

    assert form(plain) != form(shifted) and form(plain) == form(plain)


def test_the_digest_is_the_same_on_every_python():
    """A recording made with one version of Python is found with another.

    The digest was taken on Python 3.11; it changes when what is digested changes, and
    then the recordings must be made again.
    """
    assert "b57c05ca13e0" == form().code


# ---------------------------------------------------------------- the arguments


@pytest.mark.parametrize("argument, words", [
    (np.zeros(100, np.float32), "float32[100]"),
    (np.zeros((3, 4)), "float64[3, 4]"),
    (np.zeros((3, 4)).T, "float64[4, 3] F"),
    (np.zeros((4, 4), np.int8)[:, ::2], "int8[4, 2] strides (4, 2)"),
    (np.zeros(0), "float64[0]"),
    (3, "int64 3"),
    (2.5, "float64 2.5"),
    (True, "bool True"),
    (np.float32(0.1), "float32 0.1"),
    ((1, np.uint8(2)), "(int64 1, uint8 2)"),
])
def test_arguments_are_described_as_numba_types_them(argument, words):
    """Types, shapes and layouts of arrays; types and values of scalars."""
    assert (words,) == form(arguments=(argument,)).arguments


def test_where_a_device_array_begins_is_part_of_the_form():
    """A view that begins within a sector moves one sector more."""

    class View:
        dtype, shape, strides = np.dtype(np.float32), (8,), (4,)
        __cuda_array_interface__ = {"data": (4096 + 4, False)}

    assert ("float32[8] from byte 4",) == form(arguments=(View(),)).arguments


# ---------------------------------------------------------------- the launch


@pytest.mark.parametrize("launch, words", [
    ((1024, 256), "1,024 blocks × 256 threads"),
    (((1024, 1), (256, 1, 1)), "1,024 blocks × 256 threads"),
    (((4, 8), (16, 16)), "(4, 8) blocks × (16, 16) threads"),
    ((1, 32, 4096), "1 block × 32 threads, 4,096 dynamic shared bytes"),
])
def test_launches_are_told_in_words(launch, words):
    """Dimensions of one are left out."""
    assert words == form(launch=launch).launch



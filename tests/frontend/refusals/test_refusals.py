"""What a kernel that Numba refuses gets: one sentence with its line and the remedy."""

import linecache
import math
import random
import re
import time

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from tests.quick import some
from tests.specimens.kernels import BUILT_IN, add, line_of, message, unguarded
from thirty_two_lanes.emulator import KernelError, launch
from thirty_two_lanes.emulator import program_cache as programs
from thirty_two_lanes.frontend import inference

HERE = "test_refusals.py"


def refused(kernel, *arguments):
    """What a kernel's refusal says."""
    return message(KernelError, kernel, 1, 32, *(arguments or (np.zeros(32),)))


def test_a_function_that_fails_is_tried_once_whoever_calls_it(monkeypatch):
    """Numba would try it twice as often with each level of calls."""
    tried = []

    class Counted(inference.numba_compiler.CUDACompiler):
        def compile_extra(self, func):
            tried.append(func.__name__)
            return super().compile_extra(func)

    monkeypatch.setattr(inference.numba_compiler, "CUDACompiler", Counted)

    @cuda.jit(device=True)
    def third(a):
        return a.strange

    @cuda.jit(device=True)
    def second(a):
        return third(a)

    @cuda.jit(device=True)
    def first(a):
        return second(a)

    @cuda.jit
    def calls(a):
        a[0] = first(a)

    assert "have no `strange`" in refused(calls)
    assert ["calls", "first", "second", "third"] == tried


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
        ("a[0] = vallue", "Did you mean `value`?"),
        ("a[cuda.gird(1)] = 1", "Did you mean `grid`?"),
        ("a[0] = max(a)", "loop over its elements"),
    ],
)
def test_a_beginners_slip_is_told_with_what_to_write(line, remedy):
    """The sentence quotes the line and says what to write in its place."""
    source = f"def kernel(a):\n    {line}\n    value = 1\n"
    namespace = {"cuda": cuda, "np": np}
    exec(source, namespace)

    assert remedy in refused(cuda.jit(namespace["kernel"]))


SLIPS = {  # and what is said of each
    # texts, lists, sets, dictionaries
    's = f"thread {cuda.grid(1)}"': "an f-string makes a string",
    "a[0] = len(str(a[0]))": "strings can only be printed in a kernel",
    'a[0] = "x"': "strings can only be printed in a kernel",
    'print("%d" % cuda.grid(1))': "strings can only be printed in a kernel",
    'print("{}".format(a[0]))': "strings can only be printed in a kernel",
    'print(a[0], end="")': "takes no `end=`",
    "b = [a[i] for i in range(3)]": "list comprehensions",
    "b = [1, 2]\n    b.append(3)\n    a[0] = b[0]": "there are no lists",
    "a.append(1)": "arrays keep their size",
    "s = {1, 2}\n    a[0] = len(s)": "sets do not exist in kernels",
    "a[0] = sum(x for x in a)": "generators do not exist",
    "a[0] = sorted(a)[0]": "`sorted` does not exist in kernels",
    "for x in map(abs, a):\n        a[0] = x": "`map` does not exist in kernels",
    "a[0] = adict['x']": "a kernel cannot use the global `adict` (dict)",
    # whole arrays
    "b = np.zeros(3)\n    a[0] = b[0]": "`cuda.local.array(8, float32)`",
    "b = a.copy()\n    a[0] = b[0]": "`.copy()` makes a new array",
    "a[0] = a.astype(np.int32)[0]": "`.astype()` makes a new array",
    "b = a + a\n    a[0] = b[0]": "`c[i] = a[i] + b[i]`",
    "a[0] = a @ a": "`@` works on whole arrays",
    "a[0] = np.dot(a, a)": "`np.dot` works on whole arrays",
    "a[0] = np.linalg.norm(a)": "`np.linalg` works on whole arrays",
    "a[0] = a[a > 0][0]": "one element" if BUILT_IN else "Test each element with",
    "b = a[[0, 1]]\n    a[0] = b[0]": "Test each element with `if`",
    "a[0] = math.sqrt(a)": "`sqrt` takes one number, not a whole array",
    "a.sort()": "`.sort()` works on whole arrays",
    "if a:\n        a[0] = 1": "" if BUILT_IN else "neither true nor false",
    # indices and values
    "a[0] = (1, 2)": "does not fit into an array of float64",
    "a[0] = 1j": "does not fit into an array of float64",
    "a[0] = None": "does not fit into an array of float64",
    "a[0] = a[0] << 1": "bit operators work on whole numbers",
    "a[0] = 1 << 5 | a[0]": "bit operators work on whole numbers",
    "a[0] = 0x1ffffffffffffffffffff": "does not fit into 64 bits",
    "t = (1, 2.5)\n    a[0] = t[cuda.laneid]": "a literal: `t[0]`",
    "t = (1, 2, 3)\n    i = cuda.laneid\n    b = t[i:]": "as its ends: `t[1:3]`",
    "for i in a.size:\n        a[i] = 1": "write `range(…)`",
    "for i in 5:\n        a[i] = 1": "write `range(…)`",
    "a[0] = y\n    y = 1": "`y` has no value yet",
    # parts of Python
    'with open("x") as f:\n        a[0] = 1': "`with`",
    "yield a[0]": "`yield`",
    "import math as m\n    a[0] = m.pi": "move this line above the kernel",
    "class C:\n        pass": "cannot define a class",
    "x, *y = (1, 2, 3)\n    a[0] = x": "a `*` in front",
    "del a[0]": "arrays keep their size",
    "a[0] = type(a)(3)": "types are fixed",
    "a[0] = id(a)": "types are fixed",
    "a[0] = int(input())": "a kernel cannot use files or input",
    'f = open("x")': "a kernel cannot use files or input",
    "a[0] = time.time()": "a kernel has no clock",
    "a[0] = random.random()": "`numba.cuda.random`",
    "a[0] = np.random.rand()": "`numba.cuda.random`",
    "a[0] = math.foo(1.0)": "`math` has no `foo`",
    "a[0] = np.foo(1.0)": "`numpy` has no `foo`",
    "a[0] = Point(1).x": "a kernel cannot use the global `Point`",
    # numba.cuda
    "cuda.synchronize()": "is for the host",
    "b = cuda.to_device(a)": "is for the host",
    "b = cuda.shared.zeros(8, float32)": "`shared` has no `zeros`",
    "n = cuda.laneid\n    b = cuda.shared.array(n, float32)": "`TILE = 32`",
    "cuda.atomic.add(a, 1)": "takes 3 values, but this line passes 2",
    "cuda.atomic.add(a[0], 0, 1)": "indexes a number or None",
    "cuda.atomic.mul(a, 0, 1)": "`atomic` has no `mul`",
    "cuda.atomic.and_(a, 0, 1)": "whole numbers of 32 or 64 bits only",
    "a[0] = cuda.syncthreads_and(a[0] > 0)": "`1 if condition else 0`",
    "a[0] = cuda.syncthreads_count(a[0])": "`1 if condition else 0`",
    "a[0] = dev(a[0])": "" if BUILT_IN else "the function takes: x, y",
    "kernel_of_mine[1, 32](a)": "kernels are launched by the host",
}


class Point:
    pass


@pytest.mark.parametrize("body", some(SLIPS, every=2))
def test_what_kernels_do_not_have_is_told_with_what_there_is(body):
    """One sentence in a beginner's words, with the line, on both targets."""
    kernel = written(f"def kernel(a):\n    {body}\n")

    text = refused(kernel)

    first, quoted = text.splitlines()[:2]
    line = int(re.search(r"slips\.py, line (\d+)\)$", first)[1])
    assert SLIPS[body] in first
    assert quoted.strip() == kernel.py_func.source.splitlines()[line - 1].strip()
    assert line > 1 or "yield" in body
    assert not re.search(r"numba\.\w+\.\w+\.|0x7f|\$\w|Function\(|<class", text)


def written(source):
    """A kernel of a source text, which is kept as a file's would be."""
    lines = source.splitlines(True)
    linecache.cache["slips.py"] = (len(source), None, lines, "slips.py")
    around = {
        **{"cuda": cuda, "np": np, "math": math, "time": time, "random": random},
        **{"float32": float32, "adict": {"x": 1}, "Point": Point},
        "kernel_of_mine": unguarded,
        "dev": cuda.jit(lambda x, y: x + y, device=True),
    }
    exec(compile(source, "slips.py", "exec"), around)
    around["kernel"].source = source
    return cuda.jit(around["kernel"])


def test_an_array_of_another_shape_is_told():
    """Two indices for one axis are too many; a whole row is not one number."""

    @cuda.jit
    def two(a):
        row, col = cuda.grid(2)
        a[row, col] = 1

    @cuda.jit
    def column(a):
        a[cuda.grid(1), 0] = 1

    for kernel in (two, column):
        said = refused(kernel, np.zeros(32))
        assert "too many indices to a 1-dimensional array" in said
    assert "`a` has 2 axes" in refused(unguarded, np.zeros((32, 2)), np.zeros(32))


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


@pytest.mark.parametrize("place", [(programs, "translate"), (launch.Launch, "run")])
def test_what_goes_wrong_inside_the_emulator_leaves_by_a_last_door(place, monkeypatch):
    """One sentence that names the kernel's file and line, and what to do."""

    @cuda.jit
    def fine(a):
        a[0] = 1

    def stumble(*arguments):
        raise KeyError("$phi3")

    monkeypatch.setattr(*place, stumble)

    text = refused(fine)

    assert "the emulator cannot handle this line" in text
    assert f"({HERE}, line " in text and "in a simpler way" in text

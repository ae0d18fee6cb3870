"""Compiles a random program, launches it in several ways, and compares all bits."""

import linecache
import math
import warnings
from contextlib import contextmanager

import numpy as np
from numba import cuda, njit

from helpers import emulate
from tests.specimens.random_kernels.data import module
from thirty_two_lanes.emulator.machine import machine

STEPS = 4096  # noted stores of one thread, at most
HELPERS = '''
def helper_i(x, y):
    if x > y:
        return x - y
    return y + 3


def helper_f(x, y):
    s = np.float32(0)
    for k in range(3):
        if x > k:
            s += np.float32(y)
    return s


def tame(x):
    """A number that every integer type of 32 bits can hold, once it is rounded."""
    if -1e5 < x < 1e5:
        return np.float64(x)
    return 0.5


def with_default(x, y=3):
    return x - y


def scaled(x, by=2):
    return x * by


def number_or_none(x, y):
    if y > 0:
        return x
    return None


def implicit_none(x, y):
    if y & 1:
        return x
'''
NAMES = (
    "helper_i", "helper_f", "tame", "with_default", "scaled", "number_or_none",
    "implicit_none",
)


def compiled(text, name, decorate, seed):
    """A function made from source text that errors can quote."""
    file = f"<random {name} {seed}>"
    text = f"{HELPERS}\n\n{text}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"np": np, "math": math, "cuda": cuda, "note": note, "mod": module()}
    exec(compile(text, file, "exec"), namespace)
    for helper in NAMES:
        namespace[helper] = decorate(namespace[helper], device=True)
    return decorate(namespace[name])


@njit
def note(trace, t, noted, code):
    if noted < trace.shape[1]:
        trace[t, noted] = code
    return noted + 1


def as_kernel(function, device=False):
    return cuda.jit(device=device)(function)


def as_njit(function, device=False):
    return njit(error_model="numpy")(function)


def faults(program):
    """What is wrong with a program's launches: errors, findings and values that differ.

    A plain launch is the GPU's where there is one.
    """
    kernel = compiled(program.text, "kernel", as_kernel, program.seed)
    first, told, run = launched(program, kernel, "emulate", emulate(kernel))
    found = [told, *false_findings(run)]
    with one_block_at_a_time():
        other = emulate(kernel, seed=5)
        second, told, _ = launched(program, kernel, "another order", other)
    found += [told or differing(program, first, second, "in another order")]
    third, told, _ = launched(program, kernel, "plain", kernel)
    found += [told or differing(program, first, third, "in a plain launch")]
    return [text for text in found if text]


def launched(program, kernel, way, launch):
    """The arrays after a launch, what went wrong, and the Run."""
    arrays = program.arrays()
    try:
        with warnings.catch_warnings(action="ignore"):
            run = launch[program.blocks, program.threads](program.n, *arrays)
    except Exception as error:
        told = " ".join(str(error).split())
        return None, f"{way}: {type(error).__name__}: {told}"[:400], None
    return arrays, "", run


def false_findings(run):
    """Reports of a program that has no race and reads nothing without a value."""
    if run is not None and run.races:
        yield f"false race: {run.races[0]}"[:300]
    if run is not None and run.uninitialised:
        yield f"false read without a value: {run.uninitialised[0]}"[:300]


@contextmanager
def one_block_at_a_time():
    """Batches of one block, so that no two blocks share an operation."""
    before, machine.BATCH_BLOCKS = machine.BATCH_BLOCKS, 1
    try:
        yield
    finally:
        machine.BATCH_BLOCKS = before


def differing(program, here, there, where):
    """How many values of each array differ, and the first of them."""
    if here is None or there is None:
        return ""
    pairs = zip(program.names, here, there, strict=True)
    told = [text for text in (compared(*pair) for pair in pairs) if text]
    return f"{where}: " + "; ".join(told) if told else ""


def compared(name, here, there):
    same = equal_bits(here, there)
    if same.all():
        return ""
    first = tuple(map(int, np.argwhere(~same)[0]))
    return (
        f"{name}: {np.count_nonzero(~same)} differ, {list(first)} is {here[first]!r} "
        f"and {there[first]!r}"
    )


def equal_bits(here, there):
    """Which values are the same; all NaN are, and zeros of two signs are not."""
    if here.dtype.kind == "c":
        return equal_bits(here.real, there.real) & equal_bits(here.imag, there.imag)
    same = here == there
    if here.dtype.kind == "f":
        same &= np.signbit(here) == np.signbit(there)
        same |= np.isnan(here) & np.isnan(there)
    return same

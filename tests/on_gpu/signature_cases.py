"""Launches whose arguments are not of the types that their kernel's signature declares:
the table that a GPU and the emulator are asked.
"""

from dataclasses import dataclass

import numpy as np
from numba import cuda

# ---------------------------------------------------------------- the kernels


def copy(a, out):
    """Each element, as far as there is room."""
    i = cuda.grid(1)
    if i < a.shape[0] and i < out.shape[0]:
        out[i] = a[i]


def negate(a):
    """Change each element in place."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = -a[i] - 1


def copy_rows(a, out):
    """Each element of two axes, in the order of rows."""
    i = cuda.grid(1)
    if i < a.shape[0] * a.shape[1]:
        out[i] = a[i // a.shape[1], i % a.shape[1]]


def copy_tail(a, out):
    """All but the first element, of a view."""
    i = cuda.grid(1)
    tail = a[1:]
    if i < tail.shape[0] and i < out.shape[0]:
        out[i] = tail[i]


def copy_second_row(a, out):
    """The second row, of a view."""
    i = cuda.grid(1)
    row = a[1]
    if i < row.shape[0]:
        out[i] = row[i]


def sizes(a, out):
    """What the array says of itself."""
    if cuda.grid(1) == 0:
        out[0] = a.size
        out[1] = a.shape[0]
        out[2] = len(a)


def bytes_of(a, out):
    """What the array says of its bytes."""
    if cuda.grid(1) == 0:
        out[0] = a.itemsize
        out[1] = a.nbytes
        out[2] = a.strides[0]


def number(x, out):
    """A number, as the kernel has it."""
    if cuda.grid(1) == 0:
        out[0] = x


def truth(x, out):
    """A truth value, as the kernel has it."""
    if cuda.grid(1) == 0:
        out[0] = 1 if x else 0
        out[1] = 1 if not x else 0


def first_then(a, x, out):
    """An array, a number behind it, and where both go."""
    i = cuda.grid(1)
    if i < a.shape[0] and i < out.shape[0]:
        out[i] = a[i] + x


def items(pair, out):
    """The items of a tuple."""
    if cuda.grid(1) == 0:
        out[0] = pair[0]
        out[1] = pair[1]


def which(x, out):
    """A sum, in the type that the kernel was compiled for."""
    if cuda.grid(1) == 0:
        out[0] = x + x


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Case:
    """A kernel with one signature, several, or none, and the arguments of a launch.

    `stays`: the launch stays within its arguments' bytes, so that what it gives is a
    fact about every GPU; `before` are the arguments of launches that come first.
    """

    name: str
    function: object
    signature: object
    arguments: object  # makes them
    stays: bool = True
    before: tuple = ()

    def kernel(self):
        """The kernel, as its signature makes it."""
        decorate = cuda.jit if self.signature is None else cuda.jit(self.signature)
        return decorate(self.function)


SMALL = np.array([3, -1, 2**33 + 7, -(2**40), 2**31, 5, 6, 7])  # int64
INTS = np.arange(10, 26, dtype=np.int32)
GRID = np.arange(12).reshape(3, 4)  # int64
TABLE = np.arange(12, dtype=np.int32).reshape(3, 4)
HALVES = np.array([0.5, -1.25, 3.0, 1e10, -0.0, 1.0, 2.0, 4.0])


def out(size=8, dtype=np.int32):
    """Where a kernel stores; what it leaves as it was stands out."""
    return np.full(size, 99, dtype)


def there(array):
    """A copy on the GPU."""
    return cuda.to_device(array)


def frozen(array):
    """A copy that nobody may write."""
    array = array.copy()
    array.flags.writeable = False
    return array


OTHER_ELEMENTS = [
    Case("int64 for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (SMALL.copy(), out())),
    Case("int64 on the device for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (there(SMALL), out())),
    Case("int64 for int32[:], written", negate, "void(int32[:])",
         lambda: (SMALL.copy(),)),
    Case("int64 for int32[::1]", copy, "void(int32[::1], int32[::1])",
         lambda: (SMALL.copy(), out())),
    Case("int64 for int32[::1], written", negate, "void(int32[::1])",
         lambda: (SMALL.copy(),)),
    Case("int64 for uint8[:]", copy, "void(uint8[:], int32[:])",
         lambda: (SMALL.copy(), out())),
    Case("float64 for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (HALVES.copy(), out())),
    Case("float64 for float32[:]", copy, "void(float32[:], float32[:])",
         lambda: (HALVES.copy(), out(8, np.float32))),
    Case("float32 for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (HALVES.astype(np.float32), out())),
    Case("uint32 for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (np.array([2**32 - 1, 5], np.uint32), out())),
    Case("complex64 for float32[:]", copy, "void(float32[:], float32[:])",
         lambda: ((HALVES + 2j).astype(np.complex64), out(8, np.float32))),
    Case("bool for int8[:]", copy, "void(int8[:], int32[:])",
         lambda: (np.array([True, False, True]), out())),
    Case("int8 for boolean[:]", copy, "void(boolean[:], int32[:])",
         lambda: (np.array([0, 1, 2, -1, 4], np.int8), out())),
    Case("int64 for int32[:], sizes", sizes, "void(int32[:], int64[:])",
         lambda: (SMALL.copy(), out(3, np.int64))),
    Case("int64 for int32[:], bytes", bytes_of, "void(int32[:], int64[:])",
         lambda: (SMALL.copy(), out(3, np.int64))),
    Case("int64 for int32[::1], bytes", bytes_of, "void(int32[::1], int64[:])",
         lambda: (SMALL.copy(), out(3, np.int64))),
    Case("int64 for int32[:], a view", copy_tail, "void(int32[:], int32[:])",
         lambda: (SMALL.copy(), out())),
    Case("int64 for int32[::1], a view", copy_tail, "void(int32[::1], int32[::1])",
         lambda: (SMALL.copy(), out())),
    Case("int32 for int64[::1], the first half", copy, "void(int64[::1], int64[::1])",
         lambda: (INTS.copy(), out(8, np.int64))),
    Case("int32 for int64[::1], all", copy, "void(int64[::1], int64[::1])",
         lambda: (INTS.copy(), out(16, np.int64)), stays=False),
    Case("every other int32 for int64[:]", copy, "void(int64[:], int64[:])",
         lambda: (there(INTS)[::2], out(8, np.int64))),
    Case("int32 for int64[:], the first", copy, "void(int64[:], int64[:])",
         lambda: (INTS.copy(), out(1, np.int64))),
    Case("int32 for int64[:], all", copy, "void(int64[:], int64[:])",
         lambda: (INTS.copy(), out(16, np.int64)), stays=False),
    Case("int8 for int32[:], all", copy, "void(int32[:], int32[:])",
         lambda: (np.arange(8, dtype=np.int8), out()), stays=False),
    Case("one int32 for int64[:]", copy, "void(int64[:], int64[:])",
         lambda: (INTS[:1].copy(), out(1, np.int64)), stays=False),
]  # fmt: skip
LAYOUTS = [
    Case("C for int32[:, :]", copy_rows, "void(int32[:, :], int32[:])",
         lambda: (TABLE.copy(), out(12))),
    Case("C for int32[::1, :]", copy_rows, "void(int32[::1, :], int32[:])",
         lambda: (TABLE.copy(), out(12))),
    Case("F for int32[:, ::1]", copy_rows, "void(int32[:, ::1], int32[:])",
         lambda: (np.asfortranarray(TABLE), out(12))),
    Case("C of int64 for int32[:, :]", copy_rows, "void(int32[:, :], int32[:])",
         lambda: (GRID.copy(), out(12))),
    Case("C of int64 for int32[:, ::1]", copy_rows, "void(int32[:, ::1], int32[:])",
         lambda: (GRID.copy(), out(12))),
    Case("C of int64 for int32[:, ::1], a row", copy_second_row,
         "void(int32[:, ::1], int32[:])", lambda: (GRID.copy(), out(4))),
    Case("every other for int32[::1]", copy, "void(int32[::1], int32[::1])",
         lambda: (there(INTS)[::2], out())),
    Case("every other of the host's for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (INTS[::2], out()), stays=False),
    Case("backwards for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (there(INTS)[::-1], out())),
    Case("backwards for int32[::1]", copy, "void(int32[::1], int32[::1])",
         lambda: (there(INTS)[::-1], out()), stays=False),
    Case("read-only for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (frozen(INTS), out())),
    Case("read-only for int32[:], written", negate, "void(int32[:])",
         lambda: (frozen(INTS),)),
]  # fmt: skip
SHAPES = [
    Case("two axes for int32[:], the last", negate, "void(int32[:])",
         lambda: (TABLE.copy(),), stays=False),
    Case("two axes for int32[::1], the last", negate, "void(int32[::1])",
         lambda: (TABLE.copy(),), stays=False),
    Case("two axes for int32[:], then a number", first_then,
         "void(int32[:], int32, int32[:])", lambda: (TABLE.copy(), 1, out()),
         stays=False),
    Case("one axis for int32[:, :]", copy_rows, "void(int32[:, :], int32[:])",
         lambda: (INTS.copy(), out(16)), stays=False),
    Case("a number for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (5, out()), stays=False),
    Case("a list for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: ([1, 2, 3], out()), stays=False),
    Case("None for int32[:]", copy, "void(int32[:], int32[:])",
         lambda: (None, out()), stays=False),
    Case("an array for int32", number, "void(int32, int32[:])",
         lambda: (INTS[:2].copy(), out(1)), stays=False),
    Case("too many arguments", negate, "void(int32[:])",
         lambda: (INTS.copy(), out())),
    Case("too few arguments", copy, "void(int32[:], int32[:])",
         lambda: (INTS.copy(),), stays=False),
]  # fmt: skip


def numbers(declared, dtype, *values):
    """Launches of one number, declared as one type and passed as others."""
    for value in values:
        yield Case(
            f"{value!r} for {declared}",
            truth if declared == "boolean" else number,
            f"void({declared}, {dtype}[:])",
            lambda value=value: (value, out(2, dtype)),
        )


NUMBERS = [
    *numbers("int32", "int64", 2**40 + 5, 2**31, -1, True, np.int64(2**33 + 1)),
    *numbers("int32", "int64", 2.5, 2.0, np.float32(2.5), np.float64(2), 2j, "5"),
    *numbers("int32", "int64", None, np.array(5), np.bool_(True), 2**70),
    *numbers("uint8", "int64", -1, 300, np.uint8(7)),
    *numbers("int64", "int64", 2**64 + 3, np.uint64(2**63)),
    *numbers("uint64", "uint64", -1),
    *numbers("float32", "float64", 0.1, 3, True, 1e300, 2**24 + 1, np.float32(0.1)),
    *numbers("float32", "float64", np.float64(0.1), 2j, None, np.array(0.5)),
    *numbers("float64", "float64", 3, np.float32(0.1), np.int64(2**53 + 1)),
    *numbers("float16", "float64", 0.1, 70000.0, 3),
    *numbers("boolean", "int64", True, False, 0, 1, 2, 256, -1, 0.5, 0.0, 2.0),
    *numbers("boolean", "int64", np.bool_(True), np.int64(256), np.int32(2), None),
    *numbers("complex64", "complex128", 1.5, 3, 0.1 + 2j, np.float64(0.1), True),
]
TUPLES = [
    Case(f"{pair} for UniTuple(int32, 2)", items,
         "void(UniTuple(int32, 2), int64[:])",
         lambda pair=pair: (pair, out(2, np.int64)))
    for pair in ((1, 2**40 + 3), (1, 2.5), (1, 2, 3), [1, 2], (1,))
]  # fmt: skip
ONE_OF_TWO = ["void(int32[:], int32[:])", "void(int64[::1], int64[:])"]
OF_NUMBERS = ["void(int32, int64[:])", "void(float64, int64[:])"]
AMBIGUOUS = [
    "void(int32[:], float32, int64[:])",
    "void(int32[:], uint64, int64[:])",
]
SEVERAL = [
    Case("[int32[:]] takes int32", copy, ONE_OF_TWO[:1],
         lambda: (INTS.copy(), out())),
    Case("[int32[:]] takes int64", copy, ONE_OF_TWO[:1],
         lambda: (SMALL.copy(), out())),
    Case("[int32[:]] takes uint32", copy, ONE_OF_TWO[:1],
         lambda: (INTS.astype(np.uint32), out())),
    Case("[int32[:]] takes every other", copy, ONE_OF_TWO[:1],
         lambda: (there(INTS)[::2], out())),
    Case("[int32[:]] takes read-only", copy, ONE_OF_TWO[:1],
         lambda: (frozen(INTS), out())),
    Case("[int32[:]] takes one argument", copy, ONE_OF_TWO[:1],
         lambda: (INTS.copy(),)),
    Case("[int32[:]] takes three arguments", copy, ONE_OF_TWO[:1],
         lambda: (INTS.copy(), out(), 1)),
    Case("[int32[:], int64[::1]] takes int64", copy, ONE_OF_TWO,
         lambda: (SMALL.copy(), out(8, np.int64))),
    Case("[int32[:], int64[::1]] takes int64 in steps", copy, ONE_OF_TWO,
         lambda: (there(SMALL)[::2], out(8, np.int64))),
    Case("[int32[:], int64[::1]] takes float32", copy, ONE_OF_TWO,
         lambda: (HALVES.astype(np.float32), out())),
    Case("[int32[:, ::1]] takes F", copy_rows, ["void(int32[:, ::1], int32[:])"],
         lambda: (np.asfortranarray(TABLE), out(12))),
    Case("[int32] takes 2**40 + 5", number, OF_NUMBERS[:1],
         lambda: (2**40 + 5, out(1, np.int64))),
    Case("[int32] takes 2.5", number, OF_NUMBERS[:1],
         lambda: (2.5, out(1, np.int64))),
    Case("[int32] takes True", number, OF_NUMBERS[:1],
         lambda: (True, out(1, np.int64))),
    Case("[int32] takes 2j", number, OF_NUMBERS[:1],
         lambda: (2j, out(1, np.int64))),
    Case("[int32, float64] takes 2**40 + 5", number, OF_NUMBERS,
         lambda: (2**40 + 5, out(1, np.int64))),
    Case("[int32, float64] takes int8", number, OF_NUMBERS,
         lambda: (np.int8(-3), out(1, np.int64))),
    Case("[int32, float64] takes float32", number, OF_NUMBERS,
         lambda: (np.float32(2.5), out(1, np.int64))),
    Case("[int32, float64] takes True", number, OF_NUMBERS,
         lambda: (True, out(1, np.int64))),
    Case("[float32, uint64] takes an int", first_then, AMBIGUOUS,
         lambda: (INTS.copy(), 3, out(8, np.int64))),
    Case("[float32, uint64] takes a float", first_then, AMBIGUOUS,
         lambda: (INTS.copy(), 3.5, out(8, np.int64))),
    Case("none: int32 after int64", which, None,
         lambda: (np.int32(2**31 - 1), out(1, np.int64)),
         before=((1, out(1, np.int64)),)),
    Case("none: int64 after int32", which, None,
         lambda: (2**31 - 1, out(1, np.int64)),
         before=((np.int32(1), out(1, np.int64)),)),
    Case("none: int32 after float64", which, None,
         lambda: (np.int32(2**31 - 1), out(1, np.int64)),
         before=((1.0, out(1, np.int64)),)),
    Case("none: int64 after float64", which, None,
         lambda: (2**53 + 1, out(1, np.int64)),
         before=((1.0, out(1, np.int64)),)),
]  # fmt: skip
ALL = OTHER_ELEMENTS + LAYOUTS + NUMBERS + TUPLES + SEVERAL + SHAPES
CASES = {case.name: case for case in ALL}

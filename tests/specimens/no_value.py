"""Kernels that read a variable which has no value on the path that threads took."""

from numba import cuda


@cuda.jit
def reads_behind_other_lines(a):
    i = cuda.grid(1)
    if a[0] < 0:
        y = a[i]
    b = a[1] + 3
    c = b * 2
    a[i] = c - y


@cuda.jit
def reads_an_array(a):
    if a[0] < 0:
        part = a[1:]
    b = a[1]
    a[2] = b
    a[3] = part[1]


@cuda.jit
def reads_in_a_condition(a):
    if a[0] < 0:
        y = a[1]
    a[2] = 3
    if y > 3:
        a[3] = 1


@cuda.jit
def reads_a_copy(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    z = y
    a[3] = z + x


@cuda.jit
def reads_the_second_version(a):
    y = 0.0
    if a[0] < 0:
        x = a[1]
    if a[0] > 0:
        y = y + a[2]
        a[1] = y / x


@cuda.jit
def stores_it(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[3] = y


@cuda.jit
def shuffles_it(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[3] = cuda.shfl_sync(0xFFFFFFFF, y, 3)


@cuda.jit
def stores_it_to_a_part(a):
    if a[0] < 0:
        y = a[1]
    x = a[2]
    a[1] = x
    a[2:4] = y


NUMBERS = [
    (stores_it, "y", "a[3] = y"),
    (stores_it_to_a_part, "y", "a[2:4] = y"),
    (shuffles_it, "y", "a[3] = cuda.shfl_sync(0xFFFFFFFF, y, 3)"),
    (reads_behind_other_lines, "y", "a[i] = c - y"),
    (reads_in_a_condition, "y", "if y > 3:"),
    (reads_a_copy, "y", "a[3] = z + x"),
    (reads_the_second_version, "x", "a[1] = y / x"),
]
CASES = [*NUMBERS, (reads_an_array, "part", "a[3] = part[1]")]

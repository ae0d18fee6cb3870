"""Arrays, views and records: each line against the same line under `njit`, thread by
thread.
"""

import linecache
import re

import numpy as np
import pytest
from numba import cuda, njit

from helpers import emulate
from tests.quick import some
from tests.specimens.kernels import BUILT_IN

POINT = np.dtype(
    [
        ("x", np.float32),
        ("v", np.int32, 3),
        ("n", [("p", np.float64), ("q", np.int16)]),
        ("m", np.float32, (2, 2)),
    ],
    align=True,
)
THREADS = 40
needs_methods = pytest.mark.skipif(BUILT_IN, reason="the built-in target has no such")


def inputs():
    """Arrays of each layout; every thread may write row i of those named w."""
    rng = np.random.default_rng(7)
    records = np.zeros(THREADS, POINT)
    records["x"], records["n"]["p"] = rng.random((2, THREADS))
    records["v"] = rng.integers(-9, 9, (THREADS, 3))
    records["n"]["q"] = rng.integers(-9, 9, THREADS)
    records["m"] = rng.random((THREADS, 2, 2))
    return {
        "a": rng.random((THREADS, 6), np.float32),
        "b": rng.random(THREADS * 2)[::2],
        "f": np.asfortranarray(rng.integers(-99, 99, (THREADS, 4))),
        "c": rng.random((4, 3, 5), np.float32),
        "z": rng.random(THREADS) + 1j * rng.random(THREADS),
        "r": records,
        "s": records[:8].copy(),
        "x": records["n"]["p"].copy(),
        "w": np.zeros((THREADS, 6), np.float32),
        "wi": np.zeros((THREADS, 4), np.int32),
        "w3": np.zeros((THREADS, 2, 3), np.float32),
        "wr": np.zeros(THREADS, POINT),
        "wz": np.zeros(THREADS, np.complex64),
        "zero": np.full((), 2.5),
        "out": np.zeros(THREADS),
    }


def indented(lines):
    return "".join(f"    {line}\n" for line in lines.split("\n"))


def used(lines):
    """The inputs that lines name, and `out`: Numba compiles something for each."""
    words = re.findall(r"\w+", lines)
    return {n: it for n, it in inputs().items() if n in words or n == "out"}


def both(lines, theirs):
    """What the lines leave in the arrays, in the emulator and under njit."""
    here, there = used(f"{lines} {theirs}"), used(f"{lines} {theirs}")
    names = ", ".join(here)
    kernel = f"def kernel({names}):\n    i = cuda.grid(1)\n    if i >= out.size:\n"
    kernel += f"        return\n{indented(lines)}"
    thread = f"def thread(i, {names}):\n{indented(theirs)}"
    namespace = {"cuda": cuda, "np": np}
    namespace |= {"mean_of": mean_of, "var_of": var_of, "std_of": std_of}
    for number, source in enumerate((kernel, thread)):
        file = f"<lines {hash(lines)} {number}>"
        linecache.cache[file] = len(source), None, source.splitlines(True), file
        exec(compile(source, file, "exec"), namespace)
    emulate(cuda.jit(namespace["kernel"]))[2, 32](*here.values())
    function = njit(namespace["thread"], error_model="numpy")
    for i in range(THREADS):
        function(np.int64(i), *there.values())
    return here, there


def assert_same(lines, theirs=None):
    here, there = both(lines, theirs or lines)
    before = inputs()
    for name in here:
        np.testing.assert_array_equal(there[name], here[name], err_msg=name)
    assert any(not np.array_equal(before[name], here[name]) for name in here)


@pytest.mark.parametrize(
    "lines",
    some([
        "w[i, :] = 1.5",
        "w[i] = b[i]",
        "w[i, 1:5] = i",
        "w[i, ::-2] = 3",
        "w[i, 4:1] = 3\nout[i] = 1",
        "w3[i, :, 1] = a[i, 0]",
        "w3[i, ...] = 2",
        "w[i, i % 4 : i % 4 + 2] = i",
        "w[i, 2:4] = (1.5, b[i])",
        "w[i][2] = 1\nw[i][3:] = 2",
        "w3[i][:, 2] = 4",
        "w[i, :2] = (1.0, 2.0)",
        "w[None, i, 2] = 5",
        "w[i].fill(2)",
        "w3[i].T[1, :] = 6",
        "w[i, -2:] = 7",
        "w[i, -100:100:3] = 7",
        "if i % 3 == 0:\n        w[i, : i % 5] = i",
    ], every=9),
)
def test_a_store_to_a_part_of_an_array_reaches_each_of_its_elements(lines):
    """Numbers and tuples, through slices, rows and views; ends differ by thread."""
    assert_same(lines)


@pytest.mark.parametrize(
    "expression",
    some([
        "b[:, None][i, 0]",
        "c[i % 4, None, :, 2][0, i % 3]",
        "a[i].reshape(2, 3)[1, i % 3]",
        "a.reshape(12, -1)[i % 12, 1]",
        "c.reshape((5, 12))[i % 5, 3]",
        "a[i].view(np.int32)[i % 6]",
        "a[i].view(np.int8)[i % 24]",
        "a[i].view(np.float64)[i % 3]",
        "a.view(np.uint8)[i, 3] + a[i].view(np.int16).size",
        "f.T.reshape(8, -1)[i % 8, 3]",
        pytest.param("sum(a[i]) + sum((i, 2, 1.5))", marks=needs_methods),
        "c.transpose()[i % 5, i % 3, i % 4]",
        "c.T[i % 5].T[i % 4, 1]",
        "f.T[1, i]",
        "f.flat[i] + c.flat[i] + b.flat[i]",
        "f[i:, 1:].flat[0]",
        "c.nbytes + c.itemsize + c[1].size + len(c[1:]) + c.ndim",
        "a[i:].shape[0] + a[i:, i % 3:].size + f[i:].strides[0]",
        "len(b[i // 2 : i])",
        "b[i % 5 :: 3][2]",
        "b[i % 5 : i + 9 : 1 + i % 2][1]",
        "b[i::-1][i // 2]",
        "a[i][i % 6] + a[-i - 1, -1 - i % 6]",
        "a[np.uint8(i), np.uint64(2)]",
        "zero[()] + zero.item()",
        "b[..., i % 3] + c[i % 4, ..., 1, 0] + b[i : i + 1].item()",
        "z.real[i] + z.imag[i] * 2",
        "z[i].real",
        pytest.param("np.shape(a)[1] + np.size(a)", marks=needs_methods),
        "(a[i] if i % 2 else a[i - 1])[2]",
        "(c[i % 4] if i % 2 else c[i % 3])[1, 2]",
        "(c[0, 0] if i % 3 else w[i])[2:].size",
        "(a[i] if i % 2 else c[i % 4, 1])[i % 5]",
        "len(a[i] if i % 2 else c[i % 4, 1])",
        pytest.param("a[i // 2, 3] in a[i, 2:]", marks=needs_methods),
        "i in (3, i // 2 * 2, 7)",
        "r[i].x + r[i].v[i % 3] + r[i].n.p + r[i].n.q",
        "r['x'][i] + r.x[i] + r.n.p[i]",
        "r[i].m[1, i % 2] + r.m[i, 0, 1] + r.v[i, 2]",
        "r[i]['v'][2] + r[i]['n']['q']",
        "(r[i] if i % 2 else s[i % 8]).n.q",
        "r[1:].x[i // 2] + r[::2][i // 2].v[0]",
    ], every=6),
)
def test_a_view_finds_the_elements_that_numba_finds(expression):
    """Slices, new axes, other shapes, other elements, fields, one array or another."""
    assert_same(f"out[i] = {expression}")


OVER_ROWS = """\
for row in c:
    for u in row[i % 3]:
        out[i] += u
for v in b[i // 2 : i]:
    w[i, 0] = w[i, 0] / 2 + v
for whole in f[i]:
    w[i, 1] = w[i, 1] / 2 + whole
for p in r[i // 2 : i]:
    out[i] += p.n.p
for k, row in enumerate(w3[i]):
    row[1] = 4
    row[k] = 4 + k"""


def test_loops_go_over_arrays_of_any_rank():
    """Rows are views, and records are not copied."""
    assert_same(OVER_ROWS)


OVER_ELEMENTS = """\
for u in np.nditer(f):
    w[i, 0] = w[i, 0] / 2 + u.item()
for v in np.nditer(c[:, :, i % 5]):
    w[i, 1] = w[i, 1] / 2 + v.item()
for whole in f.flat:
    w[i, 2] = w[i, 2] / 2 + whole
for p, y in np.ndenumerate(c):
    out[i] += (p[0] - p[1] * p[2]) * y
for q in np.ndindex(2, 3):
    w3[i, q[0], q[1]] = i + q[1]
for q in np.ndindex((2, 3)):
    w3[i][q] += i + q[0]
for q in np.ndindex(w3[i].shape):
    w3[i, q[0], q[1]] += 2"""


@needs_methods
def test_numpys_iterators_go_in_numbas_order():
    """Elements, in the order of memory for `nditer`; indices; both."""
    assert_same(OVER_ELEMENTS)


@pytest.mark.parametrize(
    "lines",
    some([
        "wr[i] = r[i]",
        "wr[i] = r[-1 - i]",
        "wr[i].x = i",
        "wr[i].v[1] = i",
        "wr[i].v[:] = i",
        "wr[i]['n']['q'] = i",
        "wr[i].n.p = r[i].n.p",
        "wr.x[i] = 3",
        "wr['n']['p'][i] = 3",
        "wr[i].m[i % 2, 1] = 3",
        "wr.m[i, 1, :] = 3",
        "wr[i].n = r[i].n",
        "wr[i].v = r[i].v",
        "wr[i:i + 1] = s[1]",
        "wz[i] = z[i]",
        "wz.real[i] = i\nwz.imag[i] = 2",
        "if i % 2:\n        wr[i] = s[i % 8]",
        "p = wr[i]\np.x = 2\np.v[2] = 5\nout[i] = wr[i].v[2]",
        "p = wr[i] if i % 2 else r[i]\np.x = -i\np.n.q = i",
    ], every=4),
)
def test_records_and_their_fields_are_written(lines):
    """Whole, field by field, and within fields that are arrays or records."""
    assert_same(lines)


@njit
def mean_of(x):
    total = x.flat[0] - x.flat[0]
    for value in x.flat:
        total += value
    return total / x.size


@njit(error_model="numpy")
def var_of(x):
    mean, total = mean_of(x), 0.0
    for value in x.flat:
        total += (value - mean) * (value - mean)
    return total / x.size


@njit
def std_of(x):
    return var_of(x) ** 0.5


WRITTEN_OUT = {"mean": mean_of, "average": mean_of, "var": var_of, "std": std_of}
METHODS = "sum mean var std all any prod argmax argmin".split()
FUNCTIONS = "nansum nanmean nanprod nanvar nanstd count_nonzero sum mean prod".split()
FUNCTIONS += "any all var std argmax argmin average".split()


@pytest.mark.slow
@needs_methods
@pytest.mark.parametrize(
    "call",
    some([*(f"{{}}.{m}()" for m in METHODS), *(f"np.{f}({{}})" for f in FUNCTIONS)], 9),
)
def test_a_reduction_is_numbas_own_loop(call):
    """Bit for bit, in Numba's order and types; of rows and of parts."""
    name = re.search(r"(\w+)\(", call)[1]
    theirs = call
    if name in WRITTEN_OUT:  # on the CPU, Numba rounds them to the elements' type
        theirs = f"{WRITTEN_OUT[name].__name__}({{}})"
    lines = [
        f"w[i, 0] = {c.format('a[i]')} + 1\nout[i] = {c.format('f[i:, i % 4]')} + 1"
        for c in (call, theirs)
    ]
    assert_same(*lines)


@cuda.jit
def compares_arrays(a, b, out):
    c = a
    out[0], out[1], out[2] = c is a, a[1:] is a, a[0:] is a
    out[3], out[4] = a is not b, c is not a


def test_arrays_are_the_same_if_their_cells_are():
    """Numba compares shapes, strides and addresses; to Python a part is another one."""
    out = np.zeros(5)
    emulate(compares_arrays)[1, 1](np.zeros(4), np.zeros(4), out)
    assert [1, 0, 1, 1, 0] == out.tolist()

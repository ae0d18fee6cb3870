"""Advice on indices, followed to the letter: what it says is put into the kernel."""

import re

import numpy as np
import pytest

from helpers import emulate
from tests.core.advice.telling import made, told
from thirty_two_lanes.core.errors import KernelIndexError

ROWS, COLUMNS = 40, 60
GUARD = re.compile(r"`if (.*):`")


def arrays(shape=(ROWS, COLUMNS)):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return values, np.zeros_like(values)


def looked_at(text, blocks=(4, 3), shape=(ROWS, COLUMNS), *more):
    """What a launch of a thread for each element says and stores."""
    values, out = arrays(shape)
    try:
        run = emulate(made(text))[blocks, (16, 16)](values, out, *more)
    except KernelIndexError as error:
        return [str(error)], out
    return [it.text for it in run.warnings if not it.note], out


COPY = """
def copy(a, out):
    {}
    if {}:
        out[x, y] = a[x, y]
"""


@pytest.mark.parametrize(
    "guard",
    [
        "x < a.shape[0] and y < a.shape[1]",
        "y < a.shape[0] and x < a.shape[1]",
        "True",
    ],
)
@pytest.mark.parametrize(
    "numbers",
    [
        "x, y = cuda.grid(2)",
        "x = cuda.grid(2)[0]; y = cuda.grid(2)[1]",
        "x, y = (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x,"
        " cuda.threadIdx.y + 16 * cuda.blockIdx.y)",
    ],
)
def test_swapped_indices_are_to_be_swapped(numbers, guard):
    """Whatever the guard asks: too few are stored to, or an index is outside."""
    text = COPY.format(numbers, guard)
    (sentence,), _ = looked_at(text)

    assert "`x` has 64 values and `y` 48, and `" in sentence
    assert "has shape (40, 60). Swap `x` and `y`" in sentence
    told = GUARD.search(sentence)[1]
    mended = text.replace("[x, y]", "[y, x]").replace(f"if {guard}:", f"if {told}:")
    sentences, out = looked_at(mended)
    assert [] == sentences
    assert (out == arrays()[0]).all()


SIZES = "x < a.shape[0] and y < a.shape[1]"
CROSSED = """
def copy(a, out, h, w):
    m, n = a.shape
    x, y = cuda.grid(2)
    if {}:
        out[y, x] = a[y, x]
"""


@pytest.mark.parametrize(
    "guard, right, blocks",
    [
        (SIZES, "x < a.shape[1] and y < a.shape[0]", (4, 3)),
        (SIZES, "x < a.shape[1] and y < a.shape[0]", (4, 4)),
        ("x < m and y < n", "x < n and y < m", (4, 3)),
        ("x < m and y < n", "x < n and y < m", (4, 4)),
        ("x < h and y < w", "x < w and y < h", (4, 3)),
        ("x >= m or y >= n: return", "x >= n or y >= m", (4, 3)),
        ("x >= m or y >= n: return", "x >= n or y >= m", (4, 4)),
    ],
)
def test_a_guard_that_asks_for_the_other_axis_is_to_be_changed(guard, right, blocks):
    """Whether it stops threads, or lets some beyond the end."""
    text = CROSSED.format(guard)
    text = text.replace("return:\n        ", "return\n    ")
    (sentence,), _ = looked_at(text, blocks, (48, 64), 48, 64)

    assert "the guard of line " in sentence.lower() and ", but `" in sentence
    assert f"rite `if {right}:`" in sentence
    mended = text.replace(guard.partition(":")[0], right)
    sentences, out = looked_at(mended, blocks, (48, 64), 48, 64)
    assert [] == sentences and (out == arrays((48, 64))[0]).all()


@pytest.mark.parametrize(
    "index, told_of",
    [("y, x", "do nothing: `if y < "), ("y, x * 1", "do nothing: `if y < ")],
)
def test_indices_in_the_right_order_are_not_to_be_swapped(index, told_of):
    """They lack a guard alone."""
    text = COPY.format("x, y = cuda.grid(2)", "True").replace("x, y]", f"{index}]")
    (sentence,), _ = looked_at(text)

    assert told_of in sentence and "wap" not in sentence


def test_a_grid_that_is_too_small_is_told_along_which_axis():
    """x goes along the rows, where the counts leave both ways open."""
    text = COPY.format("x, y = cuda.grid(2)", "y < a.shape[0] and x < a.shape[1]")
    kernel = made(text.replace("[x, y]", "[y, x]"))
    run = emulate(kernel)[(3, 3), (16, 16)](*arrays())

    (warning, *_) = run.warnings
    assert "48 threads along x, and `out` has 60 elements along axis 1" in warning.text
    assert warning.text.endswith(
        "Launch more blocks along x: `(out.shape[1] + threads - 1) // threads`"
    )


STENCIL = """
def stencil(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = {}
"""
FOUR = "a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]"


@pytest.mark.parametrize(
    "value, guard",
    [
        (
            FOUR,
            "y - 1 >= 0 and y + 1 < a.shape[0] and x - 1 >= 0 and x + 1 < a.shape[1]",
        ),
        ("a[y, x - 1] - a[y - 1, x]", "y - 1 >= 0 and x - 1 >= 0"),
        ("a[y, x - 1] - a[y, x]", "x - 1 >= 0"),
        ("a[y - 41, x] - a[y, x - 61]", "y - 41 >= 0 and x - 61 >= 0"),
        ("a[y + 2, x] - a[y + 1, x]", "y + 2 < a.shape[0]"),
    ],
)
def test_neighbours_are_guarded_at_each_end_that_needs_it(value, guard):
    """The one that is furthest out along each axis, at its own end."""
    text = STENCIL.format(value)
    sentences, _ = looked_at(text)

    assert guard == GUARD.search(sentences[-1])[1]
    line = f"out[y, x] = {value}"
    mended = text.replace(line, f"if {guard}:\n            {line}")
    assert [] == looked_at(mended)[0]


def test_the_other_axis_of_a_negative_index_is_guarded_as_well():
    """Where one axis has no guard, the other hardly has."""
    text = STENCIL.format("a[y, -20 - x]").replace("if y < a.shape[0] and ", "if ")
    (*_, sentence), _ = looked_at(text)

    assert "y < a.shape[0] and -20 - x >= 0" == GUARD.search(sentence)[1]


def test_an_index_of_its_own_name_is_guarded_by_it():
    """Not by what it is made of."""
    text = STENCIL.format("a[y, before]").replace(
        "    if", "    before = x - 1\n    if"
    )
    (sentence,), _ = looked_at(text)

    assert sentence.endswith("guard this line, `if before >= 0:`")


@pytest.mark.parametrize(
    "line, told_of",
    [
        ("out[x, y] = a[x, y]", "`x` as the last index on all lines, `a[y, x]`"),
        ("out[x, y] = a[x + 1, y]", "`x + 1` as the last index on all lines, `a[y"),
        ("out[y, x] = a[x, y]", "access neighbouring elements, or use a tile"),
        ("out[y, x] = a[y, x * 20]", "access neighbouring elements, or use a tile"),
        ("out[x, 0] = a[(x + y) % 40, y]", "neighbouring elements, or use a tile"),
    ],
)
def test_lanes_that_are_apart_are_told_which_index_is_to_be_the_last(line, told_of):
    """The one that differs between neighbouring lanes, where the source shows it and
    no other array has it there already.
    """
    text = f"""
def rows(a, out):
    x, y = cuda.grid(2)
    {line}
"""
    values = np.ones((65, 640), np.float32)
    run = emulate(made(text))[1, (32, 32)](values, np.zeros((32, 32), np.float32))

    said = " ".join(repr(run).split())
    assert told_of in said
    if "all lines" in told_of:
        mended = text.replace("[x, y]", "[y, x]").replace("[x + 1, y]", "[y, x + 1]")
        run = emulate(made(mended))[1, (32, 32)](values, values.copy())
        assert "neighbouring" not in repr(run)


TILE = """
def reverse(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[cuda.blockDim.x - 1 - t]
"""
TILE_2D = """
def copy(a, out):
    s = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    s[ty, tx] = a[y, x]
    out[y, x] = s[ty, tx]
"""
WINDOW = """
def sums(a, out):
    w = cuda.local.array(4, float32)
    for k in range(5):
        w[k] = a[k]
    out[cuda.grid(1)] = w[0] + w[4]
"""
OF_GRID = """
def copy(a, out):
    s = cuda.shared.array(64, float32)
    s[cuda.grid(1)] = a[cuda.grid(1)]
    out[cuda.grid(1)] = s[cuda.grid(1)]
"""


@pytest.mark.parametrize(
    "text, config, shape, right, told_of, mend",
    [
        (
            TILE, (4, 128), (4, 128), lambda a: a[:, ::-1],
            "`s` has 64 cells, and the block 128 threads: make it that large",
            ("array(64", "array(128"),
        ),
        (
            TILE_2D, ((2, 4), (32, 8)), (32, 64), lambda a: a,
            "`s` has 16 cells along axis 1, and the block 32 threads along x: make "
            "its shape (16, 32)",
            ("(16, 16)", "(16, 32)"),
        ),
        (
            WINDOW, (1, 64), 64, lambda a: a[0] + a[4],
            "make `w` larger, or keep the index below its 4 cells, `if k < w.size:`",
            ("array(4", "array(5"),
        ),
        (
            OF_GRID, (4, 64), 256, lambda a: a,
            "index it by the thread's number in its block, `cuda.threadIdx.x`",
            ("s[cuda.grid(1)]", "s[cuda.threadIdx.x]"),
        ),
    ],
)  # fmt: skip
def test_an_array_of_the_kernel_is_to_be_larger(
    text, config, shape, right, told_of, mend
):
    """A guard on its size would leave values out, and no finding."""
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    given = (a.ravel(), a.ravel().copy()) if text is TILE else (a, a.copy())
    (sentence,) = told(made(text), config, *given)
    assert sentence.endswith(told_of)

    emulate(made(text.replace(*mend)))[config](*given)
    assert (given[1].reshape(shape) == right(a)).all()


BINS = """
def counted(a, bins):
    i = cuda.grid(1)
    b = int(a[i] * 4)
    cuda.atomic.add(bins, {}, 1)
"""


def test_a_value_at_the_very_end_may_be_of_the_last_bin():
    """A guard would leave it out."""
    a, bins = np.linspace(0, 1, 64), np.zeros(4, np.int32)
    (sentence,) = told(made(BINS.format("b")), (1, 64), a, bins)
    last = "min(b, bins.size - 1)"
    assert sentence.endswith(f"let the last one have what is at the very end, `{last}`")

    emulate(made(BINS.format(last)))[1, 64](a, bins)
    assert [*bins] == [*np.histogram(a, 4, (0, 1))[0]]


PRODUCT = """
def product(a, b, out):
    s = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    t, u = cuda.threadIdx.x, cuda.threadIdx.y
    {}
    total = float32(0)
    for m in range(0, a.shape[1], 16):
        s[u, t] = 0
        {}s[u, t] = a[y, m + t]
        cuda.syncthreads()
        for k in range(min(16, a.shape[1] - m)):
            {}total += s[u, k] * b[m + k, x]
        cuda.syncthreads()
    {}out[y, x] = total
"""


def test_loads_behind_a_return_are_guarded_by_the_ends_of_their_own_arrays():
    """The condition of the `return` would leave out what others need of a tile."""
    a, b = np.random.default_rng(3).random((2, 40, 40)).astype(np.float32)
    given = a[:10].copy(), b[:, :20].copy(), np.zeros((10, 20), np.float32)
    launch = (2, 1), (16, 16)
    early = "if y >= out.shape[0] or x >= out.shape[1]: return"
    sentences = told(made(PRODUCT.format(early, "", "", "")), launch, *given)
    own = "guard each load and store that follows, by the ends of its own array"
    assert any(own in it for it in sentences)

    ends = ("if y < a.shape[0] and m + t < a.shape[1]: ", "if x < b.shape[1]: ")
    last = "if y < out.shape[0] and x < out.shape[1]: "
    emulate(made(PRODUCT.format("pass", *ends, last)))[launch](*given)
    np.testing.assert_allclose(given[2], given[0] @ given[1], rtol=1e-5)

"""What arrays are called in messages and reports: as in the source."""

from collections import Counter, namedtuple

import numpy as np
import pytest
from numba import cuda, float64, typeof

from tests.specimens.kernels import message
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import without_inlined
from thirty_two_lanes.frontend.inference import typed_ir
from thirty_two_lanes.frontend.lower.builder import WORD
from thirty_two_lanes.frontend.lower.statements import kernel_ir


@cuda.jit(device=True)
def beyond(m, i):
    row = m[0]
    if i > 100:
        row = m[1]
    s, t = cuda.local.array(3, float64), cuda.local.array(3, float64)
    s[0] = t[0] = i
    return row[i]


@cuda.jit
def many(out, m, which):
    a, b = cuda.shared.array(8, float64), cuda.shared.array(8, float64)
    (c, d), e = (cuda.shared.array(8, float64), m[1]), cuda.shared.array(8, float64)
    both = cuda.shared.array(8, float64), (m, cuda.shared.array(8, float64))
    if which == 0:
        a[which + 9] = 1
    elif which == 1:
        b[which + 9] = 1
    elif which == 2:
        c[which + 9] = 1
    elif which == 3:
        d[which + 9] = 1
    elif which == 4:
        e[which + 9] = 1
    elif which == 5:
        both[0][which + 9] = 1
    elif which == 6:
        both[1][1][which + 9] = 1
    elif which == 7:
        out[0] = beyond(m, which)


@pytest.mark.parametrize(
    ("which", "name"),
    [*enumerate(["a", "b", "c", "d", "e", "both[0]", "both[1][1]", "row"])],
)
def test_an_array_is_named_as_in_the_source(which, name):
    """Also one that goes through a tuple, and one that is chosen on the way."""
    said = message(IndexError, many, 1, 1, np.zeros(2), np.zeros((4, 5)), which)
    assert f"`{name}`" in said


Pair = namedtuple("Pair", "left right")


@cuda.jit
def beyond_a_field(pair, which):
    if which == 0:
        pair.right.left[9] = 1
    elif which == 1:
        pair[1].right[9] = 1
    elif which == 2:
        pair.left[0].real[9] = 1


@pytest.mark.parametrize(
    ("which", "name"),
    [*enumerate(["pair.right.left", "pair[1].right", "pair.left[0].real"])],
)
def test_a_field_of_a_named_tuple_is_named_as_in_the_source(which, name):
    """In a tuple of either kind, too."""
    inner = Pair(np.zeros(4), np.zeros(4))
    pair = Pair((np.zeros(4),), inner)
    said = message(IndexError, beyond_a_field, 1, 1, pair, which)
    assert f"`{name}` has shape (4,)" in said


@cuda.jit(device=True)
def weighted(x, y, z):
    return x + 2 * y + 3 * z


@cuda.jit
def spreads(out, three):
    out[0] = weighted(*three)


def test_the_items_of_a_spread_tuple_are_taken_once():
    """Three of a tuple of three, each copied to its parameter and nowhere else."""
    types = typeof(np.zeros(3)), typeof((1.0, 2.0, 3.0))
    blocks = kernel_ir(spreads.py_func, types).blocks.values()
    instructions = [i for block in blocks for i in block]
    items = [i.target for i in instructions if isinstance(i, ir.Item)]
    copies = [i for i in instructions if isinstance(i, ir.Copy)]
    given = {i.targets[0]: i.sources[0] for i in copies if i.sources[0] in items}
    assert dict(zip("xyz", items, strict=True)) == {
        name.rpartition(".")[2]: item for name, item in given.items()
    }


@cuda.jit(device=True, inline=True)
def element_v2_of(row_v1_copy, k):
    return row_v1_copy[k]


@cuda.jit
def inlining(x, out):
    out[0] = element_v2_of(x, 3) + element_v2_of(x, 9)


def test_an_array_of_a_function_that_numba_inlines_has_its_own_name():
    """Numba puts the function's name before it, and a number of its own."""
    said = message(IndexError, inlining, 1, 1, np.zeros(4), np.zeros(1))
    assert "reads row_v1_copy[9], but `row_v1_copy` has shape (4,)" in said


@pytest.mark.parametrize(
    ("inlined", "known", "name"),
    [
        ("solve_v2_norm_v4_reference", "ref = reference[i]", "reference"),
        ("solve_v2_norm_v4_reference_1", "ref = reference[i]", "reference"),
        ("solve_v2_row_1", "a = row_1[i] + row[i]", "row_1"),
        ("x_v1_y_1", "a = x_v1_y_1[i]", "x_v1_y_1"),
        ("row_1", "a = row[i]", "row_1"),
    ],
)
def test_the_number_of_a_version_is_no_part_of_an_inlined_name(inlined, known, name):
    """A name of the source that ends with a number keeps it."""
    assert name == without_inlined(inlined, set(WORD.findall(known)))


PAIR = (1.5, 2.5)


@cuda.jit
def gives_names_again(a, n):
    if n > 2:
        x = 1
    else:
        x = 2
    while x < n:
        x += 1 if a[x] > 0 else 2
    for item in PAIR:
        a[0] += item

    def next_to(y):
        y = y + 1
        return y

    a[1] = next_to(x) + next_to(n)


def test_numba_assigns_each_variable_once():
    """Of a name with several values it makes several; so what the builder knows of a
    variable, an object or the items of a tuple, holds wherever that is read.
    """
    types = typeof(np.zeros(4)), typeof(3)
    blocks = typed_ir(gives_names_again.py_func, types).ir.blocks.values()
    statements = [statement for block in blocks for statement in block.body]
    targets = [it.target.name for it in statements if type(it).__name__ == "Assign"]
    times = Counter(targets)

    assert {1} == set(times.values())
    assert {"x", "x.1", "x.2"} < set(times)

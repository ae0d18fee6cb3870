"""Every row of the language: what runs gives NumPy's result, the rest is refused."""

import linecache
import math
import re
import textwrap

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.language import features as language
from tests.paths import ROOT
from tests.quick import some
from tests.specimens.kernels import BUILT_IN
from thirty_two_lanes.emulator import KernelError, LaunchError

ALL = [row for rows in language.sections().values() for row in rows]
ROWS = {row.feature: row for row in ALL if not row.test}


def kernel_of(row):
    """A row as a kernel, and its arguments: those that it names."""
    given = language.arguments()
    names = [n for n in given if re.search(rf"(?<![.\w]){n}(?!\w)", row.kernel)]
    source = f"def kernel({', '.join(names)}):\n    i = cuda.grid(1)\n"
    source += textwrap.indent(row.kernel, "    ") + "\n"
    linecache.cache["row"] = (len(source), None, source.splitlines(True), "row")
    around = {**vars(language), "CAPTURED": language.ON_DEVICE.get("captured")}
    exec(compile(source, "row", "exec"), around)
    return cuda.jit(around["kernel"]), [given[n] for n in names], given["out"]


def expected(row):
    """What NumPy, or Python, makes of a row's threads."""
    i = np.arange(64)
    names = {"i": i, "lane": i % 32, "block": i // 32, "first": first, "np": np}
    names["BITS"] = [
        bits(n, u) for n, u in zip(i, language.arguments()["u"], strict=True)
    ]
    names["ERF"] = [math.erf(x) for x in language.arguments()["d"]]
    names["FACTORIAL"] = [math.factorial(n % 6) for n in i]
    names["LOOP"] = [looped(n) for n in i]
    return np.array(eval(row.gives, {**names, **language.arguments()}), float)


def first(*values):
    return np.array([*values, *[0] * (64 - len(values))])


def bits(n, u):
    """popc(u) + clz(n) + ffs(n) + brev(1)"""
    lowest = int(n & -n).bit_length()
    return int(u).bit_count() + 32 - int(n).bit_length() + lowest + 2**31


def looped(n):
    if n > 60:
        return 0
    return sum(s for s in range(20) if s != 3 and s <= n) + 100 * (n >= 19)


@pytest.fixture(scope="module", autouse=True)
def captured():
    """A device array that a kernel takes from the names around it."""
    language.ON_DEVICE["captured"] = cuda.to_device(np.arange(64))


@pytest.mark.parametrize("feature", some(ROWS, every=3))
def test_a_feature_is_what_its_row_says(feature):
    """ "yes" is NumPy's result; all else is refused in a sentence with a line."""
    row = ROWS[feature]
    if BUILT_IN and row.numba_cuda_only and row.here == "never":
        pytest.skip("Numba's built-in target takes it")
    kernel, arguments, out = kernel_of(row)
    launch = emulate(kernel)[language.BLOCKS, language.THREADS, 0, 256]
    if row.here == "yes" and not (BUILT_IN and row.numba_cuda_only):
        if row.gives == "RANDOM":
            return random_numbers(launch, out)
        launch(*arguments)
        np.testing.assert_allclose(out, expected(row), rtol=1e-6)
        return
    with pytest.raises((KernelError, LaunchError), match=r", line \d+\)|argument `e`"):
        launch(*arguments)


def random_numbers(launch, out):
    """The same as Numba's own generator on the host's side gives: between 0 and 1."""
    states = language.create_xoroshiro128p_states(64, seed=1)
    launch(states, out)
    assert 60 < len(set(out.tolist())) and 0 <= out.min() < out.max() < 1


def test_the_page_is_what_the_rows_write():
    """`python -m tests.language.features` writes it again."""
    assert language.page() == language.PAGE.read_text(encoding="utf-8")


def test_a_feature_has_one_row():
    """And one of four words; a test of its own is one that exists."""
    assert len(ALL) == len({row.feature for row in ALL})
    assert {"yes", "not yet", "never", "no"} >= {row.here for row in ALL}
    for file, name in (row.test.split("::") for row in ALL if row.test):
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8")

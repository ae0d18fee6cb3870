"""A construct, a builtin and a method are rows of tables, and each has its test."""

import re

import pytest

from tests.language import features
from thirty_two_lanes.frontend.lower.builtins import BUILTINS
from thirty_two_lanes.frontend.lower.methods import METHODS

WRITTEN = {slice: r"\[\w*:\w*\]", range: r"range\("}  # what else than its call makes it
KERNELS = "\n".join(
    row.kernel for rows in features.sections().values() for row in rows
)


@pytest.mark.parametrize("builtin", BUILTINS, ids=lambda it: it.__name__)
def test_a_builtin_has_a_row_in_the_features(builtin):
    """tests/language/features.toml has no kernel that calls it: add a row there."""
    call = WRITTEN.get(builtin, rf"\b{builtin.__name__}\(")

    assert re.search(call, KERNELS)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_arrays_has_a_row_in_the_features(method):
    """tests/language/features.toml has no kernel that calls it: add a row there."""
    assert re.search(rf"\.{method}\(", KERNELS)

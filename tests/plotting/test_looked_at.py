"""Figures show what they showed when somebody last looked at them."""

import pytest

from helpers import plotting
from tests.looked_at import assert_looked_at


@pytest.mark.parametrize("name", plotting.__all__)
def test_a_figure_shows_what_somebody_looked_at(name):
    """Its image and its sentence."""
    assert_looked_at(f"figure {name}")

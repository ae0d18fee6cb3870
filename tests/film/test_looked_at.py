"""A film shows what it showed when somebody last looked at it."""

import pytest

from tests.film.kernels import films
from tests.looked_at import assert_looked_at


@pytest.mark.slow
@pytest.mark.parametrize("name", films())
def test_a_film_shows_what_somebody_looked_at(name):
    """Its steps, values, findings and moments, and its contact sheet."""
    assert_looked_at(f"film {name}")

"""What `check` complains of, for tests."""

import pytest

from helpers.checking.check import check


def complaint(actual, expected, **tolerance):
    """What `check` says of two arrays that differ."""
    with pytest.raises(AssertionError) as caught:
        check(actual, expected, **tolerance)
    return str(caught.value)

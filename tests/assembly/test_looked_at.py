"""What is said of a recorded assembly is what somebody last looked at."""

import pytest

from tests.assembly.recordings import NAMES
from tests.looked_at import assert_looked_at


@pytest.mark.parametrize("name", NAMES)
def test_an_assembly_says_what_somebody_looked_at(name):
    """Its report, its page and its listing; no compiler is needed."""
    assert_looked_at(f"assembly {name}")

"""Tables by source line: asked by a site, or by a line's number."""

import pytest

from thirty_two_lanes.core.source import Site
from thirty_two_lanes.emulator.judges.judge import ByLine, Counts

LOAD = Site("kernel.py", 9, "b[i] = a[i]", kind="load", array="a")
STORE = Site("kernel.py", 9, "b[i] = a[i]", kind="store", array="b")
LATER = Site("kernel.py", 12, "c[i] = 1", kind="store", array="c")
TABLE = ByLine(
    {
        LOAD: Counts(sectors=4, kind="load", array="a"),
        STORE: Counts(sectors=5, kind="store", array="b"),
        LATER: Counts(sectors=6, kind="store", array="c"),
    }
)


def test_a_site_equals_only_a_site_that_says_the_same():
    """Two that differ are not both equal to their line's number."""
    again = Site("kernel.py", 9, "b[i] = a[i]", kind="load", array="a")

    assert LOAD == again and hash(LOAD) == hash(again)
    assert LOAD != STORE
    assert [False, False] == [LOAD == 9, STORE == 9]


def test_sites_are_sorted_by_file_and_line():
    """Then by the line of the call, the kind and the array."""
    device = Site("device.py", 30, "return x")
    called = Site("kernel.py", 9, "b[i] = a[i]", 20, "load", "a")

    assert [device, LOAD, STORE, called, LATER] == sorted(
        [LATER, called, STORE, LOAD, device]
    )


def test_a_site_has_its_own_row_and_a_line_the_sum_of_its_rows():
    """Kinds and arrays of a line stand side by side."""
    assert 5 == TABLE[STORE].sectors
    assert Counts(sectors=9, kind="load, store", array="a, b") == TABLE[9]
    assert 9 == TABLE.get(9).sectors


def test_a_table_knows_which_lines_it_has():
    """By `in`, by `get`, and in the error of a line that is not there."""
    assert [True, True, True, False] == [k in TABLE for k in (9, LOAD, 12, 10)]
    assert None is TABLE.get(10)
    with pytest.raises(KeyError, match="line 10 .* lines that have one: 9, 12"):
        TABLE[10]

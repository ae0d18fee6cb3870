"""What is shown of a launch whose result is wrong."""

import numpy as np
import pytest

from helpers.checking.excerpt import excerpt, part


@pytest.mark.parametrize(
    "array, result, index, where",
    [
        ((12,), (12,), (5,), ""),
        ((3, 4), (20,), (19,), ""),
        ((13,), (13,), (5,), "[3:8]"),
        ((13,), (13,), (1,), "[0:5]"),
        ((13,), (13,), (12,), "[10:13]"),
        ((4, 20), (4, 20), (2, 9), "[2, 7:12]"),
        ((4, 20), (4,), (2,), "[2, 0:6]"),
        ((4, 20), (4, 3), (2, 1), "[2, 0:6]"),
        ((5, 20), (4,), (2,), "[0, 0:6]"),
        ((7, 2), (7,), (3,), "[3, 0:2]"),
        ((20,), (20, 3), (7, 1), "[0:6]"),
        ((4, 5, 6), (4,), (2,), "[2, 0, 0:6]"),
    ],
)
def test_what_lies_around_a_wrong_value_is_shown(array, result, index, where):
    """Two elements on each side of it; of another array its row, or else the first;
    and all of an array of 12.
    """
    array = np.arange(np.prod(array)).reshape(array)

    told, values = part(array, result, index)

    assert where == told
    np.testing.assert_array_equal(eval(f"array{told}"), values)


def test_each_array_has_a_line_and_its_numbers_begin_below_each_other():
    """Inputs first, then what is expected and what is there."""
    a, out = np.arange(3), np.arange(20) / 8

    assert excerpt({"a": a}, "out", out, out + 1, (4,)) == (
        "  a                  [0, 1, 2]\n"
        "  expected out[2:7]  [0.25, 0.375, 0.5, 0.625, 0.75]\n"
        "  got out[2:7]       [1.25, 1.375, 1.5, 1.625, 1.75]"
    )


def test_lines_are_84_letters_long_at_most_and_go_on_where_the_numbers_begin():
    """Whatever the digits; floats have six."""
    widths = set()
    for digits in range(1, 9):
        for start in range(12):
            values = np.array([10**digits] * (12 - start) + [1 / 3] * start)
            first, *others = excerpt({}, "y", values, values, (0,)).splitlines()
            begin = first.index("[") + 1
            widths |= {len(first), *map(len, others)}
            more = [it for it in others if "got" not in it]
            assert all(it[:begin].isspace() and not it[begin].isspace() for it in more)

    assert 84 == max(widths)
    assert "0.333333]" in first + "".join(others)

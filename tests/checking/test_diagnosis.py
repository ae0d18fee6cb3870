"""What `check` says of a difference: where each clue begins, and where it ends."""

import numpy as np
import pytest

from tests.checking.complaints import complaint

RANDOM = np.random.default_rng(seed=8)
NOISE = RANDOM.uniform(1, 2, 5000)


def wrong_at(places, size=5000):
    """Whole numbers without a pattern, some of them wrong, and what is told of them."""
    expected = (1000 * NOISE[:size]).astype(int)
    actual = expected.copy()
    actual[places] = RANDOM.integers(5000, 9000, len(actual[places]))
    return complaint(actual, expected)


@pytest.mark.parametrize(
    "start, told",
    [
        (3072, "on, a multiple of 1,024 and of smaller blocks: is the grid a block"),
        (1536, "on, a multiple of 512 and of smaller blocks: is the grid a block"),
        (768, "on, a multiple of 256 and of smaller blocks: is the grid a block"),
        (384, "on, a multiple of 128 and of smaller blocks: is the grid a block"),
        (192, "on, a multiple of 64 and of smaller blocks: is the grid a block"),
        (96, "on, a multiple of 32: is the grid a block short?"),
        (48, "on: is the guard right, and is the grid large enough?"),
        (4998, "on: is the guard right, and is the grid large enough?"),
        (3, "They are all values from index 3 on"),
    ],
)
def test_a_tail_is_told_with_the_blocks_that_end_before_it(start, told):
    """The largest usual block of threads of which it is a multiple."""
    text = wrong_at(slice(start, None))

    assert f"from index {start:,} on" in text and told in text


def test_what_is_no_tail_is_not_called_one():
    """All but two values; a tail of which one is right; the last one alone."""
    assert "from index" not in wrong_at(slice(2, None))
    assert "from index" not in wrong_at([*range(4000, 4998), 4999])
    assert wrong_at([4999]).endswith("It is the last value")
    assert 1 == len(wrong_at([4998]).splitlines())


@pytest.mark.parametrize("axis, name", [(0, "row"), (1, "column")])
def test_a_tail_of_a_matrix_is_one_of_rows_or_columns(axis, name):
    """Whole ones alone; of three axes none has a name."""
    expected = (1000 * NOISE[:200]).astype(int).reshape(10, 20)
    actual = expected.copy()
    tail = np.moveaxis(actual, axis, 0)[7:]
    tail[...] = RANDOM.integers(5000, 9000, tail.shape)
    less = actual.copy()
    less[-1, -1] = expected[-1, -1]

    assert f"They are all values from {name} 7 on" in complaint(actual, expected)
    assert "They are" not in complaint(less, expected)
    assert "They are" not in complaint(actual[..., None], expected[..., None])


@pytest.mark.parametrize(
    "places, told",
    [
        ([1, 3, 5], "They are one in every 2, from index 1 on"),
        ([31, 63, 95], "one in every 32, from index 31 on: look at the threads at the"),
        ([1, 49, 97], "They are one in every 48, from index 1 on"),
        ([1, 3], ""),
        ([1, 3, 6], ""),
        ([7, 8, 9], ""),
    ],
)
def test_every_nth_value_is_told_where_three_are_wrong(places, told):
    """A hint where they are a warp or a block apart."""
    lines = wrong_at(places).splitlines()

    assert (told in lines[1] if told else len(lines) == 1) and len(lines) <= 2
    assert ("edge" in lines[-1]) == ("look" in told)


@pytest.mark.parametrize(
    "off, told",
    [
        (0.995e-10, "They are close"),
        (1.005e-10, "which float32 would explain"),
        (0.95e-6, "which float32 would explain"),
        (1.5e-6, ""),
        (0.98e-12, None),
    ],
)
def test_float32_explains_errors_of_its_own_size(off, told):
    """Of float64: below, it is a question of tolerance, above, of neither."""
    actual = NOISE * (1 + np.where(np.arange(5000) % 3, off, -off / 2))

    text = "" if told is None else complaint(actual, NOISE)
    assert (told or "") in text
    assert bool(told) == ("float32" in text or "close" in text)


@pytest.mark.parametrize("times, close", [(5, True), (99.5, True), (100.5, False)])
def test_what_is_a_hundred_times_beyond_the_tolerance_is_not_close(times, close):
    """Of float32, whose tolerance is 1e-5."""
    off = times * 1e-5 * np.where(np.arange(5000) % 3, 1, -0.5)
    text = complaint((NOISE * (1 + off)).astype("f4"), NOISE.astype("f4"))

    assert close == ("They are close: the largest relative error is" in text)


@pytest.mark.parametrize("step, side", [(2, "large"), (-2, "small")])
def test_an_offset_has_a_side(step, side):
    """Of integers and of floats; also where it could be a shift."""
    for values in ((1000 * NOISE).astype(int), NOISE):
        assert f"Each of them is 2 too {side}" in complaint(values + step, values)
    numbers = np.arange(40) * 2
    shifted = f"Each of them is 2 too {side}, or they are shifted by one"
    assert shifted in complaint(numbers + step, numbers)
    half = f"Each of them is 0.5 too {side}"
    assert half in complaint(NOISE + step / 4, NOISE)


@pytest.mark.parametrize(
    "got, want, told",
    [
        (np.array([-100, -99, -97], np.int8), [100, 101, 103], "200 too small"),
        (np.arange(9, dtype=np.uint64) + 5, np.arange(9) + 1, "4 too large"),
        (np.arange(9, dtype=np.uint8), np.arange(9, dtype=np.uint8) + 3, "3 too small"),
        (2**60 + NOISE.size + np.arange(9), 2**60 + np.arange(9), "5000 too large"),
        (np.float16([6e4, 6.1e4, 6.2e4]), [-6e4, -5.9e4, -5.8e4], "120000 too large"),
    ],
)
def test_an_offset_may_be_more_than_the_type_holds(got, want, told):
    """And of large whole numbers, less than a float would tell apart."""
    want = np.array(want, got.dtype)

    assert f"Each of them is {told}" in complaint(got, want)


def test_two_different_values_are_no_pattern():
    """However often they are there: any two are twice, or 5 more than, two others."""
    expected = np.array([10, 20] * 30)

    for actual in (2 * expected, expected + 5):
        assert "Each" not in complaint(actual, expected)


def test_a_factor_is_not_told_of_zeros():
    """Twice nothing would be nothing."""
    expected = np.array([0.0, 1.5, 2.5, 7.25])

    text = complaint(np.array([3.0, 3.0, 5.0, 14.5]), expected)

    assert "times" not in text


@pytest.mark.parametrize(
    "actual, expected, told",
    [
        ([np.nan], [1.5], "It is NaN: never written, or the result of 0/0 or inf/inf?"),
        ([np.nan] * 2, [1.5, 2.5], "All of them are NaN: never written"),
        ([0.0], [1.5], "It is 0.0: never written?"),
        ([0, 0, 3], [1, 2, 3], "All of them are 0: never written?"),
        ([7, 7], [1, 2], ""),
        ([7, 7, 7], [1, 2, 1], ""),
        ([np.inf] * 3, [1.5, 2.5, 3.5], ""),
        ([np.nan, 1.5, 2.5], [1.5, np.nan, 2.5], ""),
    ],
)
def test_one_value_everywhere_is_what_nobody_wrote(actual, expected, told):
    """NaN and 0 always; another one where three different values were expected."""
    text = complaint(np.array(actual), np.array(expected))

    assert told in text and bool(told) == ("never written" in text)


@pytest.mark.parametrize(
    "actual, expected",
    [
        (np.array([-(2**63)] * 3), np.array([1e19, 2e19, 3e19])),
        (np.array([-(2**63)] * 3), np.full(3, 2.0**63)),
        (np.array([0, 0, 0], np.int8), np.array([256, 1, 2])),
        (np.array([1, 2], np.int32), np.array([1.5, np.inf])),
        (np.array([1, 2], np.int32), np.array([1.5 + 1j, 2.5])),
        (np.array([1.0, 2.0]), np.array([1.5, 2.5])),
        (np.array(["1"]), np.array(["1.5"])),
    ],
)
def test_a_type_is_blamed_only_for_what_it_did(actual, expected):
    """Not for what no integer holds, for values that fit it, or where it is a float."""
    text = complaint(actual, expected)

    assert "wrapped" not in text and "fractions" not in text


def test_of_many_wrong_values_the_first_ten_thousand_are_looked_at():
    """What all of them show is told, whatever comes behind."""
    expected = np.arange(1, 20_001)
    actual = np.zeros_like(expected)
    actual[10_000:] = -7

    assert "All of them are 0" in complaint(actual, expected)
    actual[9_999] = -7
    assert "All of them are" not in complaint(actual, expected)

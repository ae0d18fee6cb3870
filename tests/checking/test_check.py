"""`check` accepts what is right and refuses what is wrong, and says why."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.checking.check import check, expect
from tests.checking.complaints import complaint
from thirty_two_lanes.core.errors import ArgumentError

N = 100_000


@pytest.fixture
def numbers():
    return np.random.default_rng(seed=1).normal(size=1000).astype(np.float32)


# ---------------------------------------------------------------- what agrees


def test_agreement_is_a_sentence():
    """The result says how many values agree."""
    assert "✓ 100,000 values agree" == repr(check(np.arange(N), np.arange(N)))


def test_one_value_agrees_in_the_singular():
    """A scalar is one value."""
    assert "✓ 1 value agrees" == repr(check(np.int64(7), 7))


def test_floats_tell_their_largest_relative_error():
    """3 of 2,000,000 is a relative error of 1.5e-06."""
    result = check(np.array([1.0, 2_000_003.5], "f4"), np.array([1.0, 2_000_000.5]))

    assert "✓ 2 values agree, largest relative error 1.5e-06" == repr(result)


def test_empty_arrays_say_so():
    """Nothing was compared, and the result does not hide it."""
    assert "✓ nothing to compare: both are empty" == repr(check([], []))


def test_device_arrays_are_copied_to_the_host():
    """What can copy itself to the host is compared there."""

    class OnDevice:
        def copy_to_host(self):
            return np.array([1, 2, 3])

    assert 3 == check(OnDevice(), [1, 2, 3]).values


def test_one_expected_scalar_stands_for_every_value():
    """`check(ones, 1)` needs no array of ones."""
    assert 4 == check(np.ones((2, 2)), 1).values


def test_nan_agrees_with_nan_and_infinity_with_itself():
    """A reference that is NaN asks for NaN."""
    values = np.array([np.nan, np.inf, -np.inf, 1.0])

    assert 4 == check(values, values.copy()).values


def test_what_is_not_finite_has_no_relative_error():
    """Neither where it agrees, nor where zero was expected: only 1.01 is told."""
    values = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0])

    told = check(np.array([np.nan, np.inf, -np.inf, 0.0, 1.01]), values, rtol=0.1)

    assert "largest relative error 1.0e-02" in repr(told)
    assert "nan" not in repr(check(np.zeros(3), np.zeros(3)))


@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 1.0])
def test_only_infinity_agrees_with_infinity(wrong):
    """However large a tolerance, what is finite is not infinite."""
    assert "differ" in complaint([1.0, wrong], [1.0, np.inf], rtol=10)


def test_inputs_stay_as_they_are(numbers):
    """Neither array is written to, whether they agree or not."""
    actual, expected = numbers.copy(), numbers * 2

    complaint(actual, expected)

    assert (numbers == actual).all() and (numbers * 2 == expected).all()


# ---------------------------------------------------------------- how close is enough


def test_integers_must_be_equal_however_large():
    """2**53 and its successor are one float64, and two integers."""
    assert "the value differs" in complaint(np.array([2**53 + 1]), [2**53])


def test_python_s_own_numbers_are_compared_with_floats():
    """Fractions, and whole numbers that no type of NumPy holds."""
    check([Fraction(1, 4), 10], [0.25, 10.0])
    check([10**30], [1e30])
    with pytest.raises(AssertionError, match=r"1 of 2 values differ, the first at"):
        check([Fraction(1, 3), 10], [0.25, 10.0])


def test_a_float32_product_of_512_terms_agrees_with_float64():
    """Rounding in a sum of 512 products is allowed, also where the sum cancels."""
    random = np.random.default_rng(seed=2)
    a, b = (random.normal(size=(512, 512)).astype(np.float32) for _ in range(2))
    product = np.zeros((512, 512), np.float32)
    for k in range(512):
        product += a[:, k, None] * b[k]

    check(product, a.astype(float) @ b.astype(float))


@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_whole_numbers_are_nearer_than_a_quarter(size):
    """However large they are: what `check` promises."""
    expected = np.full(4, size, np.float64)

    assert check(np.float32(expected + 0.1875), expected)
    with pytest.raises(AssertionError, match="4 of 4 values differ"):
        check(np.float32(expected + 0.3125), expected)


@pytest.mark.parametrize("size", [1000, N, 2_000_000])
def test_one_too_few_is_never_rounding_among_whole_numbers(size):
    """A float32 near 2,000,000 that is 1 off is wrong, though relatively close."""
    numbers = np.arange(size, dtype=np.float32)

    assert "Each of them is 1 too small" in complaint(numbers, numbers + 1)


def test_a_tolerance_can_be_given():
    """What is 1% off passes with a tolerance of 2%, relative or absolute."""
    check([101.0], [100.0], rtol=0.02)
    check([101.0], [100.0], rtol=0, atol=2)

    assert "got 101.0, expected 100.0" in complaint([101.0], [100.0])


def test_a_value_at_the_edge_of_a_tolerance_agrees():
    """As NumPy's own `allclose` has it."""
    assert np.allclose([2.0], [1.0], rtol=0, atol=1)
    assert 1 == check(np.array([2.0]), np.array([1.0]), rtol=0, atol=1).values


def test_the_coarser_type_decides():
    """A float32 is as near to a float64 reference as it gets."""
    check(np.float32(0.1), 0.1)

    assert "differs" in complaint(np.float64(np.float32(0.1)), 0.1)


# ---------------------------------------------------------------- what went wrong


def test_the_first_difference_is_named():
    """How many, where the first, and both values."""
    actual = np.arange(12).reshape(3, 4)
    expected = actual.copy()
    expected[1, 2], expected[2, 3] = 60, 70

    start = "2 of 12 values differ, the first at [1, 2]: got 6, expected 60"
    assert start == complaint(actual, expected)


def test_shapes_that_differ_are_named():
    """Both shapes, before any value is looked at."""
    assert "got (5,), expected (6,)" in complaint(np.zeros(5), np.zeros(6))
    assert "rows and columns" in complaint(np.zeros((2, 3)), np.zeros((3, 2)))


def test_a_missing_block_is_suspected_where_a_tail_starts_at_its_edge():
    """390 blocks of 256 threads cover 99,840 of 100,000 values."""
    actual = np.arange(1, N + 1)
    actual[99_840:] = 0

    text = complaint(actual, np.arange(1, N + 1))

    hint = "a multiple of 512 and of smaller blocks: is the grid a block short?"
    assert f"from index 99,840 on, {hint}" in text
    assert "All of them are 0: never written?" in text


def test_the_guard_is_suspected_where_a_tail_starts_within_a_block():
    """The last three values of 100,000 are in no block of their own."""
    actual = np.arange(N)
    actual[-3:] = (5, 6, 8)

    assert "from index 99,997 on: is the guard right" in complaint(actual, np.arange(N))


def test_missing_columns_are_named():
    """In two dimensions a tail may be one of columns."""
    actual = np.random.default_rng(seed=3).integers(1, 99, size=(40, 40))
    expected = actual.copy()
    expected[:, 37:] += np.arange(40)[:, None] % 7 + 1

    assert "They are all values from column 37 on" in complaint(actual, expected)


def test_one_wrong_value_in_every_block_is_seen():
    """Wrong values at a constant distance are told with that distance."""
    actual = np.arange(4096)
    actual[255::256] = -(np.arange(16) ** 2) - 1

    text = complaint(actual, np.arange(4096))

    assert "one in every 256, from index 255 on: look at the threads at" in text


def test_nan_everywhere_means_that_nothing_was_written(numbers):
    """NaN is what a poisoned output holds until it is written."""
    text = complaint(np.full_like(numbers, np.nan), numbers)

    assert "All of them are NaN: never written" in text


def test_one_poison_value_means_that_nothing_was_written(numbers):
    """So is any other value that all wrong elements hold."""
    assert "All of them are 7.0: never written?" in complaint(
        np.full_like(numbers, 7), numbers
    )


MATRIX = np.random.default_rng(seed=4).normal(size=(16, 16))
LONG = np.random.default_rng(seed=5).normal(size=(8, 32))


@pytest.mark.parametrize(
    "actual, expected, told",
    [
        (MATRIX.T, MATRIX, "It is the transpose of what is expected"),
        (MATRIX[::-1], MATRIX, "upside down"),
        (LONG[:, ::-1], LONG, "mirrored: the last column comes first"),
        (LONG[::-1, ::-1], LONG, "turned by half"),
        (np.rot90(MATRIX), MATRIX, "turned by a quarter, to the left"),
        (np.rot90(MATRIX, 3), MATRIX, "turned by a quarter, to the right"),
        (LONG.T.reshape(8, 32), LONG, "Row after row, its values are those of the"),
        (LONG[0][::-1], LONG[0], "backwards: the last value comes first"),
        (np.roll(LONG, 1, 0), LONG, "expected at [row - 1, column]"),
        (np.roll(LONG, -1, 1), LONG, "expected at [row, column + 1]"),
    ],
)
def test_a_result_at_other_places_is_recognised(actual, expected, told):
    """Where all of it is there; with one more value wrong, nothing is claimed."""
    also = actual.copy()
    also.reshape(-1)[actual.size // 2] += 1

    assert told in complaint(actual, expected)
    assert told not in complaint(also, expected)


def test_rows_that_are_alike_are_not_called_shifted():
    """Each row holds what its neighbour should hold, but in the one that is wrong."""
    rows = np.tile(LONG[:1], (8, 1))
    first = np.vstack([LONG[1:2], rows[1:]])

    assert "Shifted" not in complaint(first, rows)


@pytest.mark.parametrize("step, neighbour", [(1, "[i - 1]"), (-1, "[i + 1]")])
def test_a_shift_by_one_is_recognised(numbers, step, neighbour):
    """Off by one: each value is its neighbour's."""
    text = complaint(np.roll(numbers, step), numbers)

    assert f"Shifted by one: [i] holds what is expected at {neighbour}" in text


def test_a_factor_is_recognised(numbers):
    """Twice what is expected, throughout."""
    assert "Each of them is 2 times what is expected" in complaint(2 * numbers, numbers)


def test_three_values_make_a_pattern_and_two_do_not():
    """Two numbers are in any ratio to two others that happen to be doubled."""
    two, three = np.array([1.25, 3.5]), np.array([1.25, 3.5, 8.75])

    assert "2 times what is expected" in complaint(2 * three, three)
    assert "2 times" not in complaint(2 * two, two)


def test_lost_fractions_are_recognised():
    """An integer array takes the whole part of a float."""
    text = complaint(np.array([1, 2, -3]), [1.5, 2.25, -3.75])

    assert "The fractions were lost: the result is int64" in text


def test_integers_that_wrapped_are_recognised():
    """200 in an int8 is -56."""
    text = complaint(np.array([-56, -6, 44], np.int8), [200, 250, 300])

    assert "The values wrapped around: the largest int8 is 127" in text


def test_whole_floats_that_wrapped_are_recognised():
    """Expected as floats, as a sum in NumPy may be; the result is in 32 bits."""
    want = np.array([3e9, 5e9, 2.0**31])

    text = complaint(want.astype(np.int64).astype(np.int32), want)

    assert "The values wrapped around: the largest int32 is 2,147,483,647" in text


def test_a_complex_offset_has_no_side(numbers):
    """Nothing is too small by 1j."""
    text = complaint(numbers + 1j, numbers.astype(np.complex64))

    assert "too" not in text


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
def test_a_type_that_is_too_small_is_no_question_of_guard_or_grid(kind):
    """All are wrong from 128 on, where an int8 ends, and a block of threads, too."""
    expected = np.arange(300)
    text = complaint(expected.astype(np.int8), expected.astype(kind))

    assert "The values wrapped around: the largest int8 is 127" in text
    assert "grid" not in text and "guard" not in text


def test_a_kernel_that_stops_at_128_is_a_question_of_the_grid():
    """The same places, with zeros: nothing wrapped."""
    expected = np.arange(300)
    text = complaint(np.where(expected < 128, expected, 0).astype(np.int8), expected)

    assert "is the grid a block short?" in text
    assert "wrapped" not in text


def test_a_float32_on_the_way_is_told(numbers):
    """Of float64, which a tile of float32 has rounded; not of what is further off."""
    exact = numbers.astype(float) / 3
    told = "which float32 would explain: is there one on the way?"

    assert told in complaint(exact.astype(np.float32).astype(float), exact)
    assert told not in complaint(exact * (1 + 1e-5), exact)
    assert told not in complaint(exact * (1 + 5e-12), exact)
    assert told not in complaint(numbers * np.float32(1.0001), numbers)


def test_rounding_is_told_from_a_bug(numbers):
    """Differences just outside of the tolerance, without a pattern."""
    noise = np.random.default_rng(seed=5).uniform(0, 1e-4, size=numbers.shape)

    assert "if it is rounding, pass a larger `rtol`" in complaint(
        numbers * (1 + noise), numbers
    )


def test_unrelated_values_get_no_invented_cause(numbers):
    """Where nothing explains the difference, nothing is claimed."""
    other = np.random.default_rng(seed=6).normal(size=numbers.shape)

    assert 1 == len(complaint(other, numbers).splitlines())


# ---------------------------------------------------------------- expected errors


def test_an_expected_error_is_shown_and_the_work_goes_on(capsys):
    """One line, no traceback, and the next statement runs."""
    with expect(IndexError):
        raise IndexError("index 5 is out of range")

    assert "IndexError: index 5 is out of range\n" == capsys.readouterr().out


def test_nothing_wrong_is_wrong_where_an_error_is_expected():
    """A lesson that shows an error must notice when it no longer comes."""
    with pytest.raises(AssertionError, match="an IndexError or a KeyError, but"):
        with expect(IndexError, KeyError):
            pass


def test_what_is_no_kind_of_error_is_not_expected():
    """Alone, or beside one that is."""
    for wrong in ((), ("IndexError",), (IndexError, 5)):
        with pytest.raises(ArgumentError, match="`expect` takes the kind of error"):
            expect(*wrong)


def test_another_error_is_not_swallowed():
    """Only what is named is expected."""
    with pytest.raises(ZeroDivisionError):
        with expect(IndexError):
            raise ZeroDivisionError

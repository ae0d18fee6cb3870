"""Arguments out of JSON, as NumPy would make them, and what became of them."""

import json

import numpy as np
import pytest

from thirty_two_lanes.agents import arguments
from thirty_two_lanes.agents.arguments import BadRequest, arguments_of, outcomes


def one(description):
    """One argument."""
    return arguments_of([json.loads(json.dumps(description))], ["x"])[0]


@pytest.mark.parametrize(
    "description, expected",
    [
        ({"values": [[1, 2], [3, 4]], "dtype": "int16"}, np.int16([[1, 2], [3, 4]])),
        ({"values": [0.5, 1]}, np.array([0.5, 1])),
        ({"shape": [2, 3], "fill": 7, "dtype": "int64"}, np.full((2, 3), 7)),
        ({"shape": 4}, np.zeros(4, np.float32)),
        ({"shape": [2, 2], "fill": "arange"}, np.float32([[0, 1], [2, 3]])),
        ({"value": 2, "dtype": "float32"}, np.float32(2)),
        (3, 3),
        (2.0, 2.0),
        (True, True),
    ],
)
def test_a_description_is_what_numpy_makes_of_it(description, expected):
    """Numbers, values, and a shape with a fill; of the type that is said."""
    made = one(description)

    np.testing.assert_array_equal(expected, made)
    assert np.asarray(expected).dtype == np.asarray(made).dtype
    assert type(expected) is type(made)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "uint8"])
def test_random_numbers_differ_and_are_the_same_each_time(dtype):
    """An agent that checks again has the same data; two arguments are not alike."""
    random = {"shape": 50, "dtype": dtype, "fill": "random"}

    first, second = arguments_of([random] * 2, "xy")

    assert 1 < len(set(first.tolist()))
    assert first.tolist() != second.tolist()
    np.testing.assert_array_equal(first, one(random))


@pytest.mark.parametrize(
    "description, said",
    [
        ({"shap": 3}, r"`x` is described by .*: give a number, \{"),
        ({"shape": 3, "values": [1]}, "give a number"),
        ("text", "give a number"),
        (None, "give a number"),
        ({"shape": [0]}, r"shape \[0\]: give \[64, 32\]"),
        ({"shape": [-1, 2]}, "give"),
        ({"shape": []}, "give"),
        ({"shape": [2.5]}, "give"),
        ({"shape": [2**40]}, "too large: .* 268,435,456 bytes"),
        ({"shape": 3, "dtype": "flat32"}, "dtype 'flat32': give float32"),
        ({"shape": 3, "dtype": "object"}, "give float32"),
        ({"shape": 3, "fill": "ones"}, "a number or arange, random, empty"),
        ({"shape": 3, "fill": 300, "dtype": "uint8"}, "cannot be filled"),
        ({"values": [[1], [2, 3]]}, "cannot be made"),
        ({"values": ["a"], "dtype": "float32"}, "cannot be made"),
        ({"values": [300], "dtype": "uint8"}, "cannot be made"),
    ],
)
def test_what_is_no_argument_is_refused_with_its_name(description, said):
    """And with what to write instead."""
    with pytest.raises(BadRequest, match=said) as refusal:
        one(description)
    assert str(refusal.value).startswith("`x` ")


def test_the_number_of_arguments_is_the_kernels():
    """Their names say which is missing."""
    with pytest.raises(BadRequest, match=r"takes 2 arguments \(x, out\); given: 1"):
        arguments_of([1], ["x", "out"])


def test_all_arrays_together_have_a_limit(monkeypatch):
    """The third of three that would each fit."""
    monkeypatch.setattr(arguments, "MOST_BYTES", 1000)
    large = {"shape": 100, "dtype": "float32"}

    with pytest.raises(BadRequest, match="`z` is too large"):
        arguments_of([large] * 3, "xyz")


def test_an_outcome_is_numpys_own():
    """Changed cells, extremes and mean, without what is not a number."""
    before = np.float32([1, 2, np.nan, 4])
    after = np.float32([1, 5, np.nan, np.inf])

    (said,) = outcomes(["n", "x"], [3, after], [None, before])

    known = after[np.isfinite(after)]
    assert {
        "name": "x",
        "shape": [4],
        "dtype": "float32",
        "first": [1.0, 5.0, "nan", "inf"],
        "changed": 2,
        "not_finite": 2,
        "least": known.min(),
        "greatest": known.max(),
        "mean": known.mean(dtype=np.float64),
    } == said
    assert json.loads(json.dumps(said)) == said

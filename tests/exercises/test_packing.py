"""What is handed over of an answer, and what becomes of it on the other side."""

import json
from collections import namedtuple
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np
import pytest
from numba import cuda, float32, types

import helpers
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Explain, Predict
from helpers.exercises.packing import packed
from helpers.exercises.rebuilding import Malformed, answer_of
from helpers.grading.references import IMPORTS, plain
from tests.exercises.kinds import KERNELS, names_of
from tests.quick import some
from thirty_two_lanes.core.source import remember


def over(answer):
    """An answer after its way to the other process."""
    return answer_of(json.loads(json.dumps(packed(answer))))


def kernel_of(text, name):
    """The kernel that a cell defines."""
    namespace = {}
    exec(IMPORTS, namespace)
    file = f"<cell of {name}>"
    remember(text, file)
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("name", KERNELS)
def test_each_kernel_of_the_course_is_the_same_function_afterwards(name):
    """Its bytecode and constants are those that the learner's Python made."""
    task = exercise(name)
    kernel = kernel_of(task.answer_text, task.kernel_name)

    there, here = over(kernel).py_func.__code__, kernel.py_func.__code__
    assert here.co_code == there.co_code
    assert here.co_names == there.co_names
    assert here.co_varnames == there.co_varnames


@pytest.mark.parametrize("name", some(names_of(Predict), every=3))
def test_each_prediction_of_the_course_is_the_same_value_afterwards(name):
    """Right and wrong ones."""
    task = exercise(name)
    truth = plain(task.truth())

    assert truth == over(truth)
    assert task.judge(over(truth)).points == task.points


def test_an_explanation_is_handed_over_as_it_was_written():
    """Each in the words of the course's model."""
    for name, kind in exercises().items():
        if issubclass(kind, Explain):
            assert exercise(name).model == over(exercise(name).model)


ARRAY = np.arange(6, dtype=np.int16).reshape(2, 3)
VALUES = (
    *(None, True, 0, -(10**30), 0.1, "à", (1, (2.5, "x")), {"a": 1, 2: None}, ...),
    *(np.float32(0.1), np.int8(-3), np.dtype("float32"), float32, np, cuda, types),
    *(np.float64, min, cuda.grid, cuda.atomic.add),
)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_the_same_afterwards_or_refused(value):
    """To the bit and the type; a function without a name of a module is refused."""
    if value is cuda.atomic.add:
        with pytest.raises(Malformed):
            over(value)
        return
    found = over(value)
    assert value == found
    assert type(value) is type(found)


class Colour(IntEnum):
    RED = 3
    BLUE = 5


class Side(Enum):
    LEFT = 0.5
    RIGHT = 1


Place = namedtuple("Place", "row col")


def test_what_has_names_has_them_afterwards():
    """Members of enumerations, items of named tuples, and the classes of both."""
    assert (5, 3) == (over(Colour.BLUE) + 0, over(Colour).RED)
    assert over(Side.LEFT) is over(Side).LEFT
    assert over(Side.LEFT) != over(Side.RIGHT)
    assert (1, (2, 3j)) == (over(Place(1, (2, 3j))).row, over(Place(1, (2, 3j))).col)
    assert 4 == over(Place)(3, 4).col
    assert slice(None, 4, -1) == over(slice(None, 4, -1))


def test_an_array_keeps_its_type_its_shape_and_its_bits():
    """Whatever its strides were."""
    for array in (ARRAY, ARRAY.T, ARRAY[:, ::-1], np.array(np.nan), ARRAY[:0]):
        found = over(array)
        assert (array.dtype, array.shape) == (found.dtype, found.shape)
        assert array.tobytes() == found.tobytes()


def test_numbers_without_digits_stay_what_they_are():
    """NaN, infinities and the sign of zero."""
    assert np.isnan(over(float("nan")))
    assert [float("-inf"), "-0.0"] == [over(float("-inf")), repr(over(-0.0))]


def test_functions_of_helpers_are_handed_over_and_the_package_is_not():
    """Through it a kernel would reach what judges."""
    assert helpers.load4 is over(helpers.load4)
    with pytest.raises(Malformed, match="the module helpers cannot"):
        over(helpers)


def test_a_number_of_a_learners_class_is_a_plain_number():
    """Which is equal to what it is equal to."""
    found = over(Equal(2))

    assert (float, 2.0) == (type(found), found)


class Equal(float):
    def __eq__(self, other):
        return True

    __hash__ = None


REFUSED = (
    *(object(), [1], {1, 2}, b"x", lambda: 1, pytest, Equal, Fraction(1, 2)),
    *(np.array([object()]), ARRAY.view(np.recarray), np.zeros(2**21), np.ma.array(1)),
)


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_is_no_plain_value_is_refused(value):
    """Objects of the learner's classes above all."""
    with pytest.raises(Malformed, match="cannot be handed over"):
        over(value)

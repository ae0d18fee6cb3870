"""What Numba lowered and typed once it does not again, but refuses what it refused."""

import math
import operator

import numpy as np
import pytest
from numba import float32, float64, types
from numba.core.types import BaseFunction
from numba.cuda import compiler, jit
from numba.extending import overload

from thirty_two_lanes import emulate
from thirty_two_lanes.core.errors import KernelError
from thirty_two_lanes.frontend import lowered
from thirty_two_lanes.frontend.inference import typed_ir

ARRAY = types.Array(float32, 1, "C")


@pytest.fixture(autouse=True)
def passes(monkeypatch):
    """The functions that Numba lowers, where nothing was lowered before."""
    names, run_pass = [], compiler.CUDANativeLowering.run_pass

    def noting(self, state):
        names.append(state.func_id.func_name)
        return run_pass(self, state)

    monkeypatch.setattr(lowered, "_lowered", set())
    monkeypatch.setattr(compiler.CUDANativeLowering, "run_pass", noting)
    return names


def first(a):
    if a[0] > 1:
        a[1] = a[0] * 2 + math.sqrt(a[2])


def second(b):
    x = b[0] * 3 + math.sqrt(b[2])
    if b[0] > 7:
        b[1] = x


def remainder(a):
    a[1] = a[0] % 2


@jit
def halved(x):
    return x / 2


def calling(a):
    a[1] = halved(a[0])


def calling_again(a):
    a[2] = halved(a[1])


@pytest.mark.parametrize(
    "then, element, options, expected",
    [
        (second, float32, {}, []),
        (second, float64, {}, ["second"]),
        (second, float32, {"fastmath": True}, ["second"]),
        (second, float32, {"debug": True}, ["second"]),
        (remainder, float32, {}, ["remainder"]),
    ],
    ids=["known", "another type", "fastmath", "debug", "another statement"],
)
def test_a_kernel_is_lowered_where_a_statement_is_new(
    passes, then, element, options, expected
):
    """Names, the order and the values of numbers change nothing."""
    typed_ir(first, [ARRAY])
    typed_ir(then, [types.Array(element, 1, "C")], options)

    assert ["first", *expected] == passes


def test_a_call_of_a_device_function_is_always_lowered(passes):
    """Numba links its code, and knows each caller."""
    typed_ir(calling, [ARRAY])
    typed_ir(calling_again, [ARRAY])

    assert ["halved", "calling", "halved", "calling_again"] == passes


def prints_numbers(a):
    print(a[0])


def prints_an_array(a):
    print(a)


def cube_root(a):
    a[1] = np.cbrt(a[0])


def whole_arrays(a):
    a[:] = a + a


def reads_backwards(a):
    a[0] = a[::-1][1]


def raises(a):
    raise ValueError(a[0])


@pytest.mark.parametrize(
    "refused",
    [prints_an_array, cube_root, whole_arrays, raises],
    ids=lambda it: it.__name__,
)
def test_what_cannot_be_lowered_is_refused_each_time(refused):
    """With all else that it does known, and by the same sentence."""
    for known in (first, prints_numbers, reads_backwards):
        typed_ir(known, [ARRAY])
    said = []
    for _ in range(2):
        with pytest.raises(KernelError) as error:
            typed_ir(refused, [ARRAY])
        said.append(str(error.value))

    assert said[0] == said[1]


def test_an_operator_is_typed_once_for_the_same_types(monkeypatch):
    """Of all templates that Numba tries, one matches."""
    typed, anew = [], BaseFunction.get_call_type

    def noting(function, *asked):
        typed.append(function.typing_key)
        return anew(function, *asked)

    typed_ir(first, [ARRAY])
    monkeypatch.setattr(BaseFunction, "get_call_type", noting)
    typed_ir(second, [ARRAY])

    assert not {operator.mul, operator.gt, math.sqrt} & {*typed}


def test_a_function_that_was_registered_since_is_known():
    """Numba's registries are read again where they have grown."""
    typed_ir(first, [ARRAY])

    def tripled(x): ...

    @overload(tripled, target="cuda")
    def in_a_kernel(x):
        return lambda x: x * 3

    @jit
    def late(a):
        a[0] = tripled(a[1])

    numbers = np.array([0, 5], np.float32)
    emulate(late)[1, 1](numbers)
    assert 15 == numbers[0]

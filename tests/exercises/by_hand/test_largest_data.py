"""The largest data that are rebuilt, and one more: of each limit both sides."""

import numpy as np
import pytest
from numba import cuda

from helpers.exercises.packing import declared
from helpers.exercises.page import paragraphs
from helpers.exercises.rebuilding import Malformed, answer_of, definition_of
from helpers.exercises.rebuilt_values import value_of


def array(*shape):
    data = np.zeros(np.prod(shape), np.int8).tobytes()
    return {"array": "|i1", "shape": [*shape], "bytes": "AAAA" * (len(data) // 3)}


def nested(levels):
    data = None
    for _ in range(levels):
        data = {"tuple": [data]}
    return data


def names(count):
    return [f"n{number}" for number in range(count)]


LARGEST = {  # what is made, the most of it, and one that is as small as may be
    "digits": (lambda n: {"int": "9" * n}, 400, 1),
    "digits of a negative number": (lambda n: {"int": "-" + "9" * (n - 1)}, 400, 2),
    "axes": (lambda n: array(3, *[1] * (n - 1)), 8, 1),
    "items": (lambda n: {"tuple": [None] * n}, 4096, 0),
    "tuples in tuples": (nested, 19, 0),
    "values by name": (lambda n: {"dict": [[it, None] for it in names(n)]}, 100, 0),
    "fields": (lambda n: {"named tuple": "A", "fields": names(n)}, 100, 0),
    "members": (
        lambda n: {"enum": "A", "members": [[it, {"int": "1"}] for it in names(n)]},
        100,
        1,
    ),
    "letters of a name": (
        lambda n: {"named tuple": "A" * n, "fields": ["x"]},
        100,
        1,
    ),
    "axes of a type": (lambda n: {"array type": ["float32", n, "C"]}, 8, 1),
}


@pytest.mark.parametrize("what", LARGEST)
def test_the_largest_value_is_rebuilt_and_one_more_is_not(what):
    """Nor one less than the least."""
    make, most, least = LARGEST[what]

    for number in (least, most):
        value_of(make(number))
    with pytest.raises(Malformed):
        value_of(make(most + 1))
    if least == 1:
        with pytest.raises(Malformed):
            value_of(make(0) if what != "axes" else array(0) | {"bytes": "AAAA"})


def long_source(lines=2, letters=0, bits=1):
    """A function of some lines, letters and a number of so many bits."""
    body = f"def f(a):\n    x = {(1 << bits) - 1}" + "\n    a" * (lines - 1)
    return f"{body}\n#".ljust(letters, "-") if letters else body


@pytest.mark.parametrize(
    "what, most", [("lines", 1000), ("letters", 60_000), ("bits", 1000)]
)
def test_the_longest_function_is_read_and_one_more_is_not(what, most):
    """Lines, letters, and the bits of a number in it."""
    assert "f" == definition_of(long_source(**{what: most}), "f").name
    with pytest.raises(Malformed, match="`f` has"):
        definition_of(long_source(**{what: most + 1}), "f")


CUDA = {"cuda": {"module": "numba.cuda"}}


def chain(count):
    """A kernel and functions that call one another in turn."""
    made = []
    for n in range(count):
        calls = f"return f{n + 1}(a)" if n + 1 < count else "pass"
        following = {f"f{n + 1}": {"function": n + 1}} if n + 1 < count else {}
        device = "@cuda.jit(device=True)" if n else "@cuda.jit"
        source = f"{device}\ndef f{n}(a):\n    {calls}"
        options = {"device": True} if n else {}
        about = {"options": options, "names": CUDA | following}
        made.append({"name": f"f{n}", "source": source, **about})
    return {"kernel": made}


def with_names(count):
    (made,) = chain(1)["kernel"]
    return {"kernel": [made | {"names": dict.fromkeys(names(count))}]}


@pytest.mark.parametrize("make, most", [(chain, 16), (with_names, 200)])
def test_the_largest_kernel_is_rebuilt_and_one_more_is_not(make, most):
    """Functions, and names that one of them takes from outside."""
    assert "f0" == answer_of(make(most)).py_func.__name__
    with pytest.raises(Malformed, match=r"too many names|may consist of 16 functions"):
        answer_of(make(most + 1))


def test_a_kernel_is_declared_where_its_definition_says_so():
    """Then its types are handed over, too."""

    def function(a):
        pass

    plain, given = cuda.jit(function), cuda.jit("void(float32[::1])")(function)

    assert [] == declared(plain)
    ((one,),) = declared(given)
    assert ("float32", 1, "C") == (str(one.dtype), one.ndim, one.layout)


def test_a_word_with_hyphens_stays_on_one_line():
    """Wherever it comes in a line."""
    for before in range(60, 85):
        text = f"{'x' * before} a-word-with-hyphens-in-it"

        assert text.split() == paragraphs(text).split()

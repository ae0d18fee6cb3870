"""A launch that is written in a wrong way: each verb says what to write instead."""

import warnings

import numpy as np
import pytest
from numba import cuda, njit

from helpers import assemble, emulate, measure
from tests.plain_words import internals_of
from thirty_two_lanes.core.errors import ExplainedError

A = np.zeros(8)
TEXTS = np.array(["a", "b"])
VERBS = {
    "plain": lambda kernel: kernel,
    "emulate": emulate,
    "assemble": assemble,
    "measure": measure,
}


@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b


@cuda.jit(device=True)
def device_function(x):
    return x


@njit
def for_the_cpu(x):
    return x


def plain(x):
    return x


class Frame:
    """As of pandas."""

    def to_numpy(self):
        return A


def told(call):
    """What an explained error says, without a word or a line of ours."""
    with pytest.raises(ExplainedError) as error:
        call()
    assert [] == internals_of(error.value)
    return str(error.value)


ARGUMENTS = [
    ((TEXTS, 1), "`a` is an array of texts (<U1)"),
    ((np.array([b"a"]), 1), "`a` is an array of texts (|S1)"),
    ((np.array([1, None]), 1), "`a` is an array of Python objects"),
    ((np.zeros(3, np.longdouble), 1), "`.astype(np.float32)`"),
    (([1, 2], 1), "np.array(…) makes an array from a list"),
    (({1: 2}, 1), "np.array(list(…)) makes an array of its items"),
    (({1}, 1), "`a` is a set"),
    ((range(3), 1), "np.asarray(…) makes an array of it"),
    ((Frame(), 1), "`a` is a Frame: a kernel takes NumPy or device arrays"),
    ((Frame(), 1), "`.to_numpy()`"),
    ((A, "text"), "`b` is a str"),
    ((A, (1, "x")), "`b` is a tuple of int, str"),
    ((A, plain), "`b` is the function `plain`"),
    ((A, add), "`b` is the function `add`, which cannot be passed"),
    ((A, 10**400), "does not fit into 64 bits"),
    ((A, object()), "`b` is an object"),
    ((A,), "takes 2 arguments (a, b) but got 1"),
    ((A, 1, 2), "takes 2 arguments (a, b) but got 3"),
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "arguments, sentence", ARGUMENTS, ids=[sentence for _, sentence in ARGUMENTS]
)
def test_an_argument_that_no_kernel_takes_is_told_by_every_verb(
    verb, arguments, sentence
):
    """By its name, with what it is and what to pass instead."""
    assert sentence in told(lambda: VERBS[verb](add)[1, 8](*arguments))


@pytest.mark.parametrize("verb", ["plain", "emulate", "assemble"])
@pytest.mark.parametrize("arguments, name", [((None, 1), "a"), ((A, None), "b")])
def test_none_is_told_at_the_line_that_needs_a_value(verb, arguments, name):
    """A kernel may take None and ask for it, so the line decides."""
    said = told(lambda: VERBS[verb](add)[1, 8](*arguments))

    assert f"`{name}` is None here: pass the array or the number" in said
    assert "test_wrong_launches.py, line " in said


def test_a_kernel_may_ask_whether_an_argument_is_none():
    """As a GPU's kernel may."""

    @cuda.jit
    def optional(a, b):
        a[0] = 1 if b is None else 2

    a = np.zeros(1)

    optional[1, 1](a, None)

    assert 1 == a[0]


BRACKETS = [
    (1, "a launch needs both in its brackets: [blocks, threads]"),
    ((), "a launch needs both in its brackets"),
    ((1, 8, 0, 0, 0), "at most a stream and the bytes"),
    ((1.0, 8), "not 1.0: use `//` instead of `/`"),
    (("1", "8"), "must be a whole number or up to three of them, not '1'"),
    ((1, None), "the number of threads must be a whole number"),
    ((-1, 8), "at least 1 along each axis of its blocks"),
    ((1, 0), "at least 1 along each axis of its threads"),
    (((1, 1, 1, 1), 8), "up to three of them, not (1, 1, 1, 1)"),
    ((1, 2000), "a block holds at most 1,024"),
    ((2**80, 8), "blocks along one axis are too many"),
    ((1, 8, "stream"), "a stream (`cuda.stream()`) or 0, not 'stream'"),
    ((1, 8, 1024), "not 1024; dynamic shared memory is the fourth"),
    ((1, 8, 0, "x"), "the dynamic shared memory in bytes"),
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "brackets, sentence", BRACKETS, ids=[str(it) for it, _ in BRACKETS]
)
def test_brackets_that_launch_nothing_are_told_by_every_verb(verb, brackets, sentence):
    """Before anything runs."""
    assert sentence in told(lambda: VERBS[verb](add)[brackets](A, 1))


@pytest.mark.parametrize("verb", VERBS)
def test_a_stream_is_taken_by_every_verb(verb):
    """Or 0, or None."""
    for stream in (0, None, cuda.stream()):
        VERBS[verb](add)[1, 8, stream](A, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_missing_brackets_and_names_are_told_by_every_verb(verb):
    """The kernel's arguments have their order, and no names."""
    launch = VERBS[verb](add)

    name = "add" if verb == "plain" else f"{verb}(add)"
    assert f"write `{name}[blocks, threads](…)`" in told(lambda: launch(A, 1))
    assert "not `b=…`: write `add[blocks, threads](a, b)`" in told(
        lambda: launch[1, 8](A, b=1)
    )


@pytest.mark.parametrize("verb", ["emulate", "assemble", "measure"])
@pytest.mark.parametrize(
    "given, sentence",
    [
        (for_the_cpu, "`for_the_cpu`, which Numba compiles for the CPU"),
        (plain, "the plain function `plain`: put `@cuda.jit` above it"),
        (device_function, "`device_function` is a device function"),
        (None, "not a launch: the brackets come after"),
        (3, "not an int"),
        ("add", "not a str"),
        (Frame, "not a type"),
    ],
)
def test_what_is_no_kernel_is_told_with_what_to_write(verb, given, sentence):
    """A function of the CPU has the attributes of a kernel, and is none."""
    assert sentence in told(lambda: VERBS[verb](given))


@pytest.mark.parametrize("name", ["seed", "turns"])
@pytest.mark.parametrize("value", ["x", -1, 1.5, [1, 2], object()])
def test_an_option_of_emulate_is_a_whole_number(name, value):
    """It is refused where it is written, and not when the launch runs."""
    said = told(lambda: emulate(add, **{name: value}))

    assert f"`{name}` of `emulate` is a whole number, 0 or more, not" in said


@pytest.mark.parametrize("seed", [None, 0, np.int64(3), 2**70])
def test_whole_numbers_of_any_kind_are_seeds(seed):
    """None stands for the default."""
    assert 1 == emulate(add, seed=seed)[1, 8](A, 1).blocks


@pytest.mark.parametrize("value", ["x", -1, None])
def test_an_amount_of_measure_is_a_number(value):
    """Of bytes or operations."""
    assert "is a number, 0 or more" in told(lambda: measure(add, bytes=value))


@pytest.mark.parametrize("target", ["Voodoo", 9, 9.0, (9,), (9, "x")])
def test_a_target_of_assemble_is_a_gpu_or_a_capability(target):
    """The sentence names some."""
    said = told(lambda: assemble(add, target))
    assert "(8, 6)" in said or "(9, 0)" in said


@pytest.mark.parametrize("tasks", ["x", -1, 2.5, None])
def test_forall_takes_a_number_of_elements(tasks):
    """Whole, and not negative."""
    assert "`forall` takes the number of elements" in told(lambda: add.forall(tasks))


@cuda.jit(device=True)
def calls_nothing():
    cuda.syncthreads  # noqa: B018


@cuda.jit
def idle(a):
    i = cuda.grid(1)
    group = cuda.cg.this_grid()
    cuda.syncwarp  # noqa: B018
    a[i] == 1  # noqa: B015
    group.sync  # noqa: B018
    calls_nothing()
    for k in range(a.size / 2):
        a[i] = k
    cuda.threadIdx.x  # noqa: B018
    "a text"


IDLE = [
    ("cuda.syncwarp", "does nothing without its parentheses"),
    ("a[i] == 1", "compares and drops the answer"),
    ("group.sync", "write `group.sync()`"),
    ("range(a.size / 2)", "drops the fraction of `a.size / 2`"),
]


@pytest.mark.parametrize("verb", ["plain", "emulate"])
def test_a_line_that_does_nothing_is_warned_of(verb):
    """Numba compiles it, so it runs; those of a device function are told, too."""
    kernel = cuda.jit(idle.py_func)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        VERBS[verb](kernel)[1, 1](np.zeros(4))

    said = [" ".join(str(it.message).split()) for it in warned]
    first = idle.py_func.__code__.co_firstlineno
    source = open(__file__, encoding="utf-8").read().splitlines()
    for text, sentence in IDLE:
        line = next(n for n, it in enumerate(source, 1) if n > first and text in it)
        place = f"(test_wrong_launches.py, line {line})"
        assert any(sentence in it and place in it for it in said), text
    assert any("write `cuda.syncthreads()`" in it for it in said)
    assert len(IDLE) + 1 == len(said)
    assert {__file__} == {it.filename for it in warned}

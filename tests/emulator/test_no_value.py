"""A variable without a value: named, with the line that reads it.

A plain launch stops where no lane of a warp has one; `emulate` goes on with 0, and
reports it, as it does where some lanes have none. Of random kernels, Python says which
reads those are: it runs each thread by itself.
"""

from collections import defaultdict

import numpy as np
import pytest
from numba import cuda

from tests.emulator.native.comparison import same_reports
from tests.quick import beside
from tests.specimens import unset_programs
from tests.specimens.kernels import line_of, message
from tests.specimens.no_value import CASES, NUMBERS, reads_an_array
from thirty_two_lanes import emulate
from thirty_two_lanes.emulator import KernelError
from thirty_two_lanes.emulator.judges.unset import UnsetReads
from thirty_two_lanes.emulator.launch import bind, compile_checked, run
from thirty_two_lanes.frontend.argument_types import argument_types


@pytest.mark.parametrize(("kernel", "name", "text"), CASES)
def test_the_variable_and_the_line_that_reads_it_are_named(kernel, name, text):
    """Not the first line of the straight piece of code that holds it."""
    with pytest.raises(KernelError) as told:
        kernel[1, 32](np.ones(32))
    said = str(told.value)
    assert said.startswith(f"`{name}` has no value on the path that the threads took")
    assert f"(no_value.py, line {line_of(kernel, text)})" in said and text in said


@cuda.jit(device=True)
def reads_within_a_function(a, i):
    k = i + 1
    if a[0] < 0:
        y = a[i]
    k = k * 2
    return k + y


@cuda.jit
def calls_it(a):
    a[0] = reads_within_a_function(a, 2)


def test_a_line_of_a_device_function_is_named_with_its_caller():
    """Both lines."""
    (found,) = emulate(calls_it)[1, 1](np.ones(32)).unset

    assert ("y", line_of(reads_within_a_function, "return k + y")) == (
        found.variable,
        found.line,
    )
    assert line_of(calls_it, "a[0] =") == found.site.called_from


@pytest.mark.parametrize(("kernel", "name", "text"), NUMBERS)
def test_the_report_names_the_same_variable_and_line(kernel, name, text):
    """Once for each thread that reads it."""
    (found,) = emulate(kernel)[1, 32](np.ones(32)).unset

    assert (name, line_of(kernel, text), 32) == (
        found.variable,
        found.line,
        found.threads,
    )


def test_an_array_without_a_value_stops_the_report_too():
    """There is nothing to go on with."""
    assert "`part` has no value" in message(
        KernelError, reads_an_array, 1, 32, np.ones(32)
    )


@cuda.jit
def sets_it_in_one_lane(a):
    i = cuda.grid(1)
    if i == 5:
        s = a[1]
    a[i] = s


def test_the_threads_that_have_not_set_it_are_counted_with_the_first_of_them():
    """All but one of those in three blocks; they go on with 0."""
    a = np.ones(120)

    (found,) = emulate(sets_it_in_one_lane)[3, 40](a).unset

    assert (119, 3, "0", "0", "threads 0–4, 6–39") == found[2:]
    assert [5] == np.flatnonzero(a).tolist()


@cuda.jit
def uses_what_a_loop_leaves(counts, out):
    i = cuda.grid(1)
    for k in range(counts[i]):
        out[i] += k
    out[i] = k


def test_a_loop_without_a_turn_leaves_its_variable_unset():
    """In the threads that have none: every third one."""
    counts = np.arange(96) % 3

    (found,) = emulate(uses_what_a_loop_leaves)[1, 96](counts, np.zeros(96)).unset

    assert ("k", 32, "0") == (found.variable, found.threads, found.thread)


@cuda.jit(device=True)
def only_if(x):
    if x > 3:
        y = x
    return y


@cuda.jit
def calls_it_again(a, out):
    i = cuda.grid(1)
    for k in range(2):
        out[i] += only_if(a[i] - k)


def test_a_function_does_not_keep_what_it_set_when_it_was_called_before():
    """The first call sets `y` in threads 4 to 31, and the second in one fewer."""
    (found,) = emulate(calls_it_again)[1, 32](np.arange(32.0), np.zeros(32)).unset

    assert 5 == found.threads
    assert "threads 0–4 of block 0. On a GPU" in found.finding.advice


@cuda.jit
def sets_it_in_its_first_turn(a, out):
    i = cuda.grid(1)
    for k in range(3):
        if k == 0:
            s = a[i]
        else:
            s = s + 1
    if i < 20:
        kept = s
    if i < 20:
        out[i] = kept


def test_a_variable_that_is_set_wherever_it_is_read_is_no_finding():
    """By an earlier turn, or under the same condition; a copy alone reads nothing."""
    out = np.zeros(32)

    found = emulate(sets_it_in_its_first_turn)[1, 32](np.ones(32), out).unset

    assert ((), 20 * [3.0] + 12 * [0.0]) == (found, out.tolist())


@cuda.jit
def takes_it_from(lane, out):
    t = cuda.threadIdx.x
    if t == 0:
        value = out[3]
    out[t] = cuda.shfl_sync(0xFFFFFFFF, value, lane)


def test_a_shuffle_may_take_it_from_the_lane_that_set_it():
    """As the CUDA guide does; from another lane it is a read."""
    said = [emulate(takes_it_from)[1, 32](lane, np.ones(32)).unset for lane in (0, 7)]

    assert [(), ("value", 32)] == [said[0], (said[1][0].variable, said[1][0].threads)]


@cuda.jit
def sets_a_pair(out):
    t = cuda.grid(1)
    if t < 3:
        pair = t, 0.5
    out[t] = pair[1]


@cuda.jit
def sets_an_array(out):
    t = cuda.grid(1)
    if t < 3:
        part = out[1:]
    out[t] = part[0]


@cuda.jit
def sets_what_may_be_none(out):
    t = cuda.grid(1)
    if t < 3:
        some = None
        if t == 1:
            some = out[t]
    if some is not None:
        out[t] = some


@cuda.jit(device=True, inline=True)
def of_a_function(x):
    if x < 3:
        inner = x
    return inner


@cuda.jit
def calls_what_numba_inlines(out):
    t = cuda.grid(1)
    out[t] = of_a_function(t)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (sets_a_pair, "pair"),
        (sets_an_array, "part"),
        (sets_what_may_be_none, "some"),
        (calls_what_numba_inlines, "inner"),
    ],
)
def test_what_is_not_a_number_is_found_too(kernel, name):
    """By the name that it has in the source."""
    (found,) = emulate(kernel)[1, 32](np.ones(40)).unset

    assert (name, "threads 3–31") == (found.variable, found.those)


@cuda.jit
def copies_what_it_does_not_need(out):
    t = cuda.grid(1)
    if t < 3:
        a, b, some = 1, 2.0, 3.0
    if t < 2:
        some = None
    a, b = b, a
    unused = a + 1  # noqa: F841
    if t < 3:
        out[t] = a + b
    if t < 2 and some is None:
        out[t] += 1


@cuda.jit
def converts_it_where_paths_join(out):
    t = cuda.grid(1)
    if t < 4:
        number = t
        pair = t, t
    if t < 2:
        number = 0.5
        pair = 2, 0.5
    if t < 4:
        out[t] = number + pair[1]


def test_what_is_only_converted_where_paths_join_accuses_nobody():
    """A number to another type, and a pair item by item."""
    out = np.zeros(32)

    found = emulate(converts_it_where_paths_join)[1, 32](out).unset

    assert ((), [1, 1, 4, 6, 0]) == (found, out[:5].tolist())


@cuda.jit
def makes_pairs(out):
    t = cuda.grid(1)
    if t < 5:
        one = t
    if t < 3:
        other = t
    if t < 8:
        pair = (one, other)
        out[t] = pair[t % 2]
    late = (1, one)
    if t < 16:
        out[t] = late[t % 2]


def test_a_pair_has_no_value_where_one_of_its_variables_has_none():
    """It is a copy of them, which nobody reads in threads 16 to 31."""
    found = emulate(makes_pairs)[1, 32](np.zeros(32)).unset

    assert [
        ("one", "out[t] = pair[t % 2]", "threads 5–7"),
        ("other", "out[t] = pair[t % 2]", "threads 3–7"),
        ("one", "out[t] = late[t % 2]", "threads 5–15"),
    ] == [(it.variable, it.site.text, it.those) for it in found]


def test_what_only_copies_pass_on_accuses_nobody():
    """A swap, a sum that nobody needs, and what may be None on one path alone."""
    out = np.zeros(32)

    found = emulate(copies_what_it_does_not_need)[1, 32](out).unset

    assert ((), [4, 4, 3, 0]) == (found, out[:4].tolist())


SEEDS = beside([1, 2, 5], range(200), slow_every=4)


def unset_reads(kernel, config, arguments):
    """The threads that read what they have not set, by line; blocks of one axis."""
    blocks, threads = config
    judge, types = UnsetReads(), argument_types(kernel, arguments)
    program = compile_checked(kernel, types)
    whole = (blocks, 1, 1), (threads, 1, 1), 0
    launch = bind(kernel, program, whole, arguments, types)
    run(kernel, launch, {topic: (it,) for topic, it in judge.listeners().items()})
    found = defaultdict(set)
    for (site, _), threads in judge.found.items():
        found[site.line].update(threads.tolist())
    return dict(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_reads_of_random_kernels_are_what_python_calls_unbound(seed):
    """Each line and each thread, and no other; and what is computed from there on."""
    text = unset_programs.text_of(seed)
    given, expected = unset_programs.arrays(), unset_programs.arrays()
    wanted = unset_programs.told_by_python(text, *expected)
    kernel = unset_programs.kernel_of(text, seed)

    assert wanted == unset_reads(kernel, unset_programs.LAUNCH, given)
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", beside([3], range(0, 200, 10)))
def test_machine_code_says_the_same_of_them(seed):
    """As NumPy's functions."""
    kernel = unset_programs.kernel_of(unset_programs.text_of(seed), seed)

    same_reports(kernel, unset_programs.LAUNCH, unset_programs.arrays())

"""Negative indices: told where they are computed, meant where they are written."""

from unittest import mock

import numpy as np
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import line_of
from thirty_two_lanes.emulator.machine.accesses import access


def warnings_of(run):
    """What a run accuses: kind and line."""
    return [(w.kind, w.line) for w in run.warnings if not w.note]


def zeros(*shape):
    return np.zeros(shape, np.float32)


def test_a_negative_index_is_told_with_its_count_and_first_thread():
    """Threads 0 and 1 of each of two blocks read behind the end of 64."""

    @cuda.jit
    def back(a, out):
        t = cuda.threadIdx.x
        out[t] = a[t - 2]

    run = emulate(back)[2, 64](zeros(64), zeros(64))

    assert [("wrap", line_of(back, "t - 2"))] == warnings_of(run)
    (warning,) = (w for w in run.warnings if w.kind == "wrap")
    assert "4 negative indices of `a` count" in warning.text
    assert "the first is -2" in warning.text
    assert "thread 0 of block 0, and means element 62 along axis 0" in warning.text


def test_a_negative_index_into_shared_memory_is_told_each_time():
    """One lane, in 5 turns, of 3 blocks; `cells[-1]` itself is written."""

    @cuda.jit
    def around(out):
        cells = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        cells[t] = t
        cuda.syncthreads()
        for _ in range(5):
            out[t] += cells[t - 1]

    run = emulate(around)[3, 32](zeros(32))

    assert [("wrap", line_of(around, "cells[t - 1]"))] == warnings_of(run)
    assert "15 negative indices" in run.warnings[0].text


def test_one_negative_index_is_reported_in_the_singular():
    """One lane, once."""

    @cuda.jit
    def back(a, out):
        t = cuda.threadIdx.x
        out[t] = a[t - 1]

    run = emulate(back)[1, 32](zeros(32), zeros(32))

    text = run.warnings[0].text
    assert "a negative index of `a` counts from its end; it is -1, in thread 0" in text
    assert text.endswith("If that is not intended, guard this line, `if t - 1 >= 0:`")


def test_an_index_of_no_known_source_is_guarded_in_general():
    """What the source would name."""
    names = {"cuda": cuda}
    exec("def back(a, out):\n    t = cuda.grid(1)\n    out[t] = a[t - 1]", names)

    run = emulate(cuda.jit(names["back"]))[1, 32](zeros(32), zeros(32))

    assert "where it says `[i - 1]`, by `if i - 1 >= 0`" in run.warnings[0].text


LAST, BACK = -1, 2


@cuda.jit
def from_the_end(a, square, cube, out):
    """Each kind of access and of index, all written as negative numbers."""
    t = cuda.threadIdx.x
    out[t] = a[-1] + square[-1, -2] + a[LAST] + a[-BACK] + square[-1][t]
    out[t] += cube[..., -1][0, 0] + cube[0, :, -1][0] + cube[-1, t, LAST]
    out[t] += a[int32(-1)] + last_of(a) + before_the_end(a, -3)
    square[-1, t] = 1.0
    cuda.atomic.add(square, (t, -1), 1.0)
    square[-2] = 0.0


@cuda.jit
def last_of(values):
    return values[-1]


@cuda.jit
def before_the_end(values, place):
    return values[place]


def test_an_index_written_as_a_negative_number_is_meant():
    """As in Python it counts from the end, so nothing is said of it."""
    square, cube = zeros(32, 32), zeros(4, 32, 4)

    run = emulate(from_the_end)[1, 32](zeros(64), square, cube, zeros(32))

    assert [] == warnings_of(run)
    assert 1.0 == square[-1, 0]


def test_a_negative_number_is_meant_in_each_memory():
    """The last cell of a halo; `t - 1` beside it is computed."""

    @cuda.jit
    def halo(out):
        cells = cuda.shared.array(34, float32)
        mine = cuda.local.array(2, float32)
        t = cuda.threadIdx.x
        cells[t + 1] = t
        if t == 31:
            cells[0] = cells[-1] = 0.0
        if t > 0:
            mine[-1] = cells[t]
            mine[-2] = 0.0
            out[t] = mine[-1] + mine[-2] + cells[-1]
        cuda.syncthreads()
        out[t] += cells[t - 1]

    run = emulate(halo)[2, 32](zeros(32))

    assert [("wrap", line_of(halo, "cells[t - 1]"))] == warnings_of(run)
    assert "2 negative indices of `cells`" in run.warnings[0].text


@cuda.jit
def reads_the_last(out, turns):
    cells = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    cells[t] = t
    cuda.syncthreads()
    for _ in range(turns):
        out[t] += cells[-1]


def test_a_negative_number_as_an_index_is_computed_once():
    """However often a loop reads it; its load and store of `out` are new each time."""
    found = []
    for turns in (1, 5):
        with mock.patch.object(access, "offsets", wraps=access.offsets) as computed:
            emulate(reads_the_last)[3, 32](zeros(32), turns)
        arrays = [call.args[2].name for call in computed.call_args_list]
        found.append((arrays.count("cells"), arrays.count("out")))
    assert [(2, 2), (2, 10)] == found


def test_a_computed_index_beside_a_number_is_told():
    """`t - 1` is negative in thread 0, and a number that varies is computed, too."""

    @cuda.jit
    def beside(square, out):
        t = cuda.threadIdx.x
        out[t] = square[t - 1, -1]
        out[t] += square[-1, t - 1] + square[-1, -1]
        place = -1
        if t > 3:
            place = t
        out[t] += square[place, ...][0]

    run = emulate(beside)[1, 32](zeros(32, 32), zeros(32))

    lines = ["t - 1, -1", "-1, t - 1", "square[place"]
    assert [("wrap", line_of(beside, it)) for it in lines] == warnings_of(run)
    assert "a negative index of `square`" in run.warnings[0].text
    assert "a negative index of `square`" in run.warnings[1].text
    assert "4 negative indices of `square`" in run.warnings[2].text


def test_a_guarded_negative_index_is_none():
    """Lanes that take no part compute an index and do not use it."""

    @cuda.jit
    def guarded(a, out):
        t = cuda.threadIdx.x
        if t > 1:
            out[t] = a[t - 2]

    assert [] == warnings_of(emulate(guarded)[2, 64](zeros(64), zeros(64)))

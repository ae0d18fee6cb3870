"""What a launch takes from the environment, from its kernel's globals and arguments."""

import warnings

import numpy as np
import pytest
from numba import cuda, float32, float64

from helpers import emulate
from thirty_two_lanes.emulator import LaunchError, NoProgressError

FACTOR = 3


@cuda.jit
def order(out):
    """Which warp comes when: none waits, and each takes the next number."""
    if cuda.laneid == 0:
        out[cuda.threadIdx.x // 32] = cuda.atomic.add(out, 8, 1)


def order_of(seed=None):
    out = np.zeros(9, np.int64)
    emulate(order, seed=seed)[1, 256](out)
    return out[:8].tolist()


def test_a_seed_chooses_the_order_of_warps(monkeypatch):
    """The one that is given; else the environment's; else 0."""
    monkeypatch.delenv("EMULATOR_SEED", raising=False)
    orders = [order_of(seed) for seed in range(6)]

    assert 6 == len({*map(tuple, orders)})
    assert {(*range(8),)} == {tuple(sorted(it)) for it in orders}
    assert orders[0] == order_of() == order_of()
    monkeypatch.setenv("EMULATOR_SEED", "5")
    assert [orders[5], orders[2], orders[0]] == [order_of(), order_of(2), order_of(0)]


@cuda.jit
def waits(flag):
    while flag[0] == 0:
        pass


def test_a_loop_may_be_watched_for_less_long(monkeypatch):
    """By the call, or by the environment."""
    monkeypatch.setenv("EMULATOR_TURNS", "50000")
    for turns in (None, 30_000):
        with pytest.raises(NoProgressError, match="line"):
            emulate(waits, turns=turns)[1, 32](np.zeros(1))


@pytest.mark.parametrize("name", ["EMULATOR_SEED", "EMULATOR_TURNS"])
@pytest.mark.parametrize("text", ["-1", "three", "1.5"])
def test_a_setting_that_is_no_whole_number_is_refused(name, text, monkeypatch):
    """With its name and what it says."""
    monkeypatch.setenv(name, text)

    with pytest.raises(LaunchError, match=f"{name} must be a whole number.*{text}"):
        emulate(order)[1, 32](np.zeros(9, np.int64))


def test_a_global_number_that_changed_is_warned_of(monkeypatch):
    """Once it has another value, and not while it has the same."""

    @cuda.jit
    def scaled(out):
        out[0] = FACTOR

    out = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        emulate(scaled)[1, 1](out)
        emulate(scaled)[1, 1](out)
    monkeypatch.setitem(globals(), "FACTOR", 4)
    with pytest.warns(UserWarning, match="compiled with FACTOR = 3 and keeps it"):
        emulate(scaled)[1, 1](out)
    assert [3] == out.tolist()


def test_numbers_are_taken_in_the_type_that_numba_gives_them():
    """A Python int is 64 bits, a NumPy number its own, a bool one byte."""

    @cuda.jit
    def stored(out, whole, short, real, yes):
        out[0] = whole
        out[1] = short + np.int8(1)
        out[2] = real * 2
        out[3] = 10 if yes else 20

    out = np.zeros(4)
    emulate(stored)[1, 1](out, 2**40, np.int8(100), np.float32(0.1), True)

    assert [2**40, 101, float(np.float32(0.1)) * 2, 10] == out.tolist()


@pytest.mark.parametrize("threads, dynamic, most", [(32, 45_600, 528), (1024, 0, 264)])
def test_a_grid_that_waits_for_itself_fits_or_is_refused(threads, dynamic, most):
    """On an H200: as many blocks as fit, and not one more."""

    @cuda.jit
    def kernel(out):
        cuda.shared.array(0, float32)
        cuda.cg.this_grid().sync()
        if cuda.grid(1) == 0:
            out[0] = 1

    with pytest.raises(LaunchError, match=f"an H200 holds {most} of them"):
        emulate(kernel)[most + 1, threads, 0, dynamic](np.zeros(1))
    emulate(kernel)[1, threads, 0, dynamic](np.zeros(1))


@pytest.mark.parametrize("bounds, most", [(64, 64), ((96, 2), 96)])
def test_launch_bounds_bound_the_threads(bounds, most):
    """As many, and no more."""

    @cuda.jit(launch_bounds=bounds)
    def kernel(out):
        out[0] = 1

    emulate(kernel)[1, most](np.zeros(1))
    with pytest.raises(LaunchError, match=f"promises at most {most} threads"):
        emulate(kernel)[1, most + 1](np.zeros(1))


@pytest.mark.parametrize("extra", [0, 1])
def test_a_block_declares_48_kib_of_shared_memory_at_most(extra):
    """In two arrays, to the byte."""
    small = 1024 + 4 * extra
    count = small // 4

    @cuda.jit
    def kernel(out):
        one = cuda.shared.array((47, 256), float32)
        two = cuda.shared.array(count, float32)
        one[0, 0] = two[0] = 1
        out[0] = one[0, 0] + two[0]

    if extra:
        with pytest.raises(LaunchError, match="declares 49,156 bytes of shared arrays"):
            emulate(kernel)[1, 1](np.zeros(1))
    else:
        emulate(kernel)[1, 1](np.zeros(1))


@pytest.mark.parametrize("extra", [0, 1])
def test_a_thread_declares_512_kib_of_local_memory_at_most(extra):
    """To the byte; the emulator would take much more from the host, for each thread."""
    count = 512 * 1024 // 8 + extra

    @cuda.jit
    def kernel(out):
        cells = cuda.local.array(count, float64)
        cells[0] = 1
        out[0] = cells[0]

    if extra:
        with pytest.raises(LaunchError, match="declares 524,296 bytes of local arrays"):
            emulate(kernel)[1, 1](np.zeros(1))
    else:
        emulate(kernel)[1, 1](np.zeros(1))

"""Loads that acquire and stores that release: blocks that hand data on."""

import numpy as np
import pytest
from numba import cuda, float32, uint64

from helpers import assemble, emulate, load_acquire, store_release
from tests.specimens.kernels import message

BLOCKS = 40


@cuda.jit
def relay(out, flags):
    """Each block adds one to what the block before it handed on."""
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while block > 0 and load_acquire(flags, block - 1) == 0:
            pass
        before = out[block - 1] if block > 0 else float32(0)
        out[block] = before + float32(1)
        store_release(flags, block, 1)


@cuda.jit
def relay_of_blocks(out, flags):
    """All threads write, one releases behind a barrier, and all read behind another."""
    block, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        while block > 0 and load_acquire(flags, block - 1) == 0:
            pass
    cuda.syncthreads()
    before = out[block - 1, 31 - t] if block > 0 else float32(0)
    out[block, t] = before + float32(1)
    cuda.syncthreads()
    if t == 0:
        store_release(flags, block, 1)


@cuda.jit
def stored_plainly(out, flags):
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while block > 0 and load_acquire(flags, block - 1) == 0:
            pass
        before = out[block - 1] if block > 0 else float32(0)
        out[block] = before + float32(1)
        flags[block] = 1


@cuda.jit
def released_too_soon(out, flags):
    block = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while block > 0 and load_acquire(flags, block - 1) == 0:
            pass
        before = out[block - 1] if block > 0 else float32(0)
        store_release(flags, block, 1)
        out[block] = before + float32(1)


@cuda.jit
def no_barrier_before(out, flags):
    """Other threads of the block may not have written when one releases."""
    block, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        while block > 0 and load_acquire(flags, block - 1) == 0:
            pass
    cuda.syncthreads()
    before = out[block - 1, 31 - t] if block > 0 else float32(0)
    out[block, t] = before + float32(1)
    if t == 0:
        store_release(flags, block, 1)


@cuda.jit
def two_words_in_one(words, out):
    """A status and a value that arrive together."""
    block = cuda.blockIdx.x
    if block == 0:
        store_release(words, 0, uint64(7) << uint64(32) | uint64(1))
    else:
        word = load_acquire(words, 0)
        while word & uint64(1) == 0:
            word = load_acquire(words, 0)
        out[block] = word >> uint64(32)


@cuda.jit
def of_bytes(out, flags):
    out[0] = load_acquire(flags, 0)


def launched(kernel, threads=1):
    """A run of a relay, and what it wrote."""
    shape = BLOCKS if threads == 1 else (BLOCKS, threads)
    out = np.zeros(shape, np.float32)
    run = emulate(kernel)[BLOCKS, threads](out, np.zeros(BLOCKS, np.int32))
    return run, out


@pytest.mark.parametrize(("kernel", "threads"), [(relay, 1), (relay_of_blocks, 32)])
def test_what_was_released_is_there_for_who_acquires_it(kernel, threads):
    """No race, though blocks load what other blocks store."""
    run, out = launched(kernel, threads)

    expected = np.arange(1, BLOCKS + 1, dtype=np.float32)
    np.testing.assert_array_equal(expected, out if threads == 1 else out[:, 0])
    assert not run.races and not run.races.minor


def test_a_word_holds_a_status_and_a_value():
    out = np.zeros(BLOCKS, np.uint64)

    run = emulate(two_words_in_one)[BLOCKS, 1](np.zeros(1, np.uint64), out)

    assert set(out[1:].tolist()) == {7}
    assert not run.races


@pytest.mark.parametrize(
    ("kernel", "threads", "arrays"),
    [
        (stored_plainly, 1, {"flags", "out"}),
        (released_too_soon, 1, {"out"}),
        (no_barrier_before, 32, {"out"}),
    ],
)
def test_what_was_not_released_is_a_race(kernel, threads, arrays):
    """Though the numbers may well come out right."""
    run, _ = launched(kernel, threads)

    assert {race.array for race in run.races} == arrays


@cuda.jit
def read_in_both_ways(flags, out):
    """Block 1 acquires what block 0 loads, and nobody stores to it."""
    block = cuda.blockIdx.x
    out[block] = load_acquire(flags, 0) if block else flags[0]


def test_two_loads_do_not_race_if_one_acquires():
    run = emulate(read_in_both_ways)[2, 1](np.ones(1, np.int32), np.zeros(2, np.int32))

    assert () == run.races


def test_a_race_says_who_acquires():
    run, _ = launched(stored_plainly)

    race = next(race for race in run.races if race.array == "flags")
    text = repr(race)
    assert "acquires flags[0]" in text and "stores to flags[0]" in text
    assert "`load_acquire` and `store_release` are ordered only with each" in text
    assert race.kind in ("RAW", "WAR")  # a load that acquires writes nothing


def test_they_count_as_a_load_and_a_store():
    """As in the hardware's counters; each asks for one sector."""
    out = np.zeros(BLOCKS, np.uint64)

    run = emulate(two_words_in_one)[BLOCKS, 1](np.ones(1, np.uint64), out)

    kinds = run.coalescing.by_kind
    assert set(kinds) == {"load", "store"}
    assert kinds["load"].sectors == kinds["load"].requests >= BLOCKS - 1
    assert kinds["store"].requests == BLOCKS  # one releases, the others write


def test_what_they_cannot_take_is_refused():
    text = message(TypeError, of_bytes, 1, 1, np.zeros(1), np.zeros(1, np.int8))

    assert "`load_acquire` takes an array of int32, uint32" in text


def test_they_become_strong_accesses_and_a_fence():
    code = assemble(relay)[BLOCKS, 1](
        np.zeros(BLOCKS, np.float32), np.zeros(BLOCKS, np.int32)
    )

    assert code.opcodes["MEMBAR"] == 1
    assert code.opcodes["LD"] >= 1 and code.opcodes["ST"] == 1

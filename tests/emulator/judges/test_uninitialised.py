"""Cells that are read before anyone wrote them."""

import numpy as np
import pytest
from numba import cuda, float32, int8, int32

from helpers import emulate
from tests.specimens.kernels import (
    line_of,
    matrix_product,
    numbers,
    reduce_in_shared,
    stencil,
    transpose_with,
)
from thirty_two_lanes.core.events import Access
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.gathering import Owners
from thirty_two_lanes.emulator.judges.uninitialised import Unwritten
from thirty_two_lanes.emulator.machine import machine


def summaries(run):
    """What a run says: line, array, space and count."""
    return [(u.line, u.array, u.space, u.count) for u in run.uninitialised]


@cuda.jit
def half_filled(out):
    cells = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 48:
        cells[t] = t
    cuda.syncthreads()
    out[cuda.grid(1)] = cells[63 - t]


@pytest.mark.parametrize("batch", [2, 1000])
def test_shared_cells_that_nobody_wrote_count_once_a_block(batch, monkeypatch):
    """Cells 48 to 63 of 5 blocks, whatever batches the blocks run in."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", batch)

    run = emulate(half_filled)[5, 64](np.zeros(320))

    line = line_of(half_filled, "cells[63 - t]")
    assert [(line, "cells", "shared", 5 * 16)] == summaries(run)


def test_an_exchange_of_which_nothing_is_needed_back_is_no_read():
    """It only stores; one whose old value is used reads a cell that nobody wrote."""

    @cuda.jit
    def begun(out, old):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        if old:
            out[t] = cuda.atomic.exch(cells, t, 0)
        cuda.atomic.exch(cells, t, 0)
        out[t] += cells[t]

    line, run = line_of(begun, "out[t] = cuda"), emulate(begun)[40, 64]
    assert [] == summaries(run(np.zeros(64, np.int32), False))
    expected = [(line, "cells", "shared", 64 * 40)]
    assert expected == summaries(run(np.zeros(64, np.int32), True))


def test_correct_kernels_read_what_they_wrote():
    """A product, a transpose, a stencil and a sum, of ragged sizes."""
    a, b, out = numbers(20, 37), numbers(37, 33), np.zeros((20, 33), np.float32)
    runs = [
        emulate(matrix_product)[(3, 2), (16, 16)](a, b, out),
        emulate(transpose_with(33))[(2, 2), (32, 32)](a, np.zeros((37, 20))),
        emulate(stencil)[3, 128](np.zeros(300, np.float32), np.zeros(300)),
        emulate(reduce_in_shared)[2, 256](np.zeros(300, np.float32), np.zeros(2)),
    ]

    assert [[]] * 4 == [summaries(run) for run in runs]


def test_a_cell_written_in_some_blocks_is_missing_in_the_others():
    """Block b writes cell b of 4, and every block reads all."""

    @cuda.jit
    def own(out):
        cells = cuda.shared.array(4, int32)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        if t == 0:
            cells[b] = 1
        cuda.syncthreads()
        out[b, t] = cells[t]

    run = emulate(own)[4, 4](np.zeros((4, 4)))

    assert [(line_of(own, "cells[t]"), "cells", "shared", 12)] == summaries(run)


def test_a_local_cell_counts_in_each_thread():
    """Threads 0 to 39 of two blocks skip the second cell; one reads it twice."""

    @cuda.jit
    def skip(out):
        own = cuda.local.array(2, float32)
        t = cuda.threadIdx.x
        own[0] = 1
        if t >= 40:
            own[1] = 1
        out[t] = own[0] + own[1] + own[1]

    run = emulate(skip)[2, 64](np.zeros(64))

    assert [(line_of(skip, "out[t]"), "own", "local", 80)] == summaries(run)


def test_an_atomic_update_reads_and_writes():
    """16 cells updated twice by 32 threads of three blocks: missing once."""

    @cuda.jit
    def count(out):
        cells = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        cuda.atomic.add(cells, t % 16, 1)
        cuda.atomic.add(cells, t % 16, 1)
        out[t] = cells[t % 16]

    ((line, *rest),) = summaries(emulate(count)[3, 32](np.zeros(32)))

    assert line_of(count, "cuda.atomic") == line
    assert ["cells", "shared", 48] == rest


@cuda.jit
def accumulate(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += 1


@cuda.jit
def fill(out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = 1


def new(*shape):
    """A device array that nobody wrote."""
    return cuda.device_array(shape, np.float32)


def missing(array):
    """How many elements of an array a kernel reads that nobody wrote."""
    return sum(u.count for u in emulate(accumulate)[4, 32](array).uninitialised)


def test_a_new_device_array_is_unwritten_until_someone_writes_it():
    """Copies, host stores, launches and kernels that were emulated all write."""
    device = new(100)
    assert (100, 0) == (missing(device), missing(device))

    assert 0 == missing(cuda.to_device(np.zeros(100, np.float32)))
    assert 0 == missing(np.empty(100, np.float32))
    copied = new(100)
    copied.copy_to_device(np.zeros(100, np.float32))
    assert 0 == missing(copied)
    stored = new(100)
    stored[10:20] = 1
    stored[99] = 1
    assert 89 == missing(stored)
    launched = new(100)
    fill[4, 32](launched, 60)
    assert 0 == missing(launched)
    emulated = new(100)
    emulate(fill)[4, 32](emulated, 60)
    assert 40 == missing(emulated)


def test_the_row_of_a_device_array_names_it():
    """Line, array, space and count, and a sentence that quotes the line."""
    (row,) = emulate(accumulate)[4, 32](new(100)).uninitialised

    assert line_of(accumulate, "+= 1") == row.line
    assert ("out", "global", 100) == (row.array, row.space, row.count)
    assert "out[i] += 1" in repr(row)


@cuda.jit
def wandering(index, values, out):
    cells = cuda.shared.array(24, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(index.shape[0]):
        if values[k, i] < 5:
            cells[index[k, i]] = t
        elif values[k, i] < 8:
            out[i] += cells[index[k, i]]


@pytest.mark.parametrize("seed", range(5))
def test_random_reads_and_writes_are_followed_cell_by_cell(seed):
    """One warp a block, so the order of accesses is known: a set of cells a block."""
    rng = np.random.default_rng(seed)
    index, values = rng.integers(0, 24, (6, 96)), rng.integers(0, 40, (6, 96))

    rows = emulate(wandering)[3, 32](index, values, np.zeros(96)).uninitialised

    written, unread = set(), set()
    for k in range(6):
        cells = [(i // 32, index[k, i]) for i in range(96)]
        written |= {c for i, c in enumerate(cells) if values[k, i] < 5}
        reads = {c for i, c in enumerate(cells) if 5 <= values[k, i] < 8}
        unread |= reads - written
    assert len(unread) == sum(row.count for row in rows)


@pytest.mark.parametrize("threads", [1, 2, 40])
def test_a_single_lane_is_followed_in_global_memory(threads):
    """As many elements as threads, of an array that nobody filled."""

    @cuda.jit
    def read(a, out):
        out[cuda.threadIdx.x] = a[cuda.threadIdx.x]

    empty, out = cuda.device_array(50, np.float32), np.zeros(50, np.float32)
    run = emulate(read)[1, threads](empty, out)

    assert [("a", "global", threads)] == [s[1:] for s in summaries(run)]
    assert [] == summaries(emulate(read)[1, threads](out, empty))


@cuda.jit
def seen_as_bytes(out):
    """Each thread loads bytes of its number and of the next; the last has none."""
    t = cuda.threadIdx.x
    whole = cuda.shared.array(33, int32)
    own = cuda.local.array(1, int32)
    whole[t], own[0] = t, t
    bytes_of, own_bytes = whole.view(int8), own.view(int8)
    out[t] = bytes_of[4 * t + 3] + own_bytes[3]
    out[t] += bytes_of[4 * t + 4]


@cuda.jit
def made_of_bytes(out):
    """Three of the four bytes of each number are stored, and all of the first."""
    t = cuda.threadIdx.x
    whole = cuda.shared.array(32, int32)
    bytes_of = whole.view(int8)
    for byte in range(4):
        if byte != 2 or t == 0:
            bytes_of[4 * t + byte] = byte
    out[t] = whole[t]


@pytest.mark.parametrize("blocks", [1, 100])
@pytest.mark.parametrize(
    "kernel, text, cells",
    [(seen_as_bytes, "4 * t + 4", 1), (made_of_bytes, "out[t] = whole[t]", 31)],
)
def test_bytes_of_what_was_stored_as_another_type_are_written(
    kernel, text, cells, blocks
):
    """Only what no store covers is missing, and an element of which a part is."""
    run = emulate(kernel)[blocks, 32](np.zeros(32, np.int64))

    (found,) = summaries(run)
    assert (line_of(kernel, text), "shared", cells * blocks) == (found[0], *found[2:])


@cuda.jit
def accumulated(out):
    """A sum that nobody began."""
    out[cuda.threadIdx.x] += 1


def test_an_output_that_is_not_copied_there_is_unwritten():
    """A GPU gets new memory for `cuda.Out`, and the host's numbers for the array."""
    out = np.zeros(32, np.int64)

    assert [] == summaries(emulate(accumulated)[1, 32](out))
    (found,) = summaries(emulate(accumulated)[1, 32](cuda.Out(out)))
    assert ("global", 32) == found[2:]


def test_blocks_that_are_done_leave_the_others_what_they_wrote():
    """Batches of one block: each block's cells are new, whoever is forgotten first."""
    unwritten = Unwritten()

    def read_after_write(*blocks):
        return [
            sorted(access.who.block[columns].tolist())
            for access, _, columns in unwritten.early_reads(
                [asked("load", *blocks, order=2), asked("store", *blocks, order=1)]
            )
        ]

    def only_read(*blocks):
        found = unwritten.early_reads([asked("load", *blocks, order=3)])
        return [it.who.block[columns].tolist() for it, _, columns in found]

    assert [] == read_after_write(0, 1)
    unwritten.forget(0, 1)
    assert [[2] * 32] == only_read(2)
    assert [] == only_read(1)
    unwritten.forget(1, 3)
    assert [[1] * 32] == only_read(1)


def asked(kind, *blocks, order):
    """A request of the first warp of some blocks, for 32 cells."""
    blocks = np.array(blocks)
    zero = np.zeros_like(blocks)
    who = Owners(zero, blocks, zero, zero, zero, zero + order, *[zero] * 4)
    reference = Reference(Site("cell", 1, "a[t]"), kind, "a")
    cells = np.repeat(np.arange(32)[:, None], len(blocks), axis=1)
    int32 = np.dtype(np.int32)
    return Access(
        reference, "shared", int32, cells, None, len(blocks), {}, who=who, step=4
    )


@cuda.jit
def beside(a, out):
    """Each thread loads its own cell, and reads its two neighbours'."""
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = a[i]
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 2]


@cuda.jit
def around(a, out):
    """The same in two axes."""
    tile = cuda.shared.array((18, 10), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty + 1, tx + 1] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[ty, tx + 1] + tile[ty + 2, tx + 1]
    out[y, x] += tile[ty + 1, tx]


@pytest.mark.parametrize(
    "kernel, launch, shape, cells",
    [
        (beside, (2, 64), 128, "In block 0 these are `tile[0]` and `tile[65]`"),
        (
            *(around, ((3, 2), (8, 16)), (32, 24)),
            "In block (0, 0) these are `tile[0, 1:9]` and `tile[17, 1:9]`",
        ),
    ],
)
def test_the_cells_of_a_halo_are_named(kernel, launch, shape, cells):
    """And that the block has too few threads for one cell each."""
    arrays = np.ones((2, *np.atleast_1d(shape)), np.float32)

    found = emulate(kernel)[launch](*arrays).uninitialised

    remedy = found[0].finding.remedy
    assert f"{cells}. The block has " in remedy
    assert "let the threads at the rim load these cells as well" in remedy
    assert f"wrote; i{cells[1:]}" in " ".join(repr(found[0]).split())


@pytest.mark.parametrize("slot, names", [(0, "`cells[48:64]`"), (3, "`cells[48:64]`")])
def test_cells_are_named_where_threads_are_enough(slot, names):
    """Of the first block that reads some, and with no word about threads."""

    @cuda.jit
    def some(out):
        cells = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if t < 48 or cuda.blockIdx.x < slot:
            cells[t] = t
        cuda.syncthreads()
        out[cuda.grid(1)] = cells[63 - t]

    (found,) = emulate(some)[5, 64](np.zeros(320)).uninitialised

    assert found.finding.remedy.endswith(f"In block {slot} these are {names}")


def test_elements_of_a_device_array_are_named():
    """By their indices, in its own shape."""

    @cuda.jit
    def column(a, out):
        out[cuda.threadIdx.x] = a[cuda.threadIdx.x, 1]

    (found,) = emulate(column)[1, 8](new(8, 3), np.zeros(8)).uninitialised

    assert found.finding.remedy.endswith(". These are `a[:, 1]`")


def test_bytes_of_elements_are_not_named():
    """Their addresses are none of an element's."""
    (found,) = emulate(made_of_bytes)[1, 32](np.zeros(32, np.int64)).uninitialised
    assert "`whole[1:32]`" in found.cells

    (found,) = emulate(seen_as_bytes)[1, 32](np.zeros(32, np.int64)).uninitialised
    assert "" == found.cells

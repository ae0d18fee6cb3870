"""Active lanes, branches that split warps, arithmetic, and local memory, by line."""

import math

import numpy as np
import pytest
from numba import complex64, cuda, float32, float64, int8, int16

from helpers import emulate
from tests.specimens.kernels import line_of
from thirty_two_lanes.core.events import Access
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.local_memory import LocalMemory
from thirty_two_lanes.emulator.launch import compile_kernel
from thirty_two_lanes.emulator.program import KINDS, LineCounts
from thirty_two_lanes.frontend.argument_types import argument_types


@cuda.jit
def eighth(out):
    t = cuda.threadIdx.x
    if t < 8:
        out[t] = 1


def test_a_line_in_a_branch_counts_the_lanes_that_took_it():
    """Of two warps a block, one is split 8 to 24, and the other does not store."""
    table = emulate(eighth)[3, 64](np.zeros(8, np.float32)).divergence

    store = table.by_line[line_of(eighth, "out[t] = 1")]
    branch = table.by_line[line_of(eighth, "if t < 8")]
    assert (3, 24, 0.25) == (store.instructions, store.active_lanes, store.active_share)
    assert (6, 3, 1.0) == (branch.branches, branch.splits, branch.active_share)
    assert (0, 0) == (store.branches, store.splits)
    assert table.instructions == sum(r.instructions for r in table.by_line.values())
    assert table.active_share == table.active_lanes / (32 * table.instructions)


def test_lanes_that_do_not_exist_are_not_active():
    """A block of 40 threads has a warp of 32 and one of 8: 40 of 64 lanes."""

    @cuda.jit
    def fill(out):
        out[cuda.grid(1)] = 1

    assert 40 / 64 == emulate(fill)[5, 40](np.zeros(200)).divergence.active_share


@pytest.mark.parametrize("threads", [1, 16, 33, 48, (5, 5), (3, 3, 7)])
def test_a_warp_that_is_not_full_does_not_diverge(threads):
    """Its lanes agree, so nobody waits, and nothing is said."""

    @cuda.jit
    def agree(out):
        t = cuda.threadIdx.x
        for k in range(3):
            if cuda.blockIdx.x < 2:
                out[t] = k

    run = emulate(agree)[3, threads](np.zeros(96))

    assert 1.0 == run.divergence.active_of_present
    number = math.prod(np.atleast_1d(threads))
    assert number / (32 * math.ceil(number / 32)) == run.divergence.active_share
    run.assert_no_divergence(at_least=1)
    assert "lanes" not in repr(run)


def test_lanes_of_a_part_of_a_warp_that_wait_are_counted():
    """Of 40 threads, 32 and 8, every other one stores."""

    @cuda.jit
    def half(out):
        t = cuda.threadIdx.x
        if t % 2 == 0:
            out[t] = 1

    table = emulate(half)[3, 40](np.zeros(40, np.float32)).divergence

    store = table.by_line[line_of(half, "out[t] = 1")]
    assert (3 * 20, 3 * 40) == (store.active_lanes, store.present_lanes)
    assert (0.5, 20 / 64) == (store.active_of_present, store.active_share)
    assert table.present_lanes * 64 == table.instructions * 32 * 40


def test_a_branch_that_goes_by_the_block_splits_no_warp():
    """Blocks 0 and 1 of 5 store, with all their lanes."""

    @cuda.jit
    def some(out):
        if cuda.blockIdx.x < 2:
            out[cuda.grid(1)] = 1

    table = emulate(some)[5, 64](np.zeros(320)).divergence

    store = table.by_line[line_of(some, "out[")]
    branch = table.by_line[line_of(some, "if ")]
    assert (10, 0, 1.0) == (branch.branches, branch.splits, table.active_share)
    assert 2 * 2 * 32 == store.active_lanes / (store.instructions / 4)


def test_a_split_that_goes_by_thread_and_block_is_counted_warp_by_warp():
    """Block b keeps its first 8 b lanes: 1, 2 and 3 split, 0 and 4 do not."""

    @cuda.jit
    def wedge(out):
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        if t < 8 * b:
            out[b, t] = 1

    table = emulate(wedge)[5, 32](np.zeros((5, 32))).divergence

    store = table.by_line[line_of(wedge, "out[")]
    branch = table.by_line[line_of(wedge, "if ")]
    assert (5, 3) == (branch.branches, branch.splits)
    assert (4, 8 + 16 + 24 + 32) == (store.instructions, store.active_lanes)


def test_a_loop_of_uneven_length_idles_the_lanes_that_left():
    """Lane t goes round t times: 31 turns for the warp, 496 for its lanes."""

    @cuda.jit
    def uneven(out):
        t = cuda.threadIdx.x
        for k in range(t):
            out[t] = k

    row = emulate(uneven)[1, 32](np.zeros(32)).divergence.by_line[
        line_of(uneven, "out[")
    ]

    turns = row.instructions / 31
    assert turns in (1, 2)  # the store, and the conversion to its type
    assert 496 * turns == row.active_lanes


def operations(kernel, *arguments, threads=40):
    """All operations of a launch of one block."""
    table = emulate(kernel)[1, threads](*arguments).operations
    return {kind: n for kind, n in vars(table).items() if kind != "by_line" and n}


@pytest.mark.parametrize(
    "dtype, kind", [(np.float32, "float32"), (np.float64, "float64")]
)
def test_arithmetic_counts_once_for_each_active_lane(dtype, kind):
    """A product and a sum, in 40 threads."""

    @cuda.jit
    def saxpy(a, x, y):
        t = cuda.threadIdx.x
        y[t] = a[0] * x[t] + y[t]

    arrays = [np.ones(40, dtype) for _ in "axy"]

    assert {kind: 80} == operations(saxpy, *arrays)


def test_a_conversion_and_a_comparison_are_no_operations():
    """The index is one integer sum; int32 to float32 and `<` are none."""

    @cuda.jit
    def store(out):
        t = cuda.threadIdx.x
        if t < 10:
            out[t + 1] = float32(t)

    assert {"integer": 10} == operations(store, np.zeros(11, np.float32))


def test_the_root_the_quotient_and_fma_count():
    """One, one and two."""
    import math

    @cuda.jit
    def mixed(out):
        x = out[cuda.threadIdx.x]
        out[cuda.threadIdx.x] = cuda.fma(math.sqrt(x) / x, x, x)

    table = emulate(mixed)[1, 32](np.ones(32, np.float32)).operations

    assert 32 * 4 == table.float32 == table.by_line[line_of(mixed, "fma")].float32


def test_complex_numbers_count_their_parts():
    """A sum is 2 operations, a product 6."""

    @cuda.jit
    def both(a):
        t = cuda.threadIdx.x
        a[t] = a[t] * a[t] + a[t]

    assert {"float32": 8 * 32} == operations(
        both, np.ones(32, np.complex64), threads=32
    )


def test_a_mixed_sum_counts_in_the_type_that_numba_computes_it_in():
    """float32 times a Python number is float64."""

    @cuda.jit
    def double(a):
        t = cuda.threadIdx.x
        a[t] = a[t] * 2.0

    assert {"float64": 40} == operations(double, np.ones(40, np.float32))


def test_intensity_is_operations_over_bytes():
    """One product for two loads and a store of 4 bytes."""

    @cuda.jit
    def square(a):
        t = cuda.grid(1)
        a[t] = a[t] * a[t]

    run = emulate(square)[4, 64](np.ones(256, np.float32))

    assert 1 / 12 == run.operations.float32 / run.coalescing.bytes_moved


@pytest.mark.parametrize(
    "dtype, sectors",
    [(int8, 4), (int16, 4), (float32, 4), (float64, 8), (complex64, 8)],
)
def test_a_local_array_is_interleaved_word_by_word(dtype, sectors):
    """All lanes at one index: each 4-byte word is a line of 128 bytes."""

    @cuda.jit
    def keep(out):
        own = cuda.local.array(5, dtype)
        own[3] = 1
        out[cuda.grid(1)] = 1

    row = emulate(keep)[2, 64](np.zeros(128)).local_memory

    requests = 2 if dtype is complex64 else 1
    assert (4 * requests, 4 * sectors) == (row.requests, row.sectors)
    assert 0 == len(emulate(eighth)[1, 64](np.zeros(8)).local_memory.by_line)


def brute_local(own, active, size):
    """Sectors of one request, byte by byte."""
    return len(
        {
            (byte // 4 * 128 + 4 * lane + byte % 4) // 32
            for lane in range(32)
            if active[lane]
            for byte in range(own[lane], own[lane] + size)
        }
    )


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_store_to_many_elements_is_an_instruction_for_each(blocks):
    """In each warp that takes part; those of the same array without it are fewer."""

    @cuda.jit
    def fill(rows):
        if cuda.threadIdx.x < 40:
            rows[cuda.grid(1), :] = 1

    counts = {}
    for columns in (1, 7):
        run = emulate(fill)[blocks, 48](np.zeros((48 * blocks, columns)))
        counts[columns] = run.divergence.by_line[line_of(fill, "rows[cuda")]

    more = {it: vars(counts[7])[it] - vars(counts[1])[it] for it in vars(counts[1])}
    active, present = 6 * 40 * blocks, 6 * 48 * blocks
    assert (6 * 2 * blocks, active) == (more["instructions"], more["active_lanes"])
    assert (present, 0) == (more["present_lanes"], more["splits"])


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_random_local_accesses_are_judged_byte_by_byte(size):
    """Each lane at an index of its own, some lanes off."""
    rng = np.random.default_rng(size)
    for _ in range(100):
        index = rng.integers(0, rng.choice([1, 3, 40]), (32, 6))
        active = rng.random((32, 6)) < 0.6
        reference = Reference(Site("cell", 1, ""), "load", "own")
        cells = index * 32 + np.arange(32)[:, None]
        dtype = np.dtype(f"i{size}")
        judge = LocalMemory()
        judge.observe(
            Access(
                reference,
                "local",
                dtype,
                cells,
                active,
                6,
                {},
                step=size,
                base=1024,
            )
        )

        expected = sum(
            brute_local(size * index[:, n], active[:, n], size) for n in range(6)
        )
        assert expected == judge.table().sectors


def test_each_count_of_the_code_is_filled():
    """A kernel that does something of each kind leaves no column of it empty."""

    @cuda.jit
    def each_kind(half, single, double, whole):
        half[0] = cuda.fp16.hadd(half[0], half[1])
        single[0] += single[1]
        double[0] += double[1]
        whole[0] += whole[1]

    dtypes = np.float16, np.float32, np.float64, np.int64
    types = argument_types(each_kind, [np.zeros(2, dtype) for dtype in dtypes])
    blocks = compile_kernel(each_kind, types).code
    rows = [it for block in blocks for it in block.work]

    empty = [name for name in LineCounts._fields if not any(map(filled(name), rows))]
    done = np.sum([row.operations for row in rows], axis=0)
    empty += [kind for kind, count in zip(KINDS, done, strict=True) if not count]

    assert [] == [
        f"emulator/program.py has the count `{it}`, and `work_of` in "
        "codegen/instruction_counts.py never fills it"
        for it in empty
    ]


def filled(name):
    """Has a row something in a column?"""
    return lambda row: np.any(getattr(row, name))

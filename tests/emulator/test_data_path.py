"""What the data path passes: the parts of its wavefronts, for machine code by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from thirty_two_lanes.assembly.instructions import Instruction
from thirty_two_lanes.core.errors import LaunchError

THREADS = 256  # 8 warps
NO_ROW = SimpleNamespace(shuffles=0)
ALL = 0xFFFFFFFF


def assembled(kernel, *rows):
    """The assembly of a kernel by hand: lines below its first, opcodes, predicates."""
    first = kernel.py_func.__code__.co_firstlineno
    code = tuple(
        Instruction(16 * n, opcode, operands, first + line, predicate)
        for n, (line, opcode, predicate, operands) in enumerate(rows)
    )
    return SimpleNamespace(function=kernel.py_func, resources=None, instructions=code)


def path_of(kernel, *rows, n=0, dtype=np.float32):
    """What a launch of 8 warps passes, by line below the kernel's first; the Run."""
    arrays = np.zeros(4096, dtype), np.zeros(4096, dtype)
    run = emulate(kernel, assembly=assembled(kernel, *rows))[1, THREADS](*arrays, n)
    first = kernel.py_func.__code__.co_firstlineno
    return {line - first: row for line, row in run.data_path.by_line.items()}, run


@cuda.jit
def guarded(out, a, n):
    t = cuda.threadIdx.x
    x = float32(0)
    if t < n:
        x = a[t]
    out[t] = x


def test_a_warp_issues_what_has_a_predicate_though_no_lane_passes():
    """Of 8 warps 2 load, and 6 pass a request without a lane."""
    rows, run = path_of(guarded, (5, "LDG.E", "!P0", ""), (6, "STG.E", "", ""), n=40)

    assert (2, 6) == (rows[5].requests, rows[5].without_lane)
    assert (8, 0) == (rows[6].requests, rows[6].without_lane)
    assert 16 == run.data_path.wavefronts


def test_a_warp_skips_what_stands_behind_a_branch():
    """The load has no predicate, or one that always or never holds."""
    for predicate in "", "PT", "!PT":
        rows, _ = path_of(guarded, (5, "LDG.E", predicate, ""), n=40)
        assert (2, 0) == (rows[5].requests, rows[5].without_lane)


@cuda.jit
def guarded_twice(out, a, n):
    t = cuda.threadIdx.x
    if t < 128:
        out[t + 256] = 1
        if t >= n and a[t] == 0:
            out[t] = 1
        out[t + 512] = 1


def test_conditions_in_a_row_are_one_and_the_outer_one_is_another():
    """4 warps come to the inner conditions, and 2 to the store."""
    rows, _ = path_of(guarded_twice, (6, "STG.E", "P1", ""), n=64)

    assert (2, 2) == (rows[6].requests, rows[6].without_lane)


@cuda.jit
def in_loops(out, a, n):
    t = cuda.threadIdx.x
    for k in range(4):
        out[t + 256 * k] = 0
        if t < 64 >> k:
            out[t] = a[t]


def test_a_loop_comes_to_its_conditions_in_each_iteration():
    """Its own test is none of them: 4 times 8 warps store on the first line."""
    rows, _ = path_of(
        in_loops, (4, "STG.E", "P0", ""), (6, "LDG.E", "P1", ""), (6, "STG.E", "", "")
    )

    assert (32, 0) == (rows[4].requests, rows[4].without_lane)
    assert (5 + 5, 32 - 5) == (rows[6].requests, rows[6].without_lane)


def test_a_share_of_the_copies_of_a_line_has_a_predicate():
    """Of four copies three do: so do three of four of the 27 requests."""
    copies = [(6, "LDG.E", "P1", "")] * 3 + [(6, "LDG.E", "", "")]
    rows, _ = path_of(in_loops, *copies, (6, "ULDC.64", "", ""))

    assert 20 == rows[6].without_lane


@cuda.jit
def shuffled(out, a, n):
    x = a[cuda.threadIdx.x]
    cuda.syncthreads()
    x += cuda.shfl_down_sync(ALL, x, 1)
    out[cuda.threadIdx.x] = x


def test_shuffles_barriers_and_registers_of_threads_pass_too():
    """4 bytes of a shuffle are one, a barrier of a block two, a warp's register one."""
    registers = [(2, "S2R", "", f"R0, SR_{it}") for it in ("TID.X", "CTAID.X")]
    for dtype, words in (np.float32, 1), (np.float64, 2):
        rows, run = path_of(shuffled, *registers, dtype=dtype)

        assert 8 * words == rows[4].shuffles
        assert 2 == rows[3].barriers
        assert 8 == rows[2].registers
        assert 8 * words + 2 + 8 + 2 * 8 * words == run.data_path.wavefronts


@cuda.jit
def both_ways(x):
    return cuda.shfl_down_sync(ALL, x, 1), cuda.shfl_up_sync(ALL, x, 1)


@cuda.jit
def shuffled_for_nothing(out, a, n):
    x = a[cuda.threadIdx.x]
    down, up = both_ways(x)
    x = cuda.shfl_sync(ALL, down, n)
    x = cuda.shfl_sync(ALL, down, 0)
    out[cuda.threadIdx.x] = x


def test_a_shuffle_whose_result_nobody_reads_is_left_out():
    """Of a tuple's items one, and a value that is replaced: 2 of 4 are needed."""
    rows, _ = path_of(shuffled_for_nothing)

    assert [8, 0, 8] == [rows.get(line, NO_ROW).shuffles for line in (3, 4, 5)]


@cuda.jit
def strided(out, a, n):
    t = cuda.threadIdx.x
    out[8 * t] = a[t]


def test_requests_to_global_memory_pass_as_the_banks_serve_them():
    """Each eighth word: eight words of a bank; doubles go in two halves."""
    for dtype, store, load in (np.float32, 8, 1), (np.float64, 16, 2):
        rows, _ = path_of(strided, dtype=dtype)
        assert 8 * (store + load) == rows[3].requests


@cuda.jit
def counted(out, a, n):
    cuda.atomic.add(out, cuda.threadIdx.x // 4, 2)


def test_lanes_of_one_cell_take_turns_at_it_in_global_memory():
    """As many passes as lanes add to the same cell."""
    rows, _ = path_of(counted, dtype=np.int32)

    assert 8 * 4 == rows[2].requests


def test_the_assembly_is_of_the_same_kernel():
    """Any other is refused, with what to give."""
    with pytest.raises(LaunchError, match=r"assemble\(guarded\)\[blocks, threads\]"):
        emulate(guarded, assembly=assembled(strided))[1, 32](
            np.zeros(32), np.zeros(32), 0
        )


def test_the_report_has_a_column_of_it_where_it_was_asked_for():
    """The sentence, the page and the data; a run without has none of them."""
    _, run = path_of(guarded, (5, "LDG.E", "!P0", ""), n=40)
    without = emulate(guarded)[1, THREADS](*np.zeros((2, 256), np.float32), 40)

    assert "16 LSU wavefronts" in " ".join(repr(run).split())
    assert "<th>LSU wavefronts</th>" in run._repr_html_()
    assert 16 == run.to_dict()["data_path"]["wavefronts"]
    assert "LSU" not in repr(without) + without._repr_html_()
    assert "data_path" not in without.to_dict()

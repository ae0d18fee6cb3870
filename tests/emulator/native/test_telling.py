"""What machine code tells judges, where NumPy tells instead, and when it is made."""

import numpy as np
import pytest
from numba import cuda, float32, int8

from helpers import emulate
from tests.emulator.native.comparison import programs_of, same_reports
from thirty_two_lanes.emulator.native import telling


def test_a_long_report_is_of_machine_code_and_a_short_one_is_not():
    """By counted steps, as for plain launches; code that tells nothing is not made."""

    @cuda.jit
    def walk(chain, out, steps):
        p = cuda.threadIdx.x
        for _ in range(steps):
            p = chain[p]
        out[cuda.threadIdx.x] = p

    chain, out = np.random.default_rng(1).permutation(64), np.zeros(32, np.int64)
    emulate(walk)[1, 32](chain, out, 100)
    assert "tape" not in programs_of(walk)["told"]

    report = emulate(walk)[1, 32](chain, out, 20_000)

    assert "tape" in programs_of(walk)["told"]
    assert "plain" not in programs_of(walk)
    assert 20_001 * 32 * 8 == report.reuse.bytes_asked
    p = np.arange(32)
    for _ in range(20_000):
        p = chain[p]
    assert p.tolist() == out.tolist()


@pytest.mark.parametrize("blocks", [1, 3])
def test_requests_are_told_before_their_buffer_is_full(monkeypatch, blocks):
    """More than it holds, of several warps, with barriers, races and all memories."""

    @cuda.jit
    def kernel(a, out, steps):
        cells = cuda.shared.array(80, float32)
        own = cuda.local.array(5, int8)
        t = cuda.threadIdx.x
        for step in range(steps):
            own[(t + step) % 5] = step & 3
            if (t + step) % 3:
                cells[(t * step) % 80] = a[(t * 7 + step) % a.size]
            if step == steps // 2:
                cuda.syncthreads()
            out[(t + step) % 40] += cells[t] + own[step % 5]

    monkeypatch.setattr(telling, "MOST_TOLD", 50)
    arguments = [np.ones(100, np.float32), np.zeros(70), 60]

    report, entered = same_reports(kernel, (blocks, 70), arguments)

    assert entered == 3
    assert report["races"]
    assert report["uninitialised"]


def test_negative_indices_and_numbers_that_do_not_fit_are_told_by_numpy():
    """Each as often as it happens, though most turns are machine code."""

    @cuda.jit
    def kernel(a, out, steps):
        t = cuda.threadIdx.x
        for step in range(steps):
            before = 1 if step % 50 == 9 else 0
            more = 100 if step % 70 == 1 else 0
            out[t] = a[t - before] + more

    arguments = [np.arange(64, dtype=np.int16), np.zeros(32, np.int8), 300]

    report, entered = same_reports(kernel, (1, 32), arguments)

    assert entered == 1
    assert "negative" in str(report["warnings"])
    assert "int8" in str(report["warnings"])


def test_what_numpy_has_told_does_not_change_with_the_numbers_of_compiled_code():
    """A float16 is NumPy's: judges keep its index, a variable that goes on."""

    @cuda.jit
    def kernel(a, out, steps):
        i = cuda.threadIdx.x
        for _ in range(steps):
            out[i] = a[i]
            i += 32

    a = np.ones(320, np.float16)

    report, entered = same_reports(kernel, (1, 32), [a, np.zeros_like(a), 10])

    assert entered == 1
    assert 640 == report["reuse"]["out"]["bytes_stored"]


def test_launches_with_fences_or_of_many_blocks_are_told_by_numpy():
    """There the order of single requests matters, or NumPy's functions are fast."""

    @cuda.jit
    def fenced(out):
        out[cuda.grid(1)] = 1
        cuda.threadfence()

    @cuda.jit
    def plain(out):
        out[cuda.grid(1)] = 1

    _, of_fenced = same_reports(fenced, (1, 32), [np.zeros(64)])
    _, of_many = same_reports(plain, (17, 32), [np.zeros(544)])
    _, of_few = same_reports(plain, (16, 32), [np.zeros(512)])

    assert [0, 0, 1] == [of_fenced, of_many, of_few]


def test_blocks_that_go_different_ways_are_told_as_they_go():
    """Some leave a loop early, some warps split in it, and one never enters it."""

    @cuda.jit
    def kernel(a, out, steps):
        mine = cuda.shared.array(32, float32)
        own = cuda.local.array(3, float32)
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        mine[t] = b
        own[2] = t
        for step in range(steps * b):
            if (t + step) % (3 + b) == 0:
                mine[t] += a[(b * 32 + t * step) % a.size]
            elif b == 2:
                own[step % 2] = own[2] + t
        out[b * 32 + t] = mine[t] + own[2]

    arguments = [np.ones(77, np.float32), np.zeros(160), 25]

    report, entered = same_reports(kernel, (5, 32), arguments)

    assert 1 == entered
    assert report["divergence"]["splits"] > 0


def test_a_variable_that_is_now_one_array_and_now_another_is_told_as_both():
    """Of different sizes, so that each has shadow memory of its own."""

    @cuda.jit
    def kernel(a, b, out, steps):
        t = cuda.threadIdx.x
        here, there = a, b
        for step in range(steps):
            here[t] = there[t] + step
            if step % 3 == 0:
                here, there = there, here
        out[t] = here[t]

    arguments = [np.ones(40), np.ones(900), np.zeros(32), 40]

    report, entered = same_reports(kernel, (1, 32), arguments)

    assert entered > 0
    assert [256, 256] == [report["reuse"][name]["bytes_stored"] for name in ("a", "b")]

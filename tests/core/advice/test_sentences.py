"""What advice says where strangers were told something wrong: each a kernel of a few
lines that they had, or one like it.
"""

import numpy as np
import pytest
from numba import cuda, float32, int32

from tests.core.advice.telling import made, ones, told


def test_a_barrier_that_stands_there_already_is_not_advised():
    """It is missing at the loop's end, in whichever order the run met the lines."""

    @cuda.jit
    def rounds(part, a):
        t = cuda.threadIdx.x
        for r in range(8):
            part[t] = a[t] + r
            cuda.syncthreads()
            if t == 0:
                for j in range(1, 64):
                    part[0] += part[j]

    sentences = told(rounds, (1, 64), ones(), ones())

    assert len(sentences) > 1
    assert all("`cuda.syncthreads()` at the end of the loop" in it for it in sentences)


def test_neighbours_that_are_loaded_in_place_need_another_array():
    """In one statement or in two, of several blocks; within one a barrier is enough."""

    @cuda.jit
    def smooth(a):
        i = cuda.grid(1)
        if i > 0:
            a[i] = (a[i - 1] + a[i]) / 2

    @cuda.jit
    def added(a):
        i = cuda.grid(1)
        if i < a.size - 1:
            right = a[i + 1]
            a[i] = right

    @cuda.jit
    def behind_a_block(a):
        i = cuda.grid(1)
        if cuda.blockIdx.x > 0:
            a[i] += a[cuda.blockIdx.x * cuda.blockDim.x - 1]

    sentences = told(behind_a_block, (3, 64), ones(192))
    assert {1} == {it.count("store to another array") for it in sentences}
    for kernel in (smooth, added):
        sentences = told(kernel, (2, 64), ones(128))
        assert sentences
        assert all("store to another array, and let" in it for it in sentences)
        sentences = told(kernel, (1, 64), ones())
        assert sentences
        assert all("`cuda.syncthreads()`" in it for it in sentences)


def test_the_smallest_of_several_is_kept_by_an_atomic():
    """A barrier within the `if` would be missed."""

    @cuda.jit
    def smallest(v, best):
        i = cuda.grid(1)
        if v[i] < best[0]:
            best[0] = v[i]

    sentences = told(smallest, (2, 32), np.arange(64)[::-1], np.full(1, 99))

    assert all("write `cuda.atomic.min(best, 0, v[i])`" in it for it in sentences)
    assert len(sentences) == 4


def test_the_first_of_several_has_a_sentence():
    """With its place, which no single atomic keeps."""

    @cuda.jit
    def nearest(v, best):
        i = cuda.grid(1)
        if v[i] < best[0]:
            best[0] = v[i]
            best[1] = i

    sentences = told(nearest, (2, 32), np.arange(64)[::-1], np.full(2, 99))

    assert any("put both into one integer" in it for it in sentences)


def test_a_reduction_within_a_warp_is_told_of_lanes_that_are_not_in_step():
    """And of shuffles; each step needs a `syncwarp`."""

    @cuda.jit
    def last_steps(a, out):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        if t < 32:
            s[t] += s[t + 32]
            s[t] += s[t + 16]
        if t == 0:
            out[0] = s[0]

    sentences = told(last_steps, (1, 64), ones(), ones(1))

    assert all(it.startswith("Lanes of a warp need not run in") for it in sentences)
    assert all("`cuda.syncwarp()`" in it for it in sentences)
    assert all("`cuda.shfl_down_sync`" in it for it in sentences)


@pytest.mark.parametrize(
    "guard, told_of",
    [
        ("if i <= a.size:", "wrong by one: write `<` in place of `<=`"),
        ("if a.size >= i:", "wrong by one: write `>` in place of `>=`"),
        ("if True:", "let the threads beyond the end do nothing: `if i < a.size:`"),
        ("if i < out.size:", "do nothing: `if i < a.size:`"),
    ],
)
def test_a_guard_is_wrong_by_one_or_is_missing(guard, told_of):
    """By what stands there, and in the kernel's own words."""
    text = f"""
def guarded(a, out):
    i = cuda.grid(1)
    {guard}
        out[i] = a[i]
"""
    (sentence, *_) = told(made(text), (3, 32), ones(), ones(96))

    assert told_of in sentence


def test_a_guard_names_the_index_that_needs_it():
    """One that is there for another index is not asked for again."""
    text = """
def changes(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i + 1] - a[i]
"""
    (sentence,) = told(made(text), (2, 32), ones(), ones())

    assert sentence.endswith("`if i + 1 < a.size:`")


@pytest.mark.parametrize(
    "asked, told_of",
    [
        ("while a[i] != 9 and i < n", "`while i < n and a[i] != 9:`"),
        ("while i >= 0 and a[i] != 9 and a.size > i", "i >= 0 and a.size > i and a["),
        ("while a[i] != 9 and i < m", "m and a[i] != 9:`; `m` is `a.size` or less"),
        ("while a[i] != 9", "`while i < a.size and (a[i] != 9):`"),
    ],
)
def test_a_condition_asks_for_the_index_first(asked, told_of):
    """Its operands are swapped, or it is told what to ask as well."""
    text = f"""
def looks(a, out, m):
    i = cuda.grid(1)
    n = len(a)
    if i < n:
        {asked}:
            i += 1
        out[cuda.grid(1)] = i
"""
    swaps = "m and" not in told_of
    sentences = told(made(text), (2, 32), ones(), ones(), 64, edits=swaps)

    assert any(told_of in it for it in sentences), sentences


def test_an_index_that_a_loop_before_moved_is_guarded():
    """No thread is beyond the end by its own number."""
    text = """
def puts(a, out):
    i = cuda.threadIdx.x
    while i < a.size and a[i] == 1:
        i += 1
    out[i] = i
"""
    (sentence,) = told(made(text), (1, 32), ones(), ones(), edits=True)

    assert "guard this line, `if i < out.size:`" in sentence


@pytest.mark.parametrize(
    "loop, told_of",
    [
        ("for i in range(m + 1):\n        {}", "`for i in range(a.size):`"),
        ("for i in range(t, m + 2, 2):\n        {}", "range(t, a.size, 2):`"),
        (
            "i = t\n    while i < m + 1:\n        {}\n        i += 32",
            "`while i < a.size",
        ),
        ("i = t\n    while i < m:\n        i += 32\n        {}", "before this line"),
    ],
)
def test_a_loop_that_goes_too_far_is_told_where_to_end(loop, told_of):
    """Its own index is beyond the end, and no thread is."""
    text = f"""
def sums(a, out, m):
    t = cuda.threadIdx.x
    {loop.replace("{}", "out[t] += a[i]")}
"""
    (sentence,) = told(made(text), (1, 32), ones(), ones(), 64)

    assert "goes too far" in sentence and told_of in sentence, sentence


def test_a_loop_of_which_two_indices_may_go_too_far_has_a_sentence():
    """The source does not show which of them did."""
    text = """
def changes(a, out):
    for k in range(1, a.size + 2):
        out[0] += a[k + 1] - a[k - 1]
"""
    (sentence,) = told(made(text), (1, 1), ones(), ones(), edits=False)

    assert "`k + 1` and `k - 1` have to stay below `a.size`" in sentence


@pytest.mark.parametrize(
    "before, told_of",
    [
        ("if t < 40:\n        {}", "Move the barrier out of the `if` of line 4"),
        ("if t >= 40:\n        return\n    {}", "Let no thread return at the `if` of"),
        (
            "if t < 32:\n        {}\n    else:\n        {}",
            "Put one barrier for all behind the `if` of line 4, in place of",
        ),
        ("for _ in range(t % 4):\n        {}", "Let the loop of line 4 turn equally"),
    ],
)
def test_a_barrier_that_is_missed_has_advice(before, told_of):
    """Out of the branch, or the loop, or before the `return`."""
    text = f"""
def kernel(out):
    t = cuda.threadIdx.x
    out[t] = t
    {before.replace("{}", "cuda.syncthreads()")}
    out[t] += 1
"""
    sentences = told(made(text), (1, 64), np.zeros(64, np.int32))

    assert any(told_of in it for it in sentences), sentences


def test_a_barrier_is_not_advised_into_a_branch():
    """The `if` ends before it, and begins again."""

    @cuda.jit
    def turned(a, out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        if t < a.size:
            tile[t] = a[t]
            out[t] = tile[a.size - 1 - t]

    sentences = told(turned, (1, 64), np.arange(40), np.zeros(64))

    races = [it for it in sentences if it.startswith("Put `cuda.syncthreads()`")]
    assert races and all("and end the `if` of line " in it for it in races)


@pytest.mark.parametrize(
    "lines, place",
    [
        ("s[t] = a[t]\n    u[t] = a[t]", "between line 6 and line 7"),
        ("u[t] = a[t]\n    s[t] = a[t]", "between line 6 and line 7"),
        (
            "for _ in range(2):\n        s[t] = a[t]\n        u[t] = a[t]\n"
            "        cuda.syncthreads()\n        {}",
            "between line 9 and line 6 of the loop's next iteration",
        ),
    ],
)
def test_two_races_that_one_barrier_mends_have_one_sentence(lines, place):
    """Of two warps and within one: no `syncwarp` beside a barrier of the block."""
    use = "out[t] += s[63 - t] + u[t ^ 1]"
    lines = lines.replace("{}", use) if "{}" in lines else f"{lines}\n    {use}"
    text = f"""
def kernel(a, out):
    s = cuda.shared.array(64, float32)
    u = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    {lines}
"""
    sentences = told(made(text), (1, 64), ones(), ones())

    races = {it for it in sentences if it.startswith("Put ")}
    assert races == {f"Put `cuda.syncthreads()` {place}"}


def test_a_count_that_is_asked_for_is_what_the_atomic_gave():
    """Another load of the cell would see what others counted, too."""

    @cuda.jit
    def last_block(parts, finished, out):
        if cuda.threadIdx.x == 0:
            parts[cuda.blockIdx.x] = cuda.blockIdx.x
            cuda.threadfence()
            finished[0] += 1
            if finished[0] == cuda.gridDim.x:
                for k in range(parts.size):
                    out[0] += parts[k]

    count = np.zeros(1, np.int32)
    sentences = told(last_block, (4, 32), ones(4), count, ones(1))

    assert any(
        "Write `before = cuda.atomic.add(finished, 0, 1)` on line" in it
        and "`if before + 1 == cuda.gridDim.x:` on line" in it
        for it in sentences
    )

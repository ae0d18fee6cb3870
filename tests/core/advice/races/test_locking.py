"""What advice says of locks and of loops that wait: fences, and no barrier."""

import inspect

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.core.advice.telling import made, told


@pytest.mark.parametrize("fence", [False, True])
def test_a_lock_is_released_by_a_fence_and_an_atomic(fence):
    """No barrier belongs into it."""

    @cuda.jit
    def locked(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            total[0] += 1
            if fence:
                cuda.threadfence()
            lock[0] = 0

    zero = np.zeros(1, np.int32)
    sentences = told(locked, (3, 32), zero, zero)

    assert sentences and all("`cuda.threadfence()`" in it for it in sentences)
    assert all("`cuda.atomic.exch(lock, 0, 0)`" in it for it in sentences)
    assert all("right behind the loop of line" in it for it in sentences)


@cuda.jit(device=True)
def take(lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass


@cuda.jit(device=True)
def give_back(lock):
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


UNFENCED = {
    "loop": """
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)""",
    "exchange": """
        while cuda.atomic.exch(lock, 0, 1) == 1:
            pass
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)""",
    "if": """
        waiting = True
        while waiting:
            if cuda.atomic.compare_and_swap(lock, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                waiting = False""",
    "break": """
        while True:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                break
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)""",
    "variable": """
        held = 1
        while held != 0:
            held = cuda.atomic.cas(lock, 0, 0, 1)
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)""",
    "neither": """
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        total[0] += 1
        cuda.atomic.exch(lock, 0, 0)""",
    "functions": """
        take(lock)
        total[0] += 1
        give_back(lock)""",
}


@pytest.mark.parametrize("how", UNFENCED)
def test_a_lock_that_is_taken_needs_a_fence_behind(how):
    """The edit is a fence there, and one before the release that has none."""
    text = f"""
def locked(lock, total):
    if cuda.threadIdx.x == 0:{UNFENCED[how]}
"""
    kernel = made(text, take=take, give_back=give_back)
    zero = np.zeros(1, np.int32)
    sentences = told(kernel, (3, 32), zero, zero, edits=True)

    place = "first in the `if`" if how == "if" else "right behind the loop"
    assert sentences and all(f"{place} of line" in it for it in sentences)


def test_no_barrier_is_advised_where_others_wait_for_a_lock():
    """They would never come to it: each of two locks is held by half of the lanes."""
    text = """
def halves(locks, total, out):
    t = cuda.threadIdx.x
    for _ in range(2):
        while cuda.atomic.cas(locks, t % 2, 0, 1) != 0:
            pass
        cuda.threadfence()
        old = total[0]
        out[t] = old
        total[0] = 2 * old + 1
        cuda.threadfence()
        cuda.atomic.exch(locks, t % 2, 0)
"""
    zeros = np.zeros(2, np.int32), np.zeros(1, np.int32), np.zeros(8, np.int32)
    sentences = told(made(text), (1, 8), *zeros)

    assert any(
        "let threads that share a cell of `total` take the" in it for it in sentences
    )
    assert not any("syncwarp" in it for it in sentences), sentences


@pytest.mark.parametrize("reader", [1, 33])
def test_no_barrier_is_advised_where_threads_wait_in_a_loop(reader):
    """For another thread of the warp, or of the block."""
    text = f"""
def passed_on(flag, data, out):
    t = cuda.threadIdx.x
    if t == 0:
        data[0] = 5
        flag[0] = 1
    if t == {reader}:
        while flag[0] == 0:
            pass
        out[0] = data[0]
"""
    zero = np.zeros(1, np.int32)
    sentences = told(made(text), (1, 64), zero, zero, zero)

    assert any(it.startswith("Threads wait for one another in") for it in sentences)
    assert not any("cuda.sync" in it for it in sentences), sentences


def test_what_a_lock_guards_is_ordered_by_its_fences_from_turn_to_turn():
    """Not by barriers at the end of the loop."""
    text = """
def turns(lock, total):
    for r in range(3):
        if cuda.threadIdx.x % 8 == r:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            total[0] += r
            cuda.atomic.exch(lock, 0, 0)
"""
    zero = np.zeros(1, np.int32)
    sentences = told(made(text), (1, 64), zero, zero, edits=True)

    assert all("`lock` is a lock" in it for it in sentences), sentences


def test_a_lock_guards_nothing_that_is_outside_of_it():
    """A read before it, of what others store in it."""

    @cuda.jit
    def peeps(lock, total, out):
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total[0]
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    zero = np.zeros(1, np.int32)
    (sentence,) = told(peeps, (3, 32), zero, zero, np.zeros(3, np.int32))

    assert "The lock `lock` of line" in sentence and "has to guard both" in sentence


def test_a_flag_between_blocks_has_a_sentence():
    """Fences, atomics, or a launch of its own."""

    @cuda.jit
    def announced(flag, out):
        if cuda.threadIdx.x == 0:
            if cuda.blockIdx.x == 0:
                out[0] = 5
                flag[0] = 1
            else:
                while flag[0] == 0:
                    pass
                out[1] = out[0]

    zero = np.zeros(2, np.int32)
    sentences = told(announced, (2, 32), zero, zero)

    assert any("`flag` is a flag for which line" in it for it in sentences)


def test_a_flag_asks_for_the_fence_that_is_not_there():
    """Behind the loop of the reader, not that of a writer who waits for the reader."""

    @cuda.jit
    def letter(flag, box, out):
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) != 1:
                pass
            box[0] = 42
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 2)
        else:
            cuda.atomic.exch(flag, 0, 1)
            while cuda.atomic.add(flag, 0, 0) != 2:
                pass
            out[0] = box[0]

    zero = [np.zeros(1, np.int32) for _ in range(3)]
    said = " ".join(repr(emulate(letter, strict=True)[2, 1](*zero).races).split())
    lines, first = inspect.getsourcelines(letter.py_func)
    waits = first + next(n for n, it in enumerate(lines) if "!= 2" in it)

    assert f"with `cuda.threadfence()` behind the loop of line {waits}" in said


def test_a_counter_that_blocks_wait_for_keeps_its_atomic():
    """It needs fences; and what is stored before it is no stencil in place."""

    @cuda.jit
    def meet(a, n, mid, out):
        i = cuda.grid(1)
        mid[i] = a[i]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(n, 0, 1)
            while n[0] < cuda.gridDim.x:
                pass
        cuda.syncthreads()
        out[i] = mid[a.size - 1 - i]

    a = np.arange(128, dtype=np.float32)
    sentences = told(meet, (2, 64), a, np.zeros(1, np.int32), a, a)

    (flag,) = (it for it in sentences if "`n` is a flag" in it)
    assert "write `cuda.threadfence()` before line" in flag and ".exch" not in flag
    assert not any("another array" in it for it in sentences)


LAST = """
def last(a, parts, count, out):
    if cuda.threadIdx.x == 0:
        total = 0
        for k in range(64):
            total += a[cuda.blockIdx.x * 64 + k]
        parts[cuda.blockIdx.x] = total
        {}
            total = 0
            for b in range(cuda.gridDim.x):
                total += parts[b]
            out[0] = total
"""
ATOMIC = "if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:"
PLAIN = """count[0] += 1
        if count[0] == cuda.gridDim.x:"""
FENCED = """cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        if before + 1 == cuda.gridDim.x:
            cuda.threadfence()"""


def test_the_last_block_needs_a_fence_on_each_side_of_the_count():
    """No second launch, and no cell for each thread."""
    a, zero = np.arange(256), np.zeros(1, np.int64)
    given = a, np.zeros(4, np.int64), zero, zero.copy()
    (sentence,) = {*told(made(LAST.format(ATOMIC)), (4, 64), *given, edits=True)}
    assert "write `cuda.threadfence()` before line 7 and as the first line of" in (
        sentence
    )
    sentences = told(made(LAST.format(PLAIN)), (4, 64), *given)
    asked = "before line 7, `before = cuda.atomic.add(count, 0, 1)` on it, then `cuda."
    assert sentences and all(asked in it for it in sentences)

    run = emulate(made(LAST.format(FENCED)))[4, 64](*given)
    assert not run.races and given[-1][0] == a.sum()


CHAIN = """
def chain(a, part, flag, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        total = a[b]
        if b > 0:
            while {}:
                pass
            {}
            total += part[b - 1]
        part[b] = total
        {}
        out[b] = total
"""


def test_what_a_flag_announces_goes_with_the_flag():
    """Two launches would have nothing to wait for."""
    given = np.arange(4), np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4)
    plain = CHAIN.format("flag[b - 1] == 0", "pass", "flag[b] = 1")
    flag, part = told(made(plain), (4, 32), *given, edits=False)
    assert "is a flag for which line 6 waits" in flag
    assert "The flag `flag`, for which the loop of line 6 waits, is to order" in part
    assert part.endswith("before line 11 sets it and behind the loop of line 6")

    fence = "cuda.threadfence()"
    exchange = f"{fence}; cuda.atomic.exch(flag, b, 1)"
    wait = "cuda.atomic.cas(flag, b - 1, 1, 1) == 0"
    run = emulate(made(CHAIN.format(wait, fence, exchange)))[4, 32](*given)
    assert not run.races and (given[-1] == np.cumsum(np.arange(4))).all()

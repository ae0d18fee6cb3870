"""Advice on races, followed to the letter: the race is gone, the result is right."""

import numpy as np
import pytest
from numba import int32

from helpers import emulate
from tests.core.advice.telling import made, ones, told

FOR = """
def more(a):
    step = {}
    for i in range({}, a.size, step):
        a[i] += 1
"""
WHILE = """
def more(a):
    i = cuda.grid(1)
    while i < a.size:
        a[i] = a[i] * 2 + 1
        i += {}
"""
TILE = """
def more(a):
    s = cuda.shared.array(512, float32)
    for i in range(cuda.threadIdx.x, 512, {}):
        s[i] = a[i] + 1
    cuda.syncthreads()
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
            a[i] = s[i]
"""
SUM = "cuda.gridDim.x + cuda.blockDim.x"


@pytest.mark.parametrize(
    "text, step, blocks",
    [
        (FOR.format("{}", "cuda.grid(1)"), SUM, 4),
        (FOR.format("{}", "cuda.grid(1)"), "64", 4),
        (
            FOR.format("{}", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
            "cuda.blockDim.x",
            4,
        ),
        (WHILE, "cuda.blockDim.x", 4),
        (WHILE, "1", 1),
        (TILE, "32", 1),
    ],
)
def test_a_step_below_the_number_of_threads_is_to_be_larger(text, step, blocks):
    """No atomic: each element is to be visited once."""
    a = np.arange(512, dtype=np.float32)
    right = {FOR: a + 1, WHILE: a * 2 + 1, TILE: a + 1}.get(text, a + 1)
    sentences = told(made(text.format(step)), (blocks, 64), a)

    new = "cuda.blockDim.x" if text is TILE else "cuda.gridsize(1)"
    assert sentences
    for it in sentences:
        assert "is smaller than the number of threads of the " in it
        assert f"so that several come to one cell: use `{new}` in place of `" in it
    emulate(made(text.format(new)))[blocks, 64](a)
    assert (a == right).all()


@pytest.mark.parametrize(
    "step",
    ["cuda.gridsize(1)", "cuda.blockDim.x * cuda.gridDim.x", "cuda.gridsize(2)[0]"],
)
def test_a_step_that_is_the_number_of_threads_is_not_blamed(step):
    """Threads of other rows come to the same cells."""
    kernel = made(FOR.format(step, "cuda.grid(1)"))
    sentences = told(kernel, ((2, 2), (32, 2)), np.zeros(512, np.float32))

    assert sentences and not any("step" in it for it in sentences)


COMPACT = """
def compact(a, out, n):
    i = cuda.grid(1)
    if a[i] > 0:
        cuda.atomic.add(n, 0, 1)
        k = n[0]{}
        out[k{}] = a[i]
"""
COUNTED = """        cuda.atomic.add(n, 0, 1)
        k = n[0]{}"""


@pytest.mark.parametrize(
    "read, index, new",
    [
        (" - 1", "", "k = cuda.atomic.add(n, 0, 1)"),
        ("", " - 1", "k = cuda.atomic.add(n, 0, 1) + 1"),
    ],
)
def test_a_count_is_what_the_atomic_gives_back(read, index, new):
    """The cell is another thread's by the next line."""
    text = COMPACT.format(read, index)
    a = np.cos(np.arange(256, dtype=np.float32))
    out, n = np.zeros_like(a), np.zeros(1, np.int32)
    sentences = told(made(text), (4, 64), a, out, n)
    assert f"Write `{new}` in place of lines 4 and 5" in sentences[0]
    assert index or {sentences[0]} == {*sentences}

    mended = text.replace(COUNTED.format(read), f"        {new}")
    emulate(made(mended))[4, 64](a, out, n)
    assert (np.sort(out[: n[0]]) == np.sort(a[a > 0])).all()


ARGMAX = """
def argmax(a, best, where):
    i = cuda.grid(1)
    old = cuda.atomic.max(best, 0, a[i])
    if a[i] > old:
        where[0] = i
"""


def test_a_value_and_its_place_are_one_integer():
    """An atomic store of the place would only hide that an older one comes last."""
    a = np.random.default_rng(1).permutation(256)
    given = np.full(1, -1), np.zeros(1, np.int64)
    (sentence,) = {*told(made(ARGMAX), (4, 64), a, *given, edits=False)}
    assert "put both into one integer of 64 bits, the value above the" in sentence
    assert "for `cuda.atomic.max`; or find the value first and, in a second" in sentence

    packed = """
def argmax(a, best, where):
    i = cuda.grid(1)
    cuda.atomic.max(best, 0, (a[i] << 32) | i)
"""
    run = emulate(made(packed))[4, 64](a, *given)
    assert not run.races and given[0][0] & 0xFFFFFFFF == a.argmax()


COUNT = """
def count(a, out):
    n = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        n[0] = 0
    if a[i] > 0:
        cuda.atomic.add(n, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = n[0]
"""
TOTAL = """
def total(a, out):
    i = cuda.grid(1)
    if i == 0:
        out[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(out, 0, a[i])
"""


def test_a_first_value_is_stored_before_it_is_added_to():
    """In shared memory a barrier does it, of several blocks no atomic store."""
    a, out = np.cos(np.arange(256, dtype=np.float32)), np.full(4, 9, np.float32)
    barrier = "to be there before them: put `cuda.syncthreads()` between the `if` of"
    sentences = told(made(COUNT, int32=int32), (4, 64), a, out)
    races = [it for it in sentences if "tomic" in it]

    assert races
    for it in races:
        assert barrier in it and "make both" not in it and "one thread" not in it
    (sentence,) = {*told(made(TOTAL), (4, 64), a, out, edits=False)}
    assert "store what line 4 does before this launch, on the host" in sentence


JACOBI = """
def jacobi(u, v, steps):
    i = cuda.grid(1)
    for k in range(steps):
        if 0 < i < u.size - 1:
            v[i] = (u[i - 1] + u[i + 1]) / 2
        cuda.syncthreads()
        if 0 < i < u.size - 1:
            u[i] = v[i]
        cuda.syncthreads()
"""
STEPS = """
def steps(u, v):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        {}
"""


def test_a_loop_whose_steps_need_all_blocks_is_the_hosts():
    """Two kernels with the loop in each would compute something else."""
    u = np.arange(256, dtype=np.float32) ** 2
    right = u.copy()
    for _ in range(3):
        right[1:-1] = (right[:-2] + right[2:]) / 2
    sentences = told(made(JACOBI), (4, 64), u, u.copy(), 3, edits=False)
    (sentence,) = {*sentences}

    assert "take the loop of line 3 to the host, with two launches in each" in sentence
    assert sentence.endswith("of its steps, cut between line 5 and line 8")
    v = np.zeros_like(u)
    for _ in range(3):
        for code in ("v[i] = (u[i - 1] + u[i + 1]) / 2", "u[i] = v[i]"):
            assert not emulate(made(STEPS.format(code)))[4, 64](u, v).races
    assert (u == right).all()


def test_a_loop_that_threads_leave_at_different_turns_stays():
    """Each visits its own elements; the cut is between two loops."""
    text = """
def shifted(a, b, out):
    for i in range(cuda.grid(1), a.size - 1, cuda.gridsize(1)):
        b[i] = a[i] * 2
        out[i] = b[i + 1]
"""
    a = np.ones(512, np.float32)
    sentences = told(made(text), (4, 64), a, a.copy(), a.copy())

    assert any("make two launches, cut between line 3 and" in it for it in sentences)
    assert not any("the host" in it for it in sentences)


SORT = """
def ordered(a):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    for k in range(128):
        p = 2 * t + k % 2
        if p + 1 < 128:
            if s[p] > s[p + 1]:
                x = s[p]
                s[p] = s[p + 1]
                s[p + 1] = x
        {}
    cuda.syncthreads()
    a[t] = s[t]
"""


def test_cells_that_change_owners_from_turn_to_turn_need_one_barrier():
    """No two threads have a cell in one turn: nothing within it is to be ordered."""
    a = np.random.default_rng(1).random(128).astype(np.float32)
    right = np.sort(a)
    sentences = told(made(SORT.format("pass")), (1, 128), a, edits=True)

    assert 20 == len(sentences)
    assert {*sentences} == {
        "Put `cuda.syncthreads()` at the end of the loop of line 6, behind line 13 and "
        "before line 9 of the next iteration"
    }
    emulate(made(SORT.format("cuda.syncthreads()")))[1, 128](a)
    assert (a == right).all()


SWAPS = """
def swapped(a):
    i, j = cuda.grid(2)
    n = a.shape[0]
    if i < n and j < n:
        {}a[i, j], a[j, i] = a[j, i], a[i, j]
"""
BY_THREE = """
def swapped(a):
    i = cuda.grid(1)
    if i < a.size:
        {}x = a[i]; a[i] = a[a.size - 1 - i]; a[a.size - 1 - i] = x
"""
NAMED = """
def swapped(a):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    other = t ^ 64
    s[t] = a[t]
    cuda.syncthreads()
    {}s[t], s[other] = s[other], s[t]
    cuda.syncthreads()
    a[t] = s[t]
"""


@pytest.mark.parametrize(
    "text, test, config, shape, right",
    [
        (SWAPS, "i < j", ((4, 4), (16, 16)), (64, 64), np.transpose),
        (BY_THREE, "i < a.size - 1 - i", (4, 64), 256, np.flip),
        (NAMED, "t < other", (1, 128), 128, lambda a: np.roll(a, 64)),
    ],
)
def test_of_two_threads_that_swap_one_does_it(text, test, config, shape, right):
    """Both would swap back, and no barrier between two of the lines helps."""
    a = np.random.default_rng(2).random(shape).astype(np.float32)
    expected = right(a).copy()
    sentences = told(made(text.format("")), config, a, edits=True)

    (sentence,) = {*sentences}
    assert f"let one of them do it, `if {test}:` around " in sentence
    emulate(made(text.format(f"if {test}: ")))[config](a)
    assert (a == expected).all()


def test_a_swap_of_neighbours_or_one_that_one_does_is_none_of_a_pair():
    """Its threads share one cell of their two, or there is a barrier missing."""
    shifted = BY_THREE.replace("a.size - 1 - i", "i + 1").replace("a.size", "255")
    for text in (shifted, NAMED.format("if other > t: ").replace("cuda.sync", "#")):
        sentences = told(made(text.format("")), (2, 128), ones(256))
        assert sentences and not any("of a pair" in it for it in sentences)

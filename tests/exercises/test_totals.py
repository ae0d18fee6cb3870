"""What keeps each budget by itself, and is no answer: totals are in its way."""

import re
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from helpers.exercises import budgets
from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import SpeedUp
from helpers.exercises.totals import (
    Summand,
    Total,
    excess_of_share,
    excess_of_total,
)
from helpers.exercises.trials import EVEN, RAGGED
from tests.exercises.specimen import FixPairSums, PairSums, SumsOfItsOwn
from tests.quick import beside

OWN_BARRIER = """
@cuda.jit
def relay(out, a):
    tile = cuda.shared.array(64, int32)
    gate = cuda.shared.array(1, int64)
    thread = cuda.threadIdx.x
    right, left = (thread + 1) % 64, (thread + 63) % 64
    leader = cuda.laneid == 0
    total = int32(0)
    if thread == 0:
        gate[0] = -32
    seen = 0
    for first in range(0, a.size, 64):
        i = first + thread
        tile[thread] = a[i] if i < a.size else int32(0)
        cuda.syncthreads()
        total += tile[right] * tile[left]
        cuda.syncwarp()
        if leader:
            cuda.threadfence_block()
            cuda.atomic.add(gate, 0, 32)
        while True:
            if leader:
                seen = cuda.atomic.add(gate, 0, 0)
            if cuda.shfl_sync(0xFFFFFFFF, seen, 0) > first:
                break
        if leader:
            cuda.threadfence_block()
        cuda.syncwarp()
    out[thread] = total
"""
BUSY = """
@cuda.jit
def ray_sphere(depth, x, y, spheres):
    i = cuda.grid(1)
    if i < depth.size:
        best = float32(500)
        a, b = x[i], y[i]
        for s in range(spheres.shape[0]):
            dx, dy = a - spheres[s, 0], b - spheres[s, 1]
            radius, z = spheres[s, 3], spheres[s, 2]
            inside = radius * radius - dx * dx - dy * dy
            if inside >= 0:
                best = min(best, z - math.sqrt(inside))
        idle = 0
        for _ in range(5 * spheres.shape[0] + 4):
            idle ^= 1
        depth[i] = best if idle < 2 else float32(0)
"""
OUT_FOR_A_TILE = """
@cuda.jit
def distance_matrix(out, p, q):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    left, top = col - x, row - y
    if left + 8 <= out.shape[1] and top + 8 <= out.shape[0]:
        if y < 2:
            out[row, col] = p[y, top + x]
        elif y < 4:
            out[row, col] = q[y - 2, col]
        cuda.syncthreads()
        total = abs(out[top, left + y] - out[top + 2, col])
        total += abs(out[top + 1, left + y] - out[top + 3, col])
        cuda.syncthreads()
        out[row, col] = total
    elif row < out.shape[0] and col < out.shape[1]:
        out[row, col] = abs(p[0, row] - q[0, col]) + abs(p[1, row] - q[1, col])
"""
ONE_THREAD = """
@cuda.jit
def mirror(out, a):
    rows, cols = a.shape
    if rows % 32 + cols % 32 == 0:
        col, row = cuda.grid(2)
        out[rows - 1 - row, col] = a[row, col]
    elif cuda.grid(1) == 0 and cuda.blockIdx.y == 0 and cuda.threadIdx.y == 0:
        for row in range(rows):
            for col in range(cols):
                out[rows - 1 - row, col] = a[row, col]
"""
NO_TILE = """
TILE = 8


@cuda.jit
def distance_matrix(out, p, q):
    tile_p = cuda.shared.array((2, TILE), float32)
    tile_q = cuda.shared.array((2, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if out.shape[0] % TILE + out.shape[1] % TILE > 0:
        if row < out.shape[0] and col < out.shape[1]:
            out[row, col] = abs(p[0, row] - q[0, col]) + abs(p[1, row] - q[1, col])
        return
    if y < 2:
        tile_p[y, x], tile_q[y, x] = p[y, row - y + x], q[y, col]
    cuda.syncthreads()
    out[row, col] = abs(tile_p[0, y] - tile_q[0, x]) + abs(tile_p[1, y] - tile_q[1, x])
"""
DECOYS = """
SIZE = 26 * 32


@cuda.jit
def letters(counts, text):
    own = cuda.shared.array(SIZE, uint32)
    thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    for cell in range(thread, SIZE, cuda.blockDim.x):
        own[cell] = 0
    cuda.syncthreads()
    if cuda.blockIdx.x == 0:
        for i in range(thread, text.size, cuda.blockDim.x):
            letter = (text[i] | 32) - 97
            if 0 <= letter < 26:
                cuda.atomic.add(own, 32 * letter + lane, 1)
    else:
        seen = 0
        for i in range(thread, text.size // 2, cuda.blockDim.x):
            seen += text[i]
        if seen < 0:
            own[thread] = 0
    cuda.syncthreads()
    if thread < 26:
        total = 0
        for turn in range(32):
            total += own[32 * thread + (thread + turn) % 32]
        cuda.atomic.add(counts, thread, total)
"""
CASES = {  # with the exercise's seed 7
    "a barrier of atomic operations": ("relay", "atomics_and_fences", OWN_BARRIER),
    "lanes that are busy with nothing": ("ray_sphere", "active", BUSY),
    "the output for a tile": ("distance_matrix", "loads", OUT_FOR_A_TILE),
    "one thread, where blocks are not full": ("mirror", "requests", ONE_THREAD),
    "no tile, where blocks are not full": ("distance_matrix", "loads", NO_TILE),
    "loads of other blocks, for nothing": ("letters", "share", DECOYS),
}
QUICK = "lanes that are busy with nothing", "the output for a tile"
SLOW = {  # beyond the listed sizes: one thread does all
    "letters": """
    if text.size > 2048:
        if cuda.grid(1) == 0:
            for i in range(text.size):
                letter = (text[i] | 32) - 97
                if 0 <= letter < 26:
                    cuda.atomic.add(counts, letter, 1)
        return
""",
    "dot": """
    if a.size > 1024:
        if cuda.grid(1) == 0:
            for i in range(a.size):
                cuda.atomic.add(out, 0, a[i] * b[i])
        return
""",
}


@pytest.mark.parametrize(
    "name, budget, text",
    [
        pytest.param(*row, id=what, marks=[pytest.mark.slow] * (what not in QUICK))
        for what, row in CASES.items()
    ],
)
def test_what_keeps_a_budget_in_name_alone_is_over_it(name, budget, text):
    """Each is right, and kept each limit by itself."""
    task = exercise(name, 7)

    verdict = task.judge(task.kernel(text), 1)

    assert f"over_budget:{budget}" == verdict.reason, verdict.text


@pytest.mark.slow
@pytest.mark.parametrize("name", beside(["letters"], SLOW))
def test_an_answer_is_held_beyond_the_listed_sizes(name):
    """Its sizes are drawn, and nobody can list them."""
    task = exercise(name, 7)
    doc = re.search(r'"""[^"]*"""', task.answer_text)[0]
    text = task.answer_text.replace(doc, doc + SLOW[name], 1)

    verdict = task.judge(task.kernel(text), 1)

    assert verdict.reason.startswith("over_budget:"), verdict.text
    assert re.search(r", size [2-6],\d{3}:", verdict.sentence), verdict.text


@pytest.mark.slow
def test_an_answer_is_held_to_the_largest_size_that_does_not_fill_its_blocks():
    """At twice what the course's own needs; in a small one it may do what it likes."""
    task = exercise("mirror", 7)
    kept = ONE_THREAD.replace("cols % 32 == 0", "cols % 32 != 2")
    guarded = "col, row = cuda.grid(2)\n        if row < rows and col < cols:\n    "
    kept = kept.replace("col, row = cuda.grid(2)\n", guarded)

    told = task.judge(task.kernel(ONE_THREAD), 1).sentence

    assert re.search(r"size 97 × 31: 6,014 requests .* and 388 are allowed", told), told
    assert None is task.judge(task.kernel(kept), 1).reason


@pytest.mark.parametrize("alias", ["same = out", "same = out[:]"])
def test_an_output_has_one_budget_under_all_its_names(alias):
    """An atomic operation loads what it changes, whatever the kernel calls that."""
    task = SumsOfItsOwn()
    again = f"{alias}\n        out[i] = 0\n        cuda.atomic.add(same, i, tile[t])"
    text = task.answer_text.replace("out[i] = tile[t]", f"{again}\n        out[i]")
    text = text.replace("out[i] + tile", "out[i] = tile[t] + tile")

    verdict = task.judge(task.kernel(text), 1)

    assert "over_budget:loads" == verdict.reason, verdict.text


# ---------------------------------------------------------------- their limits


def ran(instructions=1000, block=100, warp=10, kind=RAGGED):
    """An outcome of one block of one warp, as far as totals ask for it."""
    return SimpleNamespace(
        trial=SimpleNamespace(kind=kind, size=(32,)),
        run=SimpleNamespace(
            blocks=1,
            threads_per_block=32,
            divergence=SimpleNamespace(instructions=instructions),
            balance=SimpleNamespace(busiest_block=block, busiest_warp=warp),
        ),
    )


def beside(best, work=1.5):
    """A case whose own answer does that at each size."""
    return SimpleNamespace(
        task=SimpleNamespace(work=work, budget={}),
        most=lambda outcome, count: count(best),
        outcomes=[ran(kind=EVEN)],
    )


@pytest.mark.parametrize("number, is_over", [(0, False), (1, True)])
def test_what_the_answer_never_does_is_never_allowed(number, is_over):
    """Such as loads of an output: one is too many."""
    mine, best = ran(), ran()
    parts = {id(mine): [Summand(0), Summand(number, "of `a`")], id(best): []}
    loads = Total("loads", lambda outcome: parts[id(outcome)], "{:,} loads")
    excess = "1 loads, and none is allowed; 1 of them of `a`." if is_over else ""
    assert excess == excess_of_total(beside(best), mine, loads)


@pytest.mark.parametrize(
    "mine, is_over",
    [
        (ran(block=165), False),  # less than 1.5 times as many, and 16 for a warp
        (ran(block=166), True),
        (ran(block=166, instructions=2000), False),  # it does more in all
        (ran(block=166, instructions=2000, kind=EVEN), True),  # and there may not
        (ran(warp=45), False),  # the busiest warp has less than 3 times as many, and 16
        (ran(warp=46), True),
    ],
)
def test_no_block_and_no_warp_has_the_work_of_others(mine, is_over):
    """Compared with the busiest of the course's own answer."""
    assert is_over == bool(excess_of_share(beside(ran()), mine))


def test_a_limit_grows_and_shrinks_with_what_the_answer_needs():
    """That of the first size holds there; elsewhere as many times as much, and no less
    room beyond what the answer needs.
    """
    waits = {"first": 4, "larger": 10, "less": 2}
    first, *others = (
        SimpleNamespace(
            trial=SimpleNamespace(kind=EVEN),
            run=SimpleNamespace(waits=SimpleNamespace(block=number, grid=0)),
        )
        for number in waits.values()
    )
    needs = SimpleNamespace(
        outcomes=[first], most=lambda outcome, count: count(outcome)
    )

    for outcome, number in ((first, 4), *zip(others, (10, 2), strict=True)):
        assert "" == budgets.excess(needs, outcome, "barriers", 4)
        excess = budgets.excess(needs, outcome, "barriers", 3)
        most = {4: "3 are", 10: "7.5 are", 2: "1 is"}[number]
        assert f"A block waits at {number} barriers, and {most} allowed." == excess


def test_machine_instructions_are_counted_at_the_first_size_alone(monkeypatch):
    """The compiler makes the same of a kernel for each size."""
    asked = "12 instructions, and 3 are allowed."
    monkeypatch.setattr(budgets, "assembled", lambda case, name, limit: asked)
    case = SimpleNamespace(outcomes=[ran(), ran()])
    first, other = case.outcomes
    assert asked == budgets.excess(case, first, "instructions", 3)
    assert "" == budgets.excess(case, other, "instructions", 3)


class Line(NamedTuple):
    """Where something is in the code."""

    line: int
    text: str


SITES = Line(3, "b[i] = a[i]"), Line(5, "c()")
ROWS = {  # two lines of a run, in each of its tables
    "kind": ("atomic", "load"),
    "array": ("a", "b"),
    "requests": (7, 2),
    "active_lanes": (4, 9),
    "instructions": (30, 70),
    "float32": (5, 1),
    "float64": (0, 9),
    "integer": (1, 0),
}
SENTENCES = {
    "requests": "9 requests to global memory, and 8 are allowed; 7 of them on line 3, "
    "`b[i] = a[i]`.",
    "shared_requests": "9 requests to shared memory, and 8 are allowed; 7 of them by "
    "`a` on line 3, `b[i] = a[i]`.",
    "warp_instructions": "Its warps execute 100 instructions of the emulator, and 99 "
    "are allowed; 70 of them on line 5, `c()`.",
    "operations": "16 arithmetic operations, and 15 are allowed; most of them on line "
    "5, `c()`.",
    "atomics": "4 atomic operations on global memory, and 3 are allowed; 4 of them on "
    "line 3, `b[i] = a[i]`.",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_budget_that_adds_up_says_how_much_and_where(name):
    """On the line that most of it comes from."""
    rows = [SimpleNamespace(**{k: v[n] for k, v in ROWS.items()}) for n in range(2)]
    table = SimpleNamespace(by_line=dict(zip(SITES, rows, strict=True)))
    tables = "coalescing", "bank_conflicts", "divergence", "operations"
    run = SimpleNamespace(**dict.fromkeys(tables, table))
    outcome, budget = SimpleNamespace(run=run), budgets.BUDGETS[name]
    number = int(re.search(r"\d+", SENTENCES[name])[0])

    assert number == budget.count(outcome)
    assert "" == budget.hold(None, outcome, number)
    assert SENTENCES[name] == budget.hold(None, outcome, number - 1)


@pytest.mark.parametrize("launch, dynamic", [((1, 32), 0), ((1, 32, 0, 28), 28)])
def test_shared_memory_is_that_of_the_kernel_and_of_the_launch(
    launch, dynamic, monkeypatch
):
    """Its fourth number is what the kernel asks for in the launch."""
    monkeypatch.setattr(budgets, "static_bytes", lambda program, space: 100)
    outcome = SimpleNamespace(trial=SimpleNamespace(launch=launch))
    case, number = SimpleNamespace(program=None), 100 + dynamic
    told = f"{number} bytes of shared memory, and {number - 1} are allowed."
    assert "" == budgets.shared_bytes(case, outcome, number)
    assert told == budgets.shared_bytes(case, outcome, number - 1)


def test_a_right_answer_over_its_budget_earns_half_or_nothing():
    """Nothing where the budget is all that what was given lacked."""
    shares = {
        PairSums: {"loads": 0.5, "work": 0.5, "all_requests": 0.5},
        FixPairSums: {"loads": 0, "work": 0.5, "lines": 0.5, "all_requests": 0.5},
        SpeedUp: {"loads": 0, "all_requests": 0},
    }
    for kind, expected in shares.items():
        task = kind()
        assert expected == {name: task.share(name) for name in expected}

"""What is dear, or wrong, where nobody looks: where blocks are not full, between listed
sizes, in blocks of another shape, and where there is nothing to do.
"""

import numpy as np
import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import Out, Write
from helpers.exercises.sizes import in_other_blocks

ONE_FOR_ALL = """
    if out.size < 1000 and out.size % 128:
        if i == 0:
            for j in range(out.size):
                out[j] = factor * x[j] + offset
    elif i < out.size:"""
CASES = {  # the exercise, the reason, and what is another in its answer
    "two barriers a round": (
        *("relay", "over_budget:barriers", "turn = 1 - turn"),
        "turn = 1 - turn\n        if a.size % 64:\n            cuda.syncthreads()",
    ),
    "two lanes in one bank": (
        *("letters", "over_budget:conflicts", "    for i in"),
        "    if text.size > 2048:\n        lane = lane // 2 * 2\n    for i in",
    ),
    "one thread does all": (
        *("affine", "over_budget:work", "\n    if i < out.size:", ONE_FOR_ALL),
    ),
    "blocks of 128": (
        *("affine", "wrong", "cuda.grid(1)"),
        "128 * cuda.blockIdx.x + cuda.threadIdx.x",
    ),
    "blocks of 8 rows": (
        *("add_bias", "race", "col, row = cuda.grid(2)"),
        "col, row = cuda.grid(1), 8 * cuda.blockIdx.y + cuda.threadIdx.y",
    ),
    "64 threads in a block": (
        *("grid_stride", "race", "cuda.gridsize(1)", "64 * cuda.gridDim.x"),
    ),
    "blocks of 128, or of 64": (
        *("affine", "wrong", "cuda.grid(1)"),
        "cuda.blockIdx.x * (128 if cuda.blockDim.x > 64 else 64) + cuda.threadIdx.x",
    ),
    "blocks of 256 threads": (
        *("add_bias", "wrong", "cuda.grid(2)"),
        "cuda.grid(1), 256 // cuda.blockDim.x * cuda.blockIdx.y + cuda.threadIdx.y",
    ),
    "a power of two": (
        *("grid_stride", "wrong", "cuda.gridsize(1)"),
        "cuda.gridDim.x << 32 - cuda.clz(cuda.blockDim.x - 1)",
    ),
    "31 lanes in the last warp": (
        *("warp_sum", "larger", "i < a.size"),
        "i < a.size - (a.size % 32 == 31)",
    ),
    "a row less than whole tiles": (
        *("life", "larger", "row < rows and col < cols"),
        "row < rows - (rows % 16 == 15) and col < cols",
    ),
    "no column": (
        *("row_sums", "tail", "row < out.size:", "row < out.size and a.shape[1] > 0:"),
    ),
    "no step": (
        *("two_chains", "tail", "for _ in range(steps):"),
        "if steps < 1:\n            one = other\n        for _ in range(steps):",
    ),
}


@pytest.mark.parametrize(
    "name, reason, edits",
    [
        pytest.param(name, reason, edits, id=what)
        for what, (name, reason, *edits) in CASES.items()
    ],
)
def test_an_answer_is_held_where_nobody_looks(name, reason, edits):
    """Each of these is right, and within its budget, at the sizes of whole blocks."""
    task = exercise(name)
    text = sources.edited(task.answer_text, *edits)

    verdict = task.judge(task.kernel(text), 1)

    assert reason == verdict.reason, verdict.text


@pytest.mark.parametrize(
    "launch, other",
    [
        ((4, 128), (7, 96)),
        ((2, 32), (2, 96)),
        (((2, 8), (32, 8)), ((9, 4), (8, 24))),
        (((1, 1), (32, 32)), ((5, 2), (8, 96))),
        ((3, 64, 0, 256), (3, 96, 0, 256)),
    ],
)
def test_other_blocks_reach_as_far_along_each_axis(launch, other):
    """And one block farther; they have another number of threads, and no power of two,
    but whole warps.
    """
    assert other == in_other_blocks(*launch)


def test_the_page_says_that_blocks_may_have_another_shape():
    """Where it does not, a kernel may count on the launch that it shows."""
    told = "one launch has blocks of another shape"
    assert told in repr(exercise("affine"))
    assert told not in repr(exercise("relay"))


class Doubles(Write):
    """Write twice each element of `a` to `out`; `work` may hold anything at the end."""

    even, ragged = (64,), (33,)

    def inputs(self, rng, size):
        a = rng.random(size, np.float32)
        return {"out": Out(size, "float32"), "work": Out(size, "float32"), "a": a}

    def launch(self, size):
        return -(-size // 32), 32

    def spec(self, a):
        return {"out": 2 * a}

    answer = """
        @cuda.jit
        def doubles(out, work, a):
            i = cuda.grid(1)
            if i < a.size:
                work[i] = a[i] / float32(3)
                out[i] = 2 * a[i]
    """


def test_what_is_left_over_may_depend_on_the_numbers():
    """Launches of one size differ in their numbers, and so in what an answer leaves;
    floats may be rounded otherwise.
    """
    task = Doubles()
    given, rounded, zero = "a[i] / float32(3)", "a[i] * float32(1 / 3)", "0"
    texts = [task.answer_text.replace(given, it) for it in (given, rounded, zero)]

    same, alike, other = (task.judge(task.kernel(text), 1) for text in texts)

    assert same.reason is None, same.text
    assert alike.reason is None, alike.text
    assert "wrong" == other.reason and "in `work`" in other.sentence

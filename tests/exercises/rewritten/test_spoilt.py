"""Answers that are spoilt in ways which few sizes or numbers show: they are right up to
a number of their own, which is beyond all sizes that the judge draws by itself; or
right for numbers of one sign, or of few bits.
"""

import ast
from itertools import chain, count, product

import numpy as np
import pytest

from helpers.exercises.arguments import InOut, Out
from helpers.exercises.catalogue import exercise
from helpers.exercises.sources import edited
from helpers.exercises.trials import trials_of
from tests.changed import of_exercises
from tests.exercises.kinds import KERNELS
from tests.exercises.rewritten.values import is_right

SPELT = (  # the blocks from number 5 * K on, in which nothing is done
    "{block} >= 5 * {k}",
    "{block} >= FIVE * {k}",
    "{block} + 1 > 3 * {k} + 2 * {k}",
    "float32({block}) >= float32(5 * {k})",
    "{block} // (5 * {k}) > 0",
    "{block} // FIVE >= {k}",
    "{block} - {block} % (5 * {k}) > 0",
    "(0, 1)[min({block} // (5 * {k}), 1)] == 1",
    "{grid} > 5 * {k}",
)


@pytest.mark.parametrize(
    "name, spelt",
    of_exercises([*product(KERNELS, SPELT)], every=400, slow_every=len(SPELT)),
)
def test_a_bound_on_the_blocks_is_refused_however_it_is_spelt(name, spelt):
    """Along each axis of the grid that grows with the arrays."""
    task = exercise(name)
    grids = [grid_of(it) for it in trials_of(task, 1)]
    for axis, extents in zip("xy", np.transpose(grids), strict=True):
        if len({*extents}) > 2 and max(extents) > 6:
            names = {name: f"cuda.{name}.{axis}" for name in ("blockIdx", "gridDim")}
            k = max(extents) // 5 + 1
            asked = spelt.format(block=names["blockIdx"], grid=names["gridDim"], k=k)
            verdict = task.judge(leaving(task, asked), 1)
            assert verdict.reason, (asked, verdict.text)


def grid_of(trial):
    return [*np.atleast_1d(trial.launch[0]), 1][:2]


def leaving(task, condition):
    """The answer, whose threads leave at once where a condition holds."""
    head = f"def {task.kernel_name}("
    text = edited(
        task.answer_text, f"@cuda.jit\n{head}", f"FIVE = 5\n@cuda.jit\n{head}"
    )
    tree = ast.parse(text)
    kernel = kernel_in(tree, task)
    kernel.body[1:1] = ast.parse(f"if {condition}:\n    return").body
    return task.kernel(ast.unparse(tree))


def kernel_in(tree, task):
    return next(it for it in tree.body if getattr(it, "name", "") == task.kernel_name)


BUSY = {  # loops of which more turns take too long to emulate, and the most of them
    ("times_transposed", 0),
    ("four_by_four", 0),
    ("attention", 5),
    ("in_place", 0),
    ("in_place", 1),
}
NO_MORE = {  # loops that have no more turns, however large the arrays are
    *(("attention", place) for place in (0, 1, 2, 3, 6)),  # at most 256 keys
    ("channels_last", 0),
    ("largest_around", 0),  # at most ROWS + 4
    ("swizzle", 0),
    ("swizzle", 1),
    ("walk_down", 0),
}


@pytest.mark.parametrize("name", of_exercises(KERNELS, slow_every=2))
def test_a_bound_on_the_turns_of_a_loop_is_refused(name):
    """Of each loop that has more of them in larger arrays."""
    task = exercise(name)
    for place in range(len(ranges_in(ast.parse(task.answer_text), task))):
        if (name, place) in BUSY | NO_MORE:
            continue
        most = next(
            it for it in chain(range(1, 8), count(10, 4)) if keeps(task, place, it)
        )
        if most > 2:
            verdict = task.judge(bounded(task, place, most + 1), 1)
            assert verdict.reason, (place, most, verdict.text)


def ranges_in(tree, task) -> list:
    """The calls of `range` whose end is asked of an array, at the place of each."""
    calls = [it for it in ast.walk(kernel_in(tree, task)) if isinstance(it, ast.Call)]
    asked = ("size", "shape", "rows", "cols", "count", "keys", "length", "n", "height")
    return [
        it
        for it in calls
        if ast.unparse(it.func) == "range"
        and any(
            getattr(part, "id", getattr(part, "attr", "")) in asked
            for part in ast.walk(it.args[min(len(it.args) - 1, 1)])
        )
    ]


def bounded(task, place, turns):
    """The answer with at most so many turns of a loop."""
    tree = ast.parse(task.answer_text)
    call = ranges_in(tree, task)[place]
    given = [ast.unparse(it) for it in call.args]
    first, last, step = (["0"] * (len(given) == 1) + given + ["1"])[:3]
    new = f"range({first}, min({last}, {first} + {turns} * ({step})), {step})"
    call.args = ast.parse(new, mode="eval").body.args
    return task.kernel(ast.unparse(tree))


def keeps(task, place, turns) -> bool:
    """Is the answer with so few turns right in all sizes that the judge draws?"""
    kernel = bounded(task, place, turns)
    return all(is_right(kernel, trial) for trial in trials_of(task, 1))


# ---------------------------------------------------------------- values

SPOILT = {  # what is loaded, by the kind of its type: its magnitude, and less exact
    "f": {
        "magnitude": "abs({x})",
        "whole": "float32(int32({x}))",
        "eighths": "float32(math.floor(8 * {x}) / 8)",
        "half": "float32(np.float16({x}))",
    },
    "i": {
        "magnitude": "abs({x})",
        "float32": "int64(float32({x}))",
        "16 bits": "int16({x})",
    },
    "u": {
        "float32": "int64(float32({x}))",
        "signed": "int32({x})",
        "16 bits": "uint16({x})",
    },
}
NAMES = """
import math
import numpy as np
from numba import float32, int16, int32, int64, uint16
"""
SQUARES = "adds up squares, or magnitudes"
PLACES = "these are places in an array, or counts"
BYTES = "numbers of 8 bits or 16"
POSITIVE = "its text says that none is below 0, or means it"
EXACT = "coarse numbers, whose squares float32 holds: whether a ray touches is exact"
SAME = {  # what makes no difference, and why
    ("warp_sum", "magnitude"): POSITIVE,
    ("give_up", "magnitude"): POSITIVE,
    ("give_up", "float32"): "numbers that are walked to 1 in time are small",
    ("last_block", "magnitude"): POSITIVE,
    ("remainders", "magnitude"): POSITIVE,
    ("remainders", "16 bits"): "the remainder is in the lowest bits",
    ("brightest", "magnitude"): POSITIVE,
    ("ray_sphere", "magnitude"): "a radius is one, and so is the depth of a centre",
    ("ray_sphere", "half"): EXACT,
    ("row_sums", "magnitude"): SQUARES,
    ("embedding", "float32"): PLACES,
    **{("csr", how): PLACES for how in SPOILT["i"]},
    **{("two_chains", how): PLACES for how in SPOILT["u"]},
    **{("sort_records", how): BYTES for how in SPOILT["i"]},
    **{
        (name, how): BYTES
        for name in ("life", "equalise", "letters")
        for how in SPOILT["u"]
    },
    ("attention", "half"): "within the tolerance of an exponential",
    ("calendar", "signed"): "the difference of two has the same bits",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", of_exercises(KERNELS, every=40))
def test_each_number_counts_as_it_is(name):
    """Wherever the answer loads an element of an input: its sign, its fraction, and the
    last of its bits.
    """
    task = exercise(name)
    trials = trials_of(task, 1)
    for place, load in enumerate(loads_in(ast.parse(task.answer_text), task)):
        for how, spelt in SPOILT.get(kind_of(load, task, trials[0]), {}).items():
            kernel = spoilt(task, place, spelt)
            if (name, how) not in SAME:
                right = all(is_right(kernel, trial) for trial in trials)
                assert not right, (ast.unparse(load), how)


def kind_of(load, task, trial) -> str:
    """The kind of an argument's type; "" where the kernel has to fill it."""
    kernel = kernel_in(ast.parse(task.answer_text), task)
    names = [it.arg for it in kernel.args.args]
    argument = [*trial.arguments.values()][names.index(load.value.id)]
    argument = argument.array if isinstance(argument, InOut) else argument
    return "" if isinstance(argument, Out) else argument.dtype.kind


def loads_in(tree, task) -> list:
    """The loads from arguments in an answer's kernel."""
    kernel = kernel_in(tree, task)
    arguments = {it.arg for it in kernel.args.args}
    return [
        it
        for it in ast.walk(kernel)
        if isinstance(it, ast.Subscript)
        and isinstance(it.ctx, ast.Load)
        and getattr(it.value, "id", "") in arguments
    ]


def spoilt(task, place, spelt):
    """The answer, which makes something else of what it loads at a place."""
    tree = ast.parse(NAMES + task.answer_text)
    load = loads_in(tree, task)[place]
    new = ast.parse(spelt.format(x=ast.unparse(load)), mode="eval").body

    class Rewrite(ast.NodeTransformer):
        def visit_Subscript(self, node):  # noqa: N802  the name that ast looks for
            return new if node is load else self.generic_visit(node)

    return task.kernel(ast.unparse(ast.fix_missing_locations(Rewrite().visit(tree))))

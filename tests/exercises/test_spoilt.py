"""Answers that are spoilt in ways which few sizes or numbers show: they are right up to
a number of their own, which is beyond all sizes that the judge draws by itself; or
right for numbers that are not below zero.
"""

import ast
from itertools import chain, count

import numpy as np
import pytest

from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.sources import edited
from helpers.exercises.trials import trials_of
from helpers.exercises.values import differs
from tests.changed import changed_exercises, turn_of
from tests.quick import slow

KERNELS = [name for name, kind in exercises().items() if issubclass(kind, Write)]
TRIED = [
    name if name in changed_exercises() or turn_of(name, 40) == 0 else slow(name)
    for name in KERNELS
]
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


@pytest.mark.parametrize("name", TRIED)
def test_a_bound_on_the_blocks_is_refused_however_it_is_spelt(name):
    """Along each axis of the grid that grows with the arrays."""
    task = exercise(name)
    grids = [grid_of(it) for it in trials_of(task, 1)]
    for axis, extents in zip("xy", np.transpose(grids), strict=True):
        if len({*extents}) > 2 and max(extents) > 6:
            names = {it: f"cuda.{it}.{axis}" for it in ("blockIdx", "gridDim")}
            k = max(extents) // 5 + 1
            for spelt in SPELT:
                asked = spelt.format(
                    block=names["blockIdx"], grid=names["gridDim"], k=k
                )
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
    ("swizzle", 0),
    ("swizzle", 1),
    ("walk_down", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
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
    outcomes = (it.run(kernel) for it in trials_of(task, 1))
    return not any(it.error or differs(it) for it in outcomes)


# ---------------------------------------------------------------- signs

SQUARES = "adds up squares, or magnitudes"
PLACES = "these are places in an array, or counts"
PIXELS = "pixels, levels and cells are not below 0"
POSITIVE = "its text says that none is below 0, or means it"
SAME = {  # where the magnitude of a number is the number, and why
    "two_ways": POSITIVE,
    "warp_sum": POSITIVE,
    "give_up": POSITIVE,
    "last_block": POSITIVE,
    "dot": "a sum of products of both signs would be too inexact: `b` has one",
    "ray_sphere": "a radius is one, and so is the depth of a centre",
    "row_sums": SQUARES,
    "csr": PLACES,
    "life": PIXELS,
    "blend": PIXELS,
    "equalise": PIXELS,
    "letters": "`text` has the numbers 0 to 255",
    "remainders": POSITIVE,
    "average": POSITIVE,
    "brightest": POSITIVE,
    "n_body": "a mass is positive",
    "sixteen_at_once": "words have no sign",
    "running_totals": POSITIVE,
    "calendar": "times have no sign",
}


@pytest.mark.parametrize("name", TRIED)
def test_no_number_is_as_good_as_its_magnitude(name):
    """Wherever the answer loads an element of an input, in a variant with a sign."""
    if name in SAME:
        return
    seeds = (None, *range(1, 20))
    task = next(it for it in map(exercise, [name] * 20, seeds) if has_sign(it))
    for place in range(len(loads_in(ast.parse(task.answer_text), task))):
        verdict = task.judge(without_sign(task, place), 1)
        assert verdict.reason, (place, verdict.text)


def has_sign(task) -> bool:
    return not str(task.chosen.get("type", "")).startswith("uint")


def loads_in(tree, task) -> list:
    """The loads from arguments in an answer's kernel."""
    kernel = next(it for it in tree.body if getattr(it, "name", "") == task.kernel_name)
    arguments = {it.arg for it in kernel.args.args}
    return [
        it
        for it in ast.walk(kernel)
        if isinstance(it, ast.Subscript)
        and isinstance(it.ctx, ast.Load)
        and getattr(it.value, "id", "") in arguments
    ]


def without_sign(task, place):
    """The answer, which takes the magnitude of what it loads at a place."""
    tree = ast.parse(task.answer_text)
    load = loads_in(tree, task)[place]
    text = ast.unparse(load)

    class Rewrite(ast.NodeTransformer):
        def visit_Subscript(self, node):  # noqa: N802  the name that ast looks for
            new = ast.parse(f"abs({text})", mode="eval").body
            return new if node is load else self.generic_visit(node)

    return task.kernel(ast.unparse(ast.fix_missing_locations(Rewrite().visit(tree))))

"""An answer that loads an element twice, where the machine code does so once, earns all
points: each load of each answer is written twice in turn.
"""

import ast

import pytest

from helpers.exercises.catalogue import exercise
from tests.changed import of_exercises
from tests.exercises.kinds import KERNELS

DIVIDED = {  # loads at a quotient or remainder by a variable, which is never merged
    "life": ("loads", "old[row % rows, col % cols]"),
    "channels_last": ("requests", "src[c, pixel // width, pixel % width]"),
    "diagonals": ("requests", "src[i, (d + i) % cols]"),
}


@pytest.mark.parametrize("name", of_exercises(KERNELS, slow_every=3))
def test_a_load_that_is_written_twice_costs_no_points(name, prepared):
    """Not for what it costs: more lines may have changed."""
    task = prepared(exercise(name), 1)
    for load, text in written_twice(task.answer_text):
        verdict = task.judge(task.kernel(text), 1)
        budget, divided = DIVIDED.get(name, ("", ""))
        if load == divided:
            assert f"over_budget:{budget}" == verdict.reason, verdict.text
        else:
            assert verdict.reason in (None, "over_budget:lines"), (load, verdict.text)


def written_twice(text):
    """Each load of a text's functions, and the text with that load twice."""
    for which in range(text.count("[")):
        tree = ast.parse(text)
        functions = (it for it in tree.body if isinstance(it, ast.FunctionDef))
        loads = [it for f in functions for it in ast.walk(f) if is_load(it)]
        if which < len(loads):
            load = ast.unparse(loads[which])
            twice = ast.parse(f"({load}, {load})[0]", mode="eval").body
            vars(loads[which]).update(vars(twice))
            yield load, ast.unparse(tree)


def is_load(node) -> bool:
    """Is this an element that is loaded, and no item of a shape?"""
    is_element = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    return is_element and isinstance(node.value, ast.Name)

"""The variants that tests judge hold each value that may be chosen, and their texts are
filled. That answers are right there, and wrong ones wrong, `test_exercises.py` says.
"""

import re
from functools import partial

import pytest

from helpers.exercises.catalogue import exercise, exercises, file_of
from helpers.exercises.exercise import Explain, Write
from helpers.exercises.page import as_text
from tests.exercises.specimen import PairSums
from tests.lessons.variants import variants_of

UNFILLED = re.compile(r"\$\w+|\bself\.\w+|<function|<class|\bobject at 0x")


@pytest.mark.parametrize("name", exercises())
def test_every_value_of_a_choice_is_judged(name):
    """In as many variants as the longest choice has values, and no more."""
    kind, seeds = exercises()[name], variants_of(name)

    judged = [exercise(name, seed).chosen for seed in seeds]

    for choice, values in kind.choices.items():
        assert [] == [it for it in values if it not in [row[choice] for row in judged]]
    assert max(map(len, kind.choices.values()), default=1) == len(seeds)


@pytest.mark.parametrize("name", exercises())
def test_each_variant_can_be_read(name):
    """Else a sentence says which text cannot, in which variant."""
    kind = exercises()[name]

    found = [(seed, it) for seed in variants_of(name) for it in amiss(kind(seed))]

    where = f"{file_of(kind)}: {kind.__name__}"
    assert [] == [f"{where}({seed}): {it}" for seed, it in found]


def amiss(task):
    """What is wrong with the texts of a variant, in words."""
    for what, text_of in (prose_of(task) | kernels_of(task)).items():
        try:
            text = text_of()
        except AttributeError as error:
            yield f"{what} names `{error.name}`: add it to `choices`"
            continue
        except ValueError as error:
            yield f"{what} cannot be made: {str(error).splitlines()[0]}"
            continue
        if unfilled := UNFILLED.search(text):
            yield f"{what} says {unfilled[0]}, which nobody fills"
        elif what in kernels_of(task) and text == task.answer_text:
            yield f"{what} is the answer itself"


def prose_of(task) -> dict:
    """A function for each text that a learner reads, by what it is."""
    texts = {"the docstring": lambda: task.task, "the page": partial(as_text, task)}
    if isinstance(task, Explain):
        texts["`model`"] = lambda: task.model
        texts["`rubric`"] = lambda: "\n".join(task.rubric)
    return texts | {
        f"`hints[{it!r}]`": lambda it=it: "\n".join(task.hints_for(it))
        for it in task.hints
    }


def kernels_of(task) -> dict:
    """A function for each kernel that is not the answer, by what it is."""
    if not isinstance(task, Write):
        return {}
    return {"what is given": lambda: task.given_text} | {
        f"`wrong[{what!r}]`": lambda wrong=wrong: task._text(wrong[1:])
        for what, wrong in task.wrong.items()
    }


class Unread(PairSums):
    """Add in blocks of $thread."""

    one = 1
    hints = {"race": ("who of $threads?", "why $type?", "where, $other?")}
    wrong = {
        "no barrier": ("race", "cuda.syncthread()", "pass"),
        "half": ("wrong", "tile[t + 1]", "tile[$threads // 2]"),
        "none": ("wrong", "tile[t + 1]", "tile[t + $one]"),
    }


class Unfilled(Explain):
    """Why $one?"""

    choices = {"one": (1, 2)}
    rubric, model = {"there is $one": 2}, "There is $one."


@pytest.mark.parametrize(
    "task, expected",
    [
        (PairSums(), []),
        (
            Unread(),
            [
                "the docstring names `thread`: add it to `choices`",
                "the page names `thread`: add it to `choices`",
                "`hints['race']` names `other`: add it to `choices`",
                "`wrong['no barrier']` cannot be made: "
                "there is no 'cuda.syncthread()' in",
                "`wrong['none']` is the answer itself",
            ],
        ),
        (
            Unfilled(),
            [
                "`model` says $one, which nobody fills",
                "`rubric` says $one, which nobody fills",
            ],
        ),
    ],
)
def test_a_text_that_cannot_be_read_is_named(task, expected):
    """Each in a sentence of its own."""
    assert expected == [*amiss(task)]

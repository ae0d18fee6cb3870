"""What an exercise is: data, a NumPy function, and texts of kernels.

A subclass describes one, in a file of a course; an instance is one variant of it. The
docstring says what to do; `$name` stands for a choice in it, in the kernels' texts and
in the reasons. Sizes are tuples, or numbers for one; the functions get them one by one.
"""

import re
from inspect import cleandoc

import numpy as np

from helpers.exercises import judging, predictions, sources
from helpers.exercises.arguments import InOut, Out  # noqa: F401  for descriptions
from helpers.exercises.budgets import usual
from helpers.exercises.page import Section, as_markdown, as_text, text_of
from helpers.exercises.reasons import hints_for
from helpers.exercises.totals import totals_of
from helpers.exercises.variants import chosen, chosen_in, filled
from helpers.exercises.verdict import run_by_nbgrader, solution_of
from thirty_two_lanes.core.errors import ArgumentError, short_traceback


class Exercise:
    """One exercise; a subclass of a kind below describes it.

    `choices`: the values among which a seed chooses, by name. `points`: what an answer
    earns. `stars`: 1 to 3. `hints`: three sentences by reason, where the common ones
    can be bettered.
    """

    kind = ""
    stars, points = 1, 2
    choices: dict = {}
    hints: dict = {}

    def __init__(self, seed=None):
        self.seed = seed
        self.chosen = chosen(self.choices, self.name, seed)
        for choice, value in self.chosen.items():
            setattr(self, choice, value)
        self.to_be_given = (), 0  # hints, and how many of them were given

    def __init_subclass__(cls):
        words = re.findall("[A-Z][a-z0-9]*", cls.__name__)
        cls.name = "_".join(words).lower()

    @property
    def task(self) -> str:
        """What to do, in this variant."""
        return filled(cleandoc(self.__doc__), self)

    def judge(self, answer, seed=None):
        """The Verdict on an answer; a seed makes other inputs of it."""
        raise NotImplementedError

    @short_traceback
    def check(self, answer):
        """Print the mark of an answer and what it is for; or say what is wrong.

        Raises AssertionError, with the reason, where an answer is wrong or over its
        budget. An empty one is told what to do. Gives the points where nbgrader runs
        the notebook, which reads them there, and None elsewhere.
        """
        self.to_be_given = (), 0
        verdict = self.judge(answer)
        self.to_be_given = verdict.hints, 0
        if run_by_nbgrader() and (verdict.points or not verdict.raises):
            print(verdict.text)
            return verdict.points
        verdict.show(solution_of(self) if verdict.raises else "")
        if verdict.raises:
            raise AssertionError(verdict.text)

    @short_traceback
    def hint(self):
        """Print the next hint for what `check` said last."""
        hints, given = self.to_be_given
        if not hints:
            print("`check` an answer first: a hint follows from what is wrong with it.")
        elif given == len(hints):
            print("That was the last hint. Read the report again, or run `emulate`.")
        else:
            print(f"Hint {given + 1} of {len(hints)}: {hints[given]}")
            self.to_be_given = hints, given + 1
            if given + 1 == len(hints) and (solution := solution_of(self)):
                print(f"The course's answer is in `{solution}`.")

    def hints_for(self, reason) -> tuple[str, ...]:
        """The hints for a reason, in this variant."""
        return tuple(filled(it, self) for it in hints_for(reason, self.hints))

    def __repr__(self):
        return as_text(self)

    def _repr_markdown_(self):
        return as_markdown(self)


class Write(Exercise):
    """Write a kernel to a specification and a budget.

    `inputs(rng, *size)` gives the arguments by name, in the kernel's order; `launch`
    what stands in the brackets; `spec` gets inputs by name and gives the output, or
    several by name. `even` are sizes of whole blocks; `ragged` all others. The
    judge draws smaller and larger ones from its seed, the larger along one axis two to
    three times the largest that is listed: within `limits`, and multiples of
    `multiple`, so all else must hold for any such size. With `any_block` one launch
    has blocks of another shape. `work` times the answer's own instructions are allowed;
    `captured` elements of arrays may come from outside. Elements of the inputs `fixed`
    do not change by themselves, as those of row pointers. Of the inputs `ordered` only
    the order matters, or the distances, as for a maximum: they may be stretched and
    moved. `setup` stands above the kernel; `answer`, `others` and `wrong` are its
    texts: another answer, as good in another shape, is pairs of old and new, made in
    the answer, or a whole text alone; a wrong one is a reason and then the same. The
    most that one answer needs is the measure.
    """

    kind = "write"
    even, ragged = (), ()
    limits: tuple = ()  # of each axis, and None where the text sets none
    multiple = 1
    any_block = False
    budget: dict = {}
    partial = 0.5  # of the points, for a right answer over its budget
    work = 1.5
    captured = 0
    fixed: tuple = ()
    ordered: tuple = ()
    rtol = None
    setup = answer = ""
    others: dict = {}
    wrong: dict = {}

    def inputs(self, rng, *size):
        raise NotImplementedError

    def launch(self, *size):
        raise NotImplementedError

    def judge(self, answer, seed=None):
        return judging.judge(self, answer, seed)

    @short_traceback
    def usual_limits(self):
        """Print the usual limits: those that an answer is held to whatever the budget
        names, some of them times what the course's own answer needs.
        """
        print(text_of(Section("The usual limits", [*usual(self)])))

    def share(self, budget):
        """The part of the points that a right answer earns which is over a budget."""
        return self.partial

    @property
    def answer_text(self) -> str:
        """The answer, with what stands above it."""
        return self._with_setup(filled(self.answer, self))

    @property
    def answer_texts(self) -> list:
        """The answer, and others that are as good in another shape."""
        return [self.answer_text, *map(self._text, self.others.values())]

    @property
    def given_text(self) -> str:
        """What a learner begins with."""
        return sources.stub_of(self.answer_text)

    @property
    def kernel_name(self) -> str:
        """The name that the kernel has in the answer."""
        return sources.kernel_name(self.answer_text)

    def wrong_texts(self) -> dict:
        """Each wrong answer's reason and text, by what is wrong with it."""
        return {k: (why, self._text(edits)) for k, (why, *edits) in self.wrong.items()}

    def kernel(self, text):
        """The kernel of a text of this exercise."""
        return sources.kernel_of(text, self.kernel_name)

    def _text(self, edits):
        """A whole text, or the answer with some edits."""
        if len(edits) == 1:
            return self._with_setup(filled(edits[0], self))
        return self._edited(edits)

    def _edited(self, edits):
        """The answer with pairs of old and new, whose spaces count."""
        return sources.edited(self.answer_text, *(chosen_in(it, self) for it in edits))

    def _with_setup(self, text):
        setup = filled(self.setup, self)
        return f"{setup}\n\n\n{text}" if setup else text


class Fix(Write):
    """Fix a kernel that has a fault: `fault` is what was replaced in the answer, as
    pairs of old and new. `lines` may change.
    """

    kind = "fix"
    fault: tuple = ()
    lines = 2

    def share(self, budget):
        """None for what was given: it may have been right, and over its budget."""
        always, _ = totals_of(self)
        return self.partial if budget in ("lines", *always) else 0

    @property
    def given_text(self) -> str:
        """What a learner begins with: the answer with its fault."""
        return self._edited(self.fault)


class SpeedUp(Write):
    """Bring a right kernel, `given`, within a budget."""

    kind = "speed up"
    partial = 0.0
    given = ""

    @property
    def given_text(self) -> str:
        """What a learner begins with: right, and over the budget."""
        return self._with_setup(filled(self.given, self))


class Predict(Exercise):
    """Say a number, a word or several by name, before running anything.

    `truth()` gives them; `wrong` are wrong predictions, functions of the exercise, by
    what is thought wrongly. `options` are the words to choose from, if there are some.
    `why` says what a wrong one has not seen, for all or by name, and no number.
    A whole number must be the same, a float within a hundredth; or within `tolerance`.
    """

    kind = "predict"
    options: tuple = ()
    wrong: dict = {}
    why: str | dict = ""
    partial = 0.5  # of the points for what is right of several
    tolerance = 0

    def truth(self):
        raise NotImplementedError

    def judge(self, answer, seed=None):
        return predictions.judge(self, answer)


class Explain(Exercise):
    """Answer in two sentences, which a person marks by the `rubric`: points by what a
    sentence must say; they add up to `points`. `model` is an answer that has them all.
    """

    kind = "explain"
    rubric: dict = {}
    model = ""

    def judge(self, answer, seed=None):
        return predictions.accepted(self, answer)


def require_seed(seed):
    """A seed: a whole number, a word, or None."""
    if seed is None or isinstance(seed, (int, str, np.integer)):
        return seed
    raise ArgumentError("the seed of `exercise` is a whole number or a word")

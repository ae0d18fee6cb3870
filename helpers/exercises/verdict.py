"""A verdict: the points of an answer, the reason, and what a learner is told."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from helpers.exercises.reasons import NO_ANSWER, Reason
from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.source import in_notebook


class Refusal(Exception):
    """An answer is refused: the reason, a sentence, and the report of it.

    `hints` is the key of hints that fit better than the reason's own.
    """

    def __init__(self, reason, sentence, report="", line=None, hints=""):
        super().__init__(sentence)
        self.reason, self.sentence, self.report = Reason(reason), sentence, report
        self.line, self.hints = line, hints or reason


@dataclass(frozen=True)
class Verdict:
    """What an answer to an exercise earns, and why.

    `reason` is None for an answer that earns all points. `line` is the line of the
    kernel that it is about, where there is one. `points` is None where a person is to
    mark it. `note` is the sentence on what of a right answer was not tried.
    """

    exercise: str
    points: float | None
    of: int
    sentence: str
    reason: Reason | None = None
    report: str = ""
    line: int | None = None
    hints: tuple = ()
    note: str = ""

    @property
    def raises(self) -> bool:
        """Is it an error of the answer, and not just an empty one?"""
        return self.reason not in (None, NO_ANSWER)

    @property
    def mark(self) -> str:
        """The points in words."""
        if self.points is None:
            return f"{self.of} points, marked by a person"
        return f"{round(self.points, 2):g} of {self.of} points"

    @property
    def text(self) -> str:
        """All of it but the hints."""
        sign = {None: "✓", NO_ANSWER: "…"}.get(self.reason, "✗")
        why = f" ({self.reason.word})" if self.raises else ""
        if self.raises and (budget := self.reason.budget):
            why = f", right but over its budget ({budget.replace('_', ' ')})"
        kind = "AssertionError: " * self.raises  # which Python puts before it
        head = f"{kind}{sign} {self.exercise}: {self.mark}{why}. {self.sentence}"
        return "\n".join(filter(None, [wrapped(head).removeprefix(kind), self.report]))

    def __repr__(self):
        more = "`task.hint()` gives the first of three hints."
        return f"{self.text}\n{more}" if self.hints else self.text

    def show(self, solution=""):
        """Print what `check` does not raise; in a notebook, fold the hints below, and
        behind the last one the way to a solution, where there is one.
        """
        if not self.raises:
            print(self)
        elif in_notebook() and self.hints:
            from IPython.display import HTML, display

            display(HTML(self.folded_hints(solution)))

    def folded_hints(self, solution):
        """The hints, one to be opened after the other."""
        texts = [f"<p>{escape(hint)}</p>" for hint in self.hints]
        if solution:
            link = f"<a href='{escape(solution)}'>{escape(Path(solution).name)}</a>"
            texts[-1] += f"<p>The course's answer: {link}, among the solutions.</p>"
        steps = "".join(
            f"<details><summary>Hint {number}</summary>{text}</details>"
            for number, text in enumerate(texts, start=1)
        )
        about = escape(self.reason.words)
        return f"<div><b>{self.exercise}</b>: {about}{steps}</div>"


def solution_of(task) -> str:
    """The notebook with the course's answer, as a link from an assignment or a lesson;
    "" where a course keeps its solutions elsewhere.
    """
    folder = "solutions" if task.seed is None else f"solutions-{task.seed}"
    mark = f'"grade_id": "{task.name}-answer"'
    for beside in ("..", "."):
        for file in sorted(Path(beside, folder).glob("*.ipynb")):
            if mark in file.read_text("utf-8"):
                return file.as_posix()
    return ""


def run_by_nbgrader() -> bool:
    """Does nbgrader grade or validate this notebook? It says so in the environment, and
    takes a number below a cell as its points; a cell that ends well without one earns
    them all.
    """
    return "NBGRADER_EXECUTION" in os.environ

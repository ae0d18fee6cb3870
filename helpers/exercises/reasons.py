"""The reasons for which an answer is refused or a mark is what it is.

Tests, gradebooks and exercises share these words. `hints.toml` has three hints for each
that a kernel or a prediction can have; an exercise may have better ones.
What is over a limit is told here, too: by the parts of which it adds up.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

REASONS = {  # those of the judge, in words
    "no_answer": "there is nothing to judge yet",
    "refused": "Numba or the launch refuses it",
    "race": "two threads touch one cell, in no order",
    "barrier": "some threads miss a barrier",
    "bounds": "an index lies outside its array",
    "uninitialised": "something is read that nobody wrote",
    "timeout": "it does not end",
    "writes_input": "an input is changed",
    "constant": "the answer does not depend on the input",
    "tail": "right for whole blocks, wrong at other sizes",
    "larger": "right at small sizes, wrong at larger ones",
    "wrong": "not all values are right",
    "over_budget": "right, and over its budget",
}
WORDS = REASONS | {  # and those that no judge gives; "" is of a right answer
    "": "",
    "stopped": "its notebook, or its cell, ended before it was there",
    "for a person": "",
    "not graded": "",
    "by hand": "",
}


class Reason(str):
    """Why an answer earns what it earns: a word of `WORDS`, and for a budget its name,
    as in `over_budget:loads`. Files and pages hold this text.
    """

    def __new__(cls, text):
        reason = super().__new__(cls, text)
        if reason.word not in WORDS:
            raise ValueError(f"there is no reason {text!r}")
        return reason

    @property
    def word(self) -> str:
        """It without the name of a budget."""
        return self.partition(":")[0]

    @property
    def budget(self) -> str:
        """The name of the budget that is exceeded; "" where it is another reason."""
        return self.partition(":")[2]

    @property
    def words(self) -> str:
        """What it says; "" where a sentence beside it says all."""
        return WORDS[self.word]


NO_ANSWER, REFUSED, WRONG, TIMEOUT = map(
    Reason, ("no_answer", "refused", "wrong", "timeout")
)
STOPPED = Reason("stopped")  # a limit, or an end, kept it from being there
PERSON = Reason("for a person")  # nobody judges it here
NOT_GRADED = Reason("not graded")
BY_HAND = Reason("by hand")  # a person gave the points

FILE = Path(__file__).with_name("hints.toml")
HINTS = {k: tuple(v) for k, v in tomllib.loads(FILE.read_text("utf-8")).items()}


def hints_for(reason, own) -> tuple[str, ...]:
    """The hints for a reason: the nearest one's, and of those an exercise's own."""
    for key in (reason, re.split("[: ]", reason)[0]):
        if hints := own.get(key) or HINTS.get(key):
            return hints
    return ()


class Summand(NamedTuple):
    """A part of a number that adds up, and where it comes from, if that is known."""

    number: int
    where: str = ""


def added(parts) -> int:
    return sum(part.number for part in parts)


def on_lines(table, number, array=False):
    """Counts in an outcome: a part for each row of one of its tables."""

    def parts(outcome):
        for site, row in getattr(outcome.run, table).by_line.items():
            where = f"on line {site.line}, `{site.text}`"
            yield Summand(number(row), f"by `{row.array}` {where}" if array else where)

    return parts


def in_all(number):
    """Counts in an outcome: one number, with no line."""
    return lambda outcome: [Summand(number(outcome))]


def beyond(parts, limit, sentence, most="{:,} of them", enough=None) -> str:
    """How a number is over a limit, and where most of it comes from; or "". Where the
    limit is some times what is `enough`, that is said, too.
    """
    parts = list(parts)
    if added(parts) <= limit:
        return ""
    told = [f"{sentence.format(added(parts))}, and {allowed(limit)}"]
    if enough:
        told.append(f"{enough:,} {'is' if enough == 1 else 'are'} enough")
    largest = max(parts, key=lambda part: part.number)
    if largest.where:
        told.append(f"{most.format(largest.number)} {largest.where}")
    return f"{'; '.join(told)}."


def allowed(limit) -> str:
    """How many are allowed, in words."""
    if not limit:
        return "none is allowed"
    number = int(limit) if limit == int(limit) else limit
    return f"{number:,} {'is' if limit == 1 else 'are'} allowed"

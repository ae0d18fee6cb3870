"""Advice on a finding: its sentence, and where one change of the source mends it, that
change as data; `tests/core/advice/` applies it, and looks whether it does.

An edit names a statement by its first line and column. `code` are the statements that
come to it: "before" or "behind" it, as the "last" of its body, "instead" of it, or
"within" it, between what it loads and what it stores; or "apart", between the branches
of an `if`, of which the one with the number `first` (0 or 1) then comes first; or
between two "halves" of it, that end and begin where its branches have a statement of
`without`. As its "test", `code` is the new condition of an `if` or a `while`; as its
"iter", what a `for` goes through; and as a "guard" in place of an `if` that returns,
the condition of what follows, but for barriers and shuffles.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Spot(NamedTuple):
    """Where a statement begins: a line of the file, a column of the function."""

    line: int
    column: int


def spot_of(node) -> Spot:
    """Where a statement begins."""
    return Spot(node.lineno, node.col_offset)


@dataclass(frozen=True)
class Edit:
    """One change of a function's source. `out_of` are `if`s around `at`, the outermost
    first, that end before `code` and begin again behind it; one that only returns is
    around what follows it. `without` are statements that go; `also` is an edit of the
    same function that belongs to it.
    """

    function: str
    where: str
    at: Spot
    code: str
    out_of: tuple[Spot, ...] = ()
    without: tuple[Spot, ...] = ()
    first: int = 0
    also: "Edit | None" = None


class Wait(NamedTuple):
    """The call by which threads wait for each other, and how all that it means come to
    it, in words.
    """

    call: str
    where: str


@dataclass(frozen=True)
class Advice:
    """What to do about a finding: a sentence without its full stop, and the edit that
    it tells of, None where no single edit helps. `bars` says that a barrier is none;
    `fact` is what a warning says in place of its own, if the source shows more; `wait`
    is the barrier that it tells of.
    """

    sentence: str
    edit: Edit | None = field(default=None, repr=False)
    bars: bool = field(default=False, repr=False)
    fact: str = field(default="", repr=False)
    wait: Wait | None = field(default=None, repr=False)

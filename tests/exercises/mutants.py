"""Which small changes of a right answer does the judge not notice?

    python -m tests.exercises.mutants                  all exercises
    python -m tests.exercises.mutants transpose dot    some
    python -m tests.exercises.mutants --seed 3         in another variant

Each mutant is an answer with one change in its kernel: an operator, a comparison, a
number, a condition, a statement left out. It is killed when it loses points. Those that
do not differ from a right answer are in `equivalent.toml`, with the reason. Prints the
share that is killed for each exercise, and what survives; ends with 1 if a survivor is
not listed, or if one that is listed loses points.
"""

import argparse
import os
import sys
import tomllib
from collections import Counter
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from tests.mutation.mutants import mutants_in

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
INPUTS = 1  # the seed of the numbers that the judge draws


class Tried(NamedTuple):
    """A mutant of an exercise's answer, and the reason for which it lost points."""

    exercise: str
    line: str
    change: str
    reason: str | None

    @property
    def key(self):
        """What names it in the table of equivalents."""
        return self[:3]


def main(arguments=None) -> int:
    """Try the mutants, print what survives, and return the exit status."""
    options = parser().parse_args(arguments)
    names = options.names or kernels()
    equivalent, found, surprises = equivalents(), {}, 0
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        ask = partial(tried, seed=options.seed)
        for name, results in zip(names, pool.imap(ask, names), strict=True):
            found[name] = Counter(what_of(it, equivalent) for it in results)
            print(sentence(name, found[name]), flush=True)
            for it in results:
                what = what_of(it, equivalent)
                if what in ("survives", "listed, and killed"):
                    surprises += 1
                    print(f"    {what}: {it.line}    [{it.change}]", flush=True)
    print(sentence("all", sum(found.values(), Counter())))
    return 1 if surprises else 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python -m tests.exercises.mutants")
    new.add_argument("names", nargs="*", help="exercises; all of the course if none")
    new.add_argument("--seed", help="of the variant")
    return new


def kernels() -> list[str]:
    """The exercises that are answered by a kernel."""
    return [name for name, kind in exercises().items() if issubclass(kind, Write)]


def tried(name, seed=None) -> list[Tried]:
    """All mutants of an exercise's answer, judged."""
    task = exercise(name, seed)
    return [
        Tried(name, mutant.text, mutant.change, reason_for(task, mutant.source()))
        for mutant in mutants_in(name, task.answer_text)
        if mutant.function is not None
    ]


def reason_for(task, text) -> str | None:
    """The reason for which a text loses points; None where it loses none."""
    try:
        kernel = task.kernel(text)
    except Exception as error:  # as when an argument of the decorator is wrong
        return type(error).__name__
    return task.judge(kernel, INPUTS).reason


def what_of(it, equivalent) -> str:
    """What became of a mutant."""
    if it.reason is None:
        return "equivalent" if it.key in equivalent else "survives"
    return "listed, and killed" if it.key in equivalent else "killed"


def sentence(name, counts) -> str:
    """The shares of the mutants that were killed."""
    killed, alive = counts["killed"], counts["survives"]
    total = counts.total()
    of_all = f"{killed / total:.1%} of all" if total else "none"
    rest = f"{killed / (killed + alive):.1%}" if killed + alive else "none"
    return (
        f"{name}: {killed} of {total} mutants lose points ({of_all}, {rest} of those "
        f"not equivalent); {alive} survive"
    )


def equivalents() -> set:
    """The mutants that are as right as the answer."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", ())
    return {(row["exercise"], row["line"], row["change"]) for row in rows}


if __name__ == "__main__":
    sys.exit(main())

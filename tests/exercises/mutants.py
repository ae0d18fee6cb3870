"""Which small changes of a right answer does the judge not notice?

    python -m tests.exercises.mutants                  all exercises
    python -m tests.exercises.mutants transpose dot    some
    python -m tests.exercises.mutants --rows           and rows for `equivalent.toml`
    python -m tests.exercises.mutants --seed 3         in another variant

Each mutant is an answer with one change in its kernel: an operator, a comparison, a
number, a condition, a statement left out. It is killed when it loses points. Those that
do not differ from a right answer are in `equivalent.toml`, with the reason, by their
line in the lesson's variant and their change; `nth` is which of several mutants that
have both in common. Prints a row for each exercise as it ends, and what survives; ends
with 1 if a survivor is not listed, or if a row names a mutant that loses points, or
none at all.
"""

import argparse
import json
import os
import sys
import time
import tomllib
from collections import Counter
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from helpers.exercises.catalogue import exercise
from tests.exercises.kinds import KERNELS
from tests.mutation.mutants import mutants_in

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
INPUTS = 1  # the seed of the numbers that the judge draws
ENDS = "killed", "equivalent", "survives", "listed, and killed"
SURPRISES = ENDS[2:]


class Tried(NamedTuple):
    """A mutant of an exercise's answer, and the reason for which it lost points."""

    exercise: str
    line: str
    change: str
    nth: int  # of the mutants with this line and change
    reason: str | None

    @property
    def key(self):
        """What names it in the table of equivalents."""
        return self[:4]

    @property
    def row(self) -> str:
        """Its row in the table of equivalents, but for the reason."""
        named = zip(self._fields, self[: 4 if self.nth > 1 else 3], strict=False)
        told = [f"{name} = {json.dumps(it, ensure_ascii=False)}" for name, it in named]
        return "\n".join(["[[mutant]]", *told, 'reason = ""', ""])


def main(arguments=None) -> int:
    """Try the mutants, print what survives, and return the exit status."""
    options = parser().parse_args(arguments)
    names, equivalent = options.names or KERNELS, equivalents()
    total, surprises, met = Counter(), [], set()
    print(f"{'exercise':20}", *(f"{it:>10}" for it in ("mutants", *ENDS[:3], "of all")))
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        ask = partial(tried, seed=options.seed)
        for name, results, seconds in pool.imap_unordered(ask, names):
            counts = Counter(what_of(it, equivalent) for it in results)
            print(f"{counted(name, counts)}   {seconds:.0f} s", flush=True)
            found = [it for it in results if what_of(it, equivalent) in SURPRISES]
            for it in found:
                print(f"    {what_of(it, equivalent)}: {it.line}    [{it.change}]")
            total, surprises = total + counts, surprises + found
            met |= {it.key for it in results}
    print(counted("all", total), share(total), sep="\n")
    if options.rows:
        print("", *(it.row for it in surprises if it.reason is None), sep="\n")
    stale = [it for it in equivalent - met if it[0] in names and not options.seed]
    print(*(f"listed, and no mutant: {it}" for it in stale), sep="\n")
    return 1 if surprises or stale else 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python -m tests.exercises.mutants")
    new.add_argument("names", nargs="*", help="exercises; all of the course if none")
    new.add_argument("--seed", help="of the variant")
    new.add_argument("--rows", action="store_true", help="survivors as rows of TOML")
    return new


def tried(name, seed=None):
    """An exercise, all mutants of its answer, judged, and how long that took."""
    start, task = time.monotonic(), exercise(name, seed)
    results, met = [], Counter()
    for mutant in mutants_in(name, task.answer_text):
        if mutant.function is not None:
            named = name, mutant.text, mutant.change
            met[named] += 1
            reason = reason_for(task, mutant.source())
            results.append(Tried(*named, met[named], reason))
    return name, results, time.monotonic() - start


def reason_for(task, text) -> str | None:
    """The reason for which a text loses points; None where it loses none."""
    try:
        kernel = task.kernel(text)
    except Exception as error:  # as when an argument of the decorator is wrong
        return type(error).__name__
    return task.judge(kernel, INPUTS).reason


def what_of(it, equivalent) -> str:
    """What became of a mutant."""
    listed = it.key in equivalent
    if it.reason is None:
        return "equivalent" if listed else "survives"
    return "listed, and killed" if listed else "killed"


def counted(name, counts) -> str:
    """A row: how many mutants, what became of them, and the share that is killed."""
    numbers = (f"{it:10}" for it in (counts.total(), *(counts[it] for it in ENDS[:3])))
    of_all = counts["killed"] / max(1, counts.total())
    return " ".join([f"{name:20}", *numbers, f"{of_all:10.1%}"])


def share(counts) -> str:
    """The share that is killed of the mutants that are not equivalent."""
    killed, alive = counts["killed"], counts["survives"]
    return f"{killed / max(1, killed + alive):.1%} of those that are not equivalent"


def equivalents() -> set:
    """The mutants that are as right as the answer."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", ())
    return {
        (row["exercise"], row["line"], row["change"], row.get("nth", 1)) for row in rows
    }


if __name__ == "__main__":
    sys.exit(main())

"""Does the tool's advice mend what it is about?

    python -m tests.core.advice                  everything, for some minutes
    python -m tests.core.advice --random 50      fewer random kernels
    python -m tests.core.advice lesson random    some sources alone

Prints a row for each source: its findings; those whose advice is an edit, which is
applied; after how many of these the finding is gone, and after how many another one
came. Then what the advice without an edit says, and what is not right. Ends with 1 if
anything is not.
"""

import argparse
import sys
from collections import Counter

from tests.core.advice import sources

SOURCES = {
    "specimens": sources.specimens,
    "answers": sources.wrong_answers,
    "lesson": sources.lesson,
    "random": None,
}
COLUMNS = "source", "kernels", "findings", "edits", "gone", "others", "sentences"
WIDTHS = 12, 9, 9, 9, 9, 9, 9


def main():
    """Try all sources, or some; the number to exit with."""
    parser = argparse.ArgumentParser(description="Try the tool's advice.")
    parser.add_argument("sources", nargs="*", choices=[[], *SOURCES], default=[])
    parser.add_argument("--random", type=int, default=500, help="random kernels")
    parser.add_argument("--told", action="store_true", help="show advice with no edit")
    options = parser.parse_args()
    print(row(COLUMNS))
    wrong, told = [], Counter()
    for name in options.sources or SOURCES:
        made = SOURCES[name] or (lambda: sources.random_kernels(range(options.random)))
        found = list(sources.results(made()))
        print(row((name, *numbers(found))), flush=True)
        wrong += [it for it in found if it.edit and not it.right]
        told += Counter(opening(it.sentence) for it in found if not it.edit)
    for it in wrong:
        print(f"\n{it.name}: {it.found}\n  {it.sentence}\n  {it.edit}")
        print(f"  gone: {it.gone}; others: {it.others}")
    if options.told:
        print(*(f"{count:5}  {it}" for it, count in told.most_common()), sep="\n")
    return 1 if wrong else 0


def numbers(found):
    """A row's numbers."""
    edits = [it for it in found if it.edit]
    return (
        len({it.name for it in found}),
        len(found),
        len(edits),
        sum(it.gone for it in edits),
        sum(bool(it.others) for it in edits),
        len(found) - len(edits),
    )


def row(cells):
    """Cells below each other, numbers to the right."""
    first, *others = zip(cells, WIDTHS, strict=True)
    return f"{first[0]:<{first[1]}}" + "".join(f"{it:>{w}}" for it, w in others)


def opening(sentence):
    """How a sentence begins, without its numbers."""
    return " ".join("…" if it[:1].isdigit() else it for it in sentence.split()[:14])


if __name__ == "__main__":
    sys.exit(main())

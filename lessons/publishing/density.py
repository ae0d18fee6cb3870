"""How densely a lesson is written: numbers in its prose, code that only measures, bold
sentences that repeat a docstring, words and cells. docs/TEACHING.md says why.

    python -m lessons.publishing.density          a row for each lesson
"""

import ast
import re
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from lessons.publishing.convert import convert, is_folded, lessons_of

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"(?<![\w`*/.])\d[\d,.]*(?:\s?%|\s?×)?(?![\w`])")
WORD = re.compile(r"[A-Za-z']{2,}")
ECHO = re.compile(r"\*\*(?!What you'll )[A-Z][^*]{12,}?[.:]\*\*")
MEASURES = re.compile(
    r"\b(measure|baseline|table|compare|traffic|median_us|gflop_per_s|stalls)\b"
    r"|\.counters\b"
)
ASIDE = (  # what is not the page's running text
    (r"<details>.*?</details>", re.DOTALL),
    (r"```.*?```", re.DOTALL),
    (r"^\s*#.*$", re.MULTILINE),
    (r"^\|.*$", re.MULTILINE),
    (r"`[^`]*`", 0),
    (r"(?<=\])\([^)]*\)", 0),
)


@dataclass(frozen=True)
class Density:
    """What is counted of a lesson."""

    numbers: float = 3.4  # in 100 words of prose
    measuring: float = 12.0  # of a hundred visible lines of code
    echoes: int = 2  # bold sentences
    words: int = 1900  # of prose
    cells: int = 28  # of code that is not folded

    def over(self, limits):
        """The counts that are over their limits, as words."""
        return [
            f"{round(getattr(self, it.name), 1)} {it.name}, and "
            f"{getattr(limits, it.name)} are enough"
            for it in fields(self)
            if getattr(self, it.name) > getattr(limits, it.name)
        ]


LIMITS = Density()


def density(lesson):
    """What is counted of a lesson's file."""
    cells = convert(lesson).cells
    text = "\n".join(prose(it) for it in cells if it.cell_type == "markdown")
    words = len(WORD.findall(text))
    shown = [it for it in cells if it.cell_type == "code" and not is_folded(it)]
    lines = sum(len(lines_of(it.source)) for it in shown)
    return Density(
        numbers=100 * len(NUMBER.findall(text)) / max(words, 1),
        measuring=100 * sum(map(measuring, shown)) / max(lines, 1),
        echoes=len(ECHO.findall(text)),
        words=words,
        cells=len(shown),
    )


def prose(cell):
    """A text without its tables, code and folded parts."""
    text = cell.source
    for pattern, flags in ASIDE:
        text = re.sub(pattern, "", text, flags=flags)
    return text


def lines_of(source):
    """The lines of code of a cell: no comments, none that are empty."""
    lines = map(str.strip, source.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def measuring(cell):
    """How many lines of a cell measure or tabulate: all but its kernels."""
    if not MEASURES.search(cell.source):
        return 0
    kernels = sum(
        node.end_lineno - min([node.lineno, *(it.lineno for it in decorated)]) + 1
        for node in ast.parse(cell.source).body
        if (decorated := getattr(node, "decorator_list", None)) is not None
        and "cuda.jit" in ast.unparse(node)
    )
    return max(0, len(lines_of(cell.source)) - kernels)


def main():
    """Print a row for each lesson; return 1 if one is over a limit."""
    names = [it.name for it in fields(Density)]
    print(f"{'':30}", *(f"{name:>10}" for name in names))
    over = False
    for lesson in lessons_of(ROOT):
        found = density(lesson)
        shown = " ".join(f"{value:10.4g}" for value in astuple(found))
        over |= bool(found.over(LIMITS))
        print(f"{lesson.stem:30} {shown}", "over" if found.over(LIMITS) else "")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())

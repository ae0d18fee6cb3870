"""A lesson's folded solutions, judged in the place of its stubs."""

import re

from lessons.publishing.convert import convert

FOLDED = re.compile(
    r"<summary>Solution</summary>\n\n```python\n(.*?)^```", re.MULTILINE | re.DOTALL
)
CHECKED = re.compile(r"^(\w+)\.check\((\w+)\)\Z", re.MULTILINE)
JUDGED = """\
verdict = {task}.judge({answer})
assert verdict.points == {task}.points, verdict.text"""


def with_solutions(lesson):
    """The code of a lesson, each solution after its stub, and then its test."""
    for cell, solutions in cells_and_solutions(lesson):
        yield cell
        yield from tested(cell, solutions)


def solutions(lesson):
    """The code of a lesson's folded solutions alone, each before its test."""
    for cell, folded in cells_and_solutions(lesson):
        yield from tested(cell, folded)


def cells_and_solutions(lesson):
    """Each code cell, with the solutions that are folded into the texts below it."""
    found = []
    for cell in convert(lesson).cells:
        if cell.cell_type == "code":
            found.append((cell.source, []))
        elif folded := FOLDED.findall(cell.source):
            found[-1][1].extend(folded)
    return found


def tested(stub, solutions):
    """Each solution, which must earn all points where its stub is checked."""
    for solution in solutions:
        yield solution
        yield judged_in(stub)


def judged_in(stub):
    """What a stub checks in its last line, held to all points."""
    task, answer = CHECKED.search(stub).groups()
    return JUDGED.format(task=task, answer=answer)

"""A lesson's folded solutions, tested in the place of its stubs."""

import ast
import re

from lessons.publishing.convert import convert

FOLDED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


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
    """Each solution, and then what its stub expects to be refused."""
    for solution in solutions:
        yield solution
        yield "\n".join(refused_in(stub))


def refused_in(stub):
    """What a stub expects to be refused."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.With):
            assert ast.unparse(node.items[0]).startswith("expect(")
            yield from map(ast.unparse, node.body)

"""A lesson's folded solutions, put on trial where its stubs stand."""

import ast
import re

from lessons.publishing.convert import convert


def with_solutions(lesson):
    """The code of a lesson, each solution after its stub and then on trial; trials."""
    sources, trials, stub = [], [], ""
    for cell in convert(lesson).cells:
        if cell.cell_type == "code":
            stub = cell.source
            sources.append(stub)
            continue
        for solution in re.findall(r"^```python\n(.*?)^```", cell.source, re.M | re.S):
            trial = "\n".join(refused_in(stub))
            trials.append(trial)
            sources += [solution, trial]
    return sources, trials


def refused_in(stub):
    """What a stub expects to be refused."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.With):
            assert ast.unparse(node.items[0]).startswith("expect(")
            yield from map(ast.unparse, node.body)

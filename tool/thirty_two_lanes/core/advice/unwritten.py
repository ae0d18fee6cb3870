"""What gives cells a value before they are read."""

import ast

from thirty_two_lanes.core.advice.varying import names_in

FIRST = "cuda.threadIdx.x + cuda.threadIdx.y + cuda.threadIdx.z == 0"


def edit_on(layout, array, space):
    """Zeros in each cell of a shared or a local array, behind its declaration; None
    where that is not one statement of this function.
    """
    declared = declaration_of(layout, array, space)
    if declared is None:
        return None
    shape = declared.value.args[0]
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    if any(isinstance(it, ast.Constant) and it.value == 0 for it in sizes):
        return None  # of a size that the launch chooses
    names = [f"{array}_{n}" for n in range(len(sizes))]
    lines = [
        f"{'    ' * n}for {name} in range({ast.unparse(size)}):"
        for n, (name, size) in enumerate(zip(names, sizes, strict=True))
    ]
    lines.append(f"{'    ' * len(sizes)}{array}[{', '.join(names)}] = 0")
    if space == "shared":
        lines = [f"if {FIRST}:", *(f"    {it}" for it in lines), "cuda.syncthreads()"]
    return layout.edit("behind", declared, "\n".join(lines))


def declaration_of(layout, array, space):
    """The statement that makes a shared or a local array, with its shape as the first
    argument; None where that is not one statement of this function.
    """
    declared = [it for it in layout.paths if _declares(it, array, space)]
    return declared[0] if len(declared) == 1 and declared[0].value.args else None


def _declares(statement, array, space):
    if not isinstance(statement, ast.Assign):
        return False
    target, value = statement.targets[0], statement.value
    names = names_in(value.func) if isinstance(value, ast.Call) else []
    is_it = isinstance(target, ast.Name) and target.id == array
    return is_it and space in names and names[-1] == "array"

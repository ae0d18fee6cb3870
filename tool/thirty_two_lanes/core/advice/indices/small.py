"""What to do about an index beyond a shared or a local array. The kernel itself says
how large that is: it may be too small, and a guard would then leave values out.
"""

import ast

from thirty_two_lanes.core.advice.edit import Advice
from thirty_two_lanes.core.advice.indices.ends import clamped, indices_of, upper
from thirty_two_lanes.core.advice.thread_numbers import AXES, ThreadNumber, number_of
from thirty_two_lanes.core.advice.unwritten import declaration_of

OWN = "shared", "local"


def advice_on(layout, slices, outside) -> Advice | None:
    """Advice to make the array larger, or to index it otherwise; None on arrays that
    a launch is given.
    """
    if outside.space not in OWN:
        return None
    for axes in slices if outside.space == "shared" else ():
        numbers = [_exactly(layout, it) for it in axes]
        advice = _for_block(layout, numbers, outside) or _for_grid(numbers, outside)
        if advice:
            return advice
    groups = indices_of(slices)
    group = [it for it in groups if it[0].axis == outside.axis]
    tests = " and ".join(upper(group, outside.length_of))
    along = f" along axis {outside.axis}" if outside.ndim > 1 else ""
    keep = f"keep the index below its {outside.size:,} cells{along}, `if {tests}:`"
    keep += clamped(layout, groups, outside)
    return Advice(f"make `{outside.array}` larger, or {keep}")


def _exactly(layout, node) -> ThreadNumber | None:
    """The thread's number that an index is."""
    return None if isinstance(node, ast.BinOp) else number_of(layout, node)


def _for_block(layout, numbers, outside):
    """A shared array with fewer cells than the block has threads."""
    number = numbers[outside.axis]
    if number is None or number.in_grid or number.extent(outside) <= outside.size:
        return None
    found = zip(outside.shape, numbers, strict=True)
    shape = tuple(
        max(size, it.extent(outside)) if it and not it.in_grid else size
        for size, it in found
    )
    has, have = f"{outside.size:,} cells", f"{number.extent(outside):,} threads"
    to = "it that large"
    if outside.ndim > 1:
        to = f"its shape {shape}"
        has += f" along axis {outside.axis}"
    if outside.block_dim[1:] != (1, 1):
        have += f" along {AXES[number.axis]}"
    return Advice(
        f"`{outside.array}` has {has}, and the block {have}: make {to}",
        _enlarged(layout, outside, shape),
    )


def _enlarged(layout, outside, shape):
    """The edit of a declaration that says the shape in numbers."""
    declared = declaration_of(layout, outside.array, outside.space)
    old = declared and declared.value.args[0]
    plain = ast.Constant | ast.Tuple | ast.Load
    if old is None or not all(isinstance(it, plain) for it in ast.walk(old)):
        return None
    code = ast.unparse(declared)
    new = str(shape if len(shape) > 1 else shape[0])
    return layout.edit("instead", declared, code.replace(ast.unparse(old), new, 1))


def _for_grid(numbers, outside):
    """A shared array that is indexed as a global one is."""
    number = numbers[outside.axis]
    if number is None or not number.in_grid or outside.grid_dim[number.axis] == 1:
        return None
    if outside.block_dim[number.axis] > outside.size:
        return None
    return Advice(
        f"each block has an `{outside.array}` of its own, with {outside.size:,} cells: "
        f"index it by the thread's number in its block, `cuda.threadIdx."
        f"{AXES[number.axis]}`"
    )

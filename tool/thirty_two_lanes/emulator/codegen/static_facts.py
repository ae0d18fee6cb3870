"""What a kernel's code alone shows: float64 among float32, what guards compare, and
which indices are negative numbers.

Found once, when a kernel is translated; the judge `mistakes` warns of it.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import Site, without_inlined
from thirty_two_lanes.emulator.codegen.instruction_counts import NO_OPERATION

_COMPARISONS = ("lt", "le", "gt", "ge")
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


class Float64(NamedTuple):
    """A line that computes in float64, and what makes it: cause and its text."""

    site: Site
    cause: str  # "number", "division", "integer", "variable" or "argument"
    what: str


class Definitions:
    """Where each variable of a kernel gets its values."""

    def __init__(self, kernel, blocks):
        self.types, self.arguments = kernel.types, set(kernel.arguments)
        each = {id(i): i for block in blocks for i in block}  # some are in several
        self.instructions = list(each.values())
        self.sources = {}  # variable: operands that are copied or cast to it
        self.made = {}  # variable: the other instructions that make it
        for instruction in self.instructions:
            if isinstance(instruction, ir.Copy):
                pairs = zip(instruction.targets, instruction.sources, strict=True)
                for target, source in pairs:
                    self.sources.setdefault(target, []).append(source)
            elif isinstance(instruction, ir.Unset):
                continue
            elif isinstance(getattr(instruction, "target", None), str):
                self.made.setdefault(instruction.target, []).append(instruction)

    def type_of(self, operand):
        """The type of an operand."""
        if isinstance(operand, ir.Const):
            return getattr(operand.value, "dtype", None)
        return self.types.get(operand)

    def parts(self, operand) -> tuple:
        """The operands that a tuple is made of, or the one that is no tuple."""
        if isinstance(operand, ir.Const) and isinstance(operand.value, tuple):
            return tuple(map(ir.Const, operand.value))
        made = [i for i in self.made.get(operand, ()) if isinstance(i, ir.Pack)]
        return made[0].items if len(made) == 1 else (operand,)

    def origins(self, operand, seen=()) -> list:
        """What an operand is made from, through copies: constants, instructions,
        names of arguments.
        """
        if isinstance(operand, ir.Const):
            return [operand]
        if operand in seen:
            return []
        found = [operand] if operand in self.arguments else []
        found += self.made.get(operand, [])
        for source in self.sources.get(operand, ()):
            found += self.origins(source, (*seen, operand))
        return found

    def origin(self, operand):
        """The one thing that an operand is made from, through casts too, or None."""
        found = self.origins(operand)
        if len(found) != 1:
            return None
        if isinstance(found[0], ir.Cast):
            return self.origin(found[0].operand)
        return found[0]


def guards_of(definitions) -> frozenset:
    """What conditions compare with: arguments, and (array, "shape0" or "size")."""
    found = set()
    for instruction in definitions.instructions:
        if getattr(instruction, "operator", None) in _COMPARISONS:
            for operand in instruction.operands:
                origin = definitions.origin(operand)
                if isinstance(origin, ir.Attribute):
                    found.add((origin.array, origin.name))
                elif isinstance(origin, str):
                    found.add(origin)
    return frozenset(found)


def negative_numbers_of(definitions) -> frozenset:
    """Indices that the kernel writes as negative numbers, which are meant to count from
    the end: their references and axes.
    """
    return frozenset(
        (reference, axis)
        for reference, array, indices in _accesses(definitions)
        for axis, index in _by_axis(indices, definitions.type_of(array).ndim)
        if _is_negative_number(definitions, index)
    )


def _accesses(definitions):
    """What is accessed with an index: its reference, the array and the index's parts.

    A twin's first operands are these, as of `load4(array, index)`.
    """
    for i in definitions.instructions:
        if hasattr(i, "indices"):
            yield i.reference, i.array, i.indices
        elif isinstance(i, ir.Twin) and len(i.operands) > 1:
            array, index = i.operands[:2]
            if isinstance(definitions.type_of(array), ir.ArrayType):
                parts = definitions.parts(index)
                yield from ((r, array, parts) for r in i.references[0])


def _by_axis(indices, axes):
    """Each part of an index with its axis: `...` stands for all that are not written,
    and None for a new one.
    """
    parts = [part for part in indices if part is not None]
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis += axes - len(parts) + 1
        else:
            yield axis, part
            axis += 1


def _is_negative_number(definitions, index) -> bool:
    """Is this `-1`, `-N` or `N`, of a global that is negative?"""
    if not isinstance(index, ir.Operand):
        return False
    origin = definitions.origin(index)
    if getattr(origin, "operator", "") == "neg":
        return isinstance(definitions.origin(origin.operands[0]), ir.Const)
    return isinstance(origin, ir.Const) and origin.value < 0


def float64_of(definitions) -> tuple[Float64, ...]:
    """Where float64 begins in a kernel whose arrays of floats are all float32."""
    arrays = {
        t.dtype for t in definitions.types.values() if isinstance(t, ir.ArrayType)
    }
    if {dtype for dtype in arrays if dtype.kind not in "iub"} != {F32}:
        return ()
    found = {}
    for i in definitions.instructions:
        wide = isinstance(i, ir.Operation) and definitions.types.get(i.target) == F64
        if wide and i.operator not in NO_OPERATION:
            cause = _cause(definitions, i)
            if cause:
                found.setdefault(i.site, Float64(i.site, *cause))
    return tuple(found.values())


def _cause(definitions, operation):
    """Why an operation is float64, None when what it is made of was so before."""
    dtypes = [definitions.type_of(o) for o in operation.operands]
    if all(getattr(dtype, "kind", "") in "iu" for dtype in dtypes):
        names = [isinstance(o, str) and ir.source_name(o) for o in operation.operands]
        named = all(names) and operation.operator == "truediv"
        return "division", " / ".join(f"float32({it})" for it in names if named)
    numbers = [o for o in operation.operands if isinstance(o, ir.Const)]
    others = [o for o in operation.operands if not isinstance(o, ir.Const)]
    before = [o for o in others if not _widened(definitions, o)]
    for operand in before:
        begun = _begun(definitions, operand, operation.site)
        if begun is None and numbers and _begins_narrow(definitions, operand):
            break
        return begun
    if not others:
        return None
    if numbers:
        return "number", _written(numbers[0].value)
    return "integer", _integer(definitions, others, operation.site)


def _integer(definitions, operands, site) -> str:
    """What the source calls the integer among operands; "" where it has no name."""
    for operand in operands:
        for cast in definitions.made.get(operand, ()):
            if isinstance(cast, ir.Cast) and _is_integer(definitions, cast):
                named = isinstance(cast.operand, str) and ir.source_name(cast.operand)
                return without_inlined(named, site.text) if named else ""
    return ""


def _written(number) -> str:
    """A number as a kernel would write it."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def _widened(definitions, operand) -> bool:
    """Is this a float32 or an integer, made float64 for the operation only?"""
    return any(_widens(definitions, i) for i in definitions.made.get(operand, ()))


def _widens(definitions, instruction) -> bool:
    """Does this implicitly convert a float32 or an integer to float64?"""
    return (
        isinstance(instruction, ir.Cast)
        and not instruction.explicit
        and (
            definitions.type_of(instruction.operand) == F32
            or _is_integer(definitions, instruction)
        )
    )


def _begins_narrow(definitions, operand) -> bool:
    """Is this a variable of a loop that starts as a float32, and is float64 because
    of a later value?
    """
    origins = definitions.origins(operand)
    others = [i for i in origins if not _widens(definitions, i)]
    return len(others) < len(origins) and all(
        isinstance(i, ir.Operation) for i in others
    )


def _is_integer(definitions, cast) -> bool:
    return getattr(definitions.type_of(cast.operand), "kind", "") in "iub"


def _begun(definitions, operand, site):
    """A variable that is float64 because it starts as a number, or is an argument."""
    origins = definitions.origins(operand)
    if any(isinstance(o, str) for o in origins):
        return "argument", next(o for o in origins if isinstance(o, str))
    numbers = [o for o in origins if isinstance(o, ir.Const)]
    name = operand.split("#")[-1].split(".", operand.count("#"))[-1].split(".")[0]
    if numbers and not name.startswith("$"):
        return "variable", without_inlined(name, site.text)
    return None

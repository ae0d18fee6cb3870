"""What became of a kernel's loads and stores: which the compiler merged, which it left
out, so that the counts of `emulate` and the machine instructions explain each other.

The source's accesses are those of the emulator's own program, which keeps each one.

Not modelled: how often a loop runs. A loop that is unrolled shows as more instructions
than the source has accesses, and is no finding.
"""

from dataclasses import dataclass

from thirty_two_lanes.core import ir

ORIGIN = {
    ir.Field: "array",
    ir.Reinterpret: "array",
    ir.Reshape: "array",
    ir.View: "array",
    ir.Attribute: "array",
    ir.Item: "operand",
    ir.Cast: "operand",
}
VERBS = {"load": "loads", "store": "stores"}


@dataclass(frozen=True)
class SourceAccess:
    """A load or a store as the source has it."""

    line: int  # of the kernel, for those of a device function that of the call
    kind: str  # "load" or "store"
    space: str
    array: str
    itemsize: int  # bytes


def source_accesses(kernel: ir.Kernel) -> tuple[SourceAccess, ...]:
    """The loads and stores of a kernel, without those of intrinsics with a twin."""
    spaces = spaces_of(kernel)
    found = []
    for block in kernel.blocks.values():
        for it in block:
            if isinstance(it, (ir.Load, ir.Store)):
                site, dtype = it.reference.site, _dtype(kernel, it.array)
                if dtype is not None:
                    found.append(
                        SourceAccess(
                            site.called_from or site.line,
                            it.reference.kind,
                            spaces.get(it.array, "global"),
                            it.reference.array,
                            dtype.itemsize,
                        )
                    )
    return tuple(found)


def _dtype(kernel, array):
    known = kernel.types.get(array) if isinstance(array, str) else None
    return known.dtype if isinstance(known, ir.ArrayType) else None


def spaces_of(kernel: ir.Kernel) -> dict[str, str]:
    """The memory in which each array variable of a kernel lies."""
    spaces = dict.fromkeys(kernel.arguments, "global")
    origins = {}
    for block in kernel.blocks.values():
        for it in block:
            if isinstance(it, ir.Allocate):
                spaces[it.target] = it.space
            elif isinstance(it, ir.Captured) and it.space == "const":
                spaces[it.target] = "const"
            elif type(it) in ORIGIN:
                origins[it.target] = getattr(it, ORIGIN[type(it)])
            elif isinstance(it, ir.Copy):
                origins.update(zip(it.targets, it.sources, strict=True))
    for name in origins:
        spaces.setdefault(name, _origin(name, origins, spaces))
    return spaces


def _origin(name, origins, spaces):
    seen = set()
    while isinstance(name, str) and name not in spaces and name not in seen:
        seen.add(name)
        name = origins.get(name)
    return spaces.get(name, "global") if isinstance(name, str) else "global"


def compiler_changes(accesses, instructions, spilled=0) -> dict[int, list[str]]:
    """By line, a sentence for each memory whose accesses the compiler changed.

    Spilled registers share local memory with the source's own arrays, and constants
    can be operands of arithmetic: neither shows an access of the source.
    """
    sentences, groups = {}, {}
    for it in accesses:
        if it.space != "const" and not (spilled and it.space == "local"):
            groups.setdefault((it.line, it.kind, it.space), []).append(it)
    for (line, kind, space), group in groups.items():
        made = [
            it
            for it in instructions
            if it.line == line
            and it.kind.endswith(VERBS[kind])
            and it.space in (space, "generic")
        ]
        sentence = _change(group, made, kind, space, instructions)
        if sentence:
            sentences.setdefault(line, []).append(sentence)
    return sentences


def _change(group, made, kind, space, instructions):
    names = " and ".join(dict.fromkeys(f"`{it.array}`" for it in group))
    if not made:
        return _removed(names, kind, space, instructions)
    widest, itemsize = max(it.width for it in made), max(it.itemsize for it in group)
    if widest > itemsize:
        wide = [it for it in made if it.width == widest]
        each = widest // itemsize
        return (
            f"the compiler merged neighbouring {VERBS[kind]}: {len(wide)} "
            f"{wide[0].name} do {len(wide) * each} {VERBS[kind]} of {itemsize} "
            f"bytes, which `emulate` counts one by one"
        )
    if len(made) < len(group):
        return (
            f"{len(group)} {VERBS[kind]} of {names} in the source, {len(made)} in the "
            "code: the compiler keeps the value in a register between them"
        )
    return None


def _removed(names, kind, space, instructions):
    elsewhere = any(it.space in (space, "generic") for it in instructions)
    if space == "local" and not elsewhere:
        return f"{names} is in registers: no {kind} touches local memory"
    return (
        f"no {kind} of {names} is left on this line: the compiler keeps the value in a "
        "register, or moved the access to another line"
    )

"""What became of a kernel's loads and stores: which the compiler merged, which it left
out, so that the counts of `emulate` and the machine instructions explain each other.

The source's accesses are those of the emulator's own program, which keeps each one.

Not modelled: how often a loop runs. A loop that is unrolled shows as more instructions
than the source has accesses, and is no finding.
"""

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


def source_accesses(kernel: ir.Kernel) -> dict[tuple, list]:
    """The loads and stores of a kernel, without those of intrinsics with a twin: by
    line, kind and memory, the arrays with the bytes of their elements.

    The line of a device function's is that of the call.
    """
    spaces, found = spaces_of(kernel), {}
    for node in (each for block in kernel.blocks.values() for each in block):
        if isinstance(node, (ir.Load, ir.Store)) and isinstance(node.array, str):
            known, site = kernel.types.get(node.array), node.reference.site
            if isinstance(known, ir.ArrayType):
                line, space = site.called_from or site.line, spaces.get(node.array)
                access = node.reference.array, known.dtype.itemsize
                key = line, node.reference.kind, space or "global"
                found.setdefault(key, []).append(access)
    return found


def spaces_of(kernel: ir.Kernel) -> dict[str, str]:
    """The memory in which each array variable of a kernel lies, where it is known."""
    spaces, origins = dict.fromkeys(kernel.arguments, "global"), {}
    for node in (each for block in kernel.blocks.values() for each in block):
        if isinstance(node, ir.Allocate):
            spaces[node.target] = node.space
        elif isinstance(node, ir.Captured) and node.space == "const":
            spaces[node.target] = "const"
        elif type(node) in ORIGIN:
            origins[node.target] = getattr(node, ORIGIN[type(node)])
        elif isinstance(node, ir.Copy):
            origins.update(zip(node.targets, node.sources, strict=True))
    origins = {name: origin for name, origin in origins.items() if type(origin) is str}
    size = -1
    while size != len(spaces):
        size = len(spaces)
        known = {name: spaces[node] for name, node in origins.items() if node in spaces}
        spaces = known | spaces
    return spaces


def compiler_changes(accesses, instructions, spilled) -> dict[int, list[str]]:
    """By line, a sentence for each memory whose accesses the compiler changed.

    Spilled registers share local memory with the source's own arrays, and constants
    can be operands of arithmetic: neither shows an access of the source.
    """
    sentences = {}
    for (line, kind, space), group in accesses.items():
        if space == "const" or spilled and space == "local":
            continue
        made = [
            each
            for each in instructions
            if each.line == line
            and each.kind.endswith(VERBS[kind])
            and each.space in (space, "generic")
        ]
        if sentence := _change(group, made, kind, space, instructions):
            sentences.setdefault(line, []).append(sentence)
    return sentences


def _change(group, made, kind, space, instructions):
    names = " and ".join(dict.fromkeys(f"`{array}`" for array, _ in group))
    if not made:
        return _removed(names, kind, space, instructions)
    widest, itemsize = max(it.width for it in made), max(size for _, size in group)
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

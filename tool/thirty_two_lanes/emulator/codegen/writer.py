"""Writes each basic block as a Python function; the only file that writes code.

A basic block reads its warp's slots into variables, computes on values of shape (lanes,
blocks), and writes back what others read, merged where some lanes are inactive.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen import temporaries
from thirty_two_lanes.emulator.codegen.first_uses import sites_of
from thirty_two_lanes.emulator.codegen.liveness import reads, writes
from thirty_two_lanes.emulator.machine import (
    bounds,
    output,
    twins,
    views,
    warp_functions,
)
from thirty_two_lanes.emulator.machine.accesses import access, atomics, bulk_stores
from thirty_two_lanes.language import operators
from thirty_two_lanes.language.warp_intrinsics import INTRINSICS


class Writer:
    """Writes code as Python source, and keeps the constants that they name."""

    def __init__(self, slots, read, types):
        self.slots, self.read, self.types = slots, read, types
        self.names = {}
        self.namespace = {
            **operators.NAMESPACE,
            "load": access.load,
            "choose_array": access.choose_array,
            "store": access.store,
            "view": views.view,
            "atomic": atomics.atomic,
            "attribute": views.attribute,
            "field": views.field,
            "reinterpret": views.reinterpret,
            "reshape": views.reshape,
            "fill": bulk_stores.fill,
            "move": bulk_stores.move,
            "twin": twins.run,
            "merge": access.merge,
            "show": output.show,
            "note": output.note,
            "tell": output.tell,
            "convert_checked": bounds.convert_checked,
        }
        self.overwritten = {}  # an operation: the operand whose memory it takes
        self.sites = {}  # pc: the site of each line

    def basic_block(self, pc, block) -> str:
        """The source of one basic block: a line for each instruction, among others."""
        body, written, used = [], {}, set()
        self.overwritten = temporaries.overwritten(block, self.types, self.slots)
        for instruction in block:
            used |= reads(instruction) - set(written)
            if instruction is not block[-1]:
                body.append(WRITERS[type(instruction)](self, instruction))
                written |= dict.fromkeys(writes(instruction))
        written = [name for name in written if name in self.slots]
        result = self._result(block[-1])
        loads = [f"{self.variable(n)} = v[{self.slots[n]}]" for n in sorted(used)]
        before = [f"def block_{pc}(warp, active, others):", "v = warp.values", *loads]
        after = [*self._write_back(written), f"return {result}"]
        first, *sites = sites_by_instruction(block)
        self.sites[pc] = (
            *(first for _ in before),
            *sites[: len(body)],
            *(sites[-1] for _ in after),
        )
        return "\n    ".join([*before, *body, *after])

    def _write_back(self, written):
        if not written:
            return []
        plain = [f"    v[{self.slots[n]}] = {self.variable(n)}" for n in written]
        merged = [
            f"    v[{slot}] = merge(active, {self.variable(n)}, v[{slot}]) "
            f"if others >> {slot} & 1 else {self.variable(n)}"
            for n in written
            for slot in (self.slots[n],)
        ]
        return ["if not others:", *plain, "else:", *merged]

    def _result(self, end):
        if isinstance(end, ir.Branch):
            return self.expression(end.condition)
        if isinstance(end, ir.WaitForLanes):
            return self.expression(end.sync.mask)
        if isinstance(end, ir.WaitAtBarrier) and end.barrier.predicate is not None:
            return self.expression(end.barrier.predicate)
        return "None"

    def variable(self, name) -> str:
        """The Python variable for a variable of our IR."""
        return self.names.setdefault(name, f"x{len(self.names)}")

    def constant(self, value) -> str:
        """The name of a constant in the basic block's namespace."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def expression(self, operand) -> str:
        if isinstance(operand, ir.Const):
            return self.constant(operand.value)
        if isinstance(operand, ir.Slice):
            parts = (operand.start, operand.stop, operand.step)
            return f"slice({', '.join(map(self.expression, parts))})"
        if operand is None or operand is Ellipsis:
            return str(operand)
        return self.variable(operand)

    def tuple(self, operands) -> str:
        return "(" + "".join(f"{self.expression(o)}, " for o in operands) + ")"


def sites_by_instruction(block) -> list:
    """The first site of a basic block, then that of each instruction: its own, or else
    the one before it.
    """
    own = [next(iter(sites_of(i)), None) for i in block]
    sites = [next(filter(None, own), None)]
    for site in own:
        sites.append(site or sites[-1])
    return sites


# one statement for each instruction of the IR


def _operation(writer, i):
    operands = [writer.expression(o) for o in i.operands]
    made = operators.source(i.operator, operands)
    if i.target in writer.overwritten:
        ufunc = writer.constant(operators.UFUNCS[i.operator])
        reused = writer.variable(writer.overwritten[i.target])
        made = f"compute_into({ufunc}, {', '.join(operands)}, {reused})"
    return f"{writer.variable(i.target)} = {made}"


def _cast(writer, i):
    source = writer.types.get(i.operand)
    if not i.explicit and is_narrower(i.dtype, source):
        return (
            f"{writer.variable(i.target)} = convert_checked(warp, "
            f"{writer.constant(i.site)}, {writer.expression(i.operand)}, "
            f"{writer.constant(i.dtype)}, active)"
        )
    return (
        f"{writer.variable(i.target)} = convert({writer.expression(i.operand)}, "
        f"{writer.constant(i.dtype)})"
    )


def _call(writer, i):
    function = writer.constant(warp_functions.FUNCTIONS[i.function])
    operands = [writer.expression(o) for o in i.operands]
    if INTRINSICS[i.function].syncs_warp:
        operands.insert(0, writer.constant(i.site))
    operands = ", ".join(["warp", "active", *operands])
    return f"{writer.variable(i.target)} = {function}({operands})"


def _captured(writer, i):
    return (
        f"{writer.variable(i.target)} = warp.memory.captured("
        f"{writer.constant(i.array)}, {i.name!r}, {i.space!r})"
    )


def _choose_array(writer, i):
    return (
        f"{writer.variable(i.target)} = choose_array(active, "
        f"{writer.expression(i.index)}, {writer.tuple(i.arrays)})"
    )


def _copy(writer, i):
    targets = ", ".join(writer.variable(t) for t in i.targets)
    return f"{targets} = {', '.join(writer.expression(s) for s in i.sources)}"


def _pack(writer, i):
    return f"{writer.variable(i.target)} = {writer.tuple(i.items)}"


def _item(writer, i):
    return f"{writer.variable(i.target)} = {writer.expression(i.operand)}[{i.index}]"


def _attribute(writer, i):
    return (
        f"{writer.variable(i.target)} = attribute(warp, "
        f"{writer.expression(i.array)}, {i.name!r}, active)"
    )


def _field(writer, i):
    return (
        f"{writer.variable(i.target)} = field(warp, {writer.expression(i.array)}, "
        f"{writer.constant(i.dtype)}, {i.offset}, {i.inner}, {i.packed}, active)"
    )


def _reinterpret(writer, i):
    return (
        f"{writer.variable(i.target)} = reinterpret(warp, "
        f"{writer.expression(i.array)}, {writer.constant(i.dtype)}, "
        f"{writer.constant(i.site)}, active)"
    )


def _reshape(writer, i):
    return (
        f"{writer.variable(i.target)} = reshape(warp, {writer.expression(i.array)}, "
        f"{writer.tuple(i.shape)}, {writer.constant(i.site)}, active)"
    )


def _fill(writer, i):
    return (
        f"fill(warp, {writer.expression(i.array)}, {writer.constant(i.reference)}, "
        f"{writer.expression(i.value)}, active)"
    )


def _move(writer, i):
    return (
        f"move(warp, {writer.expression(i.array)}, {writer.expression(i.source)}, "
        f"{writer.constant(i.stored)}, {writer.constant(i.loaded)}, active)"
    )


def _twin(writer, i):
    return (
        f"{writer.variable(i.target)} = twin(warp, {writer.constant(i)}, "
        f"{writer.tuple(i.operands)}, active)"
    )


def _allocate(writer, i):
    return f"{writer.variable(i.target)} = warp.allocate({writer.constant(i)})"


def _view(writer, i):
    return (
        f"{writer.variable(i.target)} = view(warp, {writer.expression(i.array)}, "
        f"{writer.constant(i.reference)}, {writer.tuple(i.indices)}, active)"
    )


def _load(writer, i):
    return (
        f"{writer.variable(i.target)} = load(warp, {writer.constant(i.reference)}, "
        f"{writer.expression(i.array)}, {writer.tuple(i.indices)}, active)"
    )


def _print(writer, i):
    return f"show(warp, active, {writer.tuple(i.items)})"


def _raise(writer, i):
    return f"note(warp, active, {writer.constant(i)})"


def _tell(writer, i):
    return f"tell(warp, active, {writer.constant(i)}, {writer.expression(i.value)})"


def _store(writer, i):
    return (
        f"store(warp, {writer.constant(i.reference)}, {writer.expression(i.array)}, "
        f"{writer.tuple(i.indices)}, {writer.expression(i.value)}, active)"
    )


def _atomic(writer, i):
    return (
        f"{writer.variable(i.target)} = atomic(warp, {writer.constant(i.reference)}, "
        f"{i.operator!r}, {writer.expression(i.array)}, {writer.tuple(i.indices)}, "
        f"{writer.tuple(i.values)}, active, {i.target in writer.read})"
    )


def is_narrower(dtype, source) -> bool:
    """Are both integers, and is the second one wider?"""
    kinds = dtype.kind + getattr(source, "kind", "")
    return kinds in ("ii", "iu", "ui", "uu") and dtype.itemsize < source.itemsize


WRITERS = {  # what writes an instruction as a Python statement
    ir.Operation: _operation,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Captured: _captured,
    ir.ChooseArray: _choose_array,
    ir.Copy: _copy,
    ir.Pack: _pack,
    ir.Item: _item,
    ir.Attribute: _attribute,
    ir.Field: _field,
    ir.Reinterpret: _reinterpret,
    ir.Reshape: _reshape,
    ir.Fill: _fill,
    ir.Move: _move,
    ir.Twin: _twin,
    ir.Allocate: _allocate,
    ir.View: _view,
    ir.Load: _load,
    ir.Print: _print,
    ir.Raise: _raise,
    ir.Note: _tell,
    ir.Store: _store,
    ir.Atomic: _atomic,
}

"""Writes each basic block as a Python function; the only file that writes code.

A basic block reads its warp's slots into variables, computes on values of shape (lanes,
blocks), and writes back what others read, merged where some lanes take no part.
"""

from helpers.core import ir
from helpers.emulator.codegen import temporaries
from helpers.emulator.codegen.liveness import reads, writes
from helpers.emulator.machine import (
    access,
    atomics,
    bounds,
    bulk_stores,
    output,
    twins,
    views,
)
from helpers.language import operators
from helpers.language import warp_intrinsics as intrinsics


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
            "convert_checked": bounds.convert_checked,
        }
        self.spared = {}  # of the basic block that is written

    def basic_block(self, pc, block) -> str:
        """The source of one basic block."""
        body, written, used = [], {}, set()
        self.spared = temporaries.overwritten(block, self.types, self.slots)
        for instruction in block:
            used |= reads(instruction) - set(written)
            if instruction is not block[-1]:
                body += self._instruction(instruction)
                written |= dict.fromkeys(writes(instruction))
        written = [name for name in written if name in self.slots]
        result = self._result(block[-1])
        loads = [f"{self.variable(n)} = v[{self.slots[n]}]" for n in sorted(used)]
        lines = [
            "v = warp.values",
            *loads,
            *body,
            *self._write_back(written),
            f"return {result}",
        ]
        return f"def block_{pc}(warp, active, others):\n    " + "\n    ".join(lines)

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
        """The Python variable of one of ours."""
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

    def _instruction(self, i):
        return getattr(self, f"_write_{type(i).__name__}")(i)

    def _write_Operation(self, i):
        operands = [self.expression(o) for o in i.operands]
        made = operators.source(i.operator, operands)
        if i.target in self.spared:
            ufunc = self.constant(operators.UFUNCS[i.operator])
            spared = self.variable(self.spared[i.target])
            made = f"compute_into({ufunc}, {', '.join(operands)}, {spared})"
        return [f"{self.variable(i.target)} = {made}"]

    def _write_Cast(self, i):
        source = self.types.get(i.operand)
        if not i.meant and _is_narrower(i.dtype, source):
            return [
                f"{self.variable(i.target)} = convert_checked(warp, "
                f"{self.constant(i.site)}, {self.expression(i.operand)}, "
                f"{self.constant(i.dtype)}, active)"
            ]
        return [
            f"{self.variable(i.target)} = convert({self.expression(i.operand)}, "
            f"{self.constant(i.dtype)})"
        ]

    def _write_Call(self, i):
        function = self.constant(intrinsics.INTRINSICS[i.function].function)
        operands = "".join(f", {self.expression(o)}" for o in i.operands)
        return [f"{self.variable(i.target)} = {function}(warp, active{operands})"]

    def _write_Captured(self, i):
        return [
            f"{self.variable(i.target)} = warp.memory.captured("
            f"{self.constant(i.array)}, {i.name!r}, {i.space!r})"
        ]

    def _write_ChooseArray(self, i):
        return [
            f"{self.variable(i.target)} = choose_array(active, "
            f"{self.expression(i.index)}, {self.tuple(i.arrays)})"
        ]

    def _write_Copy(self, i):
        targets = ", ".join(self.variable(t) for t in i.targets)
        return [f"{targets} = {', '.join(self.expression(s) for s in i.sources)}"]

    def _write_Pack(self, i):
        return [f"{self.variable(i.target)} = {self.tuple(i.items)}"]

    def _write_Item(self, i):
        return [f"{self.variable(i.target)} = {self.expression(i.operand)}[{i.index}]"]

    def _write_Attribute(self, i):
        return [
            f"{self.variable(i.target)} = attribute(warp, "
            f"{self.expression(i.array)}, {i.name!r}, active)"
        ]

    def _write_Field(self, i):
        return [
            f"{self.variable(i.target)} = field(warp, {self.expression(i.array)}, "
            f"{self.constant(i.dtype)}, {i.offset}, {i.inner}, {i.packed}, active)"
        ]

    def _write_Reinterpret(self, i):
        return [
            f"{self.variable(i.target)} = reinterpret(warp, "
            f"{self.expression(i.array)}, {self.constant(i.dtype)}, "
            f"{self.constant(i.site)}, active)"
        ]

    def _write_Reshape(self, i):
        return [
            f"{self.variable(i.target)} = reshape(warp, {self.expression(i.array)}, "
            f"{self.tuple(i.shape)}, {self.constant(i.site)}, active)"
        ]

    def _write_Fill(self, i):
        return [
            f"fill(warp, {self.expression(i.array)}, {self.constant(i.reference)}, "
            f"{self.expression(i.value)}, active)"
        ]

    def _write_Move(self, i):
        return [
            f"move(warp, {self.expression(i.array)}, {self.expression(i.source)}, "
            f"{self.constant(i.stored)}, {self.constant(i.loaded)}, active)"
        ]

    def _write_Twin(self, i):
        return [
            f"{self.variable(i.target)} = twin(warp, {self.constant(i)}, "
            f"{self.tuple(i.operands)}, active)"
        ]

    def _write_Allocate(self, i):
        return [f"{self.variable(i.target)} = warp.allocate({self.constant(i)})"]

    def _write_View(self, i):
        return [
            f"{self.variable(i.target)} = view(warp, {self.expression(i.array)}, "
            f"{self.constant(i.reference)}, {self.tuple(i.indices)}, active)"
        ]

    def _write_Load(self, i):
        return [
            f"{self.variable(i.target)} = load(warp, {self.constant(i.reference)}, "
            f"{self.expression(i.array)}, {self.tuple(i.indices)}, active)"
        ]

    def _write_Print(self, i):
        return [f"show(warp, active, {self.tuple(i.items)})"]

    def _write_Raise(self, i):
        return [f"note(warp, active, {self.constant(i)})"]

    def _write_Store(self, i):
        return [
            f"store(warp, {self.constant(i.reference)}, {self.expression(i.array)}, "
            f"{self.tuple(i.indices)}, {self.expression(i.value)}, active)"
        ]

    def _write_Atomic(self, i):
        return [
            f"{self.variable(i.target)} = atomic(warp, {self.constant(i.reference)}, "
            f"{i.operator!r}, {self.expression(i.array)}, {self.tuple(i.indices)}, "
            f"{self.tuple(i.values)}, active, {i.target in self.read})"
        ]


def _is_narrower(dtype, source) -> bool:
    """Are both integers, and the second wider?"""
    kinds = dtype.kind + getattr(source, "kind", "")
    return kinds in ("ii", "iu", "ui", "uu") and dtype.itemsize < source.itemsize

"""Writes each basic block as a Python function; the only file that writes code.

A basic block reads its warp's slots into variables, computes on values of shape (lanes,
blocks), and writes back what others read, merged where some lanes are inactive.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import reads, writes
from thirty_two_lanes.emulator.codegen import temporaries
from thirty_two_lanes.emulator.codegen.first_uses import sites_of
from thirty_two_lanes.emulator.machine import (
    bounds,
    output,
    set_checks,
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
            "require_set": set_checks.require_set,
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
                body.append(self.statement(instruction))
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

    def statement(self, instruction) -> str:
        """The source of an instruction."""
        text = WRITERS[type(instruction)]
        text = text if isinstance(text, str) else text(self, instruction)
        return text.format_map(_Fields(self, instruction))

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


class _Fields:
    """An instruction's fields as code, by name; `self` is the instruction."""

    def __init__(self, writer, instruction):
        self.writer, self.instruction = writer, instruction

    def __getitem__(self, name):
        writer, instruction = self.writer, self.instruction
        if name == "self":
            return writer.constant(instruction)
        value = getattr(instruction, name)
        if name == "target":
            return writer.variable(value)
        if name not in instruction.nature.reads:
            return writer.constant(value)
        return (
            writer.tuple(value)
            if isinstance(value, tuple)
            else writer.expression(value)
        )


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
    checked = not i.explicit and is_narrower(i.dtype, writer.types.get(i.operand))
    return CHECKED_CAST if checked else "{target} = convert({operand}, {dtype})"


def _call(writer, i):
    function = writer.constant(warp_functions.FUNCTIONS[i.function])
    operands = [writer.expression(o) for o in i.operands]
    if INTRINSICS[i.function].syncs_warp:
        operands.insert(0, writer.constant(i.site))
    operands = ", ".join(["warp", "active", *operands])
    return f"{writer.variable(i.target)} = {function}({operands})"


def _copy(writer, i):
    targets = ", ".join(writer.variable(t) for t in i.targets)
    return f"{targets} = {', '.join(writer.expression(s) for s in i.sources)}"


def _atomic(writer, i):
    return (
        "{target} = atomic(warp, {reference}, {operator}, {array}, {indices}, "
        f"{{values}}, active, {i.target in writer.read})"
    )


def is_narrower(dtype, source) -> bool:
    """Are both integers, and is the second one wider?"""
    kinds = dtype.kind + getattr(source, "kind", "")
    return kinds in ("ii", "iu", "ui", "uu") and dtype.itemsize < source.itemsize


CHECKED_CAST = "{target} = convert_checked(warp, {site}, {operand}, {dtype}, active)"
WRITERS = {  # an instruction as a Python statement, or what gives one
    ir.Operation: _operation,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Captured: "{target} = warp.memory.captured({array}, {name}, {space})",
    ir.ChooseArray: "{target} = choose_array(active, {index}, {arrays})",
    ir.Copy: _copy,
    ir.Unset: "{target} = {value}",
    ir.RequireSet: "require_set(warp, {self}, {is_set}, {operand}, active)",
    ir.Pack: "{target} = {items}",
    ir.Item: "{target} = {operand}[{index}]",
    ir.Attribute: "{target} = attribute(warp, {array}, {name}, active)",
    ir.Field: "{target} = field(warp, {array}, {dtype}, {offset}, {inner}, {packed}, "
    "active)",
    ir.Reinterpret: "{target} = reinterpret(warp, {array}, {dtype}, {site}, active)",
    ir.Reshape: "{target} = reshape(warp, {array}, {shape}, {site}, active)",
    ir.Fill: "fill(warp, {array}, {reference}, {value}, active)",
    ir.Move: "move(warp, {array}, {source}, {stored}, {loaded}, active)",
    ir.Twin: "{target} = twin(warp, {self}, {operands}, active)",
    ir.Allocate: "{target} = warp.allocate({self})",
    ir.View: "{target} = view(warp, {array}, {reference}, {indices}, active)",
    ir.Load: "{target} = load(warp, {reference}, {array}, {indices}, active)",
    ir.Print: "show(warp, active, {items})",
    ir.Raise: "note(warp, active, {self})",
    ir.Note: "tell(warp, active, {self}, {value})",
    ir.Store: "store(warp, {reference}, {array}, {indices}, {value}, active)",
    ir.Atomic: _atomic,
}

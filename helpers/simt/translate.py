"""A kernel of our IR made into Python: one NumPy function per piece; the only file that writes code.

A piece is a straight line of instructions between two places where threads may part or wait.
Pieces are numbered so that every piece of a loop comes before the pieces behind the loop, and a
piece comes before those it leads to: threads that run the lowest number first meet again at the
end of each `if` and of each loop.
"""

from dataclasses import dataclass
from typing import Callable

from . import atomics, intrinsics, ir, memory, operators
from .order import position_order

JUMP, BRANCH, RETURN, BARRIER = range(4)


@dataclass(frozen=True, slots=True)
class Piece:
    """One compiled piece and where it leads; `needs` are the slots read at or after its start."""

    run: Callable       # (frame, active, others) -> condition or predicate
    kind: int
    then: int
    otherwise: int
    needs: int          # a set of slots, as bits
    line: int
    ending: object      # the terminator, for messages


@dataclass(frozen=True)
class Program:
    """A kernel ready to run: its pieces by position, and how many slots a frame keeps."""

    name: str
    arguments: tuple[int, ...]      # the slots of the arguments
    pieces: tuple[Piece, ...]
    slots: int
    results: dict[int, int]         # position after a barrier: slot of its result
    allocations: tuple[ir.Allocate, ...]
    source: str


def translate(kernel: ir.Kernel) -> Program:
    """The program of a kernel."""
    blocks = _without_dead_code(_straighten(kernel.blocks, kernel.entry))
    order = position_order({n: successors(b[-1]) for n, b in blocks.items()}, kernel.entry)
    position = {number: place for place, number in enumerate(order)}
    live = _live_at_start(blocks)
    shared = set().union(*live.values(), kernel.arguments) if live else set(kernel.arguments)
    slots = {name: slot for slot, name in enumerate(sorted(shared))}
    read = {name for block in blocks.values() for i in block for name in reads(i)}
    writer = _Writer(slots, read)
    sources = [writer.piece(position[n], blocks[n]) for n in order]
    text = "\n\n".join(sources)
    namespace = writer.namespace
    exec(compile(text, f"<emulated {kernel.name}>", "exec"), namespace)
    pieces = tuple(_piece(namespace[f"piece_{position[n]}"], blocks[n], position,
                          sum(1 << slots[name] for name in live[n])) for n in order)
    results = {position[b[-1].block]: slots[b[-1].barrier.target] for b in blocks.values()
               if isinstance(b[-1], _Wait) and b[-1].barrier.target in slots}
    allocations = tuple(i for b in blocks.values() for i in b if isinstance(i, ir.Allocate))
    return Program(kernel.name, tuple(slots[a] for a in kernel.arguments), pieces, len(slots),
                   results, allocations, text)


@dataclass(frozen=True)
class _Wait:
    """A barrier as a terminator: wait, then go on with a block."""

    barrier: ir.Barrier
    block: int


def successors(terminator) -> tuple[int, ...]:
    """The blocks that a terminator leads to."""
    if isinstance(terminator, ir.Branch):
        return (terminator.then, terminator.otherwise)
    return () if isinstance(terminator, ir.Return) else (terminator.block,)


def _straighten(blocks, entry):
    """The reachable blocks, with barriers as terminators and straight chains joined."""
    blocks = {number: _with_wait(block) for number, block in blocks.items()}
    reached, waiting, arrivals = set(), [entry], {entry: 1}
    while waiting:
        number = waiting.pop()
        if number in reached:
            continue
        reached.add(number)
        for following in successors(blocks[number][-1]):
            arrivals[following] = arrivals.get(following, 0) + 1
            waiting.append(following)
    joined = set()
    for number in sorted(reached):
        while number not in joined and isinstance(blocks[number][-1], ir.Jump):
            following = blocks[number][-1].block
            if arrivals[following] != 1 or following == number:
                break
            blocks[number] = blocks[number][:-1] + blocks[following]
            joined.add(following)
    return {number: blocks[number] for number in reached - joined}


def _with_wait(block):
    if len(block) > 1 and isinstance(block[-2], ir.Barrier):
        return [*block[:-2], _Wait(block[-2], block[-1].block)]
    return list(block)


# which variables each instruction reads and writes

def _operands(item):
    """The variables in a field of an instruction."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _operands(part)
    elif isinstance(item, ir.Slice):
        yield from _operands((item.start, item.stop, item.step))


_READS = {
    ir.Operation: ("operands",), ir.Cast: ("operand",), ir.Call: ("operands",),
    ir.Copy: ("sources",), ir.Pack: ("items",), ir.Item: ("operand",), ir.Attribute: ("array",),
    ir.Allocate: (), ir.View: ("array", "indices"), ir.Load: ("array", "indices"),
    ir.Store: ("array", "indices", "value"), ir.Atomic: ("array", "indices", "values"),
    ir.Branch: ("condition",), ir.Jump: (), ir.Return: (),
}


def reads(instruction) -> set[str]:
    """The variables that an instruction reads."""
    if isinstance(instruction, _Wait):
        return set(_operands(instruction.barrier.predicate))
    fields = _READS[type(instruction)]
    return {name for f in fields for name in _operands(getattr(instruction, f))}


def writes(instruction) -> tuple[str, ...]:
    """The variables that an instruction writes."""
    if isinstance(instruction, ir.Copy):
        return instruction.targets
    target = getattr(instruction, "target", None)
    return (target,) if isinstance(target, str) else ()


def _live_at_start(blocks):
    """The variables that each block, or one it leads to, reads before it writes them."""
    uses, defs = {}, {}
    for number, block in blocks.items():
        read, written = set(), set()
        for instruction in block:
            read |= reads(instruction) - written
            written |= set(writes(instruction))
        uses[number], defs[number] = read, written
    live = {number: set(use) for number, use in uses.items()}
    changed = True
    while changed:
        changed = False
        for number, block in reversed(list(blocks.items())):
            after = set().union(*(live[n] for n in successors(block[-1])))
            if isinstance(block[-1], _Wait):
                after.discard(block[-1].barrier.target)
            now = uses[number] | (after - defs[number])
            if now != live[number]:
                live[number], changed = now, True
    for block in blocks.values():
        if isinstance(block[-1], _Wait) and block[-1].barrier.target:
            live[block[-1].block].add(block[-1].barrier.target)
    return live


def _without_dead_code(blocks):
    """The blocks without values that nobody reads; memory accesses stay, they are what counts."""
    pure = (ir.Operation, ir.Cast, ir.Call, ir.Pack, ir.Item, ir.Attribute, ir.View)
    while True:
        read = {name for block in blocks.values() for i in block for name in reads(i)}
        kept = {number: [j for i in block for j in _needed(i, read, pure)]
                for number, block in blocks.items()}
        if sum(map(len, kept.values())) == sum(map(len, blocks.values())) and all(
                a is b for n in kept for a, b in zip(kept[n], blocks[n], strict=True)):
            return kept
        blocks = kept


def _needed(instruction, read, pure):
    if isinstance(instruction, pure) and instruction.target not in read:
        return []
    if isinstance(instruction, ir.Copy) and not read.issuperset(instruction.targets):
        pairs = [(t, s) for t, s in zip(instruction.targets, instruction.sources, strict=True)
                 if t in read]
        return [ir.Copy(*map(tuple, zip(*pairs, strict=True)))] if pairs else []
    return [instruction]


def _piece(function, block, position, needs):
    end = block[-1]
    kind = {ir.Jump: JUMP, ir.Branch: BRANCH, ir.Return: RETURN, _Wait: BARRIER}[type(end)]
    after = [position[n] for n in successors(end)]
    lines = [i.site.line for i in block if hasattr(i, "site")] + [
        i.reference.site.line for i in block if hasattr(i, "reference")]
    return Piece(function, kind, after[0] if after else -1, after[-1] if after else -1, needs,
                 min(lines, default=0), end.barrier if kind == BARRIER else end)


class _Writer:
    """Writes pieces as Python source, and keeps the constants that they name."""

    def __init__(self, slots, read):
        self.slots, self.read = slots, read
        self.names = {}
        self.namespace = {**operators.NAMESPACE, "memory": memory, "load": memory.load,
                          "store": memory.store, "view": memory.view, "atomic": atomics.atomic,
                          "attribute": memory.attribute, "merge": memory.merge}

    def piece(self, position, block) -> str:
        """The source of one piece."""
        body, written, used = [], {}, set()
        for instruction in block:
            used |= reads(instruction) - set(written)
            if instruction is not block[-1]:
                body += self._instruction(instruction)
                written |= dict.fromkeys(writes(instruction))
        written = [name for name in written if name in self.slots]
        result = self._result(block[-1])
        loads = [f"{self.variable(n)} = v[{self.slots[n]}]" for n in sorted(used)]
        lines = ["v = frame.values", *loads, *body, *self._write_back(written),
                 f"return {result}"]
        return f"def piece_{position}(frame, active, others):\n    " + "\n    ".join(lines)

    def _write_back(self, written):
        if not written:
            return []
        plain = [f"    v[{self.slots[n]}] = {self.variable(n)}" for n in written]
        merged = [f"    v[{slot}] = merge(active, {self.variable(n)}, v[{slot}]) "
                  f"if others >> {slot} & 1 else {self.variable(n)}"
                  for n in written for slot in (self.slots[n],)]
        return ["if not others:", *plain, "else:", *merged]

    def _result(self, end):
        if isinstance(end, ir.Branch):
            return self.expression(end.condition)
        if isinstance(end, _Wait) and end.barrier.predicate is not None:
            return self.expression(end.barrier.predicate)
        return "None"

    def variable(self, name) -> str:
        """The Python variable of one of ours."""
        return self.names.setdefault(name, f"x{len(self.names)}")

    def constant(self, value) -> str:
        """The name of a constant in the piece's namespace."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def expression(self, operand) -> str:
        if isinstance(operand, ir.Const):
            return self.constant(operand.value)
        if isinstance(operand, ir.Slice):
            parts = (operand.start, operand.stop, operand.step)
            return f"slice({', '.join('None' if p is None else self.expression(p) for p in parts)})"
        return "None" if operand is None else self.variable(operand)

    def tuple(self, operands) -> str:
        return "(" + "".join(f"{self.expression(o)}, " for o in operands) + ")"

    def _instruction(self, i):
        return getattr(self, f"_write_{type(i).__name__}")(i)

    def _write_Operation(self, i):
        operands = [self.expression(o) for o in i.operands]
        return [f"{self.variable(i.target)} = {operators.source(i.operator, operands)}"]

    def _write_Cast(self, i):
        return [f"{self.variable(i.target)} = convert({self.expression(i.operand)}, "
                f"{self.constant(i.dtype)})"]

    def _write_Call(self, i):
        function = self.constant(intrinsics.INTRINSICS[i.function].function)
        operands = "".join(f", {self.expression(o)}" for o in i.operands)
        return [f"{self.variable(i.target)} = {function}(frame, active{operands})"]

    def _write_Copy(self, i):
        targets = ", ".join(self.variable(t) for t in i.targets)
        return [f"{targets} = {', '.join(self.expression(s) for s in i.sources)}"]

    def _write_Pack(self, i):
        return [f"{self.variable(i.target)} = {self.tuple(i.items)}"]

    def _write_Item(self, i):
        return [f"{self.variable(i.target)} = {self.expression(i.operand)}[{i.index}]"]

    def _write_Attribute(self, i):
        return [f"{self.variable(i.target)} = attribute({self.expression(i.array)}, {i.name!r})"]

    def _write_Allocate(self, i):
        return [f"{self.variable(i.target)} = frame.allocate({self.constant(i)})"]

    def _write_View(self, i):
        return [f"{self.variable(i.target)} = view(frame, {self.constant(i.reference)}, "
                f"{self.expression(i.array)}, {self.tuple(i.indices)}, active)"]

    def _write_Load(self, i):
        return [f"{self.variable(i.target)} = load(frame, {self.constant(i.reference)}, "
                f"{self.expression(i.array)}, {self.tuple(i.indices)}, active)"]

    def _write_Store(self, i):
        return [f"store(frame, {self.constant(i.reference)}, {self.expression(i.array)}, "
                f"{self.tuple(i.indices)}, {self.expression(i.value)}, active)"]

    def _write_Atomic(self, i):
        return [f"{self.variable(i.target)} = atomic(frame, {self.constant(i.reference)}, "
                f"{i.operator!r}, {self.expression(i.array)}, {self.tuple(i.indices)}, "
                f"{self.tuple(i.values)}, active, {i.target in self.read})"]

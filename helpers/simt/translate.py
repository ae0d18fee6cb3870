"""A kernel of our IR made into Python: one NumPy function per piece; the only file that
writes code.

A piece is a straight line of instructions between two places where threads may part or
wait. Pieces are numbered so that every piece of a loop comes before the pieces behind
the loop, and a piece comes before those it leads to: threads that run the lowest number
first meet again at the end of each `if`, of each turn of a loop, and of the loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import atomics, intrinsics, ir, memory, operators, printing, raising
from .liveness import (
    Gathering,
    Wait,
    live_at_start,
    reads,
    successors,
    without_dead_code,
    writes,
)
from .order import position_order

JUMP, BRANCH, RETURN, BARRIER, GATHER = range(5)


@dataclass(frozen=True, slots=True)
class Piece:
    """One compiled piece and where it leads; `needs` are the slots read at or after its
    start.
    """

    run: Callable  # (frame, active, others) -> condition or predicate
    kind: int
    then: int
    otherwise: int
    needs: int  # a set of slots, as bits
    site: object  # the first line of source in it, or None
    ending: object  # the terminator, for messages


@dataclass(frozen=True)
class Program:
    """A kernel ready to run: its pieces by position, and a frame's slots."""

    name: str
    arguments: tuple[int, ...]  # the slots of the arguments
    pieces: tuple[Piece, ...]
    slots: int
    results: dict[int, int]  # position after a barrier: slot of its result
    allocations: tuple[ir.Allocate, ...]
    grid_barriers: frozenset[int]  # positions after barriers of the grid
    source: str


def translate(kernel: ir.Kernel) -> Program:
    """The program of a kernel."""
    blocks = without_dead_code(_straighten(kernel.blocks, kernel.entry))
    order, latches = position_order(
        {n: successors(b[-1]) for n, b in blocks.items()}, kernel.entry
    )
    blocks = _with_latches(blocks, latches)
    position = {number: place for place, number in enumerate(order)}
    live = live_at_start(blocks)
    shared = (
        set().union(*live.values(), kernel.arguments) if live else set(kernel.arguments)
    )
    slots = {name: slot for slot, name in enumerate(sorted(shared))}
    read = {name for block in blocks.values() for i in block for name in reads(i)}
    writer = _Writer(slots, read)
    sources = [writer.piece(position[n], blocks[n]) for n in order]
    text = "\n\n".join(sources)
    namespace = writer.namespace
    exec(compile(text, f"<emulated {kernel.name}>", "exec"), namespace)
    pieces = tuple(
        _piece(
            namespace[f"piece_{position[n]}"],
            blocks[n],
            position,
            sum(1 << slots[name] for name in live[n]),
        )
        for n in order
    )
    results = {
        position[b[-1].block]: slots[b[-1].barrier.target]
        for b in blocks.values()
        if isinstance(b[-1], Wait) and b[-1].barrier.target in slots
    }
    grid_barriers = frozenset(
        position[b[-1].block]
        for b in blocks.values()
        if isinstance(b[-1], Wait) and b[-1].barrier.operator == "grid"
    )
    allocations = tuple(
        i for b in blocks.values() for i in b if isinstance(i, ir.Allocate)
    )
    return Program(
        kernel.name,
        tuple(slots[a] for a in kernel.arguments),
        pieces,
        len(slots),
        results,
        allocations,
        grid_barriers,
        text,
    )


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
            again = isinstance(blocks[following][-1], Gathering)
            if arrivals[following] != 1 or following == number or again:
                break
            blocks[number] = blocks[number][:-1] + blocks[following]
            joined.add(following)
    return {number: blocks[number] for number in reached - joined}


def _with_latches(blocks, latches):
    """The blocks with one way back in each loop, where early threads wait."""
    blocks = dict(blocks)
    for latch, (first, back) in latches.items():
        for number in back:
            *straight, end = blocks[number]
            blocks[number] = [*straight, _redirected(end, first, latch)]
        blocks[latch] = [ir.Jump(first)]
    return blocks


def _redirected(terminator, old, new):
    """The terminator with one of the blocks that it leads to exchanged."""
    ways = {
        name: new
        for name in ("block", "then", "otherwise")
        if getattr(terminator, name, None) == old
    }
    return replace(terminator, **ways)


def _with_wait(block):
    if len(block) > 1 and isinstance(block[-2], ir.Barrier):
        return [*block[:-2], Wait(block[-2], block[-1].block)]
    if len(block) > 1 and isinstance(block[-2], ir.Gather):
        return [Gathering(block[-2], block[-1].block)]
    return list(block)


_KINDS = {
    ir.Jump: JUMP,
    ir.Branch: BRANCH,
    ir.Return: RETURN,
    Wait: BARRIER,
    Gathering: GATHER,
}


def _piece(function, block, position, needs):
    end = block[-1]
    kind = _KINDS[type(end)]
    after = [position[n] for n in successors(end)]
    sites = [getattr(i, "site", None) for i in block]
    sites.append(getattr(getattr(end, "gather", None), "site", None))
    sites += [i.reference.site for i in block if hasattr(i, "reference")]
    return Piece(
        function,
        kind,
        after[0] if after else -1,
        after[-1] if after else -1,
        needs,
        min(filter(None, sites), key=lambda site: site.line, default=None),
        getattr(end, "barrier", None) or getattr(end, "gather", end),
    )


class _Writer:
    """Writes pieces as Python source, and keeps the constants that they name."""

    def __init__(self, slots, read):
        self.slots, self.read = slots, read
        self.names = {}
        self.namespace = {
            **operators.NAMESPACE,
            "memory": memory,
            "load": memory.load,
            "store": memory.store,
            "view": memory.view,
            "atomic": atomics.atomic,
            "attribute": memory.attribute,
            "merge": memory.merge,
            "show": printing.show,
            "note": raising.note,
        }

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
        lines = [
            "v = frame.values",
            *loads,
            *body,
            *self._write_back(written),
            f"return {result}",
        ]
        return f"def piece_{position}(frame, active, others):\n    " + "\n    ".join(
            lines
        )

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
        if isinstance(end, Gathering):
            return self.expression(end.gather.mask)
        if isinstance(end, Wait) and end.barrier.predicate is not None:
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
        return [f"{self.variable(i.target)} = {operators.source(i.operator, operands)}"]

    def _write_Cast(self, i):
        return [
            f"{self.variable(i.target)} = convert({self.expression(i.operand)}, "
            f"{self.constant(i.dtype)})"
        ]

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
        return [
            f"{self.variable(i.target)} = attribute({self.expression(i.array)}, "
            f"{i.name!r})"
        ]

    def _write_Allocate(self, i):
        return [f"{self.variable(i.target)} = frame.allocate({self.constant(i)})"]

    def _write_View(self, i):
        return [
            f"{self.variable(i.target)} = view(frame, {self.constant(i.reference)}, "
            f"{self.expression(i.array)}, {self.tuple(i.indices)}, active)"
        ]

    def _write_Load(self, i):
        return [
            f"{self.variable(i.target)} = load(frame, {self.constant(i.reference)}, "
            f"{self.expression(i.array)}, {self.tuple(i.indices)}, active)"
        ]

    def _write_Print(self, i):
        return [f"show(frame, active, {self.tuple(i.items)})"]

    def _write_Raise(self, i):
        return [f"note(frame, active, {self.constant(i)})"]

    def _write_Store(self, i):
        return [
            f"store(frame, {self.constant(i.reference)}, {self.expression(i.array)}, "
            f"{self.tuple(i.indices)}, {self.expression(i.value)}, active)"
        ]

    def _write_Atomic(self, i):
        return [
            f"{self.variable(i.target)} = atomic(frame, {self.constant(i.reference)}, "
            f"{i.operator!r}, {self.expression(i.array)}, {self.tuple(i.indices)}, "
            f"{self.tuple(i.values)}, active, {i.target in self.read})"
        ]

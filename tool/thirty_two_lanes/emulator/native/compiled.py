"""A program's pieces as machine code, compiled once, and their NumPy functions."""

from dataclasses import replace

import llvmlite.binding as binding
from llvmlite import ir as llvm

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen.first_uses import inputs_of
from thirty_two_lanes.emulator.codegen.liveness import reads, writes
from thirty_two_lanes.emulator.codegen.writer import Writer
from thirty_two_lanes.emulator.native import driver
from thirty_two_lanes.emulator.native.layout import Layout
from thirty_two_lanes.emulator.native.lowering import Lowering
from thirty_two_lanes.emulator.native.pieces import array_names, is_number, pieces_of
from thirty_two_lanes.emulator.native.telling import Telling

_ENDS = {
    type(None): driver.NEXT,
    ir.Jump: driver.JUMP,
    ir.Branch: driver.BRANCH,
    ir.Return: driver.RETURN,
    ir.WaitForLanes: driver.MEET,
}


class Compiled:
    """Machine code of a program: its pieces, and where they find a warp.

    `slots` are those of the program and, behind them, what pieces of one block leave
    for each other. `unsure` are the numbers that may be read before they are written.
    Where it `tells`, judges hear what it does.
    """

    def __init__(self, program, tells=False):
        self.program, self.layout = program, Layout()
        self.tells, self.told = tells, []  # the places that ask, each with its type
        self.names = array_names(program)
        self.pieces = pieces_of(program, self.names, tells)
        self.slots = dict(program.ir.slot_of)
        for piece in self.pieces:
            for name in piece.leaves:
                self.slots.setdefault(name, len(self.slots))
        self.numbers = {n for n in self.slots if is_number(program.ir.types.get(n))}
        self.unsure = _unsure(program) & self.numbers
        self.blocks = self._functions()
        self.written = [
            sorted({n for i in p.instructions for n in writes(i)} & {*self.slots})
            for p in self.pieces
        ]
        self.first = {p.pc: n for n, p in reversed([*enumerate(self.pieces)])}
        self.aliases = [
            (self.slots[target], self.slots[source])
            for target, source in self.names.items()
            if target in self.slots and source in self.slots
        ]
        self.conditions = {id(p): condition_of(p.end) for p in self.pieces}
        self.is_branch = [isinstance(p.end, ir.Branch) for p in self.pieces]
        slots = {slot: name for name, slot in self.slots.items()}
        self.results = [slots[slot] for slot in program.results.values()]
        self.watched = dict(self._watched())
        self.needed = {
            pc: [s for s in range(program.slots) if program.code[pc].needs >> s & 1]
            for pc in self.watched
        }
        self._compile()

    def _functions(self):
        """The NumPy function of each piece, as a basic block of its own."""
        kernel_reads = {
            n for block in self.program.ir.blocks for i in block for n in reads(i)
        }
        writer = Writer(self.slots, kernel_reads, self.program.ir.types)
        blocks = [[*p.instructions, p.end or ir.Return()] for p in self.pieces]
        source = "\n\n".join(
            writer.basic_block(number, block) for number, block in enumerate(blocks)
        )
        name = f"<emulated {self.program.name}>"
        exec(compile(source, name, "exec"), writer.namespace)
        return [
            replace(
                self.program.code[piece.pc],
                run=writer.namespace[f"block_{number}"],
                inputs=inputs_of(blocks[number], self.slots),
                sites=writer.sites[number],
            )
            for number, piece in enumerate(self.pieces)
        ]

    def _watched(self):
        """Where a back edge leads to: the slots of its numbers."""
        code, slots = self.program.code, self.program.ir.slot_of.items()
        ends = [(n, end) for n, b in enumerate(code) for end in (b.then, b.otherwise)]
        for pc in {end for n, end in ends if 0 <= end <= n}:
            needed = [(name, s) for name, s in slots if code[pc].needs >> s & 1]
            yield pc, [slot for name, slot in needed if name in self.numbers]

    def _compile(self):
        module = llvm.Module("pieces")
        module.triple = binding.get_process_triple()
        for number, piece in enumerate(self.pieces):
            if piece.native:
                self._lowering(module, f"piece_{number}", piece).lower()
        driver.Driver(module, self.tells)
        self.engine = _machine_code(module)
        self.drive = self.engine.get_function_address("drive")
        self.addresses = [
            self.engine.get_function_address(f"piece_{number}") if piece.native else 0
            for number, piece in enumerate(self.pieces)
        ]

    def _lowering(self, module, name, piece):
        parts = module, name, piece, self.program, self.layout, self.unsure
        return Telling(*parts, told=self.told) if self.tells else Lowering(*parts)

    def waited_for(self, piece, warp):
        """The mask or the predicate of threads that wait, as it is now."""
        operand = self.conditions.get(id(piece))
        if isinstance(operand, str):
            value = warp.values[self.slots[operand]]
            return value.copy() if hasattr(value, "copy") else value
        return operand and operand.value

    def rows(self):
        """What the driver knows of each piece."""
        for piece, address in zip(self.pieces, self.addresses, strict=True):
            block = self.program.code[piece.pc]
            kind = _ENDS.get(type(piece.end), driver.WAIT)
            if self.tells and kind == driver.MEET:  # the machine tells it
                kind = driver.WAIT
            yield address, kind, block.then, block.otherwise, piece.pc


def condition_of(end):
    """The operand that threads wait with: a mask, or a barrier's predicate."""
    if isinstance(end, ir.WaitForLanes):
        return end.sync.mask
    return end.barrier.predicate if isinstance(end, ir.WaitAtBarrier) else None


def _unsure(program) -> set:
    """The variables that a block may need and that not all ways to it write."""
    everything = set(program.ir.slot_of)
    before = [everything for _ in program.ir.blocks]
    before[0] = {n for n, s in program.ir.slot_of.items() if s in program.arguments}
    changed = True
    while changed:
        changed = False
        for pc, block in enumerate(program.ir.blocks):
            written = before[pc] | {n for i in block for n in writes(i)}
            written |= {
                n
                for n, s in program.ir.slot_of.items()
                if s == program.results.get(program.code[pc].then)
            }
            for following in {program.code[pc].then, program.code[pc].otherwise} - {-1}:
                if not before[following] <= written:
                    before[following], changed = before[following] & written, True
    return {
        name
        for pc in range(len(program.ir.blocks))
        for name, slot in program.ir.slot_of.items()
        if program.code[pc].needs >> slot & 1 and name not in before[pc]
    }


def _machine_code(module):
    """An engine that holds a module's machine code."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=0,
        jit=True,
    )
    parsed = binding.parse_assembly(str(module))
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine

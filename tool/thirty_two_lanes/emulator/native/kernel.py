"""What kernels are written with: a row's words, the context that all share, loops over
a warp's threads, and the ways on to other rows.
"""

from contextlib import contextmanager

from llvmlite import ir as llvm

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.batch import WATCH

I1, I8, I64 = llvm.IntType(1), llvm.IntType(8), llvm.IntType(64)
WORDS = I64.as_pointer()
FLOATS = {4: llvm.FloatType(), 8: llvm.DoubleType()}
CONTEXT = (
    "threads blocks active whole lanes "  # of those that run
    "masks present begins take taken nearest "  # of groups of threads, by pc
    "outer alone "  # the machine's other groups: the lowest pc; are there none?
    "iterations turns patience limit "  # of loops
    "looks looked looked_at target "  # at their ends, for cycles
    "print last kept changed blind "  # of a warp's variables there
    "pc why changes "  # where it stopped, what for, and what memory has seen
    "log logged "  # what a basic block has stored so far
    "counts steps bits "  # by pc; by pc and block; by block, the lanes that run
    "asked mark most warp iterated "
    "facts lanes_told addresses values"  # of requests that judges are told
).split()
AT = {name: index for index, name in enumerate(CONTEXT)}
STOPPED, RAN, FULL, APART = range(4)  # before a basic block, behind one, before it is
# told, or where the machine has others to run first
COUNTS = 2  # of each pc: lanes and splits
LOGGED = 3  # words of what a store replaced: an address, its bytes, and their number
FACTS = 3  # words of a request: its source, iterations and warp


def number_type(dtype):
    """The LLVM type of a number, None where it has none; a truth is a byte."""
    if dtype.kind in "iub":
        return llvm.IntType(dtype.itemsize * 8)
    return FLOATS.get(dtype.itemsize) if dtype.kind == "f" else None


class LoopFunction:
    """A kernel on its way: its words and the context's, and loops over threads."""

    def __init__(self, module, name):
        shape = llvm.FunctionType(I64, [WORDS, WORDS])
        function = llvm.Function(module, shape, name)
        self.row, self.context = function.args
        self.b = llvm.IRBuilder(function.append_basic_block())

    def word(self, index):
        """An operand of the row."""
        return self.b.load(self.b.gep(self.row, [I64(index + 2)]))

    def get(self, name):
        return self.b.load(self.b.gep(self.context, [I64(AT[name])]))

    def set(self, name, value):
        value = I64(value) if isinstance(value, int) else value
        self.b.store(value, self.b.gep(self.context, [I64(AT[name])]))

    def more(self, name, amount=1):
        value = self.b.add(self.get(name), I64(amount))
        self.set(name, value)
        return value

    def pointer(self, address, made):
        return self.b.inttoptr(address, made.as_pointer())

    def cell(self, index, made, thread):
        """Where a thread's number of an operand is."""
        return self.b.gep(self.pointer(self.word(index), made), [thread])

    def read(self, index, made, thread):
        return self.b.load(self.cell(index, made, thread))

    @contextmanager
    def each(self, count):
        """A loop over the numbers below `count`."""
        b, before = self.b, self.b.block
        head, body, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        index = b.phi(I64)
        index.add_incoming(I64(0), before)
        b.cbranch(b.icmp_unsigned("<", index, count), body, after)
        b.position_at_end(body)
        yield index
        index.add_incoming(b.add(index, I64(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    @contextmanager
    def each_active(self):
        """A loop over the threads that take part: lanes, then blocks."""
        active = self.pointer(self.get("active"), I8)
        with self.each(self.get("threads")) as thread:
            here = self.b.load(self.b.gep(active, [thread]))
            with self.b.if_then(self.b.icmp_unsigned("!=", here, I8(0))):
                yield thread

    @contextmanager
    def each_lane(self, block):
        """A loop over the lanes of a block: each, and its thread."""
        with self.each(I64(WARP_SIZE)) as lane:
            yield lane, self.b.add(self.b.mul(lane, self.get("blocks")), block)

    def words_at(self, name, index):
        """Where a word is of those that the context has the address of."""
        return self.b.gep(self.pointer(self.get(name), I64), [index])

    def add_to(self, cell, amount):
        self.b.store(self.b.add(self.b.load(cell), amount), cell)

    def go_on(self):
        """To the row behind this one."""
        size = self.b.load(self.b.gep(self.row, [I64(1)]))
        self.b.ret(self.b.ptrtoint(self.b.gep(self.row, [size]), I64))

    def stop(self, why):
        self.set("why", why)
        self.b.ret(I64(0))

    def stop_unless(self, condition, why):
        with self.b.if_then(self.b.not_(condition)):
            self.stop(why)

    def lead_to(self, target, pc):
        """To another basic block's rows, if the machine has nothing to say to it."""
        b = self.b
        back = b.icmp_signed("<=", pc, self.get("pc"))
        turn, patience = b.zext(back, I64), self.get("patience")
        iterations = b.add(self.get("iterations"), turn)
        watched = b.icmp_unsigned("<", b.and_(iterations, I64(WATCH - 1)), I64(2))
        tired = b.icmp_signed("<=", patience, I64(1))
        self.stop_unless(b.not_(b.and_(back, tired)), RAN)
        self.set("iterations", iterations)
        self.set("turns", b.add(self.get("turns"), turn))
        self.set("patience", b.sub(patience, turn))
        with b.if_then(b.and_(back, watched)):
            self.set("looked_at", pc)
            self.set("target", target)
            b.ret(b.load(b.gep(self.pointer(self.get("looks"), I64), [pc])))
        self.follow(target, pc)

    def follow(self, target, pc):
        """To another basic block, or to a group that is before it."""
        b = self.b
        with b.if_then(b.icmp_signed(">=", pc, self.get("nearest"))):
            with self.each_active() as thread:
                b.store(I8(1), self.member(pc, thread))
            self.take(pc)
        b.ret(target)

    def member(self, pc, thread):
        """Whether a thread is in the group at a pc."""
        first = self.b.mul(pc, self.get("threads"))
        masks = self.pointer(self.get("masks"), I8)
        return self.b.gep(masks, [self.b.add(first, thread)])

    def present(self, pc):
        """Whether there is a group at a pc."""
        return self.b.gep(self.pointer(self.get("present"), I64), [pc])

    def take(self, *pcs):
        """Go on with the lowest pc, where these have threads, too."""
        for pc in pcs:
            self.b.store(I64(1), self.present(pc))
        self.b.ret(self.get("take"))

    def lowest(self, first):
        """The lowest pc from `first` on with a group, or the machine's."""
        b, before = self.b, self.b.block
        head, body, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        pc = b.phi(I64)
        pc.add_incoming(first, before)
        b.cbranch(b.icmp_signed("<", pc, self.get("outer")), body, after)
        b.position_at_end(body)
        pc.add_incoming(b.add(pc, I64(1)), body)
        none = b.icmp_unsigned("==", b.load(self.present(pc)), I64(0))
        b.cbranch(none, head, after)
        b.position_at_end(after)
        return pc

    def count(self, pc, index, amount):
        place = self.b.add(self.b.mul(pc, I64(COUNTS)), I64(index))
        self.add_to(self.words_at("counts", place), amount)

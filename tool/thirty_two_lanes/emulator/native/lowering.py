"""A piece as an LLVM function: a loop over the active threads, in the order of lanes,
then blocks.

It gives 0, or 1 where it stopped before it changed anything. A first loop computes; a
second one, where there is a store, writes.
"""

import numpy as np
from llvmlite import ir as llvm

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen.liveness import reads, writes
from thirty_two_lanes.emulator.native import scalars
from thirty_two_lanes.emulator.native.layout import AT
from thirty_two_lanes.emulator.native.pieces import SHUFFLES, is_number, type_of
from thirty_two_lanes.emulator.native.words import (
    CONTEXT,
    I1,
    I8,
    I64,
    PIECE,
    each,
    intrinsic,
    number,
)


class Lowering:
    """One piece on its way to LLVM; `layout` has the places of what it names."""

    def __init__(self, module, name, piece, program, layout, unsure):
        self.piece, self.types, self.layout = piece, program.ir.types, layout
        self.function = llvm.Function(module, PIECE, name)
        (self.context,) = self.function.args
        start = self.function.append_basic_block("start")
        self.head = llvm.IRBuilder(start)  # what all threads share
        self.builder = self.head
        self.stopped = self.function.append_basic_block("stopped")
        llvm.IRBuilder(self.stopped).ret(number(1))
        self.shared, self.values = {}, {}
        self.unsure = unsure  # slots that may hold nothing yet
        self.taken = self._taken()
        self.stops = False  # may it stop after a thread has begun?
        self.crossed = set()  # slots that other threads read
        self.staged, self.stages = [], 0  # what the second loop writes

    def lower(self):
        """Write the function."""
        for name in self.taken:
            if name in self.unsure:
                self._require(self.word(self.layout.place("defined", name)))
        loops = self.function.append_basic_block("loops")
        self.builder = llvm.IRBuilder(loops)
        self._loop(self._compute)
        if self.staged:
            self._loop(self._commit)
        self._note_written()
        self.builder.ret(number(0))
        self.head.branch(loops)

    def _taken(self):
        """The numbers that the piece takes from slots."""
        known, taken = set(), {}
        for i in (*self.piece.instructions, self.piece.end):
            if i is not None:
                taken |= dict.fromkeys(sorted(_numbers(i, self.types) - known))
                known |= set(writes(i))
        return taken

    def _note_written(self):
        """Note that slots hold something now, and how often memory was written."""
        b, names = self.builder, [n for n in self.piece.leaves if n in self.unsure]
        for name in names:
            place = self.layout.place("defined", name)
            b.store(number(1), b.gep(self.context, [number(place)]))
        if any(isinstance(i, ir.Store) for i in self.piece.instructions):
            for name in ("stores", "dirty", "kept_dirty"):
                place = b.gep(self.context, [number(AT[name])])
                b.store(b.add(b.load(place), number(1)), place)

    # what all threads share

    def word(self, place):
        """A word of the context."""
        if place not in self.shared:
            at = self.head.gep(self.context, [number(place)])
            self.shared[place] = self.head.load(at)
        return self.shared[place]

    def _require(self, word):
        """Go on only where a word is not 0, before any thread has begun."""
        after = self.function.append_basic_block("on")
        test = self.head.icmp_unsigned("!=", word, number(0))
        self.head.cbranch(test, after, self.stopped)
        self.head.position_at_end(after)

    # the loops

    def _loop(self, body):
        """Write a loop over the active threads; what `body` gives is a condition."""
        b = self.builder
        with each(b, self.word(AT["words"])) as word:
            active = b.inttoptr(self.word(AT["active"]), CONTEXT)
            mask = b.load(b.gep(active, [word]))
            taken = self._each_thread(b.shl(word, number(6)), mask, body)
            if taken is not None:
                then = b.inttoptr(self.word(AT["then"]), CONTEXT)
                b.store(taken, b.gep(then, [word]))

    def _each_thread(self, first, mask, body):
        """Write a loop over the bits of a mask; gives those for which `body` holds."""
        b, before = self.builder, self.builder.block
        start, after = (b.append_basic_block(name) for name in ("thread", "threads"))
        b.cbranch(b.icmp_unsigned("==", mask, number(0)), after, start)
        b.position_at_end(start)
        left, taken = b.phi(I64), b.phi(I64)
        bit = intrinsic(b, "cttz", I64, left, llvm.Constant(I1, 1))
        self.thread, self.values = b.add(first, bit), {}
        holds = body()
        bits = taken if holds is None else b.or_(taken, b.shl(b.zext(holds, I64), bit))
        rest = b.and_(left, b.sub(left, number(1)))
        for phi, begin, following in ((left, mask, rest), (taken, number(0), bits)):
            phi.add_incoming(begin, before)
            phi.add_incoming(following, b.block)
        end = b.block
        b.cbranch(b.icmp_unsigned("==", rest, number(0)), after, start)
        b.position_at_end(after)
        if holds is None:
            return None
        result = b.phi(I64)
        result.add_incoming(number(0), before)
        result.add_incoming(bits, end)
        return result

    def _compute(self):
        """One thread's instructions; gives the condition of a branch."""
        for i in self.piece.instructions:
            self.instruction(i)
        for name in self.piece.leaves:
            if name in self.values:
                self._leave(name, self.values[name])
        if isinstance(self.piece.end, ir.Branch):
            return scalars.is_not_zero(
                self.builder, self.value(self.piece.end.condition)
            )
        return None

    def instruction(self, i):
        """One thread's part of an instruction."""
        _LOWERED[type(i)](self, i)

    def _leave(self, name, value):
        """Write a slot; in the second loop, where the first may yet stop."""
        if self.stops and name in self.taken or name in self.crossed:
            self.later(value, lambda: self._slot(name))
        else:
            self.write(value, self._slot(name))

    def keep(self, value):
        """Keep a value for the second loop; gives what reads it there."""
        stage = self.layout.place("stage", self.stages)
        self.stages += 1
        self.write(value, self.cell(stage, value.type))
        return lambda: self.read(self.cell(stage, value.type), value.type)

    def later(self, value, place):
        """Let the second loop write a value to `place()`."""
        self.staged.append((self.keep(value), place))

    def _commit(self):
        for value, place in self.staged:
            self.write(value(), place())

    # one thread's numbers

    def unless(self, ordinary):
        """Stop where something is not ordinary: NumPy knows what to do."""
        self.stops = True
        on = self.function.append_basic_block("on")
        self.builder.cbranch(ordinary, on, self.stopped)
        self.builder.position_at_end(on)

    def value(self, operand):
        """One thread's value: an LLVM value, or a tuple of them."""
        if isinstance(operand, ir.Const):
            return _constant(operand.value)
        if operand not in self.values:
            made = scalars.number_type(self.types[operand])
            self.values[operand] = self.read(self._slot(operand), made)
        return self.values[operand]

    def _slot(self, name):
        made = scalars.number_type(self.types[name])
        return self.cell(self.layout.place("slot", name), made)

    def cell(self, place, made, thread=None):
        """Where this thread's number, or another's, lies in a buffer."""
        stored = I8 if made == I1 else made
        words = self.builder.inttoptr(self.word(place), CONTEXT)
        at = self.builder.gep(words, [thread or self.thread])
        return self.builder.bitcast(at, stored.as_pointer())

    def read(self, pointer, made):
        value = self.builder.load(pointer, align=1)
        return scalars.is_not_zero(self.builder, value) if made == I1 else value

    def write(self, value, pointer):
        if value.type == I1:
            value = self.builder.zext(value, I8)
        self.builder.store(value, pointer, align=1)

    def call_loop(self, loop, values):
        """What a loop of NumPy's gives for one number."""
        made = values[0].type
        places = [self.head.alloca(made) for _ in (*values, None)]
        words = self.head.alloca(I64, 2 * len(places) + 1)
        size = 4 if isinstance(made, llvm.FloatType) else 8
        starts = [self.head.ptrtoint(place, I64) for place in places]
        for n, word in enumerate([*starts, number(1), *[number(size)] * len(places)]):
            self.head.store(word, self.head.gep(words, [number(n)]))
        for value, place in zip(values, places, strict=False):
            self.builder.store(value, place)
        at = [self.builder.gep(words, [number(n * len(places))]) for n in (0, 1)]
        at.append(self.builder.gep(at[1], [number(1)]))
        shape = llvm.FunctionType(llvm.VoidType(), [*[CONTEXT] * 3, I64])
        function = self.head.inttoptr(number(loop[0]), shape.as_pointer())
        self.builder.call(function, [*at, number(loop[1])])
        return self.builder.load(places[-1])

    def bits(self, value):
        """A number's bits, as an integer."""
        if isinstance(value.type, llvm.IntType):
            return value
        width = 32 if isinstance(value.type, llvm.FloatType) else 64
        return self.builder.bitcast(value, llvm.IntType(width))

    # arrays

    def _varying(self, place):
        """A word of an array that may differ between threads: its address and step."""
        base = self.builder.inttoptr(self.word(place), CONTEXT)
        step = self.builder.mul(self.thread, self.word(place + 1))
        return self.builder.load(self.builder.gep(base, [step]))

    def array(self, name):
        """Where the words of an array lie; stops where the variable holds none."""
        place = self.layout.place("array", name, words=3 + 4 * self.types[name].ndim)
        if ("known", place) not in self.shared:
            self.shared["known", place] = self.word(place)
            self._require(self.word(place))
        return place

    def size(self, name, axis):
        return self._varying(self.array(name) + 3 + 4 * axis)

    def address(self, i):
        """A pointer to an element, within bounds by Numba's rule."""
        place = self.array(i.array)
        at, b = self._varying(place + 1), self.builder
        for axis, operand in enumerate(i.indices):
            source, size = type_of(operand, self.types), self.size(i.array, axis)
            index = scalars.convert(b, self.value(operand), source, _wide(source))
            if source.kind == "i":
                negative = b.icmp_signed("<", index, number(0))
                index = b.select(negative, b.add(index, size), index)
            self.unless(b.icmp_unsigned("<", index, size))
            stride = self._varying(place + 5 + 4 * axis)
            at = b.add(at, b.mul(index, stride))
        return at

    def pointer(self, at, made):
        stored = I8 if made == I1 else made
        return self.builder.inttoptr(at, stored.as_pointer())


def _wide(dtype):
    return np.dtype(f"{dtype.kind}8")


def _constant(value):
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return scalars.constant(value)


def _numbers(i, types) -> set:
    """The numbers that an instruction reads."""
    return {n for n in reads(i) if is_number(types.get(n))}


# one thread's part of each instruction


def _operation(piece, i):
    dtypes = [type_of(o, piece.types) for o in i.operands]
    operands = [piece.value(o) for o in i.operands]
    row = scalars.row(i, dtypes, piece.types[i.target])
    piece.values[i.target] = row(piece, operands, dtypes[0])


def _cast(piece, i):
    source = type_of(i.operand, piece.types)
    value = piece.value(i.operand)
    piece.values[i.target] = scalars.convert(piece.builder, value, source, i.dtype)


def _call(piece, i):
    """A shuffle, or a warp's geometry, numbers that are known from the start."""
    if i.function in SHUFFLES:
        return _shuffle(piece, i)
    parts = piece.types[i.target]
    operands = tuple(int(o.value) for o in i.operands)
    found = []
    for axis, dtype in enumerate(parts if isinstance(parts, tuple) else (parts,)):
        place = piece.layout.place("geometry", i.function, operands, axis, dtype)
        made = scalars.number_type(dtype)
        found.append(piece.read(piece.cell(place, made), made))
    piece.values[i.target] = tuple(found) if isinstance(parts, tuple) else found[0]


def _shuffle(piece, i):
    """Another lane's number, from its slot; that of the lane itself beyond the ends."""
    _, source, operand = i.operands
    b, blocks = piece.builder, piece.word(AT["blocks"])
    lane, block = b.udiv(piece.thread, blocks), b.urem(piece.thread, blocks)
    dtype = type_of(operand, piece.types)
    given = scalars.convert(b, piece.value(operand), dtype, _wide(dtype))
    given = b.and_(given, number(31))
    other = getattr(b, SHUFFLES[i.function])(lane, given)
    if i.function == "cuda.shfl_sync":
        other = given
    inside = b.icmp_unsigned("<", other, number(32))
    other = b.add(b.mul(b.select(inside, other, lane), blocks), block)
    made = scalars.number_type(piece.types[i.target])
    place = piece.cell(piece.layout.place("slot", source), made, other)
    active = b.inttoptr(piece.word(AT["active"]), CONTEXT)
    mask = b.load(b.gep(active, [b.lshr(other, number(6))]))
    here = b.trunc(b.lshr(mask, b.and_(other, number(63))), I1)
    nothing = llvm.Constant(made, 0)
    piece.values[i.target] = b.select(here, piece.read(place, made), nothing)
    piece.crossed.add(source)


def _copy(piece, i):
    values = [piece.value(source) for source in i.sources]
    piece.values.update(zip(i.targets, values, strict=True))


def _pack(piece, i):
    piece.values[i.target] = tuple(piece.value(item) for item in i.items)


def _item(piece, i):
    piece.values[i.target] = piece.value(i.operand)[i.index]


def _attribute(piece, i):
    if i.name.startswith("shape"):
        piece.values[i.target] = piece.size(i.array, int(i.name[5:]))
        return
    size = number(1)
    for axis in range(piece.types[i.array].ndim):
        size = piece.builder.mul(size, piece.size(i.array, axis))
    piece.values[i.target] = size


def _known_array(piece, i):
    piece.array(i.target)


def _load(piece, i):
    made = scalars.number_type(piece.types[i.target])
    pointer = piece.pointer(piece.address(i), made)
    piece.values[i.target] = piece.read(pointer, made)


def _store(piece, i):
    value, at = piece.value(i.value), piece.address(i)
    stage = piece.keep(at)
    piece.later(value, lambda: piece.pointer(stage(), value.type))


_LOWERED = {
    ir.Operation: _operation,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Copy: _copy,
    ir.Pack: _pack,
    ir.Item: _item,
    ir.Attribute: _attribute,
    ir.Allocate: _known_array,
    ir.Captured: _known_array,
    ir.Load: _load,
    ir.Store: _store,
}

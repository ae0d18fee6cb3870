"""Machine code for what NumPy has no loop for: rows that load, store, choose, convert,
and lead on to other rows.

A kernel is one function of LLVM, `kernel(row, context) -> the next row or 0`, made when
a program first needs it and kept for all others. A row is some 64-bit words: the
kernel's address, the number of words, and its operands, most of them addresses of one
number for each thread of a warp. None of them knows a rule of CUDA's: where there is
one, a `guard` stops, undoes what its basic block has stored, and NumPy's functions run
that block.
"""

import ctypes

import llvmlite.binding as binding
from llvmlite import ir as llvm

from thirty_two_lanes.core.events import GOLDEN
from thirty_two_lanes.emulator.native.kernel import (
    APART,
    FACTS,
    FULL,
    I8,
    I64,
    LOGGED,
    RAN,
    STOPPED,
    WORDS,
    LoopFunction,
    number_type,
)

# basic blocks: how they begin, and where they lead


def _run(k):
    """Follow rows from the first one on."""
    b, start = k.b, k.b.block
    body, after = (b.append_basic_block() for _ in range(2))
    b.branch(body)
    b.position_at_end(body)
    row = b.phi(WORDS)
    row.add_incoming(k.row, start)
    shape = llvm.FunctionType(I64, [WORDS, WORDS])
    function = b.inttoptr(b.load(row), shape.as_pointer())
    following = b.call(function, [row, k.context])
    row.add_incoming(b.inttoptr(following, WORDS), body)
    b.cbranch(b.icmp_unsigned("==", following, I64(0)), after, body)
    b.position_at_end(after)
    b.ret(I64(0))


def _begin(k):
    """A basic block begins: a step, where judges have room to be told."""
    k.set("pc", k.word(0))
    k.stop_unless(k.b.icmp_signed("<", k.get("asked"), k.get("most")), FULL)
    k.set("mark", k.get("asked"))
    k.set("logged", 0)
    k.go_on()


def _count(k):
    """Count a step of each block's warp, and its lanes."""
    b, pc = k.b, k.word(0)
    k.count(pc, 0, k.get("lanes"))
    first = b.mul(pc, k.get("blocks"))
    with k.each(k.get("blocks")) as block:
        runs = b.icmp_unsigned("!=", b.load(k.words_at("bits", block)), I64(0))
        k.add_to(k.words_at("steps", b.add(first, block)), b.zext(runs, I64))
    k.go_on()


def _machine(k):
    """A basic block that NumPy runs."""
    k.set("pc", k.word(0))
    k.stop(STOPPED)


def _take(k):
    """The group of the lowest pc, as the machine takes it; others come later."""
    b = k.b
    pc = k.lowest(I64(0))
    with b.if_then(b.icmp_signed("==", pc, k.get("outer"))):
        k.set("taken", 1)
        k.stop(APART)
    b.store(I64(0), k.present(pc))
    k.set("lanes", 0)
    active = k.pointer(k.get("active"), I8)
    with k.each(k.get("blocks")) as block:
        bits = k.words_at("bits", block)
        b.store(I64(0), bits)
        with k.each_lane(block) as (lane, thread):
            cell = k.member(pc, thread)
            here = b.load(cell)
            b.store(I8(0), cell)
            b.store(here, b.gep(active, [thread]))
            one = b.zext(here, I64)
            k.set("lanes", b.add(k.get("lanes"), one))
            b.store(b.or_(b.load(bits), b.shl(one, lane)), bits)
    following = k.lowest(b.add(pc, I64(1)))
    k.set("nearest", following)
    joined = b.icmp_signed("==", following, k.get("outer"))
    k.set("whole", b.and_(k.get("alone"), b.zext(joined, I64)))
    k.set("iterations", 0)
    k.set("taken", 1)
    b.ret(b.load(b.gep(k.pointer(k.get("begins"), I64), [pc])))


def _jump(k):
    k.lead_to(k.word(0), k.word(1))


def _branch(k, tells):
    """Where all go one way, on that way; or two groups, of which one goes first."""
    b = k.b
    found = [b.alloca(I64) for _ in range(2)]
    for cell in found:
        b.store(I64(0), cell)
    with k.each_active() as thread:
        holds = b.zext(k.read(0, I8, thread), I64)
        for cell, one in zip(found, (holds, b.xor(holds, I64(1))), strict=True):
            b.store(b.or_(b.load(cell), one), cell)
    some, others = (b.icmp_unsigned("!=", b.load(cell), I64(0)) for cell in found)
    with b.if_then(b.and_(some, others)):
        if tells:
            _count_splits(k, found)
        with k.each_active() as thread:
            holds = b.icmp_unsigned("!=", k.read(0, I8, thread), I8(0))
            pc = b.select(holds, k.word(2), k.word(4))
            b.store(I8(1), k.member(pc, thread))
        k.take(k.word(2), k.word(4))
    target, pc = (b.select(some, k.word(n), k.word(n + 2)) for n in (1, 2))
    k.lead_to(target, pc)


def _count_splits(k, found):
    """Count the blocks whose warp goes two ways."""
    b, active = k.b, k.pointer(k.get("active"), I8)
    with k.each(k.get("blocks")) as block:
        for cell in found:
            b.store(I64(0), cell)
        with k.each_lane(block) as (_, thread):
            here = b.load(b.gep(active, [thread]))
            holds = b.and_(k.read(0, I8, thread), here)
            for cell, one in zip(found, (holds, b.xor(holds, here)), strict=True):
                b.store(b.or_(b.load(cell), b.zext(one, I64)), cell)
        both = b.and_(*(b.load(cell) for cell in found))
        k.count(k.get("pc"), 1, both)


def _meet(k):
    """Of lanes that wait for others: on, where all are here."""
    k.stop_unless(k.b.icmp_unsigned("!=", k.get("whole"), I64(0)), RAN)
    k.lead_to(k.word(0), k.word(1))


def _end(k):
    """What follows is the machine's."""
    k.stop(RAN)


def _guard(k):
    """Stop where a condition does not hold, as if its basic block had not begun."""
    b = k.b
    with k.each_active() as thread:
        fails = b.icmp_unsigned("==", k.read(0, I8, thread), I8(0))
        with b.if_then(fails):
            with k.each(k.get("logged")) as done:
                last = b.sub(b.sub(k.get("logged"), I64(1)), done)
                entry = b.gep(k.pointer(k.get("log"), I64), [b.mul(last, I64(LOGGED))])
                address, old, size = (b.gep(entry, [I64(n)]) for n in range(LOGGED))
                to = k.pointer(b.load(address), I8)
                source = b.bitcast(old, I8.as_pointer())
                with k.each(b.load(size)) as byte:
                    b.store(b.load(b.gep(source, [byte])), b.gep(to, [byte]))
            k.set("asked", k.get("mark"))
            k.stop(STOPPED)
    k.go_on()


# loops that may go in cycles


def _look(k):
    """Begin a print of a loop's threads and variables."""
    k.set("print", 0)
    active = k.pointer(k.get("active"), I8)
    with k.each(k.get("threads")) as thread:
        _mix_in(k, k.b.load(k.b.gep(active, [thread])))
    k.go_on()


def _mix(k, size):
    """Mix a variable into the print."""
    with k.each_active() as thread:
        _mix_in(k, k.read(0, llvm.IntType(8 * size), thread))
    k.go_on()


def _mix_in(k, value):
    b = k.b
    value = value if value.type == I64 else b.zext(value, I64)
    mixed = b.mul(b.xor(k.get("print"), value), I64(GOLDEN))
    k.set("print", b.xor(mixed, b.lshr(mixed, I64(29))))


def _looked(k):
    """On, where the machine would see no cycle: all differs from what it has seen."""
    b = k.b
    looked, now = b.add(k.get("looked"), I64(1)), k.get("print")
    asks = b.icmp_signed("!=", k.get("blind"), I64(0))
    for other in (
        b.icmp_signed("==", now, k.get("last")),
        b.icmp_signed("==", now, k.get("kept")),
        b.icmp_signed("==", b.and_(looked, k.get("looked")), I64(0)),
        b.icmp_signed(">", k.get("turns"), k.get("limit")),
    ):
        asks = b.or_(asks, other)
    with b.if_then(asks):
        _ask(k)
    k.set("looked", looked)
    k.set("last", now)
    k.set("changed", k.get("changes"))
    k.follow(k.get("target"), k.get("looked_at"))


def _ask(k):
    """Let the machine look, which counts this turn."""
    for name, step in (("iterations", -1), ("turns", -1), ("patience", 1)):
        k.more(name, step)
    k.stop(RAN)


# numbers


def _loop(k):
    """A loop of NumPy's: its address and data, the threads, cells and steps."""
    pointer = I8.as_pointer()
    shape = llvm.FunctionType(llvm.VoidType(), [pointer, WORDS, WORDS, pointer])
    loop = k.b.inttoptr(k.word(0), shape.as_pointer())
    cells = k.b.gep(k.row, [I64(6)])
    steps = k.b.gep(cells, [k.word(3)])
    count = k.b.gep(k.row, [I64(4)])
    data = k.b.inttoptr(k.word(1), pointer)
    k.b.call(loop, [k.b.bitcast(cells, pointer), count, steps, data])
    k.go_on()


def _select(k, size):
    """The second where the first holds, and the third elsewhere."""
    made = llvm.IntType(8 * size)
    with k.each(k.get("threads")) as thread:
        holds = k.b.icmp_unsigned("!=", k.read(0, I8, thread), I8(0))
        one, other = (k.read(n, made, thread) for n in (1, 2))
        k.b.store(k.b.select(holds, one, other), k.cell(3, made, thread))
    k.go_on()


def _cast(k, source, target):
    """A number in another type, which has it."""
    b, made = k.b, number_type(target)
    with k.each(k.get("threads")) as thread:
        value = k.read(0, number_type(source), thread)
        k.b.store(_converted(b, value, source, target, made), k.cell(1, made, thread))
    k.go_on()


def _converted(b, value, source, target, made):
    if source.kind == target.kind == "f":
        wider = target.itemsize > source.itemsize
        return (b.fpext if wider else b.fptrunc)(value, made)
    if source.kind == "f":
        return (b.fptosi if target.kind == "i" else b.fptoui)(value, made)
    if target.kind == "f":
        return (b.sitofp if source.kind == "i" else b.uitofp)(value, made)
    if target.itemsize <= source.itemsize:
        return b.trunc(value, made) if target.itemsize < source.itemsize else value
    return (b.sext if source.kind == "i" else b.zext)(value, made)


# memory


def _gather(k, size):
    """What is at the threads' addresses."""
    made = llvm.IntType(8 * size)
    with k.each_active() as thread:
        at = k.pointer(k.read(0, I64, thread), made)
        k.b.store(k.b.load(at, align=1), k.cell(1, made, thread))
    k.go_on()


def _scatter(k, size):
    """Numbers to the threads' addresses; where threads collide, the last one wins."""
    b, made = k.b, llvm.IntType(8 * size)
    k.more("changes")
    with k.each_active() as thread:
        address = k.read(0, I64, thread)
        at = k.pointer(address, made)
        count = b.mul(k.get("logged"), I64(LOGGED))
        entry = b.gep(k.pointer(k.get("log"), I64), [count])
        b.store(address, entry)
        old = b.bitcast(b.gep(entry, [I64(1)]), made.as_pointer())
        b.store(b.load(at, align=1), old)
        b.store(I64(size), b.gep(entry, [I64(2)]))
        k.more("logged")
        b.store(k.read(1, made, thread), at, align=1)
    k.go_on()


def _tell(k, size):
    """A request for the judges: its source, space, places and what they are told as."""
    b, asked = k.b, k.get("asked")
    facts = k.words_at("facts", b.mul(asked, I64(FACTS)))
    source = b.add(k.word(0), k.read(1, I64, I64(0)))
    turns = b.add(k.get("iterated"), k.get("turns"))
    for index, fact in enumerate((source, turns, k.get("warp"))):
        b.store(fact, b.gep(facts, [I64(index)]))
    lanes = k.words_at("lanes_told", b.mul(asked, k.get("blocks")))
    with k.each(k.get("blocks")) as block:
        b.store(b.load(k.words_at("bits", block)), b.gep(lanes, [block]))
    first, apart = b.mul(asked, k.get("threads")), k.read(4, I64, I64(0))
    with k.each_active() as thread:
        where = b.add(first, thread)
        told, place = k.words_at("addresses", where), k.read(2, I64, thread)
        b.store(place, told)
        with b.if_then(b.icmp_unsigned("!=", apart, I64(1))):
            b.store(b.udiv(place, apart), told)
        k.add_to(told, k.read(3, I64, thread))
        if size:
            value = k.read(5, llvm.IntType(8 * size), thread)
            b.store(b.zext(value, I64), k.words_at("values", where))
    k.more("asked")
    k.go_on()


KERNELS = {
    "run": _run,
    "begin": _begin,
    "count": _count,
    "jump": _jump,
    "branch": _branch,
    "meet": _meet,
    "end": _end,
    "machine": _machine,
    "take": _take,
    "guard": _guard,
    "look": _look,
    "mix": _mix,
    "looked": _looked,
    "ask": _ask,
    "loop": _loop,
    "select": _select,
    "cast": _cast,
    "gather": _gather,
    "scatter": _scatter,
    "tell": _tell,
}
_made, _engines = {}, []


def addresses_of(keys) -> dict:
    """The addresses of kernels; a key is a name, or one with sizes or types."""
    missing = {
        key: f"kernel_{n}" for n, key in enumerate(sorted(keys - _made.keys(), key=str))
    }
    if missing:
        module = llvm.Module()
        for (name, *types), function in missing.items():
            kernel = LoopFunction(module, function)
            KERNELS[name](kernel, *types)
        engine = _engine(module)
        _engines.append(engine)
        _made.update((k, engine.get_function_address(n)) for k, n in missing.items())
    return {key: _made[key] for key in keys}


def _engine(module):
    """An engine that holds a module's machine code."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    cpu = {
        "cpu": binding.get_host_cpu_name(),
        "features": binding.get_host_cpu_features().flatten(),
    }
    machine = target.create_target_machine(**cpu, opt=2, jit=True)
    module.triple = target.triple
    parsed = binding.parse_assembly(str(module))
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine


def function_of(address):
    """A kernel as a function of Python's, which keeps its lock."""
    return ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(address)

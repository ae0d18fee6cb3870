"""What the threads of a block do together: barriers, shared memory, warp operations.

A segment is reached by all threads of a block that have not left. In `warps.py` are
those that wait for all lanes of a warp, so no thread may have left before.
"""

from tests.specimens.random_kernels.data import KIND
from tests.specimens.random_kernels.memory import DTYPES, body_of
from tests.specimens.random_kernels.statements import may_leave
from tests.specimens.random_kernels.tables import Table

SEGMENTS = Table()


def segment(w):
    w.fuel = max(w.fuel, 3)
    SEGMENTS.draw(w).write(w)


def declare(w):
    """The shared arrays, all of whose cells have a value when the rest begins."""
    w.shared = {}
    for code in w.random.sample(["i4", "i8", "u4", "f4", "f8"], w.pick(1, 1, 2)):
        name = f"s_{code}"
        shape = w.pick(w.threads, w.threads, (2, w.threads))
        w.shared[name] = shape
        w.line(f"{name} = cuda.shared.array({shape}, np.{DTYPES[code]})")
        for cell in ["tid"] if shape == w.threads else ["0, tid", "1, tid"]:
            w.line(f"{name}[{cell}] = {w.pick('tid', '3')}")
    w.line("cuda.syncthreads()")


def cells(w, name, *places):
    """A shared cell; of an array of two rows, in one of them."""
    place = w.pick(*places)
    return f"{name}[{place}]" if w.shared[name] == w.threads else f"{name}[-1, {place}]"


@SEGMENTS.row(3)
def thread_by_thread(w):
    body_of(w)


@SEGMENTS.row(3)
def exchange_through_shared_memory(w):
    """Each thread stores a cell of its own; behind a barrier it loads another's."""
    name = w.pick(*w.shared)
    kind = KIND[name[2:]]
    w.line(f"{cells(w, name, 'tid')} = {w.expression(kind, 1)}")
    w.line("cuda.syncthreads()")
    other = f"(tid + {w.pick(1, 5, 32)}) % {w.threads}", f"{w.threads - 1} - tid"
    uniform = "-1", "0", f"-{w.threads}", f"{w.threads - 1}"
    w.variable(kind, cells(w, name, *other, *uniform))
    w.line("cuda.syncthreads()")


@SEGMENTS.row(0.6)
def store_by_one_thread_at_a_uniform_index(w):
    name = w.pick(*w.shared)
    kind = KIND[name[2:]]
    w.line("cuda.syncthreads()")
    w.line(f"if tid == {w.pick(0, w.threads - 1)}:")
    w.line(f"    {cells(w, name, '-1', '0')} = {w.expression(kind, 1)}")
    w.line("cuda.syncthreads()")
    w.variable(kind, cells(w, name, "-1", "0"))
    w.line("cuda.syncthreads()")


@SEGMENTS.row(0.8)
def atomic_on_shared_memory(w):
    name = w.pick(*w.shared)
    code = name[2:]
    kind = KIND[code]
    if kind == "f":
        operation, value = "add", f"{w.expression('i', 1)} & 15"
        w.line(f"{cells(w, name, 'tid')} = 0")
    else:
        operation = w.pick("add", "max", "min", "and_", "or_", "xor")
        value = w.expression(kind, 1)
    where = w.pick("-1", "0", f"{w.expression('i', 1)} % {w.threads}")
    w.line("cuda.syncthreads()")
    if w.shared[name] != w.threads:
        where = f"(-1, {where})"
    w.line(f"cuda.atomic.{operation}({name}, {where}, np.{DTYPES[code]}({value}))")
    w.features[f"atomic {operation.strip('_')} on shared {code}"] += 1
    w.line("cuda.syncthreads()")
    w.variable(kind, cells(w, name, "tid", "-1"))
    w.line("cuda.syncthreads()")


def may_part(w):
    return w.depth < 3


@SEGMENTS.row(1.2, when=may_part)
def barriers_in_some_blocks(w):
    """Blocks pass different numbers of barriers, and then wait for their warps."""
    head = w.pick("bid > 0", "bid == 0", "bid & 1", f"{w.array('a_i4')}[bid] > 0")
    with w.block(f"if {head}:"):
        w.line("cuda.syncthreads()") if w.chance(0.5) else segment(w)
    if w.chance(0.3):
        with w.block("else:"):
            segment(w)


@SEGMENTS.row(1.2, when=may_part)
def barriers_in_a_loop_by_block(w):
    """A loop whose trip count is another in each block."""
    name = w.name("turn")
    count = w.pick("bid + 1", "(bid & 1) + 1", f"({w.array('a_i4')}[bid] & 3)", "2")
    with w.block(f"for {name} in range({count}):"), w.staying():
        w.variables["i"].append(name)
        exchange_through_shared_memory(w)
        if w.chance(0.5):
            segment(w)
        if w.chance(0.2):
            w.write(f"if {w.array('a_i8')}[bid] < {name}:", "    break")


@SEGMENTS.row(0.4, when=may_leave)
def early_return_before_barriers(w):
    """Some threads leave; the barriers behind it go on without them."""
    w.write(f"if {w.expression('b', 1)}:", "    return")
    w.whole = False
    exchange_through_shared_memory(w)


@SEGMENTS.row(0.4)
def early_return_of_blocks(w):
    """Whole blocks leave, so every warp that stays has all its lanes."""
    w.write(f"if {w.pick('bid == 1', 'bid > 0', 'bid % 3 == 2')}:", "    return")


def all_here(w):
    return w.whole


@SEGMENTS.row(0.8, when=all_here)
def barrier_that_counts(w):
    call = w.pick("count", "and", "or")
    condition = f"1 if {w.safely('b', 1)} else 0"
    w.variable("i", f"cuda.syncthreads_{call}({condition})")

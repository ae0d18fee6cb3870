"""What the lanes of a warp do together, under full masks and parts of them.

`wm` is the mask of the lanes that the warp has, `members` their number.
"""

from tests.specimens.random_kernels.blocks import SEGMENTS, all_here, may_part
from tests.specimens.random_kernels.data import KIND
from tests.specimens.random_kernels.tables import Table

WARP = Table()
TYPES = {"i": ("int32", "int64"), "f": ("float32", "float64")}


def value(w):
    """A kind, and an expression of a type that shuffles take."""
    kind = w.pick("i", "f")
    return kind, f"np.{w.pick(*TYPES[kind])}({w.safely(kind)})"


def lane_of(w):
    """The number of a lane that the warp has."""
    number = w.pick("0", "lane + 1", "members - 1", "lane ^ 3", w.safely("i"))
    return f"({number}) % members"


@SEGMENTS.row(4, when=all_here)
def warp_operation(w):
    WARP.draw(w).write(w)


@SEGMENTS.row(1, when=lambda w: all_here(w) and may_part(w))
def warp_operations_in_a_loop_by_warp(w):
    head = f"for {w.name('turn')} in range(tid // 32 + {w.pick(0, 1)}):"
    with w.block(head), w.staying():
        WARP.draw(w).write(w)


@WARP.row(2)
def shuffle(w):
    kind, given = value(w)
    w.variable(kind, f"cuda.shfl_sync(wm, {given}, {lane_of(w)})")


@WARP.row(1)
def shuffle_up(w):
    kind, given = value(w)
    w.variable(kind, f"cuda.shfl_up_sync(wm, {given}, {w.pick(1, 2, 16)})")


@WARP.row(2)
def sum_of_a_warp(w):
    """By halves; a lane that the warp has not is not added."""
    kind, given = value(w)
    name, other, step = w.variable(kind, given), w.name("other"), w.name("step")
    w.write(f"{step} = 16", f"while {step} > 0:")
    if w.chance(0.5):
        call, here = f"down_sync(wm, {name}, {step})", f"lane + {step} < members"
    else:
        call, here = f"xor_sync(wm, {name}, {step})", f"(lane ^ {step}) < members"
    w.line(f"    {other} = cuda.shfl_{call}")
    greater = f"{name} = {name} if {name} > {other} else {other}"
    change = w.pick(f"{name} += {other}", greater)
    w.write(f"    if {here}:", f"        {change}", f"    {step} //= 2")


@WARP.row(2)
def vote(w):
    call = w.pick("all_sync", "any_sync", "eq_sync", "ballot_sync")
    w.variable("i", f"cuda.{call}(wm, {w.safely('b')})")


@WARP.row(1)
def match(w):
    """Compared bit by bit, so a value that has many forms is compared too."""
    kind = w.pick("i", "f")
    given = f"np.{w.pick(*TYPES[kind])}({w.safely(kind)})"
    if w.chance(0.5):
        return w.variable("i", f"cuda.match_any_sync(wm, {given})")
    mask, same = w.name("i"), w.name("same")
    w.line(f"{mask}, {same} = cuda.match_all_sync(wm, {given})")
    w.variable("i", f"{mask} + {same}")


@WARP.row(1)
def rank_among_voters(w):
    voters = w.variable("i", f"cuda.ballot_sync(wm, {w.safely('b')})")
    w.variable("i", f"cuda.popc({voters} & np.int64(cuda.lanemask_lt()))")


@WARP.row(1.5)
def exchange_within_a_warp(w):
    name = w.pick(*w.shared)
    kind, row = KIND[name[2:]], "" if w.shared[name] == w.threads else "1, "
    w.line("cuda.syncwarp(wm)")
    w.line(f"{name}[{row}tid] = {w.safely(kind)}")
    w.line("cuda.syncwarp(wm)")
    w.variable(kind, f"{name}[{row}tid - lane + {lane_of(w)}]")
    w.line("cuda.syncwarp(wm)")


@WARP.row(1.5)
def part_of_a_warp(w):
    """The first lanes wait for each other alone, and so do the others."""
    lanes = w.pick(1, 4, 7, 8, 16, 20)
    kind, given = value(w)
    name, low = w.variable(kind, "0"), (1 << lanes) - 1
    w.write(f"if lane < {lanes}:")
    w.write(f"    {name} = cuda.shfl_sync(wm & {low}, {given}, 0)")
    w.write(f"    cuda.syncwarp(wm & {low})")
    w.write("else:", f"    {name} = cuda.popc(cuda.ballot_sync(wm & ~{low}, lane & 1))")


@WARP.row(1)
def odd_and_even_lanes(w):
    name, seen = w.variable("i", "0"), w.safely("b")
    w.write("if lane & 1:")
    w.write(f"    {name} = cuda.ballot_sync(wm & 0xAAAAAAAA, {seen})")
    w.write("else:", f"    {name} = cuda.ballot_sync(wm & 0x55555555, {seen})")


@WARP.row(1)
def lanes_that_drop_out_of_a_loop(w):
    """Each turn, the lanes that stay find each other by a vote."""
    most, turn, mask = w.name("i"), w.name("i"), w.name("mask")
    kind, given = value(w)
    name = w.variable(kind, "0")
    w.line(f"{most} = {w.safely('i')} & 7")
    w.line(f"{mask} = cuda.ballot_sync(wm, {most} > 0)")
    with w.block(f"for {turn} in range({most}):"):
        w.line(f"{name} += cuda.shfl_sync({mask}, {given}, cuda.ffs({mask}) - 1)")
        w.line(f"{mask} = cuda.ballot_sync({mask}, {turn} + 1 < {most})")

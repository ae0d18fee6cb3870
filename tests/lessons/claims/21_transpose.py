"""What the lesson says of its measurements, and when it is true."""

from numba import cuda, int32, int64, uint32, uint64

from helpers import assemble
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about


def faster(it, name, than):
    """How many times as fast is a rung as another?"""
    return it.times[than].median_us / it.times[name].median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - it.times[name].median_us / it.times[of].median_us


def fewer(it, name, of):
    """The part of another rung's instructions that a rung saves."""
    return 1 - counted(it, name, "instructions") / counted(it, of, "instructions")


def counted(it, name, counter):
    return it.times[name].counters[counter]


def longest_wait(it, name):
    return next(iter(it.times[name].waits))


def waits(it, name, stall):
    """The share of a reason in what a rung's warps waited for."""
    return it.times[name].waits.get(REASONS[stall], 0)


def gigabytes(it, name, level):
    return it.times[name].traffic[level] / 1e9


def extra(it, name):
    """What a rung takes beyond the driver's copy, in parts of that copy."""
    return 1 / it.times[name].share_of_copy - 1


def steps_saved(it):
    """The time that each rung of the ladder after the padding saves."""
    names = it.ladder[it.ladder.index("padded") :]
    pairs = zip(names, names[1:], strict=False)
    times = it.times
    return {b: times[a].median_us - times[b].median_us for a, b in pairs}


def conflicts_share(it):
    """The share of a kernel's cycles that its conflicts take, one each."""
    conflicts = counted(it, "tile", "shared_load_conflicts") / 132
    return conflicts / counted(it, "tile", "cycles")


def loads_before_stores(it, rows, step, index):
    """How many global loads a kernel has before its first store to shared memory."""
    blocks = 192 // 32, 128 // rows
    kernel = it.make_several(rows, step, index)
    code = assemble(kernel)[blocks, (32, step)](it.out, it.small).instructions
    names = [it.opcode.split(".")[0] for it in code]
    return names[: names.index("STS")].count("LDG")


def sectors(run, kind):
    return run.coalescing.by_kind[kind].sectors / run.coalescing.by_kind[kind].requests


CLAIMS = {
    "that takes 7.5 times as long as the driver's copy": lambda it: about(
        "7.5", 1 / it.times["naive"].share_of_copy
    ),
    "128 bytes: 4 sectors": lambda it: sectors(it.naive, "load") == 4,
    "They store to 32 different rows of `dst`: 32 sectors": lambda it: (
        sectors(it.naive, "store") == 32
    ),
    "the stores are coalesced, but the loads are not": lambda it: (
        (sectors(it.rows, "store"), sectors(it.rows, "load")) == (4, 32)
    ),
    "each thread stores what it loaded, the other side is a column": lambda it: all(
        {sectors(run, "load"), sectors(run, "store")} == {4, 32}
        for run in (it.naive, it.rows)
    ),
    "Loads and stores now take 4 sectors each": lambda it: (
        sectors(it.tiled, "load") == sectors(it.tiled, "store") == 4
    ),
    "Each request now takes as few sectors and wavefronts as it can": lambda it: all(
        run.bank_conflicts.conflicts == 0
        and run.coalescing.sectors == run.coalescing.ideal_sectors
        for run in (it.padded, it.swizzled)
    ),
    "is 604 MB, about ten times what an H200's L2 holds": lambda it: (
        about("604", it.src.nbytes / 1e6)
        and 9 < it.src.nbytes / cuda.get_current_device().L2_CACHE_SIZE < 11
    ),
    "*naive* waits for its last stores": lambda it: (
        longest_wait(it, "naive") == REASONS["drain"]
    ),
    "L1 passes all their sectors on to L2, 5.4 GB with the loads instead of 1.2": (
        lambda it: about("5.4", gigabytes(it, "naive", "L2"))
        and about("1.2", gigabytes(it, "plain copy", "L2"))
        and counted(it, "naive", "l2_write_sectors")
        > 0.99 * counted(it, "naive", "global_store_sectors")
    ),
    "*by rows* is 2.4 times as fast": lambda it: about(
        "2.4", faster(it, "by rows", "naive")
    ),
    "L1 is asked for as many bytes, but loads each sector from L2 only once": (
        lambda it: (
            gigabytes(it, "by rows", "L1") == gigabytes(it, "naive", "L1")
            and counted(it, "by rows", "l2_read_sectors")
            < 1.01 * counted(it, "plain copy", "l2_read_sectors")
        )
    ),
    "*tile* has no single large wait": lambda it: (
        max(it.times["tile"].waits.values()) < 0.25
        and all(max(it.times[n].waits.values()) > 0.5 for n in ("naive", "by rows"))
    ),
    "for one more cycle, 47% of all": lambda it: about("47%", conflicts_share(it)),
    "part of that was hidden": lambda it: (
        conflicts_share(it) > saved(it, "padded", "tile") + 0.05
    ),
    "Padding saves 39% of the time": lambda it: about(
        "39%", saved(it, "padded", "tile")
    ),
    "*padded* waits at the barrier and for memory": lambda it: (
        set(list(it.times["padded"].waits)[:2])
        == {"a barrier", "global or local memory"}
    ),
    "none of these parts busy for even half of the time": lambda it: all(
        counted(it, "padded", f"{part}_percent") < 50
        for part in ("issue", "l1_data", "l2", "memory")
    ),
    "The plain copy takes 11% less time than the padded transpose": lambda it: about(
        "11%", saved(it, "plain copy", "padded")
    ),
    "has removed most of the cost of *transposing*": lambda it: (
        extra(it, "padded") - extra(it, "plain copy")
        < 0.1 * (extra(it, "naive") - extra(it, "plain copy"))
    ),
    "the plain copy itself takes 2.2 times as long as the driver's": lambda it: about(
        "2.2", 1 / it.times["plain copy"].share_of_copy
    ),
    "With an unsigned type this check disappears": lambda it: all(
        it.made(make(wide)) < 0.65 * it.made(make(signed))
        for make in (lambda T: it.make_tiled(33, T), it.make_swizzled)
        for wide, signed in ((uint64, int64), (uint32, int32))
    ),
    "78 instructions with `int64` and 86 with `int32`, but 42 with `uint64` and 46": (
        lambda it: [
            it.made(it.make_tiled(33, T)) for T in (int64, int32, uint64, uint32)
        ]
        == [78, 86, 42, 46]
    ),
    "With `uint32` a warp executes 42% fewer, which saves 9% of the time": lambda it: (
        about("42%", fewer(it, "padded, unsigned", "padded"))
        and about("9%", saved(it, "padded, unsigned", "padded"))
    ),
    "With signed indices the swizzle is 4% faster than the padding": lambda it: about(
        "4%", saved(it, "swizzled", "padded")
    ),
    "with unsigned ones both take the same time": lambda it: (
        abs(saved(it, "swizzled, unsigned", "padded, unsigned")) < 0.01
    ),
    "The compiler puts a thread's four loads before its first store to the tile": (
        lambda it: all(
            loads_before_stores(it, *rung) == 4
            for rung in ((128, 32, int64), (128, 32, uint32), (32, 8, uint32))
        )
    ),
    "With four elements per thread the time falls by 42%": lambda it: about(
        "42%", saved(it, "4 each, signed", "padded, unsigned")
    ),
    "although *more* instructions are executed": lambda it: (
        fewer(it, "4 each, signed", "padded, unsigned") < 0
    ),
    "memory is 65% busy instead of 38%": lambda it: (
        about("65", counted(it, "4 each, signed", "memory_percent"))
        and about("38", counted(it, "padded, unsigned", "memory_percent"))
    ),
    "Unsigned indices then save another 6%, and smaller blocks 6% more": (
        lambda it: about("6%", saved(it, "4 each", "4 each, signed"))
        and about("6%", saved(it, "256 threads", "4 each"))
    ),
    "a warp waits 24% less at its barrier": lambda it: about(
        "24%",
        1
        - it.barrier_cycles(it.times["256 threads"])
        / it.barrier_cycles(it.times["4 each"]),
    ),
    "the multiprocessor stays fuller, 94% instead of 91%": lambda it: (
        about("94", counted(it, "256 threads", "occupancy_percent"))
        and about("91", counted(it, "4 each", "occupancy_percent"))
    ),
    "It executes 29% fewer instructions in the same time": lambda it: (
        about("29%", fewer(it, "16 bytes a load", "256 threads"))
        and abs(saved(it, "16 bytes a load", "256 threads")) < 0.01
    ),
    "only 25% of the issue slots were used before": lambda it: about(
        "25", counted(it, "256 threads", "issue_percent")
    ),
    "It saves 8%: memory is 81% busy": lambda it: (
        about("8%", saved(it, "4 × 16 bytes", "16 bytes a load"))
        and about("81", counted(it, "4 × 16 bytes", "memory_percent"))
    ),
    "32% of the waiting is now for the queue to shared memory": lambda it: (
        about("32%", waits(it, "4 × 16 bytes", "mio_throttle"))
        and waits(it, "16 bytes a load", "mio_throttle") < 0.25
    ),
    "*down* saves 4% more": lambda it: about("4%", saved(it, "down", "4 × 16 bytes")),
    "Memory moves as many bytes, 1.18 GB, in less time": lambda it: all(
        about("1.18", 1e-9 * it.times[name].traffic["memory"])
        for name in ("4 × 16 bytes", "down")
    ),
    "the last rung takes 2% longer": lambda it: about(
        "2%", 1 / it.times["down"].share_of_copy - 1
    ),
    "the kernel still takes 2.5 times as long as the driver's copy": lambda it: about(
        "2.5", 1 / it.times["padded"].share_of_copy
    ),
    "What helps most from there is to load more before each wait": lambda it: (
        max(steps_saved(it), key=steps_saved(it).get) == "4 each"
    ),
    "because most of its rows begin within a sector": lambda it: (
        sectors(it.ragged, "load") > 3.5
        and sum(45 * row % 8 > 0 for row in range(70)) > 35
    ),
    "warp 0 walks down the diagonal of the tile": lambda it: all(
        (lane, "loads") == it.film.cells("tile", lane, lane)[1][3:5]
        for lane in range(32)
    ),
    "each of its 32 lanes asks a bank of its own": lambda it: (
        it.film.run.bank_conflicts.conflicts == 0
    ),
}

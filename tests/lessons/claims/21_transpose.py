"""What the lesson says of its measurements, and when it is true."""

from numba import cuda

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


def conflicts_share(it):
    """The share of a kernel's cycles that its conflicts take, one each."""
    conflicts = counted(it, "tile", "shared_load_conflicts") / 132
    return conflicts / counted(it, "tile", "cycles")


def sectors(run, kind):
    return run.coalescing.by_kind[kind].sectors / run.coalescing.by_kind[kind].requests




CLAIMS = {
    "that takes 7.5 times as long as a copy": lambda it: about(
        "7.5", 1 / it.times["naive"].share_of_copy
    ),
    "128 bytes: 4 sectors": lambda it: sectors(it.naive, "load") == 4,
    "They store to 32 different rows of `dst`: 32 sectors": lambda it: (
        sectors(it.naive, "store") == 32
    ),
    "the stores are coalesced, but the loads are not": lambda it: (
        (sectors(it.rows, "store"), sectors(it.rows, "load")) == (4, 32)
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
        longest_wait(it, "naive") == "its last stores"
    ),
    "L1 passes all their sectors on to L2, 4.8 GB instead of 0.6": lambda it: (
        about("4.8", 32e-9 * counted(it, "naive", "l2_write_sectors"))
        and about("0.6", 32e-9 * counted(it, "plain copy", "l2_write_sectors"))
    ),
    "Memory is asked for hardly more than by the copy": lambda it: (
        it.times["naive"].traffic["memory"]
        < 1.06 * it.times["plain copy"].traffic["memory"]
    ),
    "*by rows* is 2.4 times as fast": lambda it: about(
        "2.4", faster(it, "by rows", "naive")
    ),
    "Its loads ask L1 for eight times the bytes, but L1 asks L2 only once": lambda it: (
        counted(it, "by rows", "global_load_sectors")
        == 8 * counted(it, "plain copy", "global_load_sectors")
        and counted(it, "by rows", "l2_read_sectors")
        < 1.01 * counted(it, "plain copy", "l2_read_sectors")
    ),
    "*tile* waits for shared memory": lambda it: (
        longest_wait(it, "tile") == REASONS["short_scoreboard"]
    ),
    "47% of the kernel's cycles": lambda it: about("47%", conflicts_share(it)),
    "Padding saves 39% of the time": lambda it: about(
        "39%", saved(it, "padded", "tile")
    ),
    "*padded* waits at the barrier and for memory": lambda it: (
        set(list(it.times["padded"].waits)[:2])
        == {"a barrier", "global or local memory"}
    ),
    "keeps no part busy for half of the time": lambda it: all(
        counted(it, "padded", f"{part}_percent") < 50
        for part in ("issue", "l1_data", "l2", "memory")
    ),
    "The plain copy takes 11% less time than the padded transpose": lambda it: about(
        "11%", saved(it, "plain copy", "padded")
    ),
    "42% fewer instructions save 9% of the time": lambda it: (
        about("42%", fewer(it, "padded, 32-bit", "padded"))
        and about("9%", saved(it, "padded, 32-bit", "padded"))
    ),
    "With 64-bit indices the swizzle is 4% faster than the padding": lambda it: about(
        "4%", saved(it, "swizzled", "padded")
    ),
    "with 32-bit indices both take the same time": lambda it: (
        abs(saved(it, "swizzled, 32-bit", "padded, 32-bit")) < 0.01
    ),
    "With four elements a thread the time falls by 42%": lambda it: about(
        "42%", saved(it, "4 a thread, 64-bit", "padded, 32-bit")
    ),
    "although *more* instructions are executed": lambda it: (
        fewer(it, "4 a thread, 64-bit", "padded, 32-bit") < 0
    ),
    "The 32-bit indices then save another 6%, and the smaller blocks 6% more": (
        lambda it: about("6%", saved(it, "4 a thread", "4 a thread, 64-bit"))
        and about("6%", saved(it, "256 threads", "4 a thread"))
    ),
    "its share of all waiting falls from 34% to 26%": lambda it: (
        about("34%", it.times["4 a thread"].waits["a barrier"])
        and about("26%", it.times["256 threads"].waits["a barrier"])
    ),
    "executes 29% fewer instructions in the same time": lambda it: (
        about("29%", fewer(it, "16 bytes a load", "256 threads"))
        and abs(saved(it, "16 bytes a load", "256 threads")) < 0.01
    ),
    "puts four times as many on their way, and saves 8%": lambda it: about(
        "8%", saved(it, "4 × 16 bytes", "16 bytes a load")
    ),
    "*down* saves 4% more": lambda it: about("4%", saved(it, "down", "4 × 16 bytes")),
    "Memory moves as many bytes, 1.18 GB, in less time": lambda it: all(
        about("1.18", 1e-9 * it.times[name].traffic["memory"])
        for name in ("4 × 16 bytes", "down")
    ),
    "the last rung takes 2% longer": lambda it: about(
        "2%", 1 / it.times["down"].share_of_copy - 1
    ),
    "the kernel still takes 2.5 times as long as a copy": lambda it: about(
        "2.5", 1 / it.times["padded"].share_of_copy
    ),
    "because most of its rows begin within a sector": lambda it: (
        sectors(it.ragged, "load") > 3.5
        and sum(45 * row % 8 > 0 for row in range(70)) > 35
    ),
}

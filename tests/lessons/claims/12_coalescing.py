"""What the lesson says of its measurements, and when it is true."""

from numba import cuda

from helpers import emulate
from tests.lessons.claims import about

GB = 1e9


def sectors(kernel, blocks, threads, *arguments):
    """The sectors of each load request, counted by the emulator."""
    run = emulate(kernel)[blocks, threads](*arguments)
    loads = run.coalescing.by_kind["load"]
    return loads.sectors / loads.requests


def faults(it, start):
    """Does a copy in requests of 16 bytes fault, from a view that begins late?"""
    try:
        it.copy_wide[1, 256](it.few_out, cuda.to_device(it.few)[start:])
    except Exception as error:
        return "misaligned address" in str(error)
    return False


def l1_passes(m, multiprocessors=132):
    """The passes of L1's data stage for each load request of a launch."""
    busy = m.counters["l1_data_percent"] / 100
    passes = busy * multiprocessors * m.counters["cycles"]
    return passes / m.counters["global_load_requests"]


def requests_on_to_l2(m):
    """The share of the bytes asked of L1 for which L1 asks L2."""
    return m.counters["l2_read_sectors"] / m.counters["global_load_sectors"]


def at(it, stride):
    """The copy with a stride."""
    return it.strided[it.STRIDES.index(stride)]


def of_512(it, strips):
    """The launch with as many threads as a warp for each row has."""
    return strips[it.STRIPS.index(512)]


def fetched(m):
    return m.counters["memory_read_bytes"]


def faster(one, other):
    """How many times as long the other takes."""
    return other.median_us / one.median_us


def apart(it, order, name):
    """A counter of the copy whose threads take elements a block apart."""
    return it.fours[f"{order}, a block apart"].counters[name]


def together(it, order, name):
    """A counter of the copy whose threads take neighbours."""
    return it.fours[f"{order}, neighbours"].counters[name]


def near(value, other, share=0.01):
    return abs(value / other - 1) < share


CLAIMS = {
    # sums by few threads
    "its requests touch 32 sectors each, those of `sum_columns` 4": (
        lambda it: sectors(it.sum_rows, 4, 64, it.sums, it.matrix) == 32
        and sectors(it.sum_columns, 4, 64, it.sums, it.matrix) == 4
    ),
    "The wasteful kernel wins: it takes about three quarters of the time": (
        lambda it: 0.68 < faster(it.columns, it.rows) < 0.82
    ),
    "ask L1 for 8.59 GB, eight times as much as those of `sum_columns`": (
        lambda it: about("8.59", it.rows.traffic["L1"] / GB)
        and near(it.rows.traffic["L1"], 8 * it.columns.traffic["L1"])
    ),
    "But L1 asks L2 for 1.07 GB, the matrix once": (
        lambda it: about("1.07", it.rows.traffic["L2"] / GB)
        and near(it.rows.traffic["L2"], it.large.nbytes)
    ),
    "Below L1, both kernels move the same bytes": (
        lambda it: all(
            near(it.rows.traffic[level], it.columns.traffic[level])
            for level in ("L2", "memory")
        )
    ),
    "both sums move less than a fifth of what a copy moves in a second": (
        lambda it: max(it.rows.share_of_copy, it.columns.share_of_copy) < 0.2
    ),
    "Their few warps, 6% of those that fit the GPU, wait for memory": (
        lambda it: all(
            about("6", m.counters["occupancy_percent"])
            and m.waits["global or local memory"] > 0.8
            for m in (it.rows, it.columns)
        )
    ),
    "One of eight requests of `sum_rows` has to go on to L2, and each one of": (
        lambda it: near(requests_on_to_l2(it.rows), 1 / 8)
        and near(requests_on_to_l2(it.columns), 1)
    ),
    # sums by more threads
    "Twice the threads almost halve the time of column sums at first": (
        lambda it: it.threads[1] == 2 * it.threads[0]
        and 0.5 < faster(it.column_strips[0], it.column_strips[1]) < 0.55
    ),
    "Row sums gain less than 5% from more than 32,768 threads": (
        lambda it: it.threads[1] == 32_768
        and all(faster(m, it.row_strips[1]) < 1.05 for m in it.row_strips[2:])
    ),
    "In the end, column sums are three times as fast": (
        lambda it: about("3", faster(it.column_strips[-1], it.row_strips[-1]))
    ),
    "it is 99% busy": (
        lambda it: about("99", it.row_strips[-1].counters["l1_data_percent"])
    ),
    "32 lines take 32 passes, one line takes one": (
        lambda it: about("32", l1_passes(it.row_strips[-1]))
        and about("1", l1_passes(it.column_strips[-1]))
    ),
    "asks L2 for 1.7 times the matrix": (
        lambda it: about("1.7", it.row_strips[-1].traffic["L2"] / it.large.nbytes)
        and near(it.row_strips[0].traffic["L2"], it.large.nbytes)
    ),
    "With 16,384 threads it was busy two thirds of the time": (
        lambda it: it.threads[0] == 16_384
        and 0.63 < it.row_strips[0].counters["l1_data_percent"] / 100 < 0.7
    ),
    "row sums 3.5 times as fast as a thread for each strip, with as many threads": (
        lambda it: about("3.5", faster(it.by_warps, of_512(it, it.row_strips)))
        and it.threads[it.STRIPS.index(512)] == 32 * it.TALL
    ),
    "Column sums take 1.4 times as long as a copy of as many bytes": (
        lambda it: about("1.4", 1 / it.column_strips[-1].share_of_copy)
    ),
    "wait less for memory than for their turn to issue an instruction and for busy": (
        lambda it: it.column_strips[-1].waits["global or local memory"]
        < it.column_strips[-1].waits["its turn to issue"]
        + it.column_strips[-1].waits["a busy arithmetic unit"]
    ),
    # offsets and strides
    "adds one sector to each request, and none if it is a multiple of 8": (
        lambda it: all(
            it.load_sectors(offset) == (5 if offset % 8 else 4) for offset in range(33)
        )
    ),
    "The rate hardly changes": (
        lambda it: all(faster(it.shifted[0], m) < 1.04 for m in it.shifted)
    ),
    "L1 asks L2 for less than 1% more": (
        lambda it: all(
            1 <= m.traffic["L2"] / it.shifted[0].traffic["L2"] < 1.01
            for m in it.shifted
        )
    ),
    "while memory works at 85% or more of a copy's rate": (
        lambda it: all(it.moved(m) >= 0.85 * m.copy_gb_per_s for m in it.strided)
    ),
    "grow from 134 to 604 MB, 4.5 times, and the time 3.9 times": (
        lambda it: about("134", (fetched(at(it, 1)) + it.part.nbytes) / 1e6)
        and about("604", (fetched(at(it, 8)) + it.part.nbytes) / 1e6)
        and about("4.5", at(it, 8).traffic["L1"] / at(it, 1).traffic["L1"])
        and about("3.9", faster(at(it, 1), at(it, 8)))
    ),
    "in the 37 µs at stride 1, memory does not reach its full rate": (
        lambda it: about("37", at(it, 1).median_us)
        and it.moved(at(it, 1)) < 0.9 * it.moved(at(it, 8))
    ),
    "L1 asks for no more, and the copy still takes 1.8 times as long": (
        lambda it: near(at(it, 16).traffic["L2"], at(it, 8).traffic["L2"])
        and about("1.8", faster(at(it, 8), at(it, 16)))
    ),
    "this GPU's L2 fetches pieces of 64 bytes, two sectors": (
        lambda it: near(fetched(at(it, 16)), 64 * it.PART)
        and near(fetched(at(it, 8)), 32 * it.PART)
    ),
    "touch each piece: 805 MB, all that lies between": (
        lambda it: about("805", fetched(at(it, 12)) / 1e6)
        and near(fetched(at(it, 12)), 48 * it.PART)
    ),
    "no more bytes move than at 16, and the time still rises, by 16% at 32": (
        lambda it: near(fetched(at(it, 24)), fetched(at(it, 16)))
        and near(fetched(at(it, 32)), fetched(at(it, 16)))
        and faster(at(it, 16), at(it, 24)) > 1.02
        and about("16%", faster(at(it, 16), at(it, 32)) - 1)
    ),
    # wider elements
    "each row of the table has as many threads and as many requests": (
        lambda it: len({m.counters["global_load_requests"] for m in it.widths}) == 1
    ),
    "16 times the bytes take only 3 times as long": (
        lambda it: about("3", faster(it.widths[0], it.widths[-1]))
    ),
    "On such a view `load4` faults, because its address is no multiple of 16": (
        lambda it: faults(it, 1) and not faults(it, 4)
    ),
    "each of its requests has offset 1": (
        lambda it: sectors(it.copy, 4, 256, it.few_out, cuda.to_device(it.few)[1:])
        == it.load_sectors(1)
    ),
    "With 1 byte a thread, memory is 15% busy": (
        lambda it: 14 <= it.widths[0].counters["memory_percent"] < 15.5
        and max(it.widths[0].waits, key=it.widths[0].waits.get)
        == "global or local memory"
    ),
    # layouts
    "so the mass alone takes as long as all four fields": (
        lambda it: near(
            it.layouts["mass, structs"].median_us,
            it.layouts["all, structs"].median_us,
            0.02,
        )
    ),
    "Structs move 2.5 times the bytes of an array of masses, and take 1.6 times as": (
        lambda it: about(
            "2.5",
            it.layouts["mass, structs"].traffic["L2"]
            / it.layouts["mass, arrays"].traffic["L2"],
        )
        and about(
            "1.6", faster(it.layouts["mass, arrays"], it.layouts["mass, structs"])
        )
    ),
    "the array leaves memory half idle, as in the table above": (
        lambda it: all(
            45 < m.counters["memory_percent"] < 55
            for m in (it.layouts["mass, arrays"], it.widths[2])
        )
    ),
    "the two layouts take the same time": (
        lambda it: near(
            it.layouts["all, arrays"].median_us,
            it.layouts["all, structs"].median_us,
            0.03,
        )
    ),
    "The first load brings the sectors, and the other three find them in L1": (
        lambda it: near(requests_on_to_l2(it.layouts["all, structs"]), 1 / 4)
    ),
    "Lanes ask L1 for 3.4 times as many bytes": (
        lambda it: about(
            "3.4",
            it.layouts["all, structs"].traffic["L1"]
            / it.layouts["all, arrays"].traffic["L1"],
        )
    ),
    "memory is the limit, and is 85% busy with either": (
        lambda it: all(
            84 <= it.layouts[f"all, {how}"].counters["memory_percent"] < 86.5
            for how in ("structs", "arrays")
        )
    ),
    # four elements a thread
    "Neighbours touch four times as many sectors, in loads and in stores": (
        lambda it: all(
            near(apart(it, order, name) * 4, together(it, order, name))
            for order in ("in turn", "at once")
            for name in ("global_load_sectors", "global_store_sectors")
        )
    ),
    "they take 1.8 times as long as elements a block apart": (
        lambda it: about(
            "1.8",
            faster(it.fours["in turn, a block apart"], it.fours["in turn, neighbours"]),
        )
    ),
    "and asks L2 for 4% more": (
        lambda it: about(
            "4%",
            together(it, "in turn", "l2_read_sectors")
            / apart(it, "in turn", "l2_read_sectors")
            - 1,
        )
    ),
    "it asks L2 to store 1.04 GB instead of 0.27": (
        lambda it: about("1.04", 32 * together(it, "in turn", "l2_write_sectors") / GB)
        and about("0.27", 32 * apart(it, "in turn", "l2_write_sectors") / GB)
    ),
    "L2 is then asked to store 0.33 GB, and neighbours take only 2% longer": (
        lambda it: about("0.33", 32 * together(it, "at once", "l2_write_sectors") / GB)
        and about(
            "2%",
            faster(it.fours["at once, a block apart"], it.fours["at once, neighbours"])
            - 1,
        )
    ),
    "the same sectors take 132 instead of 173 µs": (
        lambda it: about("132", it.fours["at once, a block apart"].median_us)
        and about("173", it.fours["in turn, a block apart"].median_us)
        and apart(it, "at once", "l2_read_sectors")
        == apart(it, "in turn", "l2_read_sectors")
    ),
}

"""What the lesson says of its measurements, and when it is true."""

from numba import cuda

from tests.lessons.claims import about
from tests.lessons.counted import (
    empty_starts,
    executed,
    faster,
    fetched,
    in_flight,
    l1_busy,
    l1_passes,
    near,
    order,
    per_request,
    requests_on_to_l2,
    sectors,
    wait_for_loads,
)

GB = 1e9


def faults(it, start):
    """Does a copy in requests of 16 bytes fault, from a view that begins late?"""
    try:
        it.copy_wide[1, 256](it.few_out, cuda.to_device(it.few)[start:])
    except Exception as error:
        return "misaligned address" in str(error)
    return False


def at(it, stride):
    """The copy with a stride."""
    return it.strided[it.STRIDES.index(stride)]


def of_512(it, strips):
    """The launch with as many threads as a warp for each row has."""
    return strips[it.STRIPS.index(512)]


def apart(it, order, name):
    """A counter of the copy whose threads take elements a block apart."""
    return it.fours[f"{order}, a block apart"].counters[name]


def together(it, order, name):
    """A counter of the copy whose threads take neighbours."""
    return it.fours[f"{order}, neighbours"].counters[name]


def touched(it, *place):
    """The sectors that hold the addresses of a warp's lanes."""
    return len({address // 32 for address in it.lanes_at(*place)})


def shifted(it, offset):
    """The copy with an offset."""
    return it.shifted[it.OFFSETS.index(offset)]


def odd_offsets(it):
    """The copies whose requests touch a fifth sector."""
    return [shifted(it, offset) for offset in (1, 31)]


def of_offset_0(it):
    """The rate of a copy as a share of the rate at offset 0."""
    return lambda m: m.gb_per_s / it.shifted[0].gb_per_s


def more_from_l2(it, m):
    """The sectors that an offset adds to what L1 requests from L2."""
    return m.counters["l2_read_sectors"] - it.shifted[0].counters["l2_read_sectors"]


def view_sectors(it, view):
    """The sectors of each load request of a copy from a view."""
    return sectors(it.copy, 4, 256, it.few_out, view)


CLAIMS = {
    # sectors
    "The request touches 4 sectors and uses each of their 128 bytes": (
        lambda it: touched(it) == 4
    ),
    "One element on: 5 sectors": lambda it: touched(it, 1) == 5,
    "Two apart: 8, each half used": lambda it: touched(it, 0, 2) == 8,
    "32 apart: 32, one for each lane": lambda it: touched(it, 0, 32) == 32,
    "It is 8, where the lanes are 32 bytes apart": (
        lambda it: next(n for n in range(33) if touched(it, 1, n) == 32) == 8
    ),
    "Stride 0 is the other extreme: all lanes load the same number, and one sector": (
        lambda it: touched(it, 0, 0) == 1
    ),
    # sums by few threads
    "its requests touch 32 sectors each, those of `sum_columns` 4": (
        lambda it: sectors(it.sum_rows, 4, 64, it.sums, it.matrix) == 32
        and sectors(it.sum_columns, 4, 64, it.sums, it.matrix) == 4
    ),
    "The wasteful kernel wins: it takes about three quarters of the time": (
        lambda it: 0.68 < faster(it.columns, it.rows) < 0.82
    ),
    "touch 8.59 GB of sectors, eight times as much as those of `sum_columns`": (
        lambda it: about("8.59", it.rows.traffic["L1"] / GB)
        and near(it.rows.traffic["L1"], 8 * it.columns.traffic["L1"])
    ),
    "But L1 requests 1.07 GB from L2, the matrix once": (
        lambda it: about("1.07", it.rows.traffic["L2"] / GB)
        and near(it.rows.traffic["L2"], it.large.nbytes)
    ),
    "Below L1, both kernels move the same bytes": (
        lambda it: all(
            near(it.rows.traffic[level], it.columns.traffic[level])
            for level in ("L2", "memory")
        )
    ),
    "at less than a fifth of the rate of the driver's copy": (
        lambda it: max(it.rows.share_of_copy, it.columns.share_of_copy) < 0.2
    ),
    "6% of those that fit the GPU, and 86% and 89% of their waiting is for": (
        lambda it: about("6", it.rows.counters["occupancy_percent"])
        and about("6", it.columns.counters["occupancy_percent"])
        and about("86%", wait_for_loads(it.rows))
        and about("89%", wait_for_loads(it.columns))
    ),
    "L1 answers seven of eight loads; in `sum_columns`, each one waits for memory": (
        lambda it: near(requests_on_to_l2(it.rows), 1 / 8)
        and near(requests_on_to_l2(it.columns), 1)
        and near(it.columns.traffic["memory"], it.columns.traffic["L2"])
    ),
    # sums by more threads
    "these kernels then take 3% and 5% longer than the first two": (
        lambda it: about("3%", faster(it.rows, it.row_strips[0]) - 1)
        and about("5%", faster(it.columns, it.column_strips[0]) - 1)
    ),
    "and execute 11% and 9% more instructions": (
        lambda it: about("11%", executed(it.row_strips[0]) / executed(it.rows) - 1)
        and about("9%", executed(it.column_strips[0]) / executed(it.columns) - 1)
    ),
    "halve the time of column sums at first: twice as many loads are in flight": (
        lambda it: 1.9 < in_flight(it.column_strips[1]) / in_flight(it.column_strips[0])
        and 0.5 < faster(it.column_strips[0], it.column_strips[1]) < 0.55
    ),
    "Row sums gain less than 5% from more than 32,768 threads": (
        lambda it: it.threads[1] == 32_768
        and all(faster(m, it.row_strips[1]) < 1.05 for m in it.row_strips[2:])
    ),
    "In the end, column sums are three times as fast": (
        lambda it: about("3", faster(it.column_strips[-1], it.row_strips[-1]))
    ),
    "from 32,768 threads on, its data path is 94% to 99% busy": (
        lambda it: it.threads[1] == 32_768
        and about("94", min(map(l1_busy, it.row_strips[1:])))
        and about("99", max(map(l1_busy, it.row_strips[1:])))
    ),
    "a request for 32 lines keeps it busy for 32 cycles": (
        lambda it: all(about("32", l1_passes(m)) for m in it.row_strips)
    ),
    "a request for one line for one": (
        lambda it: all(about("1", l1_passes(m)) for m in it.column_strips)
    ),
    "From 131,072 threads on, L1 also drops sectors too early, and requests them": (
        lambda it: it.threads[2] == 131_072
        and all(m.traffic["L2"] > 1.2 * it.large.nbytes for m in it.row_strips[2:])
        and all(near(m.traffic["L2"], it.large.nbytes) for m in it.row_strips[:2])
        and all(near(m.traffic["L2"], it.large.nbytes) for m in it.column_strips)
    ),
    "the same bytes to both sums, and row sums take 2.6 times as long": (
        lambda it: near(fetched(it.row_strips[2]), fetched(it.column_strips[2]))
        and about("2.6", faster(it.column_strips[2], it.row_strips[2]))
    ),
    "it is 3.5 times as fast as strips with as many threads": (
        lambda it: about("3.5", faster(it.by_warps, of_512(it, it.row_strips)))
        and it.threads[it.STRIPS.index(512)] == 32 * it.TALL
    ),
    "The fastest column sums reach 74% of the rate of the driver's copy": (
        lambda it: about("74%", max(m.share_of_copy for m in it.column_strips))
        and it.column_strips[-1] == min(it.column_strips, key=lambda m: m.median_us)
    ),
    "They use 70% of the issue slots": (
        lambda it: 69.5 <= it.column_strips[-1].counters["issue_percent"] < 71
    ),
    "wait less for loads than for issue slots and arithmetic units": (
        lambda it: it.column_strips[-1].waits["global or local memory"]
        < it.column_strips[-1].waits["a turn to issue"]
        + it.column_strips[-1].waits["a busy arithmetic unit"]
    ),
    # offsets and strides
    "adds one sector to each load request, unless it is a multiple of 8": (
        lambda it: all(
            it.load_sectors(offset) == (5 if offset % 8 else 4) for offset in range(33)
        )
    ),
    "The rate falls by 2% at most: at offset 8, without an extra sector, as much as": (
        lambda it: about("2%", 1 - min(map(of_offset_0(it), it.shifted)))
        and near(shifted(it, 8).median_us, shifted(it, 31).median_us, 0.005)
        and it.load_sectors(8) == 4
    ),
    "from L2 it requests one sector more per block, 0.8%": (
        lambda it: all(
            near(more_from_l2(it, m), it.PART // 1024) for m in odd_offsets(it)
        )
        and all(
            about("0.8%", more_from_l2(it, m) * 32 / (4 * it.PART))
            for m in odd_offsets(it)
        )
    ),
    "while memory moves 85% or more of what the driver's copy moves": (
        lambda it: all(it.moved(m) >= 0.85 * m.copy_gb_per_s for m in it.strided)
    ),
    "grow from 134 to 604 MB, 4.5 times, and the time 3.9 times": (
        lambda it: about("134", at(it, 1).traffic["L1"] / 1e6)
        and about("604", at(it, 8).traffic["L1"] / 1e6)
        and about("134", (fetched(at(it, 1)) + it.part.nbytes) / 1e6)
        and about("604", (fetched(at(it, 8)) + it.part.nbytes) / 1e6)
        and about("4.5", at(it, 8).traffic["L1"] / at(it, 1).traffic["L1"])
        and about("3.9", faster(at(it, 1), at(it, 8)))
    ),
    "at stride 1, memory moves 3,580 GB/s, and at stride 8, 4,168": (
        lambda it: about("3,580", it.moved(at(it, 1)))
        and about("4,168", it.moved(at(it, 8)))
    ),
    "From 8 to 16, L1 requests no more, and the copy still takes 1.8 times as long": (
        lambda it: near(at(it, 16).traffic["L2"], at(it, 8).traffic["L2"])
        and about("1.8", faster(at(it, 8), at(it, 16)))
    ),
    "Memory delivers twice the bytes": (
        lambda it: near(fetched(at(it, 16)), 2 * fetched(at(it, 8)))
    ),
    "this GPU's L2 fetches pieces of 64 bytes, two sectors": (
        lambda it: all(near(fetched(at(it, n)), 64 * it.PART) for n in (16, 24, 32))
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
    "All requests are coalesced": (
        lambda it: [per_request(run) for run in it.runs] == [1, 2, 4, 8, 16]
    ),
    "have the same number of threads and of requests": (
        lambda it: len({m.counters["global_load_requests"] for m in it.widths}) == 1
    ),
    "16 times the bytes take only 3 times as long": (
        lambda it: about("3", faster(it.widths[0], it.widths[-1]))
    ),
    "On such a view `load4` faults: its address is no multiple of 16": (
        lambda it: faults(it, 1) and not faults(it, 4)
    ),
    "so its load requests have offset 1": (
        lambda it: view_sectors(it, cuda.to_device(it.few)[1:]) == it.load_sectors(1)
    ),
    "A NumPy view is copied to the device, and the copy is aligned": (
        lambda it: view_sectors(it, it.few[1:]) == 4
    ),
    "With 1 byte per thread, memory is 15% busy": (
        lambda it: 14 <= it.widths[0].counters["memory_percent"] < 15.5
    ),
    "It starts 1,575 per microsecond, about as many as of blocks that do nothing": (
        lambda it: about("1,575", it.MANY / 256 / it.widths[0].median_us)
        and near(it.MANY / 256 / it.widths[0].median_us, empty_starts(256), 0.05)
    ),
    "With wider elements each block does more, and more bytes are in flight": (
        lambda it: sorted(in_flight(m) for m in it.widths)
        == [in_flight(m) for m in it.widths]
        and in_flight(it.widths[-1]) > 4 * in_flight(it.widths[0])
    ),
    "With 16 bytes per thread, the rate is that of the driver's copy": (
        lambda it: near(it.widths[-1].share_of_copy, 1, 0.03)
    ),
    # layouts
    "so the mass alone takes as long as all four fields": (
        lambda it: near(
            it.layouts["mass, structs"].median_us,
            it.layouts["all, structs"].median_us,
            0.02,
        )
    ),
    "16 sectors per request": (
        lambda it: it.run.coalescing.by_kind["load"].sectors
        == 16 * it.run.coalescing.by_kind["load"].requests
    ),
    "structs request 2.5 times the bytes from L2 and take 1.6 times as long": (
        lambda it: about(
            "2.5",
            it.layouts["mass, structs"].traffic["L2"]
            / it.layouts["mass, arrays"].traffic["L2"],
        )
        and about(
            "1.6", faster(it.layouts["mass, arrays"], it.layouts["mass, structs"])
        )
    ),
    "the array keeps memory only half busy, as 4 bytes per thread did in the table": (
        lambda it: all(
            45 < m.counters["memory_percent"] < 55
            for m in (it.layouts["mass, arrays"], it.widths[2])
        )
        and it.layouts["mass, structs"].counters["memory_percent"] > 80
    ),
    "the two layouts take the same time": (
        lambda it: near(
            it.layouts["all, arrays"].median_us,
            it.layouts["all, structs"].median_us,
            0.03,
        )
    ),
    "The four loads of a warp touch the same sectors, and L1 requests them once": (
        lambda it: near(requests_on_to_l2(it.layouts["all, structs"]), 1 / 4)
    ),
    "The requests touch 3.4 times as many bytes": (
        lambda it: about(
            "3.4",
            it.layouts["all, structs"].traffic["L1"]
            / it.layouts["all, arrays"].traffic["L1"],
        )
    ),
    "but L1's data path is only half busy": (
        lambda it: 45 < l1_busy(it.layouts["all, structs"]) < 55
    ),
    "memory is the limit, and is 85% busy with either layout": (
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
    "1.8 times as long as elements a block apart, although memory moves the same": (
        lambda it: about(
            "1.8",
            faster(it.fours["in turn, a block apart"], it.fours["in turn, neighbours"]),
        )
        and near(
            it.fours["in turn, neighbours"].traffic["memory"],
            it.fours["in turn, a block apart"].traffic["memory"],
        )
    ),
    "L1 makes up for the loads, and requests 4% more from L2": (
        lambda it: about(
            "4%",
            together(it, "in turn", "l2_read_sectors")
            / apart(it, "in turn", "l2_read_sectors")
            - 1,
        )
    ),
    "the stores that reach L2 are 1.04 GB instead of 0.27": (
        lambda it: about("1.04", 32 * together(it, "in turn", "l2_write_sectors") / GB)
        and about("0.27", 32 * apart(it, "in turn", "l2_write_sectors") / GB)
    ),
    "the four loads of a thread are in flight together, and its stores follow": (
        lambda it: order(it, it.copy_at_once) == 4 * ["LDG"] + 4 * ["STG"]
        and order(it, it.copy_in_turn) == 4 * ["LDG", "STG"]
    ),
    "Then 0.33 GB of stores reach L2, and neighbours take only 2% longer": (
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
    # what changed
    "no other request needs the rest of a sector | 32 | 4 |": (
        lambda it: it.load_sectors(stride=8) == 32
    ),
    "four neighbours in one request | 16 | 16 |": (
        lambda it: sectors(it.copy_wide, 1, 256, it.few_out, it.few) == 16
    ),
    "four neighbours, one after the other | 16 | 4 |": (
        lambda it: sectors(it.copy_in_turn, 1, 256, it.few_out, it.few, 4, 1) == 16
    ),
    "a warp for each row: lanes side by side | 4 | 4 |": (
        lambda it: sectors(it.sum_rows_by_warps, 4, 64, it.sums, it.matrix) == 4
    ),
    "and each has its own": (
        lambda it: (touched(it, 0, 2, 8), touched(it, 0, 32, 1)) == (16, 32)
    ),
}

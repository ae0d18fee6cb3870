"""What the lesson says of its measurements, and when it is true.

A reason has its control, the launch that differs in that one thing only:

    reason                              launch and control
    L1 still has the rest of a sector   rows in jumps of 1 and of 8
    all lanes wait in the same step     few threads, rows 16,392 and 16,385 apart
    twice as many loads are in flight   columns in strips of 16,384 and of 8,192
    places in the lines, not lines      many threads, rows 16,384, 16,385 and 16,416
                                        apart; `sum_again`, lanes 33, 40 and 32 apart
    lines, not places                   `sum_again`, lanes 9 and 33, 8 and 40 apart
    lanes side by side                  sums by warps, rows 16,384 and 16,385 apart;
                                        strips with as many threads
    L2 fetches pieces of 64 bytes       strides 12 and 16
    memory delivers whole particles     structs, one field and all fields

In one file: a reader of a sentence finds its claim, and with it all that it needs.
"""

from numba import cuda

from helpers import assemble
from tests.lessons.claims import about
from tests.lessons.counted import (
    faster,
    fetched,
    in_flight,
    l1_busy,
    l1_passes,
    near,
    requests_on_to_l2,
    sectors,
    wait_for_loads,
)

GB = 1e9


def touched(it, *place):
    """The sectors that hold the addresses of a warp's lanes."""
    return len({address // 32 for address in it.lanes_at(*place)})


def lines(it, stride):
    """The lines that hold the addresses of a warp's lanes."""
    return len({address // 128 for address in it.lanes_at(stride=stride)})


def places(it, stride):
    """The places of four bytes in a line at which a warp's lanes are."""
    return len({address % 128 for address in it.lanes_at(stride=stride)})


def adds_of_loads(kernel, *arguments):
    """The loads and additions of a kernel's loop, until it branches."""
    code = assemble(kernel)[4, 64](*arguments).instructions
    names = [one.opcode.partition(".")[0] for one in code]
    return [name for name in names if name in ("LDG", "FADD")]


def of(it, strip, apart=16_384, what=0):
    """Row sums (or, as 1, column sums) by strips, at a distance between rows."""
    return it.by_distance[apart][what][it.STRIPS.index(strip)]


def rows_by(it, strip):
    """Row sums by strips, {distance between rows: launch}."""
    return {apart: of(it, strip, apart) for apart in it.APART}


def at(it, stride):
    """The copy with a stride."""
    return it.copies[0, stride]


def shifted(it):
    """The copies with an offset, {offset: launch}."""
    return {offset: m for (offset, stride), m in it.copies.items() if stride == 1}


def all_moved(m):
    """What memory moved, in GB/s, by its counters."""
    both = fetched(m) + m.counters["memory_write_bytes"]
    return both / m.median_us / 1e3


def load_sectors(it, offset=0, stride=1):
    return sectors(it.copy_four, 1, 256, it.few_out, it.few, offset, stride)


def between(m, multiprocessors=132):
    """The cycles of a multiprocessor for each request to load."""
    return multiprocessors * m.counters["cycles"] / m.counters["global_load_requests"]


def from_l2(m):
    return 32 * m.counters["l2_read_sectors"]


def times(it, counter):
    """How many times as much neighbours have of a counter as elements a block apart."""
    one, other = (it.fours[which] for which in ("a block apart", "neighbours"))
    return other.counters[counter] / one.counters[counter]


def faults(it, start):
    """Does a load of 16 bytes fault, from a view that begins late?"""
    late = cuda.to_device(it.matrix.ravel())[start:]
    try:
        it.sum_rows_by_fours[1, 64](it.sums, late, 128)
    except Exception as error:
        return "misaligned address" in str(error)
    return False


CLAIMS = {
    # sectors
    "The request touches four sectors and uses all their bytes": (
        lambda it: touched(it) == 4 == 32 * 4 / 32
    ),
    "One element on: 5 sectors": lambda it: touched(it, 1) == 5,
    "Stride 2: 8, each half used": lambda it: touched(it, 0, 2) == 8,
    "Stride 32: 32, one for each lane": lambda it: touched(it, 0, 32) == 32,
    "It is 8, where the lanes are 32 bytes apart": (
        lambda it: next(n for n in range(33) if touched(it, 1, n) == 32) == 8
    ),
    "all lanes load the same number, and one sector is enough": (
        lambda it: touched(it, 0, 0) == 1
    ),
    "share one line, and those of `sum_rows` need a sector each, and use an eighth": (
        lambda it: (
            sectors(it.sum_rows, 4, 64, it.sums, it.matrix) == 32
            and sectors(it.sum_columns, 4, 64, it.sums, it.matrix) == 4
            and lines(it, 1) == 1
            and 32 * 4 / (32 * 32) == 1 / 8
        )
    ),
    # sums by few threads
    "The wasteful kernel wins: it takes about three quarters of the time": (
        lambda it: 0.68 < faster(it.columns, it.rows) < 0.82
    ),
    "`sum_rows` requests eight times as many bytes as `sum_columns`": (
        lambda it: near(it.rows.traffic["L1"], 8 * it.columns.traffic["L1"])
    ),
    "from L2, L1 requests the matrix once in either kernel": (
        lambda it: all(near(from_l2(m), it.large.nbytes) for m in (it.rows, it.columns))
    ),
    "beyond L1 in one step of eight, and `sum_columns` in every step": (
        lambda it: (
            near(requests_on_to_l2(it.rows), 1 / 8)
            and near(requests_on_to_l2(it.columns), 1)
        )
    ),
    "first four loads, then four additions": (
        lambda it: all(
            adds_of_loads(kernel, it.sums, it.matrix)[:8] == 4 * ["LDG"] + 4 * ["FADD"]
            for kernel in (it.sum_rows, it.sum_columns)
        )
    ),
    "`sum_columns` then waits 4,096 times for memory. In 2,036 µs, that is 497 ns": (
        lambda it: (
            it.TALL // 4 == 4096
            and about("2,036", it.columns.median_us)
            and about("497", it.columns.median_us * 1000 / 4096)
            and wait_for_loads(it.columns) > 0.8
        )
    ),
    # sums in jumps
    "Eight times, and twice: L1 has dropped each sector before the thread comes back": (
        lambda it: all(
            near(from_l2(m), jump * it.large.nbytes) for jump, m in it.jumps.items()
        )
    ),
    "all the way down to memory, and at 8 the kernel takes more than twice as long": (
        lambda it: (
            near(fetched(it.jumps[8]), 8 * it.large.nbytes)
            and 2.2 < faster(it.jumps[1], it.jumps[8]) < 2.5
            and faster(it.columns, it.jumps[8]) > 1.5
        )
    ),
    # sums by more threads
    "they have few threads: 6% of those that the GPU can hold": (
        lambda it: all(
            about("6", m.counters["occupancy_percent"]) and wait_for_loads(m) > 0.8
            for m in (it.rows, it.columns)
        )
    ),
    "halve the time of column sums, since twice as many loads are in flight": (
        lambda it: (
            1.9 < in_flight(of(it, 8192, what=1)) / in_flight(of(it, 16_384, what=1))
            and 0.5 < faster(of(it, 16_384, what=1), of(it, 8192, what=1)) < 0.55
        )
    ),
    "Row sums gain once, and then no more": (
        lambda it: (
            faster(of(it, 8192), of(it, 16_384)) > 1.3
            and all(faster(m, of(it, 8192)) < 1.05 for m in it.row_strips[2:])
        )
    ),
    "in the end, column sums are three times as fast": (
        lambda it: about("3", faster(it.column_strips[-1], it.row_strips[-1]))
    ),
    "busy for 32 cycles, a request of column sums for one": (
        lambda it: (
            all(about("32", l1_passes(m)) for m in it.row_strips)
            and all(about("1", l1_passes(m)) for m in it.column_strips)
        )
    ),
    "So with 32,768 threads the path is full": (
        lambda it: (
            it.threads[1] == 32_768
            and all(l1_busy(m) > 94 for m in it.row_strips[1:])
            and l1_busy(it.row_strips[0]) < 70
        )
    ),
    # places in lines
    "so all lanes are at the same place of their lines": (
        lambda it: (
            [(lines(it, n), places(it, n)) for n in it.APART]
            == [(32, 1), (32, 32), (32, 4), (32, 1)]
        )
    ),
    "At 16,385 no two lanes share one: a request keeps the path busy for a quarter": (
        lambda it: (
            0.23 < l1_passes(rows_by(it, 2048)[16_385]) / 32 < 0.26
            and 0.46 < faster(*(rows_by(it, 2048)[n] for n in (16_384, 16_385))) < 0.54
        )
    ),
    "At 16,416, again a whole number of lines, all is as before": (
        lambda it: (
            about("32", l1_passes(rows_by(it, 2048)[16_416]))
            and near(*(rows_by(it, 2048)[n].median_us for n in (16_384, 16_416)), 0.02)
            and 16_416 % 32 == 16_384 % 32 == 0
        )
    ),
    "Column sums do not care, since their lanes are side by side": (
        lambda it: all(
            near(of(it, 2048, apart, 1).median_us, it.column_strips[2].median_us, 0.01)
            for apart in it.APART
        )
    ),
    "As many as there are lanes at one place": (
        lambda it: (
            all(
                near(l1_passes(m), 32 / places(it, apart))
                for apart, m in it.again.items()
            )
            and {lines(it, apart) for apart in (33, 40, 32)} == {32}
            and all(from_l2(m) < 1e-4 * m.traffic["L1"] for m in it.again.values())
        )
    ),
    "From 9 to 33 only the lines change, and from 8 to 40": (
        lambda it: (
            (places(it, 9), places(it, 8)) == (places(it, 33), places(it, 40))
            and (lines(it, 9), lines(it, 8)) == (9, 8)
        )
    ),
    "comes after nine cycles instead of five, and after ten instead of eight": (
        lambda it: (
            [round(between(it.again[n])) for n in (9, 33, 8, 40)] == [5, 9, 8, 10]
        )
    ),
    "the kernel's other instructions use 78% of the issue slots": (
        lambda it: 77 < it.again[9].counters["issue_percent"] < 78.5
    ),
    "At 33 the path is busy for one cycle, and in the sums, at 16,385, for eight": (
        lambda it: (
            about("1", l1_passes(it.again[33]))
            and about("8", l1_passes(rows_by(it, 2048)[16_385]))
        )
    ),
    # the slowest lane
    "row sums are as slow as column sums, although L1 requests no more from L2": (
        lambda it: (
            near(of(it, 16_384, 16_385).median_us, it.column_strips[0].median_us, 0.02)
            and all(
                near(from_l2(m), it.large.nbytes) for m in rows_by(it, 16_384).values()
            )
        )
    ),
    "So in each step four of the 32 lanes go on to a new sector": (
        lambda it: (
            {
                sum((16_385 * lane + step) % 8 == 0 for lane in range(32))
                for step in range(8)
            }
            == {4}
        )
    ),
    "At the other distances every row begins with a sector": (
        lambda it: (
            [apart % 8 for apart in it.APART] == [0, 1, 0, 0]
            and all(
                faster(m, it.column_strips[0]) > 1.35
                for apart, m in rows_by(it, 16_384).items()
                if apart % 8 == 0
            )
        )
    ),
    # lanes side by side
    "3.5 times as fast as strips, and still 1.8 times as fast as strips at the best": (
        lambda it: (
            about("3.5", faster(it.by_warps[16_384], of(it, 512)))
            and about("1.8", faster(it.by_warps[16_384], of(it, 512, 16_392)))
            and min(it.APART, key=lambda n: of(it, 512, n).median_us) == 16_392
            and it.threads[it.STRIPS.index(512)] == 32 * it.TALL
        )
    ),
    "for them the distance hardly matters": (
        lambda it: near(*(it.by_warps[n].median_us for n in (16_385, 16_384)), 0.02)
    ),
    "With 16 bytes a lane, memory is busy nearly all the time": (
        lambda it: it.by_fours.counters["memory_percent"] > 90
    ),
    # offsets and strides
    "An offset of one element adds a fifth sector to each load request": (
        lambda it: (load_sectors(it), load_sectors(it, 1)) == (4, 5)
    ),
    "of the next request, and L1 still has it": (
        lambda it: from_l2(it.copies[1, 1]) < 1.01 * from_l2(at(it, 1))
    ),
    "No offset costs more than 3%": (
        lambda it: (
            all(faster(at(it, 1), m) < 1.03 for m in shifted(it).values())
            and len(shifted(it)) == 6
        )
    ),
    "costs a sector on every level, and the copy takes almost four times as long": (
        lambda it: (
            load_sectors(it, stride=8) == 32
            and near(from_l2(at(it, 8)), 32 * it.PART)
            and near(fetched(at(it, 8)), 32 * it.PART)
            and 3.8 < faster(at(it, 1), at(it, 8)) < 4
        )
    ),
    "L1 and L2 are asked for no more, and yet the time nearly doubles": (
        lambda it: (
            all(
                near(at(it, 16).traffic[level], at(it, 8).traffic[level])
                for level in ("L1", "L2")
            )
            and 1.8 < faster(at(it, 8), at(it, 16)) < 2
        )
    ),
    "Memory delivers twice the bytes": (
        lambda it: near(fetched(at(it, 16)), 2 * fetched(at(it, 8)))
    ),
    "fetches pieces of 64 bytes, two sectors, and now one of the two goes unused": (
        lambda it: (
            all(near(fetched(at(it, n)), 64 * it.PART) for n in (16, 24, 32))
            and near(fetched(at(it, 12)), 48 * it.PART)
        )
    ),
    "touch each piece of 64: memory delivers 805 MB, all that lies between": (
        lambda it: about("805", fetched(at(it, 12)) / 1e6)
    ),
    "no more bytes move than at 16, and the time still rises, by 17% at 32": (
        lambda it: (
            near(fetched(at(it, 24)), fetched(at(it, 16)))
            and near(fetched(at(it, 32)), fetched(at(it, 16)))
            and faster(at(it, 16), at(it, 24)) > 1.02
            and about("17%", faster(at(it, 16), at(it, 32)) - 1)
        )
    ),
    "memory takes only 44 MB of the 67 MB of stores before the kernel ends": (
        lambda it: (
            about("44", at(it, 1).counters["memory_write_bytes"] / 1e6)
            and about("67", it.part.nbytes / 1e6)
        )
    ),
    "moves 2,959 GB/s, 71% of the rate of the driver's copy, and 4,104 at stride 8": (
        lambda it: (
            about("2,959", all_moved(at(it, 1)))
            and about("71%", all_moved(at(it, 1)) / at(it, 1).copy_gb_per_s)
            and about("4,104", all_moved(at(it, 8)))
        )
    ),
    "On such a view `load4` faults: its address is no multiple of 16": (
        lambda it: faults(it, 1) and not faults(it, 4)
    ),
    # layouts
    "The masses lie 16 bytes apart: stride 4, and 16 sectors": (
        lambda it: (
            it.structs.itemsize == 16
            and sectors(it.take_mass, 4, 256, it.few_out, it.structs[:1024]) == 16
        )
    ),
    "the mass alone takes as long as all four fields, because memory delivers whole": (
        lambda it: (
            near(
                it.layouts["mass, structs"].median_us,
                it.layouts["all, structs"].median_us,
                0.02,
            )
            and all(
                near(fetched(it.layouts[f"{what}, structs"]), it.structs.nbytes)
                for what in ("mass", "all")
            )
        )
    ),
    "requests two fifths of the bytes, and the kernel takes less than two thirds": (
        lambda it: (
            near(
                it.layouts["mass, arrays"].traffic["L2"],
                it.layouts["mass, structs"].traffic["L2"] * 2 / 5,
            )
            and faster(it.layouts["mass, structs"], it.layouts["mass, arrays"]) < 2 / 3
        )
    ),
    "For all four fields, both layouts take the same time": (
        lambda it: near(
            it.layouts["all, arrays"].median_us,
            it.layouts["all, structs"].median_us,
            0.02,
        )
    ),
    "The four loads of a thread touch the same sectors": (
        lambda it: (
            adds_of_loads(it.add_fields, it.few_out, it.structs[:1024])
            == 4 * ["LDG"] + 3 * ["FADD"]
            and near(requests_on_to_l2(it.layouts["all, structs"]), 1 / 4)
        )
    ),
    # four elements a thread
    "four times as many sectors, in loads and in stores, and their copy takes 1.9": (
        lambda it: (
            all(
                near(times(it, f"global_{kind}_sectors"), 4)
                for kind in ("load", "store")
            )
            and about("1.9", faster(it.fours["a block apart"], it.fours["neighbours"]))
        )
    ),
    "L1 makes up for the loads: it requests hardly more from L2": (
        lambda it: times(it, "l2_read_sectors") < 1.05
    ),
    "But it passes the stores on, and nearly four times as many sectors reach L2": (
        lambda it: 3.8 < times(it, "l2_write_sectors") < 4
    ),
    # what changed
    "no other request needs the rest of a sector | 32 | 4 |": (
        lambda it: load_sectors(it, stride=8) == 32
    ),
    "the same, but L1 cannot | 32 | 4 |": (
        lambda it: sectors(it.sum_rows_in_jumps, 4, 64, it.sums, it.matrix, 8) == 32
    ),
    "a warp for each row: lanes side by side | 4 | 4 |": (
        lambda it: sectors(it.sum_rows_by_warps, 4, 64, it.sums, it.matrix) == 4
    ),
    "the same, with four neighbours a lane | 16 | 16 |": (
        lambda it: (
            sectors(it.sum_rows_by_fours, 4, 64, it.sums, it.matrix.ravel(), it.SIDE)
            == 16
        )
    ),
    "four neighbours, one after the other | 16 | 4 |": (
        lambda it: sectors(it.copy_in_turn, 1, 256, it.few_out, it.few, 4, 1) == 16
    ),
    "and each has its own": (
        lambda it: (touched(it, 0, 2, 8), touched(it, 0, 32, 1)) == (16, 32)
    ),
}

"""What the lesson says of its measurements, and when it is true.

A reason has its control, the launch that differs in that one thing only:

    reason                              launch and control
    L1 still has the rest of a sector   windows of 256 and of 512
    all lanes go on in the same step    rows of 16,392 and of 16,385
    one in every four loads goes on     rows of 16,392 and of 16,388
    twice as many loads are in flight   columns in strips of 16,384 and of 8,192
    lanes meet in one bank              many threads, rows 16,384, 16,385 and 16,416
                                        apart
    lanes side by side                  columns in strips, at each distance
"""

from tests.lessons.claims import about
from tests.lessons.counted import (
    adds_of_loads,
    executed,
    faster,
    fetched,
    from_l2,
    in_flight,
    l1_busy,
    l1_passes,
    near,
    requests_on_to_l2,
    sectors,
    wait_for_loads,
)


def lines(it, stride):
    """The lines that hold the addresses of a warp's lanes."""
    return len({address // 128 for address in it.lanes_at(stride)})


def banks(it, stride):
    """The places of four bytes in a line at which a warp's lanes are."""
    return len({address % 128 for address in it.lanes_at(stride)})


def going_on(apart, step):
    """The lanes that come to a new sector in a step, of rows so far apart."""
    return sum((apart * lane + step) % 8 == 0 for lane in range(32))


def fours(stride):
    """How many lanes come to a new sector in each four of steps 8 to 15."""
    return [
        sum(going_on(stride, step) for step in steps)
        for steps in (range(8, 12), range(12, 16))
    ]


def times_loaded(it, what, window):
    """How many times a level delivers the matrix, in windows of this length."""
    return what(it.windows[window]) / it.large.nbytes


def of_columns(it, strip):
    return it.column_strips[it.STRIPS.index(strip)]


def of_rows(it, strip):
    return it.row_strips[it.STRIPS.index(strip)]


def apart(it, *distances):
    """Row sums by 131,072 threads, at these distances between rows."""
    return [it.by_distance[each][0] for each in distances]


CLAIMS = {
    # sums by few threads
    "each in a sector of its own": (
        lambda it: (
            sectors(it.sum_rows, 4, 64, it.sums, it.matrix) == 32
            and sectors(it.sum_columns, 4, 64, it.sums, it.matrix) == 4
            and lines(it, 1) == 1
        )
    ),
    "it requests eight times as many bytes as it uses": (
        lambda it: near(it.rows.counters["global_load_sectors"], it.large.nbytes / 4)
    ),
    "The wasteful kernel wins: it takes about three quarters of the time": (
        lambda it: 0.68 < faster(it.columns, it.rows) < 0.82
    ),
    "`sum_rows` requests eight times as many bytes as `sum_columns`": (
        lambda it: near(it.rows.traffic["L1"], 8 * it.columns.traffic["L1"])
    ),
    "for it could hold sixteen times as many": (
        lambda it: about("16", 132 * 2048 / it.TALL)
    ),
    "from L2, L1 requests the matrix once in either kernel": (
        lambda it: all(near(from_l2(m), it.large.nbytes) for m in (it.rows, it.columns))
    ),
    "The lanes of `sum_columns` use up each line at once": (
        lambda it: (
            it.walk(1, it.TALL).shape == (32, 16)
            and all(
                len({*(it.walk(1, it.TALL)[:, step] // 128).tolist()}) == 1
                for step in range(16)
            )
        )
    ),
    "four loads first, then four additions": (
        lambda it: all(
            adds_of_loads(kernel, it.sums, it.matrix)[:8] == 4 * ["LDG"] + 4 * ["FADD"]
            for kernel in (it.sum_rows, it.sum_columns)
        )
    ),
    "So every second four of `sum_rows` needs nothing from beyond L1": (
        lambda it: (
            near(requests_on_to_l2(it.rows), 1 / 8)
            and near(requests_on_to_l2(it.columns), 1)
            and any(going_on(it.TALL, step) for step in range(4))
            and not any(going_on(it.TALL, step) for step in range(4, 8))
        )
    ),
    # the slowest lane
    "`sum_rows` is as slow as `sum_columns`, although L1 requests no more from L2": (
        lambda it: (
            0.95 < faster(it.columns, it.longer[16_385]) < 1.1
            and all(near(from_l2(m), it.large.nbytes) for m in it.longer.values())
        )
    ),
    "Now four of the 32 lanes go on to a new sector in each of the eight steps": (
        lambda it: {going_on(16_385, step) for step in range(8)} == {4}
    ),
    "With 16,392, a multiple of eight, each row begins where a sector does": (
        lambda it: (
            [cols % 8 for cols in it.longer] == [0, 1, 4, 0]
            and all(
                faster(it.longer[cols], it.columns) > 1.3 for cols in (it.TALL, 16_392)
            )
        )
    ),
    "one of the two is in each four": (
        lambda it: [fours(n) for n in (16_388, 16_385)] == 2 * [[16, 16]]
    ),
    "every second four has all it wants": (
        lambda it: [fours(n) for n in (16_384, 16_392)] == 2 * [[32, 0]]
    ),
    "half of the lanes go on in one step, the others four steps later": (
        lambda it: (
            [going_on(16_388, step) for step in range(8)] == [16, 0, 0, 0, 16, 0, 0, 0]
            and near(it.longer[16_388].median_us, it.longer[16_385].median_us, 0.02)
        )
    ),
    # windows
    "in 256 blocks: at most two on each multiprocessor, so 128 threads": (
        lambda it: it.TALL // 64 == 256 <= 2 * 132 and 2 * 64 == 128
    ),
    "Longer windows have the same loads": (
        lambda it: all(
            near(m.counters["global_load_sectors"], it.large.nbytes / 4)
            for m in it.windows.values()
        )
    ),
    "There is a cliff after 512 numbers": (
        lambda it: faster(it.windows[512], it.windows[1024]) > 2
    ),
    "L1 loads about an eighth more than the matrix, or less": (
        lambda it: (
            near(times_loaded(it, from_l2, 128), 1)
            and about("0.1", times_loaded(it, from_l2, 256) - 1)
        )
    ),
    "and L1 loads four times as much": (
        lambda it: about("4", times_loaded(it, from_l2, 512))
    ),
    "fits in its 60 MB, and memory delivers hardly any sector twice": (
        lambda it: (
            it.TALL * 4 * 512 < 60 * 2**20 < it.TALL * 4 * 1024
            and times_loaded(it, fetched, 512) < 1.05
        )
    ),
    "L1 loads nearly every sector eight times, and so does L2": (
        lambda it: all(
            7.5 < times_loaded(it, what, n) < 8.1
            for what in (from_l2, fetched)
            for n in (1024, 2048, it.TALL)
        )
    ),
    # L1 alone: memory delivers as much at 256 as at 512
    "That makes the sums less than a fifth slower, for L2 has what L1 lacks": (
        lambda it: (
            times_loaded(it, fetched, 512) < 1.05 * times_loaded(it, fetched, 256)
            and 1.15 < faster(it.windows[256], it.windows[512]) < 1.2
        )
    ),
    "and the sums take more than twice as long": (
        lambda it: 2 < faster(it.windows[512], it.windows[1024]) < 2.2
    ),
    "What differs, but for a few instructions of the loops": (
        lambda it: (
            1 < executed(it.windows[128]) / executed(it.windows[it.TALL]) < 1.25
        )
    ),
    # sums by more threads
    "both kernels wait most of the time, and they have few threads: 6% of those": (
        lambda it: all(
            about("6", m.counters["occupancy_percent"]) and wait_for_loads(m) > 0.8
            for m in (it.rows, it.columns)
        )
    ),
    "halve the time of column sums, since twice as many loads are in flight": (
        lambda it: (
            1.9 < in_flight(of_columns(it, 8192)) / in_flight(of_columns(it, 16_384))
            and 0.5 < faster(of_columns(it, 16_384), of_columns(it, 8192)) < 0.55
        )
    ),
    "Row sums gain once, and then no more": (
        lambda it: (
            faster(of_rows(it, 8192), of_rows(it, 16_384)) > 1.3
            and all(faster(m, of_rows(it, 8192)) < 1.05 for m in it.row_strips[2:])
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
    # banks
    "no two lanes share a bank": (
        lambda it: (
            [(lines(it, n), banks(it, n)) for n in it.APART]
            == [(32, 1), (32, 32), (32, 4), (32, 1)]
        )
    ),
    "At 16,385 a request keeps the path busy for a quarter of the cycles": (
        lambda it: (
            0.23 < l1_passes(apart(it, 16_385)[0]) / 32 < 0.26
            and 0.4 < faster(*apart(it, 16_384, 16_385)) < 0.5
        )
    ),
    "some 5 to 7 cycles stay where they would allow one, or eight": (
        lambda it: (
            about("7", l1_passes(apart(it, 16_385)[0]) - 1)
            and about("5", l1_passes(apart(it, 16_392)[0]) - 8)
            and [it.in_a_bank(n) for n in it.APART] == [32, 1, 8, 32]
        )
    ),
    "column sums get about as many for each request, in one cycle": (
        lambda it: all(
            3.9 < m.counters["l2_read_sectors"] / m.counters["global_load_requests"] < 5
            for m in (apart(it, 16_385)[0], it.by_distance[16_385][1])
        )
    ),
    "At 16,416 all is as before": (
        lambda it: (
            about("32", l1_passes(apart(it, 16_416)[0]))
            and near(*(m.median_us for m in apart(it, 16_384, 16_416)), 0.02)
            and 16_416 % 32 == 16_384 % 32 == 0
        )
    ),
    "Column sums take as long at every distance, since their lanes are side by side": (
        lambda it: all(
            near(m.median_us, it.column_strips[2].median_us, 0.01)
            for _, m in it.by_distance.values()
        )
    ),
    "And they still take less time than the best row sums of this table": (
        lambda it: (
            max(by_column.median_us for _, by_column in it.by_distance.values())
            < 0.9 * min(by_row.median_us for by_row, _ in it.by_distance.values())
        )
    ),
    "It takes 8 and 13": (
        lambda it: (
            [round(l1_passes(m)) for m in apart(it, 16_385, 16_392)] == [8, 13]
            and (32 // banks(it, 16_385), 32 // banks(it, 16_392)) == (1, 8)
        )
    ),
    "16,392 is good at both": (
        lambda it: (
            faster(*apart(it, 16_392, 16_384)) > 1.9
            and faster(it.longer[16_392], it.columns) > 1.3
        )
    ),
    "Where rows are whole lines, each request uses up one, as in `sum_columns`. "
    "However long they are, no two lanes share a bank": (
        lambda it: (
            sectors(it.sum_rows_by_warps, it.SIDE // 2, 64, it.sums, it.matrix) == 4
            and it.by_warp.coalescing.by_kind["load"].requests == it.SIDE**2 / 32
            and banks(it, 1) == 32
        )
    ),
    # lanes along a row: as many threads as in the last strips
    "These are as many threads as in the last points of the figure above": (
        lambda it: 64 * (it.TALL // 2) == it.threads[-1]
    ),
    "Now sums of rows take no longer than sums of columns": (
        lambda it: faster(of_columns(it, 512), it.along) <= 1
    ),
    "Their requests keep the data path busy for one cycle each, so it is no longer": (
        lambda it: 0.9 < l1_passes(it.along) < 1.2 and l1_busy(it.along) < 60
    ),
    # on your own
    '"sectors": 32, "new": 16, "steps": 2, "in one bank": 4': (
        lambda it: (
            (lines(it, 2052), going_on(2052, 0), 32 // banks(it, 2052)) == (32, 16, 4)
            and sum(going_on(2052, step) > 0 for step in range(8)) == 2
        )
    ),
    # in practice
    "In `sum_rows` it should be about seven eighths": (
        lambda it: near(1 - requests_on_to_l2(it.rows), 7 / 8)
    ),
}

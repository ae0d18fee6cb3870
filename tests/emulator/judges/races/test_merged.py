"""Rows of accesses, merged and sorted: against Python's dictionaries and sorting."""

from functools import reduce
from itertools import groupby
from operator import or_

import numpy as np
import pytest

from thirty_two_lanes.emulator.judges.races.merged import (
    ACCESS,
    INTERVAL,
    KEYS,
    Accesses,
    in_order,
    merged,
    numbered,
)

RNG = np.random.default_rng(4)
LOAD, STORE, ATOMIC = ACCESS["load"], ACCESS["store"], ACCESS["atomic"]
KINDS = np.array([LOAD, STORE, ATOMIC])  # by place
TABLES = {
    "none": (np.zeros(0, np.int64),) * 2,
    "one row": (np.array([3]), np.array([4])),
    "one column": (RNG.integers(0, 9, 60),),
    "small": tuple(RNG.integers(-3, 4, (3, 200))),
    "alike": (np.zeros(9, np.int64), RNG.integers(0, 3, 9)),
    "beyond 64 bits": tuple(RNG.integers(-(2**40), 2**40, (3, 60)).repeat(2, 1)),
    "the largest": (np.array([2**62, -(2**62), 0, 2**62]), np.array([1, 2, 3, 0])),
    "unsigned": (RNG.integers(0, 9, 60).astype(np.uint64), RNG.integers(0, 9, 60)),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_in_the_order_of_tuples(name):
    """Each new combination begins once, and has the next number."""
    rows = [*zip(*(it.tolist() for it in TABLES[name]), strict=True)]
    order, start = in_order(*TABLES[name])

    found = [rows[n] for n in order]
    assert sorted(rows) == found
    assert sorted({*rows}) == [found[n] for n in start]
    places = {row: n for n, row in enumerate(sorted({*rows}))}
    assert [places[row] for row in rows] == numbered(*TABLES[name]).tolist()


def test_others_are_numbered_with_another_first_column():
    """The same number for the same row, whichever of the two it is in."""
    columns, also = TABLES["small"], np.roll(TABLES["small"][0], 1)

    own, others = numbered(*columns, also=also)

    rows = [*zip(*columns, strict=True), *zip(also, *columns[1:], strict=True)]
    places = {row: n for n, row in enumerate(sorted({*rows}))}
    assert [places[row] for row in rows] == [*own, *others]


def random_rows(count, cells=6, threads=4):
    """Rows of a recorder: few cells and threads, so that many are alike."""
    most = {"cell": cells, "thread": threads, "place": 3, "interval": 2, "epoch": 2}
    rows = {name: RNG.integers(0, most.get(name, 1), count) for name in KEYS}
    rows["thread"] *= 20
    rows["soonest"] = RNG.integers(0, 50, count)
    rows["latest"] = rows["soonest"] + RNG.integers(0, 50, count)
    rows["turns"] = 1 << RNG.integers(0, 60, count)
    rows["least"] = RNG.integers(0, 2, count)
    rows["most"] = rows["least"] + (RNG.random(count) < 0.1)
    return rows


def by_key(rows, names):
    """The numbers of the rows that have the same in some columns."""
    key = [*zip(*(rows[name].tolist() for name in names), strict=True)]
    order = sorted(range(len(key)), key=key.__getitem__)
    return [[*its] for _, its in groupby(order, key.__getitem__)]


@pytest.mark.parametrize("count", [0, 1, 40, 400])
def test_rows_that_differ_in_time_and_value_alone_are_one(count):
    """From the soonest to the latest, and from the least value to the largest."""
    rows = random_rows(count)

    found, groups = merged(rows), by_key(rows, KEYS)

    for name in KEYS:
        assert [rows[name][its[0]] for its in groups] == found[name].tolist()
    for name, of in (("soonest", min), ("latest", max), ("least", min), ("most", max)):
        assert [of(rows[name][its]) for its in groups] == found[name].tolist()
    turns = [reduce(or_, rows["turns"][its].tolist()) for its in groups]
    assert turns == found["turns"].tolist()


@pytest.mark.parametrize("count", [0, 1, 10, 30, 300])
def test_a_cell_gets_one_value_where_all_its_stores_are_plain_and_the_same(count):
    """No atomic among them; of a store, the value is known."""
    rows = random_rows(count, cells=20)
    made = Accesses.of({k: v.copy() for k, v in rows.items()}, 32, KINDS)

    for cell in {*rows["cell"].tolist()}:
        kinds = KINDS[rows["place"]]
        stores = (rows["cell"] == cell) & (kinds == STORE)
        values = {*rows["least"][stores], *rows["most"][stores]}
        same = len(values) == 1 and ATOMIC not in kinds[rows["cell"] == cell]
        found = (made.cell == cell) & (made.kind == STORE)
        assert {same} >= {*made.same_value[found].tolist()}
        assert (values if same else {0}) >= {*made.value[found].tolist()}
    np.testing.assert_array_equal(made.thread // 32, made.block)
    assert (made.soonest // INTERVAL == made.interval).all() and (
        made.weight == 1
    ).all()


@pytest.mark.parametrize("count", [0, 1, 12, 60, 600])
def test_what_cannot_conflict_is_left_out(count):
    """A cell between two barriers of the grid that one thread alone touches, or of
    which no access harms another.
    """
    made = Accesses.of(random_rows(count, cells=30), 32, KINDS)
    rows = vars(made)

    kept = []
    for its in by_key(rows, ("cell", "epoch")):
        kinds, threads = {*made.kind[its]}, {*made.thread[its]}
        if len(threads) > 1 and (STORE in kinds or {LOAD, ATOMIC} <= kinds):
            kept += its
    found = made.in_conflict()
    for name, column in vars(found).items():
        assert rows[name][sorted(kept)].tolist() == column.tolist()
    sizes = [len(its) for its in by_key(rows, ("cell", "epoch"))]
    assert sum(n * n for n in sizes) == made.pairs()
    crowded = {its[0] for its in made.cell[:, None].tolist()}
    crowded = {it for it in crowded if (made.cell == it).sum() > 5}
    assert [it in crowded for it in made.cell.tolist()] == (
        made.in_crowded_cells(5).tolist()
    )


def test_a_thread_at_one_place_is_one_whatever_barriers_are_between():
    """From the first interval to the last."""
    made = Accesses.of(random_rows(300), 32, KINDS)
    rows = vars(made)

    found = made.over_intervals()

    groups = by_key(rows, ("cell", "epoch", "thread", "place"))
    assert [min(made.soonest[its]) for its in groups] == found.soonest.tolist()
    assert [max(made.latest[its]) for its in groups] == found.latest.tolist()
    turns = [reduce(or_, made.turns[its].tolist()) for its in groups]
    assert turns == found.turns.tolist()
    assert [made.thread[its[0]] for its in groups] == found.thread.tolist()


def test_intervals_that_do_to_a_cell_what_another_did_are_left_out():
    """The first of them stays, with its own times within the interval."""
    made = Accesses.of(random_rows(400, cells=3, threads=2), 32, KINDS)
    rows, seen, kept = vars(made), set(), []
    for its in by_key(rows, ("cell", "epoch", "interval")):
        parts = ("thread", "place", "warp_syncs", "acquired", "fences")
        does = [made.cell[its[0]], *(tuple(rows[it][its]) for it in parts)]
        does += [tuple(it[its] % INTERVAL) for it in (made.soonest, made.latest)]
        if tuple(does) not in seen:
            seen.add(tuple(does))
            kept += its

    assert len(kept) == len(made.without_repetition())

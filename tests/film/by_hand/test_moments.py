"""Which steps of a film are its moments, on records made by hand."""

import pytest

from tests.film.hand_made import ALL, BRANCH, READ, WRITE, array, record
from thirty_two_lanes.film.moments import description_of, moments_of

HALF = 0xFFFF
TILE, OUT = range(2)
LINES = ["def kernel(out):", "    x = 1", "    out[0] = x"]


def film(*steps, lines=LINES, findings=(), cells=range(32)):
    """A record with these steps, of warp 0 at line 1 unless they say otherwise."""
    return {
        "kernel": "kernel",
        "threads": 64,
        "warps": 2,
        "watched": [1, 0, 0],
        "files": [
            {"first": 1, "lines": lines},
            {"first": 50, "lines": ["def other()"]},
        ],
        "arrays": [
            array("tile", "shared", [4, 16], None),
            array("out", "global", [64], None),
        ],
        "patterns": [[*cells]],
        "findings": [*findings],
        "steps": [{"w": 0, "f": 0, "l": 1, "m": ALL, **step} for step in steps],
    }


def accessed(array, kind="store", first=0, **more):
    """A step with an access of 32 cells from the first on."""
    return {"a": [{"r": array, "k": kind, "p": 0, "o": first, **more}]}


def finding(kind, *steps, level="wrong"):
    return {"kind": kind, "level": level, "title": f"a {kind}", "steps": [*steps]}


def told(*steps, **more):
    """The moments of a film: step and caption."""
    return [(it["step"], it["caption"]) for it in moments_of(film(*steps, **more))]


def test_the_moments_of_the_film_made_by_hand():
    """A step with two events has the worse one; the others are left out."""
    expected = [
        (1, "`tile` gets its first values, warp 0 at line 13"),
        (2, f"Lanes queue at a bank: 2 wavefronts, warp 0 at line {READ}"),
        (5, "Race on `tile` between lines 13 and 14"),
        (7, "All warps have come to the barrier, and it opens"),
        (8, f"Warp 0 splits at line {BRANCH}: 16 lanes go first"),
        (9, "The fewest lanes at a time: 16 lanes, warp 0 at line 17"),
        (10, f"Its lanes are together again, warp 0 at line {WRITE}"),
        (13, f"The last store, to `y`, warp 1 at line {WRITE}"),
    ]

    assert expected == [(it["step"], it["caption"]) for it in moments_of(record())]
    assert description_of(record()) == (
        "Block (0, 0, 0) of `reversed_tile`: 64 threads in 2 warps, 14 steps, shared "
        "memory holds `tile`, 1 barrier opened. Found: race on `tile` between lines 13 "
        "and 14. It costs: bank conflict in line 14."
    )


def test_there_are_nine_moments_at_most():
    """The first ones of the lowest rank."""
    faults = [finding("fault", n) for n in range(12)]

    assert [(n, "A fault") for n in range(9)] == told(*[{}] * 14, findings=faults)


@pytest.mark.parametrize(
    "busy, expected",
    [
        (range(10), [0, 2, 5, 7]),
        ([3, 8], [3, 8]),
        (range(2, 6), [2, 3, 4, 5]),
        ([], []),
    ],
)
def test_where_nothing_happens_four_busy_steps_are_spread(busy, expected):
    """Those that give a variable a value, or have an access."""
    steps = [{"v": {"x": n}} if n in busy else {} for n in range(12)]

    assert [(n, "Warp 0 at line 1") for n in expected] == told(*steps)


def test_a_film_with_one_moment_gets_three_more():
    """From the steps that are not taken."""
    steps = [accessed(OUT, "load") for _ in range(5)]

    found = told(*steps, findings=[finding("fault", 1)])

    assert [0, 1, 2, 3] == [step for step, _ in found]
    assert (1, "A fault") in found


def test_a_race_is_shown_where_it_is_complete_and_where_it_begins():
    """Another fault only where it is first; one that other blocks make, nowhere."""
    faults = [finding("race", 2, 5), finding("stray", 3, 6), finding("error")]

    found = told(*[{"w": n % 2} for n in range(8)], findings=faults)

    assert (2, "The earlier side of the race, warp 0 at line 1") in found
    assert [(3, "A stray"), (5, "A race")] == found[1:]
    assert [(4, "A race")] == told(*[{}] * 8, findings=[finding("race", 4, 4)])


def test_of_the_costs_the_first_is_shown():
    """In the film, not in the list."""
    costs = [finding("late", 6, level="costly"), finding("early", 4, 7, level="slight")]

    assert [(4, "A early")] == told(*[{}] * 8, findings=costs)


LOOPS = [
    "def kernel(out):",
    "    for i in range(4):",
    "        while i:",
    "",
    "            i -= 1",
    "        forget = 1",
    "    out[0] = i",
    "    for i in range(3): out[i] = 1",
    "    out[1] = 2",
]


def test_the_end_of_each_outer_loop_is_shown_once():
    """Where a warp that was inside comes behind it, in the kernel itself."""
    at = [1, 2, 3, 5, 6, (60, 1), 2, 7, 7, 8, 9]
    steps = [{"l": it[0], "f": 1} if isinstance(it, tuple) else {"l": it} for it in at]
    outside = [{"w": 1, "l": 7}]

    found = told(*steps[:3], *outside, *steps[3:], lines=LOOPS)

    left = "Warp 0 has left the loop of line"
    assert [(8, f"{left} 2"), (11, f"{left} 8")] == found
    assert [] == told(*steps[:6], lines=LOOPS)


def test_a_shared_array_is_filled_read_and_full():
    """Once each; an array in global memory is not told of but for the last store."""
    found = told(
        accessed(OUT, first=32),
        accessed(TILE),
        accessed(TILE),
        accessed(TILE, "load"),
        accessed(TILE, "load"),
        accessed(TILE, first=32),
        accessed(TILE, first=32),
        accessed(OUT) | {"w": 1, "l": 3},
        accessed(OUT, "load"),
    )

    assert [
        (1, "`tile` gets its first values, warp 0 at line 1"),
        (3, "`tile` is read, warp 0 at line 1"),
        (5, "`tile` is full"),
        (7, "The last store, to `out`, warp 1 at line 3"),
    ] == found


def test_of_two_events_in_a_step_the_rarer_is_shown():
    """First values before an exchange, a queue before first values."""
    lines = ["def kernel(out):", "    tile[i] = cuda.shfl_sync(-1, x, 0)"]
    fills = accessed(TILE) | {"l": 2, "e": "pass"}
    conflict = finding("conflict", 0, level="costly")

    values, queue = (
        told(fills, lines=lines, findings=found)[0][1] for found in ([], [conflict])
    )

    assert ("All warps", "Lanes queue") == (values[:9], queue[:11])
    first = told(accessed(TILE) | {"l": 2}, lines=lines)
    assert [(0, "`tile` gets its first values, warp 0 at line 2")] == first


def test_barriers_waits_and_ends_are_shown_the_first_time():
    """Each of them once."""
    ends = ["", "barrier", "pass", "pass", "wait", "wait", "", "leave", "leave"]

    assert [
        (2, "All warps have come to the barrier, and it opens"),
        (4, "Lanes wait for others of their warp, warp 0 at line 1"),
        (7, "The first threads are done, warp 0 at line 1"),
    ] == told(*[{"e": end} if end else {} for end in ends])


def test_lanes_part_are_few_and_come_together():
    """Of the warp that splits; a later split is no moment."""
    steps = [
        {"m": 7, "w": 1},
        {"e": "split"},
        {"w": 1},
        {"m": 2},
        {"m": ALL - 2, "e": "split"},
        {"m": 0},
        {"m": HALF},
        {"w": 1, "e": "pass"},
        {"l": 3},
        {"l": 3},
    ]

    found = told(*steps)

    assert [
        (1, "Warp 0 splits at line 1: 1 lane goes first"),
        (3, "The fewest lanes at a time: 1 lane, warp 0 at line 1"),
        (7, "All warps have come to the barrier, and it opens"),
        (8, "Its lanes are together again, warp 0 at line 3"),
    ] == found
    (last,) = told({"m": HALF * 2, "w": 1}, {"e": "split"})
    assert (0, "The fewest lanes at a time: 16 lanes, warp 1 at line 1") == last
    (alone,) = told({"m": HALF * 2 + 1, "w": 1}, {"e": "split"})
    assert (1, "The fewest lanes at a time: 32 lanes, warp 0 at line 1") == alone


def test_queues_atomics_and_exchanges_are_shown_the_first_time():
    """The wavefronts are those of the request that queues longest."""
    lines = ["def kernel(out):", "    x = cuda.shfl_sync(-1, x, 0)"]
    queue = {
        "a": [{"r": TILE, "k": "load", "p": 0, "b": waves} for waves in ([1], [1, 2])]
    }
    conflicts = [finding("conflict"), finding("conflict", 2, 3), finding("conflict", 1)]
    steps = [{"l": 2}, {"l": 2}, queue, queue, *[accessed(OUT, "atomic")] * 2]

    found = told(
        *steps, lines=lines, findings=[it | {"level": "slight"} for it in conflicts]
    )

    assert [
        (0, "Lanes take each other's values, warp 0 at line 2"),
        (1, "A conflict"),
        (2, "Lanes queue at a bank: 2 wavefronts, warp 0 at line 1"),
        (4, "The first atomic update of `out`, warp 0 at line 1"),
        (5, "The last store, to `out`, warp 0 at line 1"),
    ] == found


def test_a_description_says_what_there_is():
    """And nothing of what there is not."""
    plain = film({}) | {"arrays": [], "warps": 1}
    three = [array(name, "shared", [1], None) for name in "abc"]

    words = (
        "Block (1, 0, 0) of `kernel`: 64 threads in 1 warp, 1 step. Nothing wrong was"
    )
    assert f"{words} found." == description_of(plain)
    assert "memory holds `a`, `b` and `c`, 2 barriers opened" in description_of(
        film({"e": "pass"}, {"e": "pass"}) | {"arrays": three}
    )
    found = [finding("b"), finding("c", level="slight"), finding("d")]
    assert description_of(film({}, findings=found)).endswith(
        "Found: a b; a d. It costs: a c."
    )

"""The words of races that are made by hand: what each says, and what it advises."""

from itertools import combinations_with_replacement

import pytest

from tests.emulator.report.made_by_hand import race, site
from thirty_two_lanes.core.race import ACCESS_BITS, HARMFUL, WIDTH, Races, beside

SEVEN, EIGHT = site(7), site(8)
BACK = {"first": EIGHT, "second": SEVEN}
SAME = {"first": SEVEN, "second": SEVEN}
STORES = {"kind": "WAW", "second_kind": "store"}
WAR = {"kind": "WAR", "first_kind": "load", "second_kind": "store"}
ATOMIC, ACQUIRE = {"second_kind": "atomic"}, {"second_kind": "acquire"}
RELEASE = {"first_kind": "release"}
PUT = "Put `cuda.syncthreads()` between line "
ONE = "Let one thread write the cell, give each thread its own, or use `cuda.atomic`"
LOAD_FIRST = "Load into a variable first, then `cuda.syncthreads()`, then store"
ATOMICS = "An atomic is ordered only with other atomics: make both accesses of `tile` "
FLAGS = "`load_acquire` and `store_release` are ordered only with each other and with "
BLOCKS = "No barrier orders threads of different blocks: "


@pytest.mark.parametrize(
    "changes, told",
    [
        ({}, f"{PUT}7 and line 8"),
        (WAR, f"{PUT}7 and line 8"),
        ({"scope": "warp"}, "Put `cuda.syncwarp()` between line 7 and line 8"),
        (BACK | {"next_turn": True}, f"{PUT}8 and line 7 of the loop's next iteration"),
        (SAME, f"{LOAD_FIRST}; in a loop, one more `cuda.syncthreads()` behind the st"),
        (SAME | WAR, LOAD_FIRST),
        (BACK | WAR, LOAD_FIRST),
        (STORES, f"{ONE}; `cuda.syncthreads()` orders writes of different lines"),
        (STORES | SAME, ONE),
        (SAME | {"update": True}, "Use `cuda.atomic`: several threads load and store"),
        ({"scope": "copy"}, "Put `wait_copies` between the copy and this line"),
        ({"scope": "copy"} | ATOMIC, "Put `wait_copies` between the copy and this"),
        ({"scope": "grid"}, "cut between line 7 and line 8"),
        ({"scope": "grid"}, "or signal with an atomic that the cell is stored, with"),
        (BACK | {"scope": "grid", "next_turn": True}, "between line 7 and line 8"),
        (SAME | {"scope": "grid"}, f"{BLOCKS}use `cuda.atomic`, or give each thread"),
        (ATOMIC, f"{ATOMICS}atomic, or put a barrier between them"),
        (ATOMIC | {"scope": "grid"}, f"{ATOMICS}atomic, or make two launches, one for"),
        (ACQUIRE, f"{FLAGS}atomics: use `store_release` on line 7, or put a barrier"),
        (RELEASE, f"{FLAGS}atomics: use `load_acquire` on line 8, or put a barrier"),
        (RELEASE | ACQUIRE, f"{PUT}7 and line 8"),
        (
            {"second_cell": "a[3]"},
            "`tile` and `a` overlap: take slices that do not. Only",
        ),
        ({"second": site(3, "", 9)}, f"{PUT}7 and line 9"),
        ({"first": site(2, "", 5), "second": site(3, "", 9)}, f"{PUT}5 and line 9"),
        ({"first": site(2, "", 5), "second": site(3, "", 5)}, f"{PUT}2 and line 3"),
    ],
)
def test_a_remedy_is_one_that_would_order_the_two_lines(changes, told):
    """By who races, with what, and whether a barrier fits between the lines."""
    remedy = race(**changes).remedy

    assert remedy.startswith(told) or told in remedy and told[0].islower()
    assert told != LOAD_FIRST or remedy == told
    assert told != ONE or remedy == told


@pytest.mark.parametrize(
    "changes, told", [(ACQUIRE, "store_release"), (RELEASE, "load_acquire")]
)
def test_who_waits_for_another_block_is_not_told_to_make_two_launches(changes, told):
    """In a launch of its own, a loop that acquires would never end."""
    remedy = race(scope="grid", **changes).remedy

    line = 7 if told == "store_release" else 8
    assert f"{FLAGS}atomics: use `{told}` on line {line}" == remedy


@pytest.mark.parametrize(
    "changes, told",
    [
        ({}, "RAW race on shared `tile`: 31 hazards between warps of a block"),
        (
            {"hazards": 1},
            "RAW race on shared `tile`: 1 hazard between warps of a block",
        ),
        (
            {"exact": False, "hazards": 2000},
            ": at least 2,000 hazards between warps of a block",
        ),
        ({"scope": "warp"}, ": 31 hazards within a warp"),
        ({"scope": "grid"}, ": 31 hazards between blocks"),
        ({"scope": "copy"}, ": 31 hazards before a copy has arrived"),
        ({"same_value": True, "value": "1.0"}, " of a block, all store 1.0"),
        ({"same_value": True}, " of a block, all store the same"),
    ],
)
def test_a_title_counts_the_hazards_and_says_between_whom(changes, told):
    """And what all of them store, where that is known."""
    title = race(**changes).title

    assert title.endswith(told)
    assert bool(changes.get("same_value")) == ("all store" in title)


@pytest.mark.parametrize(
    "kind, verb",
    [
        ("load", "loads"),
        ("store", "stores to"),
        ("atomic", "updates"),
        ("acquire", "acquires"),
        ("release", "releases"),
    ],
)
def test_an_access_has_its_verb(kind, verb):
    """Thread, verb, cell; the second cell by the name that its own line has for it."""
    (_, one), (_, other) = race(first_kind=kind, second_cell="a[3]").accesses

    assert f"thread 31 {verb} tile[31]" == one
    assert "thread 32 loads a[3], the same bytes as tile[31]" == other
    assert "thread 32 loads tile[31]" == race().accesses[1][1]


def test_a_race_is_wrong_unless_all_store_the_same():
    """As a finding, beside the first of its lines; the other one is named."""
    found, slight = race().finding, race(**SAME, same_value=True).finding

    assert ("wrong", "slight") == (found.level, slight.level)
    assert (
        "Races for `tile` with line 8: put `cuda.syncthreads()` between" in found.advice
    )
    assert "with the same line in another thread: load into" in slight.advice


def test_the_two_lines_stand_below_each_other():
    """Their accesses begin in one column, below a long line where they do not fit."""
    first, second = (site(n, text) for n, text in ((7, "x = 1"), (123, "y = tile[t]")))
    title, one, other = race(first=first, second=second).facts.splitlines()

    assert one.index("thread 31") == other.index("thread 32")
    assert one.index("x = 1") == other.index("y = tile[t]")
    long = race(first=first, second=site(123, "y" * 90)).facts.splitlines()
    assert one.split() == long[1].split()
    assert len(long[1]) < len(one) and long[-1] == " " * 10 + "thread 32 loads tile[31]"
    line = "x" * 40
    assert "\n" not in beside(line, "y" * (WIDTH - 44))
    assert f"{line}\n{' ' * 10}y" in beside(f"{line}  ", "y" * (WIDTH - 43))


def test_two_accesses_harm_where_one_writes_and_not_both_are_indivisible():
    """A plain store with anything, a plain load with an atomic."""
    indivisible = {"atomic", "acquire", "release"}
    for one, other in combinations_with_replacement(ACCESS_BITS, 2):
        kinds = {one, other}
        writes = kinds & {"store", "atomic", "release"}
        harm = "store" in kinds or bool(writes) and not kinds <= indivisible
        if kinds != {"load", "acquire"}:  # which the recorder tells apart
            assert harm == HARMFUL[ACCESS_BITS[one] | ACCESS_BITS[other]], kinds
    assert HARMFUL[8 | 2] and HARMFUL[8 | 4 | 1]
    assert not HARMFUL[8] and not HARMFUL[8 | 1] and not HARMFUL[8 | 4]


def test_races_read_one_below_the_other():
    """Or as a sentence, where there are none."""
    assert f"{race()!r}\n{race(hazards=1)!r}" == repr(Races([race(), race(hazards=1)]))
    assert "no race" == repr(Races.minor)

"""How a film tells of a race, on races and pairs that are made by hand."""

from types import SimpleNamespace

import pytest

from tests.emulator.report.made_by_hand import race, site
from thirty_two_lanes.film.races import (
    End,
    Pair,
    first_pair,
    grouped,
    words_of,
)

TILE = SimpleNamespace(name="tile", shape=(4, 8))
SAME = {"first": site(7), "second": site(7)}


def pair(one=(2, 7, "store", 31), other=(5, 8, "load", 32), cells=(9, 12)):
    return Pair(End(*one), End(*other), TILE, list(cells))


def told(made=None, races=None, **changes):
    """The sentence and the advice."""
    return words_of(races or [race(**changes)], made)


PUT = "no barrier orders line 7's store and line 8's load of `tile[1, 1]`: either may"


@pytest.mark.parametrize(
    "made, changes, words",
    [
        (pair(), {}, f"{PUT} come first; here the store did (RAW race)"),
        (
            pair((2, 8, "load", 1), (5, 7, "store", 2)),
            {"kind": "WAR"},
            f"{PUT} come first; here the load did (WAR race)",
        ),
        (pair(), {"scope": "warp"}, f"{PUT.replace('barrier', '`syncwarp`')} come"),
        (
            pair((2, 7, "store", 1), (2, 8, "load", 2)),
            {},
            f"{PUT} come first; the machine chose one order (RAW race)",
        ),
        (
            pair(),
            {"scope": "copy"},
            f"{PUT.replace('barrier', '`wait_copies`')} come first; the machine chose",
        ),
        (
            pair((2, 8, "store", 1), (5, 7, "store", 2)),
            {"kind": "WAW"},
            "line 7's store and line 8's store of `tile[1, 1]`: either may come first; "
            "here line 8's did (WAW race)",
        ),
        (
            pair((2, 7, "store", 40), (5, 7, "store", 2)),
            {"kind": "WAW"},
            "no barrier orders the store of `tile[1, 1]` in line 7, by threads 40 and "
            "2: either may come first; here thread 40's did (WAW race)",
        ),
        (
            pair((2, 7, "atomic", 1), (5, 8, "acquire", 2)),
            {},
            "line 7's update and line 8's load of",
        ),
        (pair((2, 7, "release", 1)), {}, "line 7's store and line 8's load of"),
        (
            pair((2, 7, "load", 3), (5, 7, "store", 4)),
            SAME | {"update": True},
            "threads 3 and 4 each load and store `tile[1, 1]` in line 7, and nothing",
        ),
        (
            None,
            {"scope": "grid"},
            "nothing orders line 7's store and line 8's load of `tile[31]` in "
            "different blocks (RAW race)",
        ),
        (
            None,
            {},
            "no barrier orders line 7's store and line 8's load of `tile[31]` in other "
            "blocks (RAW race)",
        ),
    ],
)
def test_a_race_is_told_as_it_happens(made, changes, words):
    """Which came first here, by its kind, its line or its thread."""
    title, _ = told(made, **changes)

    assert words in title


@pytest.mark.parametrize(
    "races, words",
    [
        ([race()], "launch together: 31 hazards."),
        ([race(hazards=1)], "launch together: 1 hazard."),
        ([race(), race(kind="WAR", hazards=1000)], "launch together: 1,031 hazards."),
        ([race(), race(exact=False)], "launch together: at least 62 hazards."),
        ([race(same_value=True, value="1")], ": 31 hazards, all store 1."),
        ([race(same_value=True, value="1"), race()], ": 62 hazards."),
    ],
)
def test_hazards_are_counted_of_all_races_of_the_two_lines(races, words):
    """In all blocks; what all store, only where all of them do."""
    title, text = told(pair(), races)

    assert text.endswith(f"All blocks of the {words}" if words[0] == "l" else words)
    kinds = ", ".join(sorted({it.kind for it in races}))
    assert title.endswith(f"({kinds} race)")


@pytest.mark.parametrize(
    "races, words",
    [
        (
            [race(), race(kind="WAR", first=site(8), second=site(7), next_turn=True)],
            "Put `cuda.syncthreads()` between line 7 and line 8, and between line 8 "
            "and line 7 of the loop's next iteration. ",
        ),
        (
            [race(kind="WAW"), race()],
            "Put `cuda.syncthreads()` between line 7 and line ",
        ),
        ([race(), race(update=True)], "Use `cuda.atomic`: several threads load and st"),
        ([race(scope="warp")], "Put `cuda.syncwarp()` between line 7 and line 8. "),
        ([race(kind="WAR", **SAME)], "Load into a variable first, then `cuda.syncth"),
    ],
)
def test_the_remedy_is_that_of_the_race_that_asks_for_most(races, words):
    """An update first, then what a barrier orders, and each place of a barrier."""
    assert told(pair(), races)[1].startswith(words)


def test_races_of_the_same_two_lines_are_one_fault():
    """In either direction; of another array, scope or line, they are two."""
    back = race(kind="WAR", first=site(8), second=site(7))
    others = [race(array="a"), race(scope="warp"), race(second=site(9))]

    assert [[race(), back], *([it] for it in others)] == grouped(
        [race(), *others[:1], back, *others[1:]]
    )
    assert first_pair(SimpleNamespace(steps=[]), [race(), race(scope="grid")]) is None

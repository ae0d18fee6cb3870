"""A run's page: each remedy in one place."""

import re

from tests.emulator.report.made_by_hand import hand_made, race, sectors, site
from thirty_two_lanes.emulator.report.page import as_html


def text_of(page):
    """What a reader reads."""
    return re.sub(r"<style>.*?</style>|<[^>]*>", "", page, flags=re.DOTALL)


def test_a_page_says_a_remedy_once():
    """A race's stands with both lines and the lesson; the ninth has no such place."""
    nine = [race(array=f"tile{number}") for number in range(9)]
    lessons = ("15_barriers_and_races.ipynb",)
    within = race(scope="warp")
    for run, times in (
        (hand_made(races=nine[:1]), 1),
        (hand_made(minor=[within]), 1),
        (hand_made(races=nine), 9),
    ):
        page = as_html(run, lessons)
        text = text_of(page)
        assert times == text.count("between line 7 and line 8")
        assert times == page.count("href='15_barriers_and_races.ipynb'")
        assert times == text.count("Put cuda.sync") + text.count("put cuda.sync")


def test_what_else_is_on_the_line_of_a_race_is_told_below_the_line():
    """Once: not again among what shares a line with worse."""
    rows = {site(7, "tile[t] = src[i]"): sectors(10, 320, 40)}
    text = text_of(as_html(hand_made(coalescing=rows, races=[race()])))

    assert 1 == text.count("takes 32 sectors (ideally 4)")

"""What moves the player of films in a browser: its buttons, its slider and its keys.

Needs Playwright (`pip install -e .[browser]`) and Chromium, and is skipped without.
"""

import pytest

from tests.film.chromium import HOST, go, player, shown
from tests.film.hand_made import record

LAST = len(record()["steps"]) - 1
# what it does, the name of its button, its key, from which step to which
CONTROLS = (
    ("steps forward", "Step", "ArrowRight", 0, 1),
    ("stays at the end", "Step", "ArrowRight", LAST, LAST),
    ("steps back", "Step back", "ArrowLeft", 5, 4),
    ("stays at the start", "Step back", "ArrowLeft", 0, 0),
    ("finds the line again", "To the next step of the same line", "ArrowDown", 2, 6),
    ("finds the line before", None, "ArrowUp", 6, 2),
    ("finds the barrier", "To the next barrier", "b", 0, 7),
    ("finds the barrier before", None, "Shift+B", 9, 7),
    ("finds a fault", "To the next fault", "f", 2, 5),
    ("finds the fault before", None, "Shift+F", 5, 2),
    ("finds a cost", "To the next cost", "c", 2, 6),
    ("finds the cost before", None, "Shift+C", 6, 2),
    ("stays at the last fault", "To the next fault", "f", 5, 5),
    ("goes to the start", None, "Home", 9, 0),
    ("goes to the end", None, "End", 2, LAST),
)


def test_a_control_goes_to_its_step_by_key_and_by_mouse(opened):
    tab = opened(record())
    for does, button, key, start, end in CONTROLS:
        go(tab, start)
        tab.locator(".film").focus()
        tab.keyboard.press(key)
        assert end == shown(tab), does
        if button:
            go(tab, start)
            tab.get_by_role("button", name=button, exact=True).click()
            assert end == shown(tab), does


def test_shift_and_a_button_go_back(opened):
    tab = opened(record())
    go(tab, 9)

    tab.get_by_role("button", name="To the next barrier").click(modifiers=["Shift"])

    assert 7 == shown(tab)


def test_where_nothing_follows_it_says_so(opened):
    """Until the next step."""
    tab = opened(record())
    for key, start, words in (
        ("f", 5, "no further fault"),
        ("Shift+C", 2, "no earlier cost"),
        ("b", 7, "no further barrier"),
        ("ArrowDown", 6, "no further step of this line"),
    ):
        go(tab, start)
        tab.locator(".film").focus()

        tab.keyboard.press(key)
        assert words == tab.locator(".said").inner_text()
        tab.keyboard.press("ArrowLeft")
        assert "" == tab.locator(".said").inner_text()


def test_the_slider_chooses_a_step(opened):
    tab = opened(record())
    slider = tab.get_by_role("slider")

    slider.fill("6")
    assert 6 == shown(tab)
    slider.press("ArrowLeft")
    assert 5 == shown(tab)
    assert "5" == slider.input_value()


def test_a_line_of_the_source_leads_to_its_next_step(opened):
    tab = opened(record())

    tab.locator(".source li", has_text="value += 1").click()
    assert 9 == shown(tab)
    tab.locator(".source li", has_text="value += 1").click()
    assert 12 == shown(tab)


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_play_runs_to_the_end_and_stops(opened, by):
    """At 60 steps a second; a second press pauses."""
    tab = opened(record())
    tab.get_by_label("Steps a second").select_option("60")

    if by == "mouse":
        tab.get_by_role("button", name="Play").click()
    else:
        tab.locator(".film").focus()
        tab.keyboard.press("Space")
    tab.wait_for_function(f"!document.querySelector('{HOST}').player.playing")

    assert LAST == shown(tab)


def test_pause_holds_the_step(opened):
    tab = opened(record())
    tab.get_by_label("Steps a second").select_option("4")
    tab.locator(".film").focus()

    tab.keyboard.press("Space")
    tab.wait_for_timeout(400)
    tab.keyboard.press("Space")
    held = shown(tab)
    tab.wait_for_timeout(600)

    assert held == shown(tab)
    assert not player(tab, "player.playing")


@pytest.mark.parametrize(
    "films, moved, steps", [(1, False, 2), (2, False, 1), (2, True, 2)]
)
def test_keys_reach_the_only_film_and_the_one_under_the_mouse(
    opened, films, moved, steps
):
    """With no click before."""
    tab = opened(*[record()] * films)
    if moved:
        tab.locator(".film").nth(0).hover()

    tab.keyboard.press("ArrowRight")

    assert steps == shown(tab)


def test_what_a_reader_types_stays_in_the_film(opened):
    """Slides turn at arrow keys, and make the screen black at `b`."""
    tab = opened(record())
    tab.evaluate("""() => { window.heard = [];
        document.addEventListener("keydown", (it) => window.heard.push(it.key)) }""")

    tab.locator(".following input").press_sequentially("b 5")
    tab.get_by_role("slider").press("ArrowRight")
    tab.keyboard.press("Control+s")

    assert ["Control", "s"] == tab.evaluate("window.heard")


def test_keys_are_kept_from_jupyterlab_but_not_those_that_save(opened):
    """It hears each key first, and leaves those alone that an element claims."""
    tab = opened(record())
    claimed = f"document.querySelector('{HOST}').hasAttribute"
    tab.locator(".film").focus()

    for key, ours in (("b", True), ("Control+s", False), ("d", True)):
        tab.keyboard.press(key)
        assert ours == tab.evaluate(f"{claimed}('data-lm-suppress-shortcuts')")

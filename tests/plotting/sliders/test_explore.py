"""Pictures with sliders: every position is drawn once, and the page holds them all."""

import base64
import gzip
import json
import re
import subprocess
import sys

import pytest

from helpers.plotting import plot_grid
from helpers.plotting.sliders.explore import HINT, explore
from helpers.plotting.sliders.page import control

PACKED = re.compile(r"<script type='text/plain'>(.*?)</script>")


def draw(blocks, threads):
    return plot_grid(blocks, threads, 9)


def record_of(exploration):
    """What the page of an exploration plays."""
    packed = PACKED.search(exploration._repr_html_())[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_first_values_are_drawn_first():
    """A range begins at its lowest value, a list with its first."""
    exploration = explore(draw, blocks=(1, 4), threads=[8, 4])

    said = "1 block of 8 threads, 9 elements: 1 element without a thread."
    assert said == repr(exploration)


def test_a_default_of_the_function_is_drawn_first():
    """`draw` may know a better beginning than the lowest value."""
    exploration = explore(lambda blocks=3: draw(blocks, 4), blocks=(1, 4))

    assert draw(3, 4).alt == exploration.picture.alt
    assert [2] == record_of(exploration)["begin"]


def test_a_slider_names_whole_numbers_in_full():
    """Other numbers have few digits."""
    sizes = control("n", [2**20, 2**21, 1 / 3])

    assert ["1048576", "2097152", "0.333333"] == sizes["values"]
    assert "range" == sizes["kind"]


def test_a_default_that_cannot_be_chosen_is_passed_over():
    """A default outside the choice would leave the slider and the picture apart."""
    assert draw(1, 4).alt == repr(explore(lambda n=9: draw(n, 4), n=(1, 3)))


NO_CHOICES = (4, 1), (1, 2, 3, 4), (1, 4, 0), (1, 4, -1), (0.5, 1.5), [], 3


@pytest.mark.parametrize("choice", NO_CHOICES)
def test_what_is_no_choice_is_refused(choice):
    """The error names the argument and shows how to write a choice."""
    with pytest.raises(ValueError, match=r"blocks=.* is no choice: write blocks=\("):
        explore(draw, blocks=choice, threads=[8])


def test_more_positions_than_a_page_holds_are_refused():
    """The error says how many there are, of what, and what to write; none is drawn."""
    said = (
        r"^33 of `blocks` × 4 of `threads` are 132 positions, and `explore` draws at "
        r"most 100: take fewer values, as in blocks=\[1, 2, 4\], or larger steps$"
    )
    with pytest.raises(ValueError, match=said):
        explore(lambda **_: pytest.fail("drawn"), blocks=(1, 33), threads=[1, 2, 4, 8])


def test_a_position_that_cannot_be_drawn_is_named():
    """With the values of its arguments, and what went wrong."""
    said = "`explore` cannot draw blocks=9, threads=8: .*72 boxes in a row, at most 40"
    with pytest.raises(ValueError, match=said):
        explore(draw, blocks=[2, 9], threads=[8])


def test_what_draws_no_picture_is_refused():
    """The error says what a function must return."""
    with pytest.raises(ValueError, match="returns a picture, .* not None"):
        explore(lambda n: None, n=[1, 2])


@pytest.mark.slow
def test_each_position_is_the_picture_that_the_function_draws():
    """In the order of the arguments, the last one's values first."""
    choices = {"blocks": [1, 2, 3], "threads": [8, 4]}
    record = record_of(explore(draw, **choices))
    drawn = [draw(b, t) for b in choices["blocks"] for t in choices["threads"]]

    assert [it.alt for it in drawn] == record["said"]
    assert [it.svg() for it in drawn] == [
        text_of(frame, record["lines"]) for frame in record["frames"]
    ]


def text_of(frame, lines):
    """The lines of a frame, whose numbers are stored as steps from one to the next."""
    at, found = -1, []
    for step in frame:
        at += step
        found.append(lines[at])
    return "\n".join(found)


def test_no_line_is_stored_twice():
    """Most of a picture is the same at the next position."""
    lines = record_of(explore(draw, blocks=[1, 2], threads=[4, 8]))["lines"]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ((4, 12, 4), "range", ["4", "8", "12"]),
        ([0.5, 2], "range", ["0.5", "2"]),
        ([True, False], "checkbox", ["true", "false"]),
        (["load", "store"], "select", ["load", "store"]),
    ],
)
def test_each_kind_of_value_has_its_control(values, kind, texts):
    """The label is the argument's name."""
    exploration = explore(lambda a_width: draw(1, 4), a_width=values)

    control = {"name": "a width", "kind": kind, "values": texts}
    assert [control] == record_of(exploration)["controls"]


def test_the_first_picture_is_an_output_of_its_own(monkeypatch):
    """It stands where scripts are taken away, with a sentence instead of sliders."""
    outputs = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, **_: outputs.append(data)
    )
    explore(draw, blocks=[2, 4], threads=[8])._ipython_display_()

    picture, page = outputs
    assert draw(2, 8).svg() == picture["image/svg+xml"]
    assert "image/png" in picture
    assert HINT == page["text/plain"]
    assert {HINT, draw(2, 8).alt} <= set(re.findall(r">([^<>]+)<", page["text/html"]))


def test_two_builds_are_the_same():
    """A page that was built again is the same text."""
    once, again = (explore(draw, blocks=[1, 2], threads=[4]) for _ in "12")
    assert once._repr_html_() == again._repr_html_()


@pytest.mark.slow
def test_a_script_needs_no_notebook():
    """In plain Python an exploration is its first picture; nothing else is loaded."""
    source = (
        "import sys\n"
        "from helpers.plotting import plot_grid\n"
        "from helpers.plotting.sliders.explore import explore\n"
        "print(explore(lambda n: plot_grid(2, 4, n), n=(8, 10)))\n"
        "assert 'IPython' not in sys.modules\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )

    said = "2 blocks of 4 threads, 8 elements: each thread has its element.\n"
    assert (said, "") == (ran.stdout, ran.stderr)

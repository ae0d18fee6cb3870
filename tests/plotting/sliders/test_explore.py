"""Pictures with sliders: complete without them, in step with them."""

import subprocess
import sys

import pytest

from helpers.plotting import plot_grid, plot_grid_2d
from helpers.plotting.sliders import explore as widgets
from helpers.plotting.sliders.explore import VIEW, explore

HINT = "Run this cell in a notebook to move the sliders."


def draw(blocks, threads):
    return plot_grid(blocks, threads, 9)


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, as (data, metadata)."""
    outputs = []

    def display(it, metadata=None, raw=False, display_id=None):
        outputs.append((it, metadata) if raw else it._repr_mimebundle_())

    monkeypatch.setattr("IPython.display.display", display)
    return outputs


@pytest.fixture
def notebook(monkeypatch):
    """A session like that of a notebook."""
    shell = type("Shell", (), {"kernel": None})()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delenv(widgets.STATIC, raising=False)


def test_the_first_values_are_drawn_first():
    """A range begins at its lowest value, a list with its first."""
    exploration = explore(draw, blocks=(1, 4), threads=[8, 4])

    said = "1 block of 8 threads, 9 elements: 1 element without a thread."
    assert said == repr(exploration)


def test_a_default_of_the_function_is_drawn_first():
    """`draw` may know a better beginning than the lowest value."""
    picture = explore(lambda blocks=3: draw(blocks, 4), blocks=(1, 4)).picture
    controls, _, _ = panel_of(lambda blocks=3: draw(blocks, 4), blocks=(1, 4))

    assert draw(3, 4).alt == picture.alt
    assert 3 == controls["blocks"].value


def test_a_default_that_cannot_be_chosen_is_passed_over():
    """A default outside the choice would leave the slider and the picture apart."""
    assert draw(1, 4).alt == repr(explore(lambda n=9: draw(n, 4), n=(1, 3)))


@pytest.mark.parametrize("choice", [(4, 1), (1, 2, 3, 4), (0.5, 1.5), [], 3])
def test_what_is_no_choice_is_refused(choice):
    """The error names the argument and shows how to write a choice."""
    with pytest.raises(ValueError, match=r"blocks=.* is no choice: write blocks=\("):
        explore(draw, blocks=choice, threads=[8])


def test_a_built_page_has_the_picture_and_a_sentence(shown, notebook, monkeypatch):
    """No widget is stored where nothing would answer it."""
    monkeypatch.setenv(widgets.STATIC, "1")
    explore(draw, blocks=(2, 4), threads=[8])._ipython_display_()

    (picture, metadata), (hint, _) = shown
    assert {"image/png", "image/svg+xml", "text/plain"} == set(picture)
    assert picture["text/plain"] == metadata["image/png"]["alt"]
    assert HINT == hint["text/plain"]


def test_without_ipywidgets_the_picture_says_how_to_get_sliders(
    shown, notebook, monkeypatch
):
    """A missing package is no error; its name and the command are told."""
    monkeypatch.setattr(widgets, "find_spec", lambda name: None)
    explore(draw, blocks=(2, 4), threads=[8])._ipython_display_()

    (picture, _), (hint, _) = shown
    assert VIEW not in picture
    assert "pip install ipywidgets" in hint["text/plain"]


def test_a_notebook_in_use_gets_sliders_and_a_picture_that_lasts(shown, notebook):
    """The picture is an output of its own, which a reopened notebook still shows."""
    explore(draw, blocks=(2, 4), threads=[8])._ipython_display_()

    (view, _), (beside, _), (picture, _) = shown
    assert {VIEW} == set(view)
    assert {"image/png", "image/svg+xml", "text/plain"} == set(picture)
    assert "No sliders? Run this cell." == beside["text/plain"]
    assert beside["text/plain"] in beside["text/html"]


def test_a_lower_picture_leaves_the_text_below_where_it_is(
    shown, notebook, monkeypatch
):
    """What stands beside the sliders keeps the place of the highest picture so far."""
    panels, heights = [], []
    monkeypatch.setattr(widgets, "view_of", lambda panel: panels.append(panel) or {})
    monkeypatch.setattr(widgets, "beside", lambda height: heights.append(height) or {})
    monkeypatch.setattr("IPython.display.update_display", lambda *_, **__: None)
    drawn = {rows: plot_grid_2d((1, rows), (2, 2), (2, 2)) for rows in (1, 2, 3)}

    def stacked(rows):
        return drawn[rows]

    explore(stacked, rows=[1, 3, 2])._ipython_display_()
    slider = panels[0].children[0]
    for slider.value in (3, 2, 1):
        pass

    assert [drawn[1].pixels[1], drawn[3].pixels[1]] == heights


def test_yes_and_no_are_a_box_to_tick():
    """A slider between False and True says neither which is which nor what it does."""
    controls, _, _ = panel_of(lambda b: draw(1 + b, 4), b=[False, True])

    assert "Checkbox" == type(controls["b"]).__name__
    assert controls["b"].value is False


def panel_of(draw, **choices):
    """The sliders by name, the sentence, and the list of what was put below."""
    pictures = []
    panel = widgets.panel(explore(draw, **choices), lambda *it: pictures.append(it))
    *controls, sentence = panel.children
    return dict(zip(choices, controls, strict=True)), sentence, pictures


def test_the_sentence_and_the_picture_follow_the_sliders():
    """Both are what the function draws of the values chosen."""
    controls, sentence, pictures = panel_of(draw, blocks=(1, 4), threads=[8, 4])
    controls["blocks"].value = 3
    controls["threads"].value = 4

    said = "3 blocks of 4 threads, 9 elements: 3 threads without an element."
    assert said == sentence.value
    assert draw(3, 4).svg() == pictures[-1][0]["image/svg+xml"]


def test_a_slider_takes_the_steps_asked_for():
    """The third number of a range is its step; the label is the argument's name."""
    controls, _, _ = panel_of(lambda a_width: draw(1, a_width), a_width=(4, 12, 4))
    slider = controls["a_width"]

    assert "a width" == slider.description
    assert (4, 12, 4) == (slider.min, slider.max, slider.step)


def test_values_that_cannot_be_drawn_show_their_error():
    """No picture of other values stays in place, and the next value puts it right."""
    controls, sentence, pictures = panel_of(draw, blocks=(1, 9), threads=[8])
    controls["blocks"].value = 9

    said = "ArgumentError: 72 boxes in a row, at most 40 fit: draw a smaller grid"
    assert said == sentence.value
    assert "image/png" not in pictures[-1][0]

    controls["blocks"].value = 2
    assert "image/png" in pictures[-1][0]


def test_a_script_needs_neither_notebook_nor_widgets():
    """In plain Python an exploration is its first picture; nothing else is loaded."""
    source = (
        "import sys\n"
        "from helpers.plotting import plot_grid\n"
        "from helpers.plotting.sliders.explore import explore\n"
        "print(explore(lambda n: plot_grid(2, 4, n), n=(8, 12)))\n"
        "assert not {'IPython', 'ipywidgets'} & set(sys.modules)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )

    said = "2 blocks of 4 threads, 8 elements: each thread has its element.\n"
    assert (said, "") == (ran.stdout, ran.stderr)

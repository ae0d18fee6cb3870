"""A picture that answers to sliders, and is complete without them.

Where no front end can show widgets, such as a built page, `explore` shows the picture
of the first values and a sentence in place of the sliders.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from inspect import signature
from uuid import uuid4

from helpers.core.errors import ArgumentError, short_traceback, shown
from helpers.plotting import Picture

STATIC = "HELPERS_STATIC"  # set while notebooks are built: a page has no kernel
VIEW = "application/vnd.jupyter.widget-view+json"
REOPENED = "No sliders? Run this cell."
# What JupyterLab's sliders lack. In a notebook that was saved and opened again, it
# shows an error in their place: the sentence instead. Their handles have no name for
# those who hear the page: the label's. A lower picture would let the text below it jump
# up: the place of the highest so far is kept.
BESIDE = """\
<style>
.jp-OutputArea:has(.explored) .jupyter-widgets:not(:has(*)),
.jp-OutputArea:has(.jupyter-widgets *) .explored {{display: none}}
.jp-OutputArea:has(.explored):has(.jupyter-widgets *) .jp-RenderedImage {{
  min-height: {height}px
}}
</style>
<div class="explored">{sentence}</div>
<script>
(() => {{
  const area = document.currentScript?.closest(".jp-OutputArea");
  const name = () => area.querySelectorAll("[role=slider]").forEach(handle =>
    handle.ariaLabel = handle.closest(".widget-slider")
      .querySelector(".widget-label").textContent);
  if (!area) return;
  new MutationObserver(name).observe(area, {{childList: true, subtree: true}});
  name();
}})();
</script>"""


@short_traceback
def explore(draw, **choices):
    """The picture that `draw` makes, with a slider or a menu for each of its arguments.

    A choice is (lowest, highest), (lowest, highest, step) or a list: `stride=(1, 33)`,
    `itemsize=[4, 8, 16]`. It begins at the default that `draw` has for the argument, or
    else at its first value.
    """
    if not callable(draw):
        raise ArgumentError(
            f"`explore` takes a function that draws, such as `plot_banks`, not "
            f"{shown(draw)}"
        )
    first = {
        name: default_of(draw, name, values_of(name, choice))
        for name, choice in choices.items()
    }
    return Exploration(draw, choices, first, draw(**first))


def default_of(draw, name, values):
    """The value that a function gives to an argument, if it is among these."""
    parameter = signature(draw).parameters.get(name)
    return parameter.default if parameter and parameter.default in values else values[0]


def values_of(name, choice):
    """All the values that a slider or a menu can take."""
    if isinstance(choice, list) and choice:
        return choice
    integers = isinstance(choice, tuple) and all(isinstance(it, int) for it in choice)
    if integers and len(choice) in (2, 3) and choice[0] <= choice[1]:
        low, high, step = (*choice, 1)[:3]
        return range(low, high + 1, step)
    raise ArgumentError(
        f"{name}={shown(choice)} is no choice: write {name}=(lowest, highest) or "
        f"(lowest, highest, step) in integers, or a list of values"
    )


@dataclass(frozen=True)
class Exploration:
    """The picture of the first values, and how to draw the others."""

    draw: Callable
    choices: dict
    first: dict
    picture: Picture

    def __repr__(self):
        return repr(self.picture)

    def _ipython_display_(self):
        from IPython.display import display, update_display

        if can_show_widgets():
            # the picture is an output of its own, which a saved notebook still shows
            place, around = ({"raw": True, "display_id": uuid4().hex} for _ in "12")
            data, metadata = self.picture._repr_mimebundle_()
            highest = height_of(metadata)

            def put(data, metadata):
                nonlocal highest
                if height_of(metadata) > highest:
                    highest = height_of(metadata)
                    update_display(beside(highest), **around)
                update_display(data, metadata=metadata, **place)

            display(view_of(panel(self, put)), raw=True)
            display(beside(highest), **around)
            display(data, metadata=metadata, **place)
        else:
            display(self.picture)
            display({"text/plain": hint(), "text/markdown": f"*{hint()}*"}, raw=True)


def can_show_widgets():
    """Is this a notebook in use, where widgets are installed?"""
    from IPython import get_ipython

    live = hasattr(get_ipython(), "kernel") and not os.environ.get(STATIC)
    return live and find_spec("ipywidgets") is not None


def hint():
    """What to do for sliders, where there are none."""
    if find_spec("ipywidgets") is None:
        return "Sliders need one more package: `python -m pip install ipywidgets`."
    return "Run this cell in a notebook to move the sliders."


def height_of(metadata):
    """How high a picture is on a page, in pixels; 0 where there is none."""
    return metadata.get("image/png", {}).get("height", 0)


def beside(height):
    """What stands beside sliders, whose highest picture has this height."""
    page = BESIDE.format(height=height, sentence=REOPENED)
    return {"text/plain": REOPENED, "text/html": page}


def view_of(widget):
    """A widget as a front end asks for it, alike in versions 7 and 8 of ipywidgets."""
    model = {"model_id": widget.model_id, "version_major": 2, "version_minor": 0}
    return {VIEW: model}


def panel(exploration, put):
    """The sliders and the sentence; `put` shows the picture of what they choose."""
    from ipywidgets import HTML, VBox

    controls = {
        name: control(name, choice, exploration.first[name])
        for name, choice in exploration.choices.items()
    }
    two_lines = {"min_height": "56px"}  # a shorter sentence moves nothing below it
    sentence = HTML(escape(exploration.picture.alt, quote=False), layout=two_lines)

    def redraw(change):
        values = {name: it.value for name, it in controls.items()}
        try:
            picture = exploration.draw(**values)
            text, bundle = picture.alt, picture._repr_mimebundle_()
        except Exception as error:  # or the old picture would stand for new values
            text, bundle = f"{type(error).__name__}: {error}", ({"text/plain": ""}, {})
        sentence.value = escape(text, quote=False)
        put(*bundle)

    for it in controls.values():
        it.observe(redraw, names="value")
    return VBox([*controls.values(), sentence])


def control(name, choice, value):
    """A slider over a range of integers or over a list, for mouse or arrow keys; a box
    to tick for yes and no.
    """
    from ipywidgets import Checkbox, IntSlider, SelectionSlider

    options = {
        "description": name.replace("_", " "),
        "style": {"description_width": "7em"},
        # wide enough to hit each of some thirty values, and never wider than the page
        "layout": {"width": "32em", "max_width": "95%"},
        "value": value,
    }
    if isinstance(choice, list) and set(map(type, choice)) == {bool}:
        return Checkbox(**options)
    if isinstance(choice, list):
        return SelectionSlider(options=choice, **options)
    low, high, step = (*choice, 1)[:3]
    return IntSlider(min=low, max=high, step=step, **options)

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
            place = {"raw": True, "display_id": uuid4().hex}

            def put(data, metadata):
                update_display(data, metadata=metadata, **place)

            display(view_of(panel(self, put)), raw=True)
            data, metadata = self.picture._repr_mimebundle_()
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
    sentence = HTML(escape(exploration.picture.alt, quote=False))

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
    """A slider over a range of integers or over a list, for mouse or arrow keys."""
    from ipywidgets import IntSlider, SelectionSlider

    options = {
        "description": name.replace("_", " "),
        "style": {"description_width": "7em"},
        "layout": {"width": "32em"},  # wide enough to hit each of some thirty values
        "value": value,
    }
    if isinstance(choice, list):
        return SelectionSlider(options=choice, **options)
    low, high, step = (*choice, 1)[:3]
    return IntSlider(min=low, max=high, step=step, **options)

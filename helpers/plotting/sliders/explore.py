"""A picture with sliders, which move where no kernel runs.

Every position is drawn once, and the page holds them all. Where scripts are taken
away, the picture of the first position stands, with a sentence in place of the sliders.
"""

from dataclasses import dataclass
from html import escape
from inspect import signature
from itertools import product
from math import prod

from helpers.plotting import Picture
from helpers.plotting.sliders.page import page
from thirty_two_lanes.core.errors import ArgumentError, short_traceback, shown

MOST = 100  # positions: a lesson draws them in seconds, and a page holds them
HINT = "Run this cell to move the sliders."


@short_traceback
def explore(draw, **choices):
    """The picture that `draw` makes, with a slider or a menu for each of its arguments.

    A choice is (lowest, highest), (lowest, highest, step) or a list: `stride=(1, 33)`,
    `itemsize=[4, 8, 16]`. It begins at the default that `draw` has for the argument, or
    else at its first value. All positions are drawn at once, 100 at most.
    """
    if not callable(draw):
        raise ArgumentError(
            f"`explore` takes a function that draws, such as `plot_banks`, not "
            f"{shown(draw)}"
        )
    values = {name: values_of(name, choice) for name, choice in choices.items()}
    require_few(values)
    begin = [beginning(draw, name, each) for name, each in values.items()]
    positions = (dict(zip(values, at, strict=True)) for at in product(*values.values()))
    return Exploration(values, begin, [frame(draw, at) for at in positions])


def require_few(values):
    """Refuse more positions than a page can hold."""
    positions = prod(map(len, values.values()))
    if positions > MOST:
        sizes = " × ".join(f"{len(it)} of `{name}`" for name, it in values.items())
        raise ArgumentError(
            f"{sizes} are {positions:,} positions, and `explore` draws at most {MOST}: "
            f"take fewer values, as in {next(iter(values))}=[1, 2, 4], or larger steps"
        )


def frame(draw, values):
    """The picture at one position of the sliders."""
    try:
        picture = draw(**values)
    except Exception as error:
        at = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
        said = f"{type(error).__name__}: {error}"
        text = f"`explore` cannot draw {at or 'its picture'}: {said}"
        raise ArgumentError(text) from error
    if not isinstance(picture, Picture):
        raise ArgumentError(
            "`explore` takes a function that returns a picture, such as that of "
            f"`plot_banks`, not {shown(picture)}"
        )
    return picture


def beginning(draw, name, values):
    """Which value comes first: the function's default, if it is among them."""
    parameter = signature(draw).parameters.get(name)
    default = parameter.default if parameter else None
    return values.index(default) if default in values else 0


def values_of(name, choice):
    """All the values that a slider or a menu can take."""
    if isinstance(choice, list) and choice:
        return choice
    integers = isinstance(choice, tuple) and all(isinstance(it, int) for it in choice)
    if integers and len(choice) in (2, 3):
        low, high, step = (*choice, 1)[:3]
        if low <= high and step > 0:
            return list(range(low, high + 1, step))
    raise ArgumentError(
        f"{name}={shown(choice)} is no choice: write {name}=(lowest, highest) or "
        f"(lowest, highest, step) in integers, or a list of values"
    )


@dataclass(frozen=True)
class Exploration:
    """The pictures of all positions, the last argument's first, and where it begins."""

    values: dict
    begin: list
    pictures: list

    @property
    def picture(self):
        """That of the position at which it begins."""
        at = 0
        for each, turn in zip(self.values.values(), self.begin, strict=True):
            at = at * len(each) + turn
        return self.pictures[at]

    def __repr__(self):
        return repr(self.picture)

    def _repr_html_(self):
        alt = escape(self.picture.alt, quote=False)
        instead = (
            f"<p><em>{HINT}</em></p>"
            f"<details><summary>The figure in words</summary>{alt}</details>"
        )
        return page(self.values, self.begin, self.pictures, instead)

    def _ipython_display_(self):
        from IPython.display import display

        data, metadata = self.picture._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)  # of its own: it needs no script
        display({"text/html": self._repr_html_(), "text/plain": HINT}, raw=True)

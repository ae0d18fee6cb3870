"""Figures as SVG: letters stay letters, and each colour has its dark one beside it."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers import plotting
from tests.plotting.figures import drawn
from thirty_two_lanes.core import style

COLOUR = re.compile(r"(?<!\()#\w{6}")
BOTH = re.compile(r"light-dark\((#\w{6}),(#\w{6})\)")
SPACE = "{http://www.w3.org/2000/svg}"
RULE = re.compile(r"^\.(\w+)\{(.*)\}$", re.MULTILINE)


def rules(svg):
    """The rules for every page and those by theme, by their classes."""
    whole = dict(RULE.findall(svg))
    parts = {
        name: [";".join(it) for it in divided(rule)] for name, rule in whole.items()
    }
    return {k: it[0] for k, it in parts.items()}, {k: it[1] for k, it in parts.items()}


def divided(rule):
    """The declarations of a rule that hold on every page, and those by theme."""
    each = rule.split(";")
    themed = [it for it in each if "light-dark(" in it]
    return [it for it in each if it not in themed], themed


def texts(figure):
    """What a figure says, line by line."""
    axes = [it for ax in figure.axes for it in [*ax.texts, ax.xaxis.label]]
    said = {line for it in axes for line in it.get_text().split("\n") if line}
    return said - {"the limit, 4,000"}  # which lies beyond the end of its axis


@pytest.fixture(scope="module", params=plotting.__all__)
def figure(request):
    """The pictures of a figure's function, each with its SVG."""
    return drawn(request.param)


def test_each_text_is_a_text_and_each_look_is_shared(figure):
    """Every class has a rule, every address an element, every element one name."""
    for picture, svg in figure:
        root = ElementTree.fromstring(svg)
        said = {it.text.replace("\u00a0", " ") for it in root.iter(f"{SPACE}text")}
        named = [it.get("id") for it in root.iter() if it.get("id")]

        assert texts(picture.figure) <= said
        assert {it.get("class") for it in root.iter()} - {None} == set(rules(svg)[0])
        assert set(re.findall(r"url\(#(\w+)\)", svg)) == set(named)
        assert len(named) == len(set(named))


def test_each_colour_has_a_dark_one(figure):
    """Behind a colour stands the same one for a light page beside another for a dark
    one; whoever cannot read that goes by the first.
    """
    for _, svg in figure:
        plain, themed = rules(svg)
        for name, rule in plain.items():
            pairs = BOTH.findall(themed[name])
            assert COLOUR.findall(rule) == [light for light, _ in pairs]
            assert all(dark == style.dark(light) for light, dark in pairs)


def test_drawing_an_svg_leaves_the_figure_as_it_was():
    """Its image has the same dots before and after."""
    picture = plotting.plot_instructions({"a kernel": {"calls": 9}})
    picture.svg()
    before = picture.png()
    picture.svg()

    assert before == picture.png()


def test_a_readers_own_figure_is_drawn_too():
    """With what no figure of ours has: formulas, images, hatches, see-through ink."""
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    ax.imshow(np.eye(3))
    ax.bar([1], [2], hatch="x", alpha=0.5)
    ax.set_title("$x^2$ <&>")
    ax.set_ylabel("up\nand up")
    svg = plotting.Picture(ax.figure, 'a "figure"').svg()
    root = ElementTree.fromstring(svg)

    assert 'a "figure"' == root.get("aria-label")
    assert 1 == len(list(root.iter(f"{SPACE}image")))
    assert "fill-opacity:0.5" in svg


def test_a_line_that_leaves_its_axes_is_cut_off():
    """The line below a kernel of the roofline begins far below the axes."""
    picture = plotting.plot_roofline({"a": (2, 100)})
    assert 'clip-path="url(#' in picture.svg()


def test_a_figure_paints_its_own_paper():
    """The first thing drawn covers all, in the paper's colour for each page."""
    svg = plotting.plot_grid(2, 4, 7).svg()
    plain, themed = rules(svg)
    first = ElementTree.fromstring(svg).find(f"{SPACE}path").get("class")

    paper = style.PAPER.lower()
    assert plain[first].startswith(f"fill:{paper}")
    assert themed[first] == f"fill:light-dark({paper},{style.DARK_PAPER})"

"""The pages that people find their way by name what is there."""

import re
from importlib.util import find_spec

import pytest

from tests.paths import ROOT

PAGES = (
    *("CONTRIBUTING.md", "README.md", "docs/SPEED.md", "docs/PROFILERS.md"),
    *("docs/SCRIPTS.md", "docs/FILM.md"),
)
each_page = pytest.mark.parametrize("page", PAGES)


@each_page
def test_a_page_names_files_and_folders_that_are_there(page):
    """In code, in links, and in the tree of CONTRIBUTING."""
    text = (ROOT / page).read_text(encoding="utf-8")
    rooms = "helpers|tests|lessons|docs|notebooks"
    named = set(re.findall(rf"`((?:{rooms})/[\w./]*\w)/?`", text))
    linked = set(re.findall(r"\]\(([\w./]+\.(?:md|svg|ipynb))\)", text))

    folder = (ROOT / page).parent
    missing = {it for it in named if not (ROOT / it).exists()}
    missing |= {it for it in linked if not (folder / it).exists()}
    assert set() == {it for it in missing if "/NN_topic" not in it}
    assert "@@" not in text


def test_the_tree_is_what_the_folders_hold():
    """Each line of CONTRIBUTING's tree begins with names of its folder."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = text[text.index("    helpers/\n") : text.index("`import helpers` has three")]
    path, missing = [], []
    for line in filter(None, tree.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2 - 2
        words = re.split(r"\s{3,}|(?<=[/\w])\s\s(?=\S)", line.strip())
        names = [it for it in words if re.fullmatch(r"[\w./]+(?:/|\.py)", it)]
        path = [*path[:depth], names[0]]
        missing += [
            "".join([*path[:depth], name])
            for name in names
            if not ROOT.joinpath(*path[:depth], name).exists()
        ]
    assert [] == missing


@each_page
def test_a_command_of_a_page_exists(page):
    """Each module that a page tells to run can be found."""
    text = (ROOT / page).read_text(encoding="utf-8")
    modules = set(re.findall(r"python -m ((?:tests|lessons|helpers)[\w.]*)", text))

    assert set() == {name for name in modules if find_spec(name.rstrip(".")) is None}

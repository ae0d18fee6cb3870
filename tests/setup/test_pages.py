"""The pages that people find their way by name what is there."""

import re
import struct
from importlib.util import find_spec

import pytest

from tests.paths import ROOT

PAGES = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "README.md"),
    *(f"docs/{it.name}" for it in sorted(ROOT.glob("docs/*.md"))),
)
BLOCKS = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
each_page = pytest.mark.parametrize("page", PAGES)


@each_page
def test_a_page_names_files_and_folders_that_are_there(page):
    """In code, in links, and in the tree of CONTRIBUTING."""
    text = (ROOT / page).read_text(encoding="utf-8")
    rooms = "tool|helpers|tests|lessons|docs|notebooks"
    named = set(re.findall(rf"`((?:{rooms})/[\w./]*\w)/?`", text))
    linked = set(re.findall(r"\]\(([\w./]+\.(?:md|svg|ipynb))\)", text))

    folder = (ROOT / page).parent
    missing = {it for it in named if not (ROOT / it).exists()}
    missing |= {it for it in linked if not (folder / it).exists()}
    assert set() == {it for it in missing if "/NN_topic" not in it}
    assert "@@" not in text


@each_page
def test_a_link_to_a_part_of_a_page_finds_its_heading(page):
    """As GitHub makes an address of a heading: small letters, hyphens, no marks."""
    file = ROOT / page
    text = BLOCKS.sub("", file.read_text(encoding="utf-8"))
    links = set(re.findall(r"\]\(([\w./]*)#([\w-]+)\)", text))

    assert set() == {it for it in links if it[1] not in addresses(file, it[0])}


def addresses(page, name):
    """The addresses of the headings of a page that another one names, or of its own."""
    text = (page.parent / name if name else page).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", BLOCKS.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", it.lower()).replace(" ", "-") for it in headings}


COLUMN = 830  # pixels, of a README on GitHub
PICTURE = re.compile(
    r'<picture>\n<source media="\(prefers-color-scheme: dark\)" '
    r'srcset="(\S+)-dark.png">\n'
    r'<img src="(\S+)-light.png" alt="[^"]+" width="(\d+)">\n</picture>'
)


def test_the_readmes_pictures_have_dark_twins_and_leave_the_commands_in_sight():
    """At most 380 pixels high in its column, and no larger than they are."""
    text = (ROOT / "README.md").read_text("utf-8")
    pictures = PICTURE.findall(text)
    assert len(pictures) == text.count(".png") / 2 == 3
    for dark, light, asked in pictures:
        assert dark == light
        for scheme in ("dark", "light"):
            head = (ROOT / f"{light}-{scheme}.png").read_bytes()[:24]
            width, height = struct.unpack(">II", head[16:])
            shown = min(int(asked), COLUMN)
            assert shown <= width and height * shown / width <= 380, light


def test_the_tree_is_what_the_folders_hold():
    """Each line of CONTRIBUTING's tree begins with names of its folder."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = text[text.index("    tool/ ") : text.index("`import thirty_two_lanes`, and")]
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
    ours = r"python -m ((?:tests|lessons|helpers|thirty_two_lanes)[\w.]*)"
    modules = set(re.findall(ours, text))

    assert set() == {name for name in modules if find_spec(name.rstrip(".")) is None}

"""Sliders in a real browser: by mouse and keyboard, on a light page and a dark one."""

from io import BytesIO
from urllib.parse import unquote

import pytest
from PIL import Image

from helpers.plotting import plot_banks, plot_grid
from helpers.plotting.sliders.explore import explore
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import THEMES

PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>sliders</title></head>
<body {theme}><div class="jp-OutputArea"><img id="static" src="{picture}" alt="">{pages}
</div><p id="below">below</p></body></html>
"""
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
HOST = ".lanes-explore"


def grid(blocks=2, threads=4):
    return plot_grid(blocks, threads, 9)


def request(stride=1, kind="load", few=False):
    return plot_banks([4 * stride * it for it in range(4 if few else 32)], kind=kind)


@pytest.fixture
def opened(browser, tmp_path):
    """Opens explorations on one page; what the browser complains of fails the test."""
    complaints, contexts = [], []

    def open_page(*explorations, theme="", **options):
        pages = "".join(it._repr_html_() for it in explorations)
        file = tmp_path / "page.html"
        text = PAGE.format(theme=theme, picture=PIXEL, pages=pages)
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda it: complaints.append(it.text))
        tab.on("pageerror", lambda it: complaints.append(str(it)))
        tab.goto(file.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert [] == complaints


def at_frame(tab, frame, place=0):
    """The exploration, once it shows a frame."""
    host = tab.locator(f"{HOST}[data-explore=plays][data-frame='{frame}']")
    host = tab.locator(HOST).nth(place).and_(host)
    host.wait_for()
    return host


def shown(host):
    """The SVG that is shown, and the sentence below it."""
    source = host.locator(".picture img").get_attribute("src")
    said = host.locator(".said p").first.inner_text()
    return unquote(source.partition(",")[2]), said


def test_the_keyboard_moves_the_picture_and_the_sentence(opened):
    """They are those that the function draws; the slider says its value."""
    tab = opened(explore(grid, blocks=[1, 2, 4], threads=[2, 4]))
    assert (grid().svg(), grid().alt) == shown(at_frame(tab, 3))

    tab.get_by_label("blocks").press("ArrowRight")
    expected = grid(4)
    assert (expected.svg(), expected.alt) == shown(at_frame(tab, 5))
    assert "4" == tab.get_by_label("blocks").get_attribute("aria-valuetext")

    tab.get_by_label("threads").press("Home")
    assert (grid(4, 2).svg(), grid(4, 2).alt) == shown(at_frame(tab, 4))


def test_the_mouse_moves_a_slider_a_box_and_a_menu(opened):
    """Each changes what it stands for."""
    choices = {"stride": (0, 2), "kind": ["load", "store"], "few": [False, True]}
    tab = opened(explore(request, **choices))
    at_frame(tab, 4)

    box = tab.get_by_label("stride").bounding_box()
    tab.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    at_frame(tab, 8)
    tab.get_by_label("few").click()
    at_frame(tab, 9)
    tab.get_by_label("kind").select_option("store")
    expected = request(2, "store", True)
    assert (expected.svg(), expected.alt) == shown(at_frame(tab, 11))


@pytest.mark.parametrize("width", [1200, 700])
def test_no_room_is_left_below_the_first_picture(opened, width):
    """Also where the page is narrower than the picture, and another one is higher."""
    options = {"viewport": {"width": width, "height": 800}}
    tab = opened(explore(request, stride=[1, 2, 32]), **options)
    host = at_frame(tab, 0)
    image, said = (
        host.locator(it).first.bounding_box() for it in (".picture img", ".said")
    )

    assert said["y"] == pytest.approx(image["y"] + image["height"], abs=1)


def test_what_is_below_never_comes_back_up(opened):
    """It moves down for a higher picture, and stays for a lower one."""
    tab = opened(explore(request, stride=[1, 2, 32]))
    at_frame(tab, 0)
    places = []
    for key, frame in [("End", 2), ("Home", 0), ("End", 2)]:
        tab.get_by_label("stride").press(key)
        at_frame(tab, frame)
        places.append(tab.locator("#below").bounding_box()["y"])

    assert places == pytest.approx(3 * places[:1], abs=1)


def test_there_are_never_two_pictures(opened):
    """Where the sliders play, the picture that stands for all is hidden; else not."""
    exploration = explore(grid, blocks=[1, 2])
    tab = opened(exploration)
    at_frame(tab, 1)
    assert not tab.locator("#static").is_visible()

    tab = opened(exploration, java_script_enabled=False)
    assert tab.locator("#static").is_visible()
    assert tab.get_by_text("Run this cell to move the sliders.").is_visible()


def test_explorations_of_one_page_share_nothing(opened):
    """One moves, the other stays."""
    tab = opened(explore(grid, blocks=[1, 2]), explore(grid, threads=[4, 2]))
    at_frame(tab, 1)
    tab.get_by_label("threads").press("ArrowRight")

    assert grid(2, 2).alt == shown(at_frame(tab, 1, place=1))[1]
    assert grid().alt == shown(at_frame(tab, 1))[1]


@pytest.mark.parametrize(
    ("theme", "options", "paper"),
    [
        ("", {}, style.PAPER),
        ("", {"color_scheme": "dark"}, style.DARK_PAPER),
        ("style='color-scheme: light'", {"color_scheme": "dark"}, style.PAPER),
        ("style='color-scheme: dark'", {}, style.DARK_PAPER),
        ("data-jp-theme-light='false'", {}, style.DARK_PAPER),
        ("data-jp-theme-light='true'", {"color_scheme": "dark"}, style.PAPER),
        ("class='vscode-dark'", {}, style.DARK_PAPER),
        ("class='vscode-light'", {"color_scheme": "dark"}, style.PAPER),
    ],
    ids=["light", "dark system", "light page", "dark page", "dark Lab", "light Lab"]
    + ["dark VS Code", "light VS Code"],
)
def test_the_picture_has_the_theme_of_its_page(opened, theme, options, paper):
    """Or of the system, where the page names none: its first dot is the paper's."""
    tab = opened(explore(grid, blocks=[1, 2]), theme=theme, **options)
    host = at_frame(tab, 1)
    dots = Image.open(BytesIO(host.locator(".picture img").screenshot()))

    assert tuple(style.channels(paper)) == dots.convert("RGB").getpixel((1, 1))


@pytest.mark.parametrize(
    "theme, options, paper",
    [
        ("dark", {}, style.DARK_PAPER),
        ("light", {"color_scheme": "dark"}, style.PAPER),
        ("high-contrast", {}, style.DARK_PAPER),
    ],
)
def test_a_figure_within_the_page_of_vs_code_has_its_theme(
    browser, theme, options, paper
):
    """It puts the SVG itself, without an <img>, beside outputs with our styles."""
    tab = browser.new_context(**options).new_page()
    boxes = "".join(
        f'<div class="output_container"><div class="output">{it}</div></div>'
        for it in (grid().svg(), f"<style>{THEMES}</style>")
    )
    tab.set_content(f'<body class="vscode-{theme}">{boxes}</body>')
    dots = Image.open(BytesIO(tab.locator("svg").screenshot()))
    tab.context.close()

    assert tuple(style.channels(paper)) == dots.convert("RGB").getpixel((1, 1))


def test_of_the_outputs_of_a_cell_in_vs_code_the_sliders_alone_are_seen(
    browser, tmp_path
):
    """Each output has a box of its own there, and those of a cell one around them."""
    page = explore(grid, blocks=[1, 2])
    boxes = "".join(
        f'<div class="output_container"><div class="output">{it}</div></div>'
        for it in (page.picture.svg(), page._repr_html_())
    )
    file = tmp_path / "page.html"
    text = f'<meta charset="utf-8"><div class="cell_container">{boxes}</div>'
    file.write_text(text, "utf-8")
    tab = browser.new_page()
    tab.goto(file.as_uri())
    at_frame(tab, 1)

    assert [False] == [it.is_visible() for it in tab.locator(".output > svg").all()]
    assert tab.locator(f"{HOST} .picture img").is_visible()
    tab.close()


def test_slides_do_not_turn_at_a_slider_s_arrow_keys(opened):
    tab = opened(explore(grid, blocks=[1, 2, 4]))
    host = at_frame(tab, 1)
    tab.evaluate("""() => { window.heard = [];
        document.addEventListener("keydown", (it) => window.heard.push(it.key)) }""")

    host.locator("input").press("ArrowRight")
    at_frame(tab, 2)
    tab.keyboard.press("Control+s")

    assert ["Control", "s"] == tab.evaluate("window.heard")


def test_on_a_phone_a_finger_hits_each_control(opened):
    """Sliders, menus and boxes have 24 pixels at least."""
    made = explore(request, stride=[1, 2], kind=["load", "store"], few=[False, True])
    phone = {"has_touch": True, "is_mobile": True}
    host = at_frame(opened(made, viewport={"width": 390, "height": 800}, **phone), 0)
    boxes = [it.bounding_box() for it in host.locator("input, select").all()]

    assert 3 == len(boxes)
    assert all(min(it["width"], it["height"]) >= 24 for it in boxes)

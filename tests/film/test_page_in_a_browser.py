"""The page of a film: themes, widths, contrast, the contact sheet, several films.

Needs Playwright (`pip install -e .[browser]`) and Chromium, and is skipped without.
"""

import json
from itertools import pairwise
from operator import mul

import numpy as np
import pytest

from tests.film.chromium import HOST, player, shown
from tests.film.hand_made import record
from thirty_two_lanes.film import page


def test_films_of_one_page_do_not_disturb_each_other(opened):
    tab = opened(record(), record())

    tab.locator(".film").nth(1).focus()
    tab.keyboard.press("ArrowRight")

    assert [1, 2] == [shown(tab, at) for at in (0, 1)]
    assert not tab.evaluate("['Film', 'Player', 'STYLE'].some((it) => it in window)")


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_no_page_scrolls_sideways(opened, width):
    tab = opened(record(), width=width)

    wide = tab.evaluate("document.documentElement.scrollWidth")

    assert wide <= width


LAB = """\
<style>
.jp-OutputArea-child {{overflow: hidden}} .jp-OutputArea-output {{overflow: auto}}
.notebook {{height: 90vh; overflow-y: auto}} pre {{height: 400px}}
</style>
<div class="notebook"><pre></pre><div class="jp-OutputArea-child">
<div class="jp-OutputArea-output">{film}</div></div><pre></pre></div>"""


@pytest.mark.parametrize("lab", [False, True])
def test_the_buttons_stay_in_sight_of_a_laptop(opened, lab):
    """Down to the last row of what a film shows, in a page and in a notebook, whose
    style for outputs is JupyterLab's.
    """
    film = page.page(record())
    tab = opened(html=LAB.format(film=film) if lab else f"{film}<p>end</p>", width=1000)
    tab.set_viewport_size({"width": 1000, "height": 500})

    tab.locator(".legend").scroll_into_view_if_needed()
    tab.locator(".scene").evaluate("it => it.scrollIntoView(false)")
    box = tab.get_by_role("button", name="Play").bounding_box()

    assert 0 <= box["y"] and box["y"] + box["height"] < 100


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_the_reader_s_and_jupyter_s_word_is_stronger(opened, scheme):
    other = {"light": "dark", "dark": "light"}[scheme]
    tab = opened(record(), color_scheme=scheme)
    theme = f"document.querySelector('{HOST}').dataset.theme"

    assert scheme == tab.evaluate(theme)
    light = json.dumps(str(other == "light").lower())
    tab.evaluate(f"document.body.setAttribute('data-jp-theme-light', {light})")
    tab.wait_for_function(f"{theme} === '{other}'")


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_site_with_a_switch_has_its_films_in_its_theme(opened, theme):
    """Furo names it in `data-theme`, by which its style chooses a `color-scheme`."""
    other = {"dark": "light", "light": "dark"}[theme]
    tab = opened(record(), color_scheme=other)

    rule = f"body[data-theme={theme}] {{color-scheme: {theme}}}"
    tab.add_style_tag(content=rule)
    tab.evaluate(f"document.body.dataset.theme = '{theme}'")
    tab.wait_for_function(
        f"document.querySelector('{HOST}').dataset.theme === '{theme}'"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_word_of_vs_code_is_stronger_than_the_system_s(opened, scheme):
    """Each of them is another theme than the one before."""
    tab = opened(record(), color_scheme=scheme)
    themes = [
        ("vscode-light", "light"),
        ("vscode-dark", "dark"),
        ("vscode-high-contrast-light vscode-high-contrast", "light"),
        ("vscode-high-contrast", "dark"),
    ]
    for classes, theme in themes if scheme == "dark" else [*themes[1:], themes[0]]:
        tab.evaluate(f"document.body.className = '{classes}'")
        tab.wait_for_function(
            f"document.querySelector('{HOST}').dataset.theme === '{theme}'"
        )


def luminance(colour):
    """WCAG's relative luminance of a colour such as #0072B2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = (max(it / 12.92, ((it + 0.055) / 1.055) ** 2.4) for it in parts)
    return sum(map(mul, (0.2126, 0.7152, 0.0722), linear))


SIGHT = {  # what is left of red, green and blue, linear, without one kind of cone
    None: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "red": [[0.1124, 0.8876, 0], [0.1124, 0.8876, 0], [0.004, -0.004, 1]],
    "green": [[0.2928, 0.7072, 0], [0.2928, 0.7072, 0], [-0.0223, 0.0223, 1]],
}
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colour, sight):
    """A colour in CIELAB, as an eye sees it."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts < 0.04, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    x, y, z = np.cbrt(np.array(XYZ) @ seen / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_the_canvas_writes_can_be_read(opened, scheme):
    """Numbers by 4.5:1 on each colour that boxes have; marks by 3:1 on the page."""
    tab = opened(record(), color_scheme=scheme)
    theme = player(tab, "player.scene.pen.theme")
    boxes = [player(tab, f"player.scene.pen.shade({it / 63})") for it in range(64)]
    marks = [theme[it] for it in "load store atomic finding busy idle".split()]

    for box in (*boxes, *marks[:-1]):
        ink = player(tab, f"player.scene.pen.ink('{box}')")
        assert contrast(ink, box) >= 4.5, box
    for text in ("ink", "faint"):
        assert contrast(theme[text], theme["paper"]) >= 4.5
    assert all(contrast(mark, theme["paper"]) >= 3 for mark in marks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finding_s_colour_is_told_from_the_others(opened, scheme):
    """Also by eyes without red or green, as Viénot and others (1999) compute what they
    see: by 15 in CIELAB or more.
    """
    theme = player(opened(record(), color_scheme=scheme), "player.scene.pen.theme")

    for sight in (None, "red", "green"):
        finding = lab(theme["finding"], sight)
        for other in ("load", "store", "atomic", "busy"):
            assert np.linalg.norm(finding - lab(theme[other], sight)) > 15, other


def test_the_contact_sheet_goes_when_the_player_starts(opened):
    sheet = "<img alt='moments' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"
    tab = opened(html=page.page(record(), sheet))

    assert not tab.locator("img").is_visible()
    assert tab.locator(".scene").is_visible()


def test_without_scripts_the_contact_sheet_stands(opened, browser, tmp_path):
    file = tmp_path / "still.html"
    file.write_text(page.document(record(), "<img alt='moments' width='9'>"), "utf-8")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()

    tab.goto(file.as_uri())

    assert tab.get_by_alt_text("moments").is_visible()
    assert tab.get_by_text(record()["description"]).is_visible()
    context.close()


def test_frames_a_second_while_it_plays(opened, capsys):
    """Printed, not asserted: a machine may be busy. `-s` shows them."""
    tab = opened(record(), reduced_motion="no-preference")
    tab.get_by_role("button", name="Play").click()

    moments = tab.evaluate(
        """() => new Promise((resolve) => {
            const moments = [];
            const tick = (now) => {
                moments.push(now);
                if (moments.length < 91) requestAnimationFrame(tick);
                else resolve(moments);
            };
            requestAnimationFrame(tick);
        })"""
    )
    gaps = [after - before for before, after in pairwise(moments)]

    with capsys.disabled():
        rate, longest = 1000 * len(gaps) / sum(gaps), max(gaps)
        print(f"\n{rate:.0f} frames a second, the longest in {longest:.0f} ms")
    assert 90 == len(gaps)


TARGETS = """(selector) => [...document.querySelectorAll(selector)].flatMap((host) =>
    [...host.shadowRoot.querySelectorAll("button, select, input, summary")]
        .map((it) => it.getBoundingClientRect())
        .filter((it) => it.width && Math.min(it.width, it.height) < 24))"""


def test_on_a_phone_a_finger_hits_each_control_and_the_page_is_not_wider(opened):
    """Targets have 24 pixels at least; also those in a list that is unfolded."""
    tab = opened(record(), width=390, has_touch=True, is_mobile=True)
    player(tab, "player.follow({thread: 5})")
    tab.locator(".moments summary").tap()

    assert tab.locator(".moments button").is_visible()
    assert [] == tab.evaluate(TARGETS, HOST)
    assert 390 == tab.evaluate("document.documentElement.scrollWidth")

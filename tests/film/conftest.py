"""Films on a page in a real browser, for the tests of the player."""

import pytest

from thirty_two_lanes.film import page


@pytest.fixture(scope="module")
def tabs(browser):
    """The tabs of a file of tests, by their options: a new one takes a second. Each
    page is loaded anew, and what was said of the one before is not known to it.
    """
    kept = {}
    yield kept
    for tab, _ in kept.values():
        tab.context.close()


@pytest.fixture
def opened(browser, tabs, tmp_path):
    """Opens films on one page; whatever the browser complains of fails the test."""
    used = {}

    def open_films(*films, width=800, html="", **options):
        parts = html or "".join(page.page(it) for it in films)
        file = tmp_path / f"film{len(used)}.html"
        whole = page.FILE.format(title="films", film=parts)
        file.write_text(whole, encoding="utf-8")
        options = {"reduced_motion": "reduce"} | options
        asked = repr((len(used), width, sorted(options.items())))
        if asked not in tabs:
            tabs[asked] = new_tab(browser, width, options)
        used[asked] = tab, _ = tabs[asked]
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto(file.as_uri())
        tab.wait_for_function(
            f"document.querySelectorAll('[data-film=plays]').length== {len(films) or 1}"
        )
        return tab

    yield open_films
    for tab, complaints in used.values():
        tab.mouse.move(0, 0)
        said, complaints[:] = complaints[:], []
        assert [] == said


def new_tab(browser, width, options):
    """A tab of a context with these options, and what is complained of there."""
    viewport = {"width": width, "height": 900}
    tab, complaints = browser.new_context(viewport=viewport, **options).new_page(), []
    tab.on("console", lambda it: complaints.append(it.text))
    tab.on("pageerror", lambda it: complaints.append(str(it)))
    return tab, complaints

"""Films on a page in a real browser, for the tests of the player."""

import pytest

from thirty_two_lanes.film import page


@pytest.fixture
def opened(browser, tmp_path):
    """Opens films on one page; whatever the browser complains of fails the test."""
    complaints, contexts = [], []

    def open_films(*films, width=800, html="", **options):
        parts = html or "".join(page.page(it) for it in films)
        file = tmp_path / "film.html"
        whole = page.FILE.format(title="films", film=parts)
        file.write_text(whole, encoding="utf-8")
        options = {"reduced_motion": "reduce"} | options
        context = browser.new_context(
            viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda it: complaints.append(it.text))
        tab.on("pageerror", lambda it: complaints.append(str(it)))
        tab.goto(file.as_uri())
        tab.wait_for_function(
            f"document.querySelectorAll('[data-film=plays]').length== {len(films) or 1}"
        )
        return tab

    yield open_films
    for context in contexts:
        context.close()
    assert [] == complaints

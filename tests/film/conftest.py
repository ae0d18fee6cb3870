"""A real browser with films on a page, for the tests of the player.

Needs Playwright (`pip install -e .[browser]`) and Chromium; a test that asks for it is
skipped without.
"""

import shutil

import pytest

from helpers.film import page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox"]
            )
        except sync_api.Error as error:
            pytest.skip(f"no Chromium: {error.message.splitlines()[0]}")
        yield chromium
        chromium.close()


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

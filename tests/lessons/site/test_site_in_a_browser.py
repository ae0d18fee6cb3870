"""The site in a real browser: links, search, themes, phones, and axe's rules.

Needs Sphinx, Playwright and Chromium (`pip install -e .[site,browser]`), and is skipped
without.
"""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

PAGES = (
    "index.html",
    "notebooks/01_first_kernel.html",
    "notebooks/14_bank_conflicts.html",
    "notebooks/15_barriers_and_races.html",
    "notebooks/glossary.html",
    "docs/TEACHING.html",
    "reference.html",
    "search.html",
)
THEMES = "light", "dark"
IDS = "[...document.querySelectorAll('[id]')].map(it => it.id)"
LINKS = "[...document.links].map(it => it.getAttribute('href'))"


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served, as the web would."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visited(browser, address):
    """Opens a page of the site; what the browser complains of fails the test."""
    complaints, tabs = [], []

    def visit(page, width=1280, scheme="light"):
        tab = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        tabs.append(tab)
        tab.on("pageerror", lambda it: complaints.append(str(it)))
        tab.on(
            "console",
            lambda it: complaints.append(it.text) if it.type == "error" else None,
        )
        tab.goto(address + page)
        return tab

    yield visit
    for tab in tabs:
        tab.close()
    assert [] == complaints


def test_no_link_is_broken(visited, address, site):
    """Every page that a link reaches, and every place in it; none twice."""
    tab = visited("index.html")
    waiting, places = [address + "index.html"], {}
    asked = set()
    while waiting:
        page = waiting.pop()
        tab.goto(page)
        places[page] = set(tab.evaluate(IDS))
        for link in tab.evaluate(LINKS):
            there, part = urldefrag(urljoin(page, link))
            if there.startswith(address):
                asked.add((there, unquote(part)))
                if there.endswith(".html") and there not in {*places, *waiting}:
                    if (site / urlsplit(there).path.strip("/")).exists():
                        waiting.append(there)
    lost = [
        f"{there}#{part}"
        for there, part in asked
        if not (site / unquote(urlsplit(there).path).strip("/")).exists()
        or (part and there in places and part not in places[there])
    ]

    assert [] == lost
    assert len(places) > 40


def test_the_search_finds_the_lesson_of_its_words(visited):
    tab = visited("search.html?q=bank+conflict")

    tab.wait_for_selector("#search-results li a")

    first = tab.locator("#search-results li a").first.get_attribute("href")
    assert first.startswith("notebooks/14_bank_conflicts.html")


@pytest.mark.parametrize("scheme", THEMES)
def test_the_theme_is_the_systems_until_a_reader_chooses(visited, scheme):
    """The page's ground and its figures go along."""
    tab = visited("notebooks/14_bank_conflicts.html", scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    before = tab.evaluate(ground)

    for _ in range(2):  # the system's, light and dark take turns
        tab.locator(".theme-toggle:visible").first.click()
        if before != tab.evaluate(ground):
            break

    assert before != tab.evaluate(ground)
    assert scheme != tab.evaluate("getComputedStyle(document.body).colorScheme")


def test_reports_fold_and_lessons_follow_each_other(visited):
    """Without a kernel: a reader opens what is folded, and goes on to the next page."""
    tab = visited("notebooks/14_bank_conflicts.html")
    folded = tab.locator("details:not([open])").first

    folded.locator("summary").click()
    assert folded.page.locator("details[open]").count() >= 1
    for there in ("assignments/14_bank_conflicts", "15_barriers_and_races"):
        tab.locator(".next-page").click()
        assert tab.url.endswith(f"{there}.html")


COUNT = """document.querySelector('.first .lanes-film-player').shadowRoot
    ?.querySelector('.count')?.textContent"""
IN_SIGHT = """it => it.getBoundingClientRect().bottom < innerHeight"""


def test_the_first_screen_shows_a_race_and_has_three_ways_on(visited):
    """At the size of a laptop; it stands there for a while, and then goes on."""
    tab = visited("index.html")
    tab.wait_for_function(f"!!{COUNT}")
    assert "step 4 of 8" == tab.evaluate(COUNT)
    assert "RAW race" in tab.locator(".first .told").inner_text()
    tab.wait_for_function(f"{COUNT} === 'step 5 of 8'")

    for to in ("01_first_kernel", "34_find_the_bug", "PROFESSIONALS"):
        button = tab.locator(f".button[href$='{to}.html']")
        assert button.evaluate(IN_SIGHT)
    film = tab.locator(".lanes-film-player .source")
    assert film.evaluate(IN_SIGHT)


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_the_films_caption_is_above_it_at_every_width(visited, width):
    """In sight without scrolling: what the film is about."""
    tab = visited("index.html", width=width)
    caption, film = tab.locator(".caption-of-film"), tab.locator(".first .lanes-film")

    assert caption.evaluate(IN_SIGHT)
    box, below = caption.bounding_box(), film.bounding_box()
    assert box["y"] + box["height"] <= below["y"]


def test_a_figure_enlarges_in_place(visited):
    """The lesson stays; Escape leads back to it."""
    tab = visited("notebooks/14_bank_conflicts.html")
    before = tab.url
    small = tab.locator(".enlarges img").first.evaluate("it => it.clientWidth")

    tab.locator(".enlarges").first.click()

    large = tab.locator("dialog img").evaluate("it => it.clientWidth")
    assert large > 1.5 * small
    tab.keyboard.press("Escape")
    assert (before, 0) == (tab.url, tab.locator("dialog").count())


def test_a_term_shows_its_sentence_by_mouse_and_by_keyboard(visited):
    """It goes with the mouse, and with Escape."""
    tab = visited("notebooks/14_bank_conflicts.html")
    term, tip = tab.locator("a[data-says]").first, tab.locator("#says")

    term.hover()
    assert term.get_attribute("data-says") == tip.inner_text()
    tab.mouse.move(0, 0)
    assert tip.is_hidden()
    term.focus()
    assert tip.is_visible()
    tab.keyboard.press("Escape")
    assert tip.is_hidden()


def test_code_can_be_copied_and_the_notebook_taken_along(visited, address):
    """Outputs have no such button."""
    tab = visited("notebooks/14_bank_conflicts.html")

    assert tab.locator(".cell_input .copybtn").count() > 10
    assert 0 == tab.locator(".output .copybtn").count()
    taken = tab.request.get(address + "notebooks/14_bank_conflicts.ipynb")
    link = tab.locator("a[download]")
    assert "14_bank_conflicts.ipynb" == link.get_attribute("href")
    assert 4 == taken.json()["nbformat"]


FOLDED = "document.querySelectorAll('details:not([open])').length"  # of the page's own


def test_on_paper_a_film_is_its_contact_sheet_and_answers_are_open(visited):
    """Afterwards all is as it was."""
    tab = visited("notebooks/14_bank_conflicts.html")
    tab.wait_for_selector(".lanes-film .lanes-film-sheet", state="hidden")
    before = tab.evaluate(FOLDED)

    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert before > 0 and 0 == tab.evaluate(FOLDED)
    assert tab.locator(".lanes-film-sheet img").first.is_visible()
    assert tab.locator(".lanes-film-player").first.is_hidden()
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert before == tab.evaluate(FOLDED)


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_scrolls_no_page_sideways(visited, page):
    tab = visited(page, width=390)

    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", THEMES)
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(visited, page, scheme):
    """The rules of accessibility that a program can check."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = visited(page, scheme=scheme)

    found = axe.Axe().run(tab).response["violations"]

    assert [] == [(it["id"], it["nodes"][0]["html"][:200]) for it in found]

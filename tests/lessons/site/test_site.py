"""The site: every page of the course with its links, its words and its outputs."""

import json
import re

import pytest
from nbformat import read
from nbformat.v4 import new_code_cell, new_output

from helpers import __all__ as front_door
from lessons.publishing import heads, pages
from lessons.publishing.convert import lessons_of
from lessons.site import main
from tests.paths import ROOT

LARGEST = 1_000_000  # bytes of a lesson's page
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    """The pages of the course, ready for Sphinx."""
    to = tmp_path_factory.mktemp("pages")
    pages.gather(ROOT, to)
    return to


def texts_of(page):
    """The Markdown of a page or of a notebook's text cells, without its code."""
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        text = "\n\n".join(texts)
    return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)


def texts_with_navigation(gathered, lesson):
    """All of a lesson's page, as Sphinx reads it."""
    return (gathered / f"notebooks/{lesson.stem}.ipynb").read_text("utf-8")


def gathered_pages(folder):
    return [it for it in folder.rglob("*") if it.suffix in pages.PAGES]


@pytest.mark.slow
def test_each_link_leads_to_a_page_or_to_a_term_of_the_glossary(gathered):
    """Sphinx would say so, too, but is not everywhere."""
    glossary = texts_of(gathered / "notebooks/glossary.ipynb")
    terms = {f"#{it}" for it in re.findall(r"^\((term-.*)\)=$", glossary, re.M)}
    lost = [
        (page.name, path, part)
        for page in gathered_pages(gathered)
        for path, part in LINK.findall(texts_of(page))
        if "://" not in path
        if (path and not (page.parent / path).exists())
        or (not path and part.startswith("#term-") and part not in terms)
    ]
    assert [] == lost
    assert len(terms) > 50


@pytest.mark.slow
def test_every_lesson_and_assignment_and_document_is_there(gathered):
    """Lessons are in the navigation of the first page, exercises in their lesson's."""
    first = (gathered / "index.md").read_text("utf-8")
    missing = [
        name
        for lesson in lessons_of(ROOT)
        for name in (f"notebooks/{lesson.stem}", f"assignments/{lesson.stem}")
        if f"<{name}>"
        not in (first if "books" in name else texts_with_navigation(gathered, lesson))
    ]
    assert [] == missing
    assert {it.name for it in (ROOT / "docs").glob("*.md")} == {
        it.name for it in (gathered / "docs").glob("*.md")
    }


@pytest.mark.slow
def test_solutions_are_reached_from_the_folded_end_of_the_exercises_alone(gathered):
    """Neither the navigation nor the search leads there."""
    solutions = sorted((gathered / "notebooks/solutions").glob("*.ipynb"))
    theirs = {it.name for it in (gathered / "notebooks/assignments").glob("*.ipynb")}
    assert theirs == {it.name for it in solutions} != set()
    for each in solutions:
        metadata = read(each, 4).metadata
        assert metadata["orphan"] and metadata["nosearch"]
        exercises = read(gathered / "notebooks/assignments" / each.name, 4)
        *before, last = [it.source for it in exercises.cells]
        assert f"](../solutions/{each.name})" in last and "<details>" in last
        assert "solutions/" not in "".join(before)
    elsewhere = [gathered / "index.md", *(gathered / "notebooks").glob("*.ipynb")]
    links = [page.name for page in elsewhere if "](solutions/" in texts_of(page)]
    assert [] == links


def test_a_term_is_linked_once_in_a_lesson_and_never_in_code():
    """The longest term counts; a word in code, a heading or a link is left alone."""
    cells = [
        Cell("The first cell about a bank stays."),
        Cell("# A bank\n\n`bank` and [a bank](x.md): a bank conflict, banks, a bank."),
        Cell("Again a bank."),
    ]

    pages.link_terms(cells, {"bank": "", "bank conflict": ""})

    assert [
        "The first cell about a bank stays.",
        "# A bank\n\n`bank` and [a bank](x.md): a [bank conflict](#term-bank-conflict)"
        ", [banks](#term-bank), a bank.",
        "Again a bank.",
    ] == [cell.source for cell in cells]


def test_a_picture_says_on_the_site_what_it_shows():
    """MyST-NB takes an image's text alternative from the cell, not from the output."""
    metadata = {"image/svg+xml": {"alt": "two blocks"}}
    data = {"image/svg+xml": "<svg/>"}
    shown = new_output("display_data", data, metadata=metadata)
    cell, plain = new_code_cell(outputs=[shown]), new_code_cell()
    folded = new_code_cell("# Measures both.\nmeasure(copy)")
    folded.metadata["jupyter"] = {"source_hidden": True}
    for each in (cell, plain, folded):
        pages.describe(each)

    assert {"mystnb": {"image": {"alt": "two blocks"}}} == cell.metadata
    assert {} == plain.metadata
    line = folded.metadata["mystnb"]
    assert {"Measures both."} == {line["code_prompt_show"], line["code_prompt_hide"]}


class Cell:
    """A text cell of a notebook."""

    def __init__(self, source):
        self.source = source


def test_the_reference_has_each_name_of_the_front_door(gathered):
    """With a sentence that says what it does."""
    entries = (gathered / "reference.md").read_text("utf-8").split("\n## ")[1:]

    assert front_door == [entry.partition("\n")[0] for entry in entries]
    assert [] == [it for it in entries if len(it.split()) < 8]


def test_code_that_looks_like_a_link_stays_code():
    """A launch has the brackets of a link."""
    text = "`watch(k)[blocks, threads](out)`\n\n```python\nk[1, 32](a)\n```\n"

    assert text == pages.with_pages(text, ROOT, ROOT / "docs/FILM.md")
    assert "x" == pages.with_pages("[x](../tool/a.py)", ROOT, ROOT / "docs/FILM.md")


def test_a_notebook_to_take_along_has_no_outputs(gathered):
    """It is the course's, cell for cell."""
    name = "notebooks/15_barriers_and_races.ipynb"
    taken, ours = (read(it / name, 4) for it in (gathered / "_extra", ROOT))

    assert [it.source for it in ours.cells] == [it.source for it in taken.cells]
    assert [] == [it for cell in taken.cells for it in cell.get("outputs", [])]


PAGE = """<html><head><title>One &amp; all</title></head><article>
<p><em>50 minutes</em></p>
<p>Find the <b>lines</b> "to blame" in a kernel, and fix each race.</p>
<a class="reference internal" href="glossary.html#term-bank"><span>banks</span></a>
"""


def test_a_link_to_a_page_shows_what_it_is_about():
    """A picture, too: by its whole address, where the project has one."""
    page = heads.with_head(PAGE, "notebooks/15.html", "https://me.github.io/lanes/")
    tag = r'<meta (?:name|property)="([\w:]+)" content="([^"]*)">'
    told = dict(re.findall(tag, page))

    said = "Find the lines &quot;to blame&quot; in a kernel, and fix each race."
    assert said == told["description"] == told["og:description"]
    assert "One &amp; all" == told["og:title"]
    assert "https://me.github.io/lanes/notebooks/15.html" == told["og:url"]
    prefix = "https://me.github.io/lanes/docs/"
    assert told["og:image"].startswith(prefix)
    assert (ROOT / "docs" / told["og:image"].removeprefix(prefix)).exists()


def test_a_term_brings_its_sentence():
    """From the glossary; its marks of code stay there."""
    page = heads.with_sentences(PAGE, {"term-bank": 'one of "32"'})

    assert 'term-bank" data-says="one of &quot;32&quot;"><span>' in page
    assert not [it for it in pages.sentences().values() if "`" in it]


def test_a_folder_that_holds_something_else_is_not_written_over(tmp_path, capsys):
    """The remedy is another folder."""
    (tmp_path / "mine.txt").write_text("mine")

    assert main(["--out", str(tmp_path)]) == 1
    assert "holds no site" in capsys.readouterr().err
    assert "mine" == (tmp_path / "mine.txt").read_text()


def test_the_site_is_built_without_a_warning_and_its_pages_are_small(site):
    """A link that leads nowhere would be a warning."""
    sizes = {
        lesson.stem: (site / f"notebooks/{lesson.stem}.html").stat().st_size
        for lesson in lessons_of(ROOT)
    }
    assert {} == {name: size for name, size in sizes.items() if size > LARGEST}


def test_a_table_of_an_output_is_a_table_and_a_folded_source_says_what_it_does(site):
    """Outputs in Markdown are read as texts are."""
    page = (site / "notebooks/02_warps.html").read_text("utf-8")
    line = "Counts a few numbers in the emulator, and times many on a GPU."

    assert "| threads per block |" not in page
    assert "<p>threads per block</p>" in page
    assert line in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)


def test_no_page_asks_another_server(site):
    """It is read where there is no network."""
    asked = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=.https?:")
    pages = {it.name: it.read_text("utf-8") for it in site.rglob("*.html")}

    assert [] == [name for name, page in pages.items() if asked.search(page)]

"""Gathers the pages of the site, in the folders that they have in the repository, so
that a link leads to the same page in both.

Links to what is no page, such as a file of code, become plain text. In each lesson the
first use of a term leads to the glossary.
"""

import re
import shutil
import tomllib
from pathlib import Path

import nbformat

from lessons.publishing.convert import is_folded, lessons_of
from lessons.publishing.front import first_page, navigation, toctree
from lessons.publishing.glossary import SOURCE
from lessons.publishing.outputs import without_outputs
from lessons.publishing.parts import parts_of
from lessons.publishing.reference import reference

# a link, or code, in which `kernel[blocks, threads](out)` is none
LINK = re.compile(
    r"```.*?```|`[^`\n]*`|(!?)\[([^\]]*)\]\(([^)\s]+)\)", re.DOTALL
)
PAGES = {".ipynb", ".md"}
FILES = {".svg", ".png", ".yml", ".toml", ".txt"}
# what no term is looked for in: fences, code, links, tags, headings, tables
KEPT = re.compile(
    r"```.*?```|`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]*>|^#[^\n]*|^\|[^\n]*",
    re.DOTALL | re.MULTILINE,
)
TAKE = (
    '<p class="take"><a href="{name}" download>Download this notebook</a>, '
    "which runs in the course's folder</p>"
)
ANSWERS = """\
<details><summary>The course's answers</summary>

In [the lab](../../README.md#to-begin), `check` says what is wrong with your answer and
gives three hints, of which the last one leads to the course's answer.
Here it is [on a page of its own]({name}).

</details>"""


def gather(root, to):
    """Write the pages of a course to a folder, with what Sphinx needs."""
    shutil.copy(root / "docs/site/conf.py", to)
    (to / "_static").mkdir()
    for name in ("site.css", "site.js", "icon.svg"):
        shutil.copy(root / "docs/site" / name, to / "_static")
    lessons = lessons_of(root)
    gather_notebooks(root, to, lessons)
    gather_documents(root, to)
    (to / "reference.md").write_text(reference(), "utf-8")
    parts = parts_of(root, lessons)
    template = (root / "docs/site/index.md").read_text("utf-8")
    documents = sorted(it.stem for it in (to / "docs").glob("*.md"))
    index = first_page(root, template, parts) + navigation(parts, documents)
    (to / "index.md").write_text(index, "utf-8")


def gather_notebooks(root, to, lessons):
    """The lessons with their terms linked, the glossary, and the assignments."""
    sentences = tomllib.loads(SOURCE.read_text("utf-8"))
    for lesson in lessons:
        name = f"notebooks/{lesson.stem}.ipynb"
        copy_notebook(
            root, to, name, lambda cells: link_terms(cells, sentences)
        )
        if (root / f"notebooks/assignments/{lesson.stem}.ipynb").exists():
            gather_exercises(root, to, lesson)
    copy_notebook(root, to, "notebooks/glossary.ipynb", label_terms)


def gather_exercises(root, to, lesson):
    """A lesson's assignment, within the lesson's entry of the navigation; and what it
    alone leads to, since neither the navigation nor the search does: its solution.
    """
    stem, kinds = lesson.stem, ("assignments", "solutions")
    names = [f"notebooks/{kind}/{stem}.ipynb" for kind in kinds]
    for name in names:
        copy_notebook(root, to, name)
    below = toctree([f"Exercises <assignments/{stem}>"])
    add_text(to / f"notebooks/{stem}.ipynb", below)
    add_text(to / names[0], ANSWERS.format(name=f"../solutions/{stem}.ipynb"))
    add_text(to / names[1], orphan=True, nosearch=True)


def add_text(place, text="", **metadata):
    """Add a last cell to a notebook, and what Sphinx is to know of its page."""
    notebook = nbformat.read(place, as_version=4)
    if text:
        notebook.cells.append(nbformat.v4.new_markdown_cell(text))
    notebook.metadata |= metadata
    nbformat.write(notebook, place)


def copy_notebook(root, to, name, change=lambda texts: None):
    """Copy a notebook, its text cells changed, and below its title the way to the
    notebook itself, which has no outputs.
    """
    taken = to / "_extra" / name
    taken.parent.mkdir(parents=True, exist_ok=True)
    taken.write_text(without_outputs((root / name).read_text("utf-8")), "utf-8")
    notebook = nbformat.read(root / name, as_version=4)
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    change(texts)
    for cell in notebook.cells:
        describe(cell)
    for cell in texts:
        cell.source = with_pages(cell.source, root, Path(name))
    title, line, rest = texts[0].source.partition("\n")
    texts[0].source = f"{title}\n\n{TAKE.format(name=taken.name)}{line}{rest}"
    (to / name).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, to / name)


def describe(cell):
    """Give the picture that a cell shows its text alternative, and a source that is
    folded its line, as MyST-NB asks.
    """
    told = {}
    for output in cell.get("outputs", []):
        if alt := output.get("metadata", {}).get("image/svg+xml", {}).get("alt"):
            told["image"] = {"alt": alt}
    if is_folded(cell):
        line = cell.source.partition("\n")[0].removeprefix("# ")
        told |= {"code_prompt_show": line, "code_prompt_hide": line}
    if told:
        cell.metadata["mystnb"] = told


def gather_documents(root, to):
    """The pages in Markdown, and the pictures beside them."""
    names = ["README.md", "CONTRIBUTING.md"]
    names += [f"docs/{it.name}" for it in sorted((root / "docs").glob("*.md"))]
    (to / "docs").mkdir()
    for name in names:
        text = (root / name).read_text("utf-8")
        new = to / name
        new.write_text(with_pages(text, root, Path(name)), "utf-8")
    for file in (root / "docs").iterdir():
        if file.suffix in FILES:
            shutil.copy(file, to / "docs")
    for place in (to, to / "_extra"):  # for Markdown, and for HTML in it
        shutil.copytree(root / "docs/pictures", place / "docs/pictures")


def with_pages(text, root, name):
    """A page's text with links to other pages, and no link to what is none."""

    def changed(link):
        picture, words, target = link.groups()
        if target is None:
            return link[0]
        path, _, part = target.partition("#")
        if not path or "://" in target or picture:
            return link[0]
        there = (root / name.parent / path).resolve()
        if not there.is_relative_to(root) or there.suffix not in PAGES | FILES:
            return words
        if there.suffix == ".ipynb":
            part = re.sub(r"[^\w-]", "", part.casefold())  # as MyST names a heading
        return f"[{words}]({path}{'#' + part if part else ''})"

    return LINK.sub(changed, text)


def label_terms(cells):
    """Give each term of the glossary a place that others can link to."""
    for cell in cells:
        cell.source = re.sub(
            r"^\*\*([^*]+)\*\*:",
            lambda term: f"({label(term[1])})=\n**{term[1]}**:",
            cell.source,
            flags=re.MULTILINE,
        )


def label(term):
    """The name of a term's place."""
    return "term-" + re.sub(r"\W+", "-", term.casefold()).strip("-")


def link_terms(cells, terms):
    """Let the first use of each term in these texts lead to the glossary."""
    left = sorted(terms, key=len, reverse=True)
    for cell in cells[1:]:  # the first says what the lesson is about
        pieces, at = [], 0
        for kept in [*KEPT.finditer(cell.source), None]:
            end = kept.start() if kept else len(cell.source)
            pieces.append(linked(cell.source[at:end], left))
            pieces.append(kept[0] if kept else "")
            at = kept.end() if kept else end
        cell.source = "".join(pieces)


def linked(text, left):
    """A text with a link for each term that is left and in it; those are used up."""
    found = {}
    for term in list(left):
        for use in re.finditer(rf"\b{re.escape(term)}s?\b", text):
            if not any(a < use.end() and use.start() < b for a, b in found):
                found[use.span()] = term
                left.remove(term)
                break
    for (start, end), term in sorted(found.items(), reverse=True):
        link = f"[{text[start:end]}](#{label(term)})"
        text = text[:start] + link + text[end:]
    return text


def sentences() -> dict:
    """The sentence of each term, without marks, by the name of the term's place."""
    terms = tomllib.loads(SOURCE.read_text("utf-8"))
    return {label(term): re.sub("[`*]", "", said) for term, said in terms.items()}

"""The glossary, made of `glossary.toml` and of the lessons: each term leads to the first
heading of a lesson under which it is set in bold, where it is explained.
"""

import re
import tomllib
from copy import deepcopy
from pathlib import Path

from nbformat import v4

from lessons.publishing.contents import promise
from lessons.publishing.convert import METADATA, convert
from lessons.publishing.errors import LessonError

SOURCE = Path(__file__).parents[1] / "glossary.toml"
NAME = "glossary.ipynb"
HEAD = """\
# The words of the course

Each term in a sentence, and the place in a lesson that explains it.
"""
BOLD = re.compile(r"\*\*(?:A |An |The )?([^*]+?)\*\*")
HEADING = re.compile(r"#{2,} (.+)")  # not the title
MOST_WORDS = 3      # of a term; longer bold texts are ideas


def glossary(lessons, source=SOURCE):
    """The notebook of all terms, in the order of the alphabet."""
    sentences = tomllib.loads(source.read_text("utf-8"))
    explained = first_lessons(lessons)
    rows = [
        f"**{term}**: {sentence} [{promise(lesson).title}]({lesson.stem}.ipynb{part})"
        for term, sentence in sorted(sentences.items(), key=in_order)
        for lesson, part in [explained_in(term, explained)]
    ]
    if unknown := sorted(explained.keys() - {key(term) for term in sentences}):
        raise LessonError(
            f"lessons/{SOURCE.name} has no sentence for {', '.join(unknown)}, "
            "in bold in a lesson"
        )
    text = "\n\n".join([HEAD.strip(), *rows])
    cell = v4.new_markdown_cell(source=text, metadata={}, id="glossary")
    return v4.new_notebook(cells=[cell], metadata=deepcopy(METADATA))


def in_order(item):
    """Where a term stands in the alphabet, whatever its case."""
    return item[0].casefold()


def explained_in(term, explained):
    """The first lesson with a term in bold, and its part there, as a link has it."""
    if key(term) not in explained:
        raise LessonError(
            f"lessons/{SOURCE.name}: no lesson sets **{term}** in bold; take the "
            "term out, or explain it"
        )
    return explained[key(term)]


def first_lessons(lessons):
    """By term, the first lesson that sets it in bold, and the part in which it does."""
    found = {}
    for lesson in lessons:
        for term, part in terms_of(lesson):
            found.setdefault(term, (lesson, part))
    return found


def terms_of(lesson):
    """The terms that a lesson sets in bold, but for the labels and the ideas, each with
    the heading above it as the anchor that JupyterLab gives it.
    """
    part = ""
    for cell in convert(lesson).cells:
        if cell.cell_type == "markdown":
            if heading := HEADING.match(cell.source):
                part = "#" + heading[1].replace(" ", "-")
            for text in BOLD.findall(cell.source):
                if len(text.split()) <= MOST_WORDS and text[-1] not in ".:?!":
                    yield key(text), part


def key(term):
    """The same for a term and its plural, whatever its case."""
    return re.sub(r"(?<=\w\w)s$", "", term.casefold())

"""The site's first page and its navigation: the parts of the course, with each lesson's
exercises in its own entry, and the words that people look for below its title.
"""

import re

from lessons.publishing.assignments import ASSIGNMENTS, exercise_files
from lessons.publishing.contents import promise
from lessons.publishing.race import film

APART = " · "  # between a title and its words, until `with_words` sets them apart
ENTRY = re.compile(rf'(<li class="toctree-l1[^>]*><a [^>]*>)([^<]*){APART}([^<]*)</a>')
USED = "PROFESSIONALS", "TEACHING"  # pages that say what one gets
BEHIND = "```{{toctree}}\n:hidden:\n{options}\n{entries}\n```"


def first_page(root, template, parts) -> str:
    """The first page, with its film and its lessons."""
    lessons = "\n\n".join(part_of_page(root, it) for it in parts)
    page = template.replace("<!-- film -->", "```{raw} html\n" + film() + "\n```")
    return page.replace("<!-- lessons -->", lessons)


def part_of_page(root, part) -> str:
    """A part's heading and its lessons."""
    entries = "\n".join(entry(root, it, part.words[it.stem]) for it in part.lessons)
    inside = f'<div class="lessons">\n\n{entries}\n\n</div>'
    return f"### {part.heading}\n\n{inside}"


def entry(root, lesson, words) -> str:
    """A lesson: its title, its words, its minutes, its exercises."""
    promised, name = promise(lesson), f"{lesson.stem}.ipynb"
    beside = f"{promised.minutes} minutes"
    if exercise_files(root, lesson):
        beside += f", [exercises](notebooks/{ASSIGNMENTS}/{name})"
    return f"- [**{promised.title}**](notebooks/{name})<br>\n  {words}<br>\n  {beside}"


def navigation(parts, documents) -> str:
    """The tables of contents, of which Sphinx makes the navigation."""
    tables = [(part.heading, map(line(part), part.lessons)) for part in parts]
    used = [f"docs/{it}" for it in documents if it in USED]
    looked_up = [f"docs/{it}" for it in documents if it not in USED]
    tables += [
        ("To use it", ["Install and run <README>", *used]),
        ("To look up", ["notebooks/glossary", "reference", *looked_up]),
        ("To take part", ["CONTRIBUTING"]),
    ]
    return "".join(f"\n{toctree(of, caption)}\n" for caption, of in tables)


def line(part):
    """The line of a lesson of this part in a table of contents."""

    def of(lesson):
        title = f"{promise(lesson).title}{APART}{part.words[lesson.stem]}"
        return f"{title} <notebooks/{lesson.stem}>"

    return of


def toctree(entries, caption="") -> str:
    """Sphinx's table of some pages."""
    options = f":caption: {caption}\n" if caption else ""
    return BEHIND.format(options=options, entries="\n".join(entries))


def with_words(page) -> str:
    """A page's HTML with the words of its navigation below the titles."""
    return ENTRY.sub(r"\1\2 <small>\3</small></a>", page)

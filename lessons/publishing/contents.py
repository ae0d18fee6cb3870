"""The README's table of lessons, made of what their first cells promise.

A first cell reads, with as many bullets as it needs:

    # Find the bank conflicts of a kernel

    *25 minutes*

    **What you'll do:** ...

    **What you'll learn:**

    - ...

    **What you'll need:** ...
"""

import re
from dataclasses import dataclass

from lessons.publishing.convert import convert
from lessons.publishing.errors import LessonError
from lessons.publishing.marked import filled

HEAD = """\
| Lesson | What you'll do | Minutes | What you'll need |
| --- | --- | ---: | --- |"""

SECTION = r"\*\*What you'll (do|learn|need)[:.]?\*\*[:.]?"


@dataclass(frozen=True)
class Promise:
    """What a lesson says of itself at its top."""

    title: str
    minutes: int
    do: str
    learn: str
    need: str


def with_table(readme, lessons, parts=()):
    """The README's text with the lessons between its marks: a table for each part, or
    one where there are no parts.
    """
    tables = [
        f"### {part.heading}\n\n{table(part.lessons, part.words)}" for part in parts
    ] or [table(lessons, {})]
    return filled(readme, "lessons", "\n\n".join(tables))


def table(lessons, words):
    """The table of some lessons; `words` are those below their titles."""
    return "\n".join([HEAD, *(row(it, words.get(it.stem)) for it in lessons)])


def row(lesson, words):
    """A lesson's row of the table."""
    promised = promise(lesson)
    link = f"[{promised.title}](notebooks/{lesson.stem}.ipynb)"
    if words:
        link += f"<br>*{words}*"
    need = re.sub(r"\]\((\w+\.ipynb)", r"](notebooks/\1", promised.need)
    return f"| {link} | {promised.do} | {promised.minutes} | {need} |"


def promise(lesson):
    """What the first cell of a lesson promises."""
    first = "".join(cell.source for cell in convert(lesson).cells[:1])
    head, *parts = re.split(SECTION, first)
    sections = dict(zip(parts[::2], map(one_line, parts[1::2]), strict=True))
    title = required(lesson, "a title, `# ...`", re.match(r"# (.+)", head))[1]
    time = re.search(r"\*(\d+) minutes", head)
    minutes = required(lesson, "`*25 minutes*`", time)[1]
    for name in ("do", "learn", "need"):
        required(lesson, f"`**What you'll {name}:** ...`", sections.get(name))
    return Promise(title=title, minutes=int(minutes), **sections)


def required(lesson, what, found):
    """What was found in a first cell, or an error that says what to write."""
    if not found:
        raise LessonError(
            f"lessons/{lesson.name}: the first cell lacks {what}"
        )
    return found


def one_line(text):
    """A paragraph or a list of bullets as one line for a table."""
    items = re.split(r"^- ", text.strip(), flags=re.MULTILINE)
    return "; ".join(" ".join(item.split()) for item in items if item.strip())

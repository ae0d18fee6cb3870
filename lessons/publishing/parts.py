"""The parts of the course, and of each lesson the words that people look for, from
`lessons/parts.toml`: for the README, the index and the site.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from lessons.publishing.errors import LessonError

NAME = "lessons/parts.toml"


@dataclass(frozen=True)
class Part:
    """A part of the course: its lessons in their order, and the words of each, by the
    name of its file without `.py`.
    """

    number: int
    title: str
    lessons: tuple
    words: dict

    @property
    def heading(self) -> str:
        """Its number and title."""
        return f"{self.number}. {self.title}"


def parts_of(root, lessons) -> list:
    """The parts of a course; none where it has no such file.

    Raises LessonError where a lesson is in no part or in two.
    """
    source = Path(root, NAME)
    if not source.exists():
        return []
    tables = tomllib.loads(source.read_text("utf-8"))["part"]
    listed = sorted(stem for table in tables for stem in table["lessons"])
    if listed != [it.stem for it in lessons]:
        differ = {it.stem for it in lessons} ^ set(listed)
        twice = {it for it in listed if listed.count(it) > 1}
        raise LessonError(
            f"{NAME}: each lesson has its words in one part; look at "
            + ", ".join(sorted(differ | twice))
        )
    return [
        Part(
            number,
            table["title"],
            tuple(it for it in lessons if it.stem in table["lessons"]),
            table["lessons"],
        )
        for number, table in enumerate(tables, start=1)
    ]

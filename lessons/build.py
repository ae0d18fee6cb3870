"""Builds the notebooks from the lessons: converts, runs with no GPU, stores.

`python -m lessons.build` writes notebooks/, the glossary among them, and the README's
table of lessons;
`python -m lessons.build --check` says where they are not what it would write.
"""

import argparse
import asyncio
import os
import sys
import time
from itertools import chain
from pathlib import Path

from lessons.publishing.contents import with_table
from lessons.publishing.convert import (
    LessonError,
    convert,
    lessons_of,
    notebook_path,
    serialise,
)
from lessons.publishing.execute import complete, execute
from lessons.publishing.glossary import NAME as GLOSSARY
from lessons.publishing.glossary import glossary
from lessons.publishing.outputs import differences, faults

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = "lessons/glossary.toml"
REMEDY = "Fix what a lesson does wrong; `python -m lessons.build` rewrites the rest."


def main(arguments=None, root=ROOT):
    """Build or check what the arguments ask for; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        problems = complete(problems_of(root, options.names, options.check))
    except KeyboardInterrupt:
        say("interrupted: all that is not named above is unchanged")
        return 130
    for problem in problems:
        say(f"\n{problem}")
    if problems and options.check:
        say(f"\n{REMEDY}")
    return 1 if problems else 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python -m lessons.build")
    new.description = __doc__
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("names", nargs="*", help="as 14_bank_conflicts, or 14")
    new.add_argument("--check", action="store_true", help="write nothing")
    return new


async def problems_of(root, names, check):
    """Build or check the lessons that are named; return what went wrong."""
    lessons = lessons_of(root)
    try:
        wanted = chosen(lessons, names)
    except LessonError as error:
        return [str(error)]
    slots = asyncio.Semaphore(os.cpu_count() or 1)
    progress = Progress()
    of_lessons = await asyncio.gather(
        *(lesson_problems(root, it, check, slots, progress) for it in wanted)
    )
    return [
        *chain(*of_lessons),
        *problems_beside_lessons(root, lessons, check),
    ]


def problems_beside_lessons(root, lessons, check):
    """Build or check the table, the glossary and the strays; return what went wrong."""
    builders = table_problems, glossary_problems, strays
    return [*chain(*(builder(root, lessons, check) for builder in builders))]


def chosen(lessons, names):
    """The lessons named, by stem, path or number; all when none is."""
    known = {word: it for it in lessons for word in (it.stem, it.stem[:2])}
    wanted = {Path(name).stem for name in names}
    if unknown := ", ".join(sorted(wanted - known.keys())):
        there = ", ".join(it.stem for it in lessons)
        raise LessonError(f"no lesson {unknown}; there are: {there}")
    return sorted({known[name] for name in wanted}) or lessons


async def lesson_problems(root, lesson, check, slots, progress):
    """Build or check one lesson; return what went wrong."""
    async with slots:
        began = time.monotonic()
        try:
            notebook = await built(root, lesson, progress)
        except LessonError as error:
            progress.end(lesson, "has something to fix")
            return [f"lessons/{lesson.name}, {error}"]
    seconds = time.monotonic() - began
    progress.end(lesson, f"{len(notebook.cells)} cells in {seconds:.1f} s")
    place = notebook_path(root, lesson)
    if check:
        return notebook_problems(place, notebook)
    write(place, serialise(notebook))
    return []


async def built(root, lesson, progress):
    """The notebook of a lesson, run and fit to be committed."""
    notebook = convert(lesson)
    total = len(notebook.cells)

    def show(done):
        progress.show(lesson, f"{done}/{total}")

    await execute(notebook, root, progress=show)
    if found := faults(notebook, root):
        raise LessonError("\n  ".join(found))
    return notebook


def notebook_problems(place, fresh):
    """How a stored notebook differs from the one just built."""
    if not place.exists():
        return [f"notebooks/{place.name} is missing"]
    found = differences(place.read_text("utf-8"), fresh)
    return [f"notebooks/{place.name}, {difference}" for difference in found]


def table_problems(root, lessons, check):
    """Write the README's table of lessons, or report that it is out of date."""
    readme = Path(root, "README.md")
    text = readme.read_text("utf-8") if readme.exists() else ""
    try:
        fresh = with_table(text, lessons)
    except LessonError as error:
        return [str(error)]
    if check and text != fresh:
        return ["README.md has an outdated table of lessons"]
    if not check:
        write(readme, fresh)
    return []


def glossary_problems(root, lessons, check):
    """Write the glossary, or report that it is out of date."""
    place, source = Path(root, "notebooks", GLOSSARY), Path(root, SENTENCES)
    if not source.exists():
        return []
    try:
        fresh = serialise(glossary(lessons, source))
    except LessonError as error:
        return [str(error)]
    if check and (not place.exists() or place.read_text("utf-8") != fresh):
        return [f"notebooks/{GLOSSARY} is out of date"]
    if not check:
        write(place, fresh)
    return []


def strays(root, lessons, check):
    """Remove the notebooks that have no lesson, or name them."""
    ours = {notebook_path(root, lesson) for lesson in lessons}
    ours.add(Path(root, "notebooks", GLOSSARY))
    found = sorted(set(Path(root, "notebooks").glob("*.ipynb")) - ours)
    if check:
        return [f"notebooks/{each.name} has no lesson" for each in found]
    for each in found:
        each.unlink()
        say(f"removed notebooks/{each.name}: it has no lesson")
    return []


def write(place, text):
    """Write a file in one step: nothing is left half written."""
    place.parent.mkdir(exist_ok=True)
    draft = place.with_name(f".{place.name}.draft")
    draft.write_text(text, "utf-8", newline="\n")
    draft.replace(place)


class Progress:
    """A line of a terminal that says how far each lesson is."""

    def __init__(self):
        self.running = {}

    def show(self, lesson, state):
        """Say how far a lesson is, where there is a terminal to say it."""
        self.running[lesson.stem] = f"{lesson.stem} {state}"
        if sys.stderr.isatty():
            line = "   ".join(self.running.values())
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def end(self, lesson, sentence):
        """Say how a lesson ended."""
        self.running.pop(lesson.stem, None)
        say(f"{lesson.stem}: {sentence}")


def say(sentence):
    """Say a sentence in place of the line of progress."""
    wipe = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{wipe}{sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

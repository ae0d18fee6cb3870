"""Builds the notebooks from the lessons: converts, runs with no GPU, stores.

`python -m lessons.build` writes notebooks/, the glossary, the index, the assignments
and their solutions among them, the README's table of lessons and the tables of
docs/LADDERS.md;
`python -m lessons.build --check` says where they are not what it would write, and runs
no solution;
`python -m lessons.build --assignments` builds or checks assignments and solutions
alone, with `--seed 2027` those of another variant, in work/.
"""

import argparse
import asyncio
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from lessons.publishing import rungs
from lessons.publishing.assignments import (
    ASSIGNMENTS,
    SOLUTIONS,
    assignment,
    assignment_path,
    with_exercises,
)
from lessons.publishing.contents import with_table
from lessons.publishing.convert import lessons_of, notebook_path, serialise
from lessons.publishing.errors import LessonError
from lessons.publishing.doors import project_of, with_address, with_doors
from lessons.publishing.execute import complete, execute
from lessons.publishing.glossary import NAME as GLOSSARY
from lessons.publishing.glossary import glossary
from lessons.publishing.index import NAME as INDEX
from lessons.publishing.index import index
from lessons.publishing.outputs import differences, faults, without_outputs
from lessons.publishing.parts import parts_of

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = "lessons/glossary.toml"
REMEDY = "Fix what a lesson does wrong; `python -m lessons.build` rewrites the rest."


def main(arguments=None, root=ROOT):
    """Build or check what the arguments ask for; return the exit status."""
    options = parser().parse_args(arguments)
    if options.seed is not None and not options.assignments:
        parser().error("--seed goes with --assignments")
    try:
        problems = complete(problems_of(root, options))
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
    new.add_argument("--assignments", action="store_true", help="no lessons")
    new.add_argument(
        "--seed", type=seed, help="another variant of the assignments"
    )
    return new


def seed(text):
    """A seed: a number or a word, which is also a part of a folder's name."""
    if not re.fullmatch(r"[\w-]+", text):
        raise argparse.ArgumentTypeError("a seed is a number or a word")
    return int(text) if text.isdecimal() else text


@dataclass(frozen=True)
class Page:
    """A notebook that is run: its source, its place, and what makes it."""

    name: str  # in messages
    source: str
    place: Path
    make: Callable


async def problems_of(root, options):
    """Build or check the lessons that are named; return what went wrong."""
    lessons = lessons_of(root)
    try:
        wanted = chosen(lessons, options.names)
    except LessonError as error:
        return [str(error)]
    pages = list(pages_of(root, wanted, options))
    slots = asyncio.Semaphore(os.cpu_count() or 1)
    progress = Progress()
    of_pages = await asyncio.gather(
        *(
            page_problems(root, it, options.check, slots, progress)
            for it in pages
        )
    )
    if options.assignments:
        rest = assignment_problems(root, wanted, options.check, options.seed)
    else:
        rest = problems_beside_lessons(root, lessons, options.check)
    return [*chain(*of_pages), *rest]


def pages_of(root, lessons, options):
    """The notebooks to run: lessons, and solutions but where lessons are checked."""
    if not options.assignments:
        yield from (lesson_page(root, lesson) for lesson in lessons)
    if options.assignments or not options.check:
        for lesson in with_exercises(root, lessons):
            yield solution_page(root, lesson, options.seed)


def lesson_page(root, lesson):
    """The notebook of a lesson."""
    place = notebook_path(root, lesson)
    source = f"lessons/{lesson.name}"
    return Page(lesson.stem, source, place, partial(with_doors, root, lesson))


def solution_page(root, lesson, seed=None):
    """The notebook of the solutions to a lesson's exercises."""
    place = assignment_path(root, lesson, SOLUTIONS, seed)
    make = partial(assignment, root, lesson, seed, solved=True)
    source = f"lessons/exercises/{lesson.stem[:2]}_*.py"
    return Page(f"{place.parent.name}/{lesson.stem}", source, place, make)


def problems_beside_lessons(root, lessons, check):
    """Build or check what is made without a run; return what went wrong."""
    builders = (
        table_problems,
        ladder_problems,
        glossary_problems,
        index_problems,
        assignment_problems,
        strays,
    )
    return [*chain(*(builder(root, lessons, check) for builder in builders))]


def chosen(lessons, names):
    """The lessons named, by stem, path or number; all when none is."""
    known = {word: it for it in lessons for word in (it.stem, it.stem[:2])}
    wanted = {Path(name).stem for name in names}
    if unknown := ", ".join(sorted(wanted - known.keys())):
        there = ", ".join(it.stem for it in lessons)
        raise LessonError(f"no lesson {unknown}; there are: {there}")
    return sorted({known[name] for name in wanted}) or lessons


async def page_problems(root, page, check, slots, progress):
    """Build or check one notebook; return what went wrong."""
    async with slots:
        began = time.monotonic()
        try:
            notebook = await built(root, page, progress)
        except LessonError as error:
            progress.end(page, "has something to fix")
            return [f"{page.source}, {error}"]
    seconds = time.monotonic() - began
    progress.end(page, f"{len(notebook.cells)} cells in {seconds:.1f} s")
    if check:
        return notebook_problems(root, page.place, notebook)
    write(page.place, serialise(notebook))
    return []


async def built(root, page, progress):
    """A notebook, run and fit to be committed."""
    notebook = page.make()
    total = len(notebook.cells)

    def show(done):
        progress.show(page, f"{done}/{total}")

    await execute(notebook, root, progress=show)
    if found := faults(notebook, root):
        raise LessonError("\n  ".join(found))
    return notebook


def notebook_problems(root, place, fresh, stored=lambda text: text):
    """How a stored notebook, or what counts of it, differs from a fresh one."""
    name = place.relative_to(root).as_posix()
    if not place.exists():
        return [f"{name} is missing"]
    found = differences(stored(place.read_text("utf-8")), fresh)
    return [f"{name}, {difference}" for difference in found]


def assignment_problems(root, lessons, check, seed=None):
    """Write the assignments, or report what is out of date of them, and of the sources
    of their solutions.
    """
    build = problems_of_sources if check else write_assignment
    try:
        found = (build(root, it, seed) for it in with_exercises(root, lessons))
        return [*chain(*found)]
    except LessonError as error:
        return [str(error)]


def write_assignment(root, lesson, seed):
    """Write one assignment; nothing can be wrong with it."""
    place = assignment_path(root, lesson, ASSIGNMENTS, seed)
    write(place, serialise(assignment(root, lesson, seed)))
    return []


def problems_of_sources(root, lesson, seed):
    """How a stored assignment differs, and a stored solution but for its outputs."""
    place = assignment_path(root, lesson, ASSIGNMENTS, seed)
    yield from notebook_problems(root, place, assignment(root, lesson, seed))
    page = solution_page(root, lesson, seed)
    yield from notebook_problems(
        root, page.place, page.make(), without_outputs
    )


def table_problems(root, lessons, check):
    """Write the README's table of lessons and the way to them, or report that it is out
    of date.
    """
    readme = Path(root, "README.md")
    text = readme.read_text("utf-8") if readme.exists() else ""
    try:
        first = f"notebooks/{lessons[0].stem}.ipynb"
        table = with_table(text, lessons, parts_of(root, lessons))
        fresh = with_address(table, project_of(root), first)
    except LessonError as error:
        return [str(error)]
    if check and text != fresh:
        return ["README.md has an outdated table of lessons or address"]
    if not check:
        write(readme, fresh)
    return []


def ladder_problems(root, lessons, check):
    """Write what was recorded into the page of all rungs, or report that it is out of
    date.
    """
    page = Path(root, rungs.PAGE)
    if not page.exists():
        return []
    text = page.read_text("utf-8")
    fresh = rungs.with_rungs(text)
    if check and text != fresh:
        return [f"{rungs.PAGE} is not what was recorded"]
    if not check:
        write(page, fresh)
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


def index_problems(root, lessons, check):
    """Write the index of the lessons, or report that it is out of date."""
    place = Path(root, "notebooks", INDEX)
    try:
        parts = parts_of(root, lessons)
    except LessonError as error:
        return [str(error)]
    fresh = serialise(index(root, parts)) if parts else ""
    if check and parts and not (place.exists() and place.read_text("utf-8") == fresh):
        return [f"notebooks/{INDEX} is out of date"]
    if parts and not check:
        write(place, fresh)
    return []


def strays(root, lessons, check):
    """Remove the notebooks that have no lesson or no exercises, or name them."""
    folder = Path(root, "notebooks")
    ours = {folder / GLOSSARY, folder / INDEX}
    ours |= {notebook_path(root, it) for it in lessons}
    for lesson in with_exercises(root, lessons):
        ours |= {
            assignment_path(root, lesson, it)
            for it in (ASSIGNMENTS, SOLUTIONS)
        }
    found = {*folder.glob("*.ipynb"), *folder.glob("[!.]*/*.ipynb")}
    names = [
        each.relative_to(root).as_posix() for each in sorted(found - ours)
    ]
    if check:
        return [f"{name} has no lesson" for name in names]
    for name in names:
        Path(root, name).unlink()
        say(f"removed {name}: it has no lesson")
    return []


def write(place, text):
    """Write a file in one step: nothing is left half written."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f".{place.name}.draft")
    draft.write_text(text, "utf-8", newline="\n")
    draft.replace(place)


class Progress:
    """A line of a terminal that says how far each notebook is."""

    def __init__(self):
        self.running = {}

    def show(self, page, state):
        """Say how far a notebook is, where there is a terminal to say it."""
        self.running[page.name] = f"{page.name} {state}"
        if sys.stderr.isatty():
            line = "   ".join(self.running.values())
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def end(self, page, sentence):
        """Say how a notebook ended."""
        self.running.pop(page.name, None)
        say(f"{page.name}: {sentence}")


def say(sentence):
    """Say a sentence in place of the line of progress."""
    wipe = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{wipe}{sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

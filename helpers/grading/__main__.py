"""The command line: `python -m helpers.grading`."""

import argparse
import sys
from datetime import datetime
from pathlib import Path

from helpers.grading.exports.formats import FORMATS, ExportError
from helpers.grading.feedback import write_feedback
from helpers.grading.grading import SchedulerError, grade_folder
from helpers.grading.manifest import ManifestError, load
from helpers.grading.references import ReferenceError
from helpers.grading.release import release
from helpers.grading.report import report
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import (
    NurseryError,
    require_isolation,
    require_linux,
)
from helpers.grading.store import MarksError, MarksStore
from helpers.grading.submissions import NoSubmissions
from helpers.grading.tables import TableError
from helpers.grading.words import printable
from thirty_two_lanes.scripts.options import whole_number

AFTER = ExportError, MarksError  # what is found when marks are kept
BEFORE = (
    *(ManifestError, NurseryError, ReferenceError, SchedulerError),
    *(NoSubmissions, TableError),
)


def main(arguments=None) -> int:
    """Do what the command line asks for; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except (*BEFORE, *AFTER, OSError) as error:
        graded = options.command is grade_command and not isinstance(error, AFTER)
        say(f"nobody is graded: {error}" if graded else str(error))
        return 2
    except KeyboardInterrupt:
        say("interrupted: what was marked is kept, and the next call goes on")
        return 130


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python -m helpers.grading", description=__doc__)
    commands = new.add_subparsers(required=True)
    of_release(commands.add_parser("release", help="write what is handed out"))
    of_grade(commands.add_parser("grade", help="mark a folder of submissions"))
    for name, does, what in (
        ("feedback", feedback_command, "write a page for each submission"),
        ("report", report_command, "print how an assignment went"),
        ("export", export_command, "write marks for other programs"),
    ):
        command = commands.add_parser(name, help=what)
        command.set_defaults(command=does)
        command.add_argument("marks", type=Path, help="the folder that `grade` wrote")
        if name == "feedback":
            command.add_argument("--release", type=Path, required=True)
        if name == "export":
            command.add_argument("formats", nargs="+", choices=FORMATS)
            of_export(command)
    return new


def of_export(new):
    """What some forms of marks need to be told."""
    new.add_argument(
        "--gradebook",
        type=Path,
        metavar="FILE",
        help="for canvas and moodle: the table that it exported",
    )
    new.add_argument(
        "--column",
        dest="columns",
        action="append",
        default=[],
        metavar="[ASSIGNMENT=]TITLE",
        help="its column for the points, where it is not called as the assignment",
    )
    new.add_argument(
        "--among",
        type=whole_number,
        metavar="PEOPLE",
        help="for sheet: how many people mark, each with a sheet",
    )


def of_release(new):
    """What `release` is given."""
    new.set_defaults(command=release_command)
    new.add_argument("names", nargs="*", help="as 14, or 12:sectors,mirror; or all")
    new.add_argument("--out", type=Path, required=True, help="the folder to write")
    new.add_argument("--seed", type=seed, help="the variant: a number or a word")
    new.add_argument(
        "--points",
        type=points,
        action="append",
        default=[],
        metavar="EXERCISE=POINTS",
        help="other points than the exercise's own",
    )


def of_grade(new):
    """What `grade` is given."""
    new.set_defaults(command=grade_command)
    new.add_argument("submitted", type=Path, help="a folder for each student")
    new.add_argument("--release", type=Path, required=True, help="what was handed out")
    new.add_argument("--out", type=Path, required=True, help="where the marks go")
    new.add_argument(
        "--class",
        dest="class_list",
        metavar="FILE",
        help="a table with the columns `id` and `name`: who should hand in",
    )
    new.add_argument(
        "--due",
        type=moment,
        metavar="TIME",
        help="as 2027-03-01T18:00, of this machine: what is later is named",
    )
    of_marking(new)


def of_marking(new):
    """How, and where, `grade` marks."""
    new.add_argument(
        "--secret",
        default="",
        help="a text from which the judge's inputs follow; without it, drawn once",
    )
    new.add_argument(
        "--workers",
        type=whole_number,
        default=0,
        help="how many at a time on this machine; without it, as many as it has cores",
    )
    new.add_argument("--scheduler", default="", help="the address of a Dask cluster")
    new.add_argument("--container", default="", help="the image to run cells in")
    isolated = new.add_mutually_exclusive_group()
    isolated.add_argument(
        "--isolated",
        action="store_true",
        help="mark anew what was marked with `--not-isolated`",
    )
    isolated.add_argument(
        "--not-isolated",
        action="store_true",
        help="mark also where neither bubblewrap nor a container isolates",
    )
    new.add_argument(
        "--export",
        nargs="+",
        action="extend",
        default=[],
        choices=FORMATS,
        help="write the marks for these programs, too",
    )
    of_export(new)


def seed(text):
    """A seed: a number or a word."""
    return int(text) if text.isdecimal() else text


def moment(text):
    """A time in ISO's form, with the zone of this machine where it has none."""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not as 2027-03-01T18:00") from None


def points(text):
    """An exercise and its points."""
    name, _, number = text.partition("=")
    try:
        found = float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not as mirror=3") from None
    return name, int(found) if found.is_integer() else found


def release_command(options) -> int:
    release(options.out, options.names, options.seed, options.points, say)
    say(f"{options.out} has the notebooks, and the manifest that they are marked by")
    return 0


def grade_command(options) -> int:
    require_linux()
    level = isolation.level_of(options.container)
    say(f"isolation of submissions: {isolation.LEVELS[level]}")
    if not options.not_isolated:
        require_isolation(level, options.submitted, options.out)
    manifest = load(options.release)
    whole = grade_folder(options.submitted, manifest, options.out, options, say)
    say(f"{options.out / 'marks.csv'} has the marks")
    export(options.out, options.export, options)
    return 0 if whole else 1


def export_command(options) -> int:
    export(options.marks, options.formats, options)
    return 0


def export(folder, formats, options):
    """Write marks in the forms of other programs."""
    store = MarksStore(folder)
    store.require_any()
    for name in formats:
        for line in FORMATS[name](store, **vars(options)):
            say(line)
        say(f"{folder} has the marks for {name}")


def feedback_command(options) -> int:
    store, manifest = MarksStore(options.marks), load(options.release)
    store.require_made_by(manifest, options.release)
    write_feedback(store, manifest, say)
    return 0


def report_command(options) -> int:
    store = MarksStore(options.marks)
    store.require_any()
    print(for_terminal(report(store)))
    return 0


def say(text):
    print(for_terminal(text), file=sys.stderr, flush=True)


def for_terminal(text) -> str:
    """A text whose names of any bytes do nothing to a terminal."""
    return "\n".join(map(printable, text.split("\n")))


if __name__ == "__main__":
    sys.exit(main())

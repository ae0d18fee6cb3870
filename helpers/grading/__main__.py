"""The command line: `python -m helpers.grading`."""

import argparse
import sys
from pathlib import Path

from helpers.grading import isolation
from helpers.grading.children import NurseryError
from helpers.grading.grading import SchedulerError, grade_folder
from helpers.grading.manifest import ManifestError, load
from helpers.grading.references import ReferenceError

ERRORS = ManifestError, NurseryError, ReferenceError, SchedulerError, OSError


def main(arguments=None) -> int:
    """Do what the command line asks for; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except ERRORS as error:
        say(f"nobody is graded: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted: what was marked is kept, and the next call goes on")
        return 130


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python -m helpers.grading", description=__doc__)
    commands = new.add_subparsers(required=True)
    of_grade = commands.add_parser("grade", help="mark a folder of submissions")
    of_grade.set_defaults(command=grade_command)
    of_grade.add_argument("submitted", type=Path)
    of_grade.add_argument("--release", type=Path, required=True, help="the manifest's")
    of_grade.add_argument("--out", type=Path, required=True, help="where marks go")
    of_grade.add_argument("--secret", default="", help="what the inputs are made of")
    of_grade.add_argument("--workers", type=int, default=0, help="on this machine")
    of_grade.add_argument("--scheduler", default="", help="the address of a cluster")
    of_grade.add_argument("--container", default="", help="the image to run cells in")
    return new


def grade_command(options) -> int:
    """Mark a folder."""
    level = isolation.level_of(options.container)
    say(f"submissions run in: {isolation.LEVELS[level]}")
    manifest = load(options.release)
    grade_folder(options.submitted, manifest, options.out, options, say)
    say(f"{options.out / 'marks.csv'} has the marks")
    return 0


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""What the lessons say of times, counts and machine code, and when it is true.

Each lesson has a file of its name here, with `CLAIMS`: words of the lesson, and a
function of the lesson that is true only if they are. The lesson is what its script
leaves when it runs without a GPU: `it.run` is the last `run` of the script.
"""

import runpy
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from thirty_two_lanes.assembly import compilation
from thirty_two_lanes.emulator import program_cache

FOLDER = Path(__file__).parent


def about(said, value):
    """Is this the value, to as many digits as were said? `about("3.9", 3.87)` is."""
    number = said.replace(",", "").removesuffix("%")
    decimals = len(number.partition(".")[2])
    return f"{value * (100 if said.endswith('%') else 1):.{decimals}f}" == number


def claims_of(lesson):
    """The claims held of a lesson: its words, and when they are true; {} for none."""
    file = FOLDER / lesson.name
    return runpy.run_path(str(file))["CLAIMS"] if file.exists() else {}


def left_by(lesson):
    """What a lesson's script leaves, by name."""
    return SimpleNamespace(**runpy.run_path(str(lesson)))


def fallen(lesson, left, whole=True):
    """The claims that are not true of what the lesson left, each as a sentence; unless
    it is the `whole` of them, of those that compile nothing.
    """
    return [
        f"{lesson.stem} says “{words}”, which is false now: claims/{lesson.name}, "
        f"line {holds.__code__.co_firstlineno}"
        for words, holds in claims_of(lesson).items()
        if not (holds(left) if whole else holds_or_compiles(holds, left))
    ]


class Compiles(BaseException):
    """A claim compiles a kernel; no claim catches it."""


def holds_or_compiles(holds, left):
    """Is a claim true, or does it take a kernel that is not compiled yet?"""
    with (
        patch.object(program_cache, "_prepare", side_effect=Compiles),
        patch.object(compilation, "_compiled_once", side_effect=Compiles),
    ):
        try:
            return holds(left)
        except Compiles:
            return True

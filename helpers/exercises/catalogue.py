"""Finds exercises by name. `helpers` knows no lesson: a course is a package that
declares itself by an entry point of the group `thirty_two_lanes.exercises`: a module
that holds the exercises, or a package whose modules do.
"""

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from thirty_two_lanes.core.errors import ArgumentError, short_traceback

GROUP = "thirty_two_lanes.exercises"


@short_traceback
def exercise(name, seed=None):
    """An exercise of the course: it prints as its task, and `check` judges an answer.

    The seed chooses a variant: other types, operations, sizes or names. Without one it
    is the variant of the lessons.
    """
    from helpers.exercises.exercise import require_seed

    known = exercises()
    if not isinstance(name, str) or name not in known:
        near = get_close_matches(str(name), known, n=3) or sorted(known)
        raise ArgumentError(
            f"there is no exercise {name!r}; there are {', '.join(near)}"
            if known
            else "no course is installed here: run `make setup`, or install its package"
        )
    return known[name](require_seed(seed))


@cache
def exercises() -> dict:
    """The class of each exercise of the courses that are installed, by name."""
    found = {}
    for point in entry_points(group=GROUP):
        for module in modules(importlib.import_module(point.value)):
            for kind in in_module(module):
                if found.setdefault(kind.name, kind) is not kind:
                    raise two_of_a_name(found[kind.name], kind)
    return found


def two_of_a_name(first, second) -> ArgumentError:
    classes = (f"`{it.__name__}` of {file_of(it)}" for it in (first, second))
    return ArgumentError(
        f"two exercises are called `{first.name}`: {' and '.join(classes)}; "
        "give one of the classes another name"
    )


def file_of(kind) -> str:
    """The file that describes an exercise, from the folder of its course."""
    return kind.__module__.replace(".", "/") + ".py"


def modules(package):
    """The modules of a package, in the order of their names; a module itself."""
    if not hasattr(package, "__path__"):
        yield package
        return
    for name in sorted(it.name for it in pkgutil.iter_modules(package.__path__)):
        yield importlib.import_module(f"{package.__name__}.{name}")


def in_module(module) -> list:
    """The exercises that a module describes, in its order; `_Names` are for others."""
    from helpers.exercises.exercise import Exercise

    own = [it for it in vars(module).values() if isinstance(it, type)]
    return [
        it
        for it in own
        if issubclass(it, Exercise)
        and it.__module__ == module.__name__
        and not it.__name__.startswith("_")
    ]

"""The ladders: each rung of a lesson by turns with the library that it is held to.

A ladder is a module here, found by its file.
"""

from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The ladders that there are, in the order of their lessons."""
    found = sorted(file.stem for file in FOLDER.glob("[!_]*.py"))
    return sorted(found, key=lambda name: getattr(ladder(name), "LESSON", ""))


def ladder(name):
    """A ladder's module. `LESSON` is the number of its lesson. `LADDERS` has, by a
    title, the name of the library's work and a function of a Bench that gives the
    works, as `Bench.run` takes them. Where there is a sweep, `SWEEP` has what to try,
    by its name, and `sweep_work(bench, what)` is one of these works.
    """
    return import_module(f"{__name__}.{name}")

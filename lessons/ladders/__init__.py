"""The ladders: each rung of a lesson by turns with the library that it is held to."""

from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The ladders that there are, in the order of their lessons."""
    order = "product", "reduction", "scan", "histogram", "stencil"
    return [name for name in order if (FOLDER / f"{name}.py").exists()]


def ladder(name):
    """A ladder's module. `LADDERS` has, by a title, the name of the library's work and
    a function of a Bench that gives the works, as `Bench.run` takes them. Where there
    is a sweep, `SWEEP` has what to try, by its name, and `sweep_work(bench, what)` is
    one of these works.
    """
    return import_module(f"{__name__}.{name}")

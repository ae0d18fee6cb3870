"""What a user chooses for all launches: environment variables, read at each launch.

`EMULATOR_SEED=3 python script.py` runs a script with another order of warps, and so
does `os.environ["EMULATOR_SEED"] = "3"` in a notebook, for what follows.
`EMULATOR_TURNS` is how often a loop may go round, with nothing written meanwhile,
before it is taken for endless (it is looked at every 20,000 turns).
"""

import os

from helpers.core.errors import LaunchError
from helpers.emulator.machine.machine import MAX_ITERATIONS


def seed() -> int:
    """The seed that chooses the order in which warps run."""
    return _number("EMULATOR_SEED", 0)


def turns() -> int:
    """The turns of a loop, in a row and with nothing written, that are too many."""
    return _number("EMULATOR_TURNS", MAX_ITERATIONS)


def _number(name, usual):
    text = os.environ.get(name, "")
    if not text:
        return usual
    if not text.isdecimal():
        raise LaunchError(f"{name} must be a whole number, 0 or more, and is {text!r}")
    return int(text)

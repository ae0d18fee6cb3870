"""The commands: `python -m helpers run script.py`. Alone, `python -m helpers` is one
page on what this machine can do, and what it lacks.
"""

import argparse
import os
import sys
from importlib import import_module

from helpers.doctor import examine, page

COMMANDS = {  # the module with its `add_options(parser)` and `main(options)`
    "run": (
        "thirty_two_lanes.scripts.command",
        "run a program, and report what is wrong or slow in its kernels",
    ),
    "watch": (
        "thirty_two_lanes.film.command",
        "run a program, and make a film of one block of a launch",
    ),
}
SIMULATOR = (
    "NUMBA_ENABLE_CUDASIM is set, so Numba's simulator would answer the launches: "
    "unset it"
)
OTHERS = "without a command: what this machine can do, and what it lacks"


def main(arguments=None) -> int:
    """Do what the command line asks for; the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        return examined()
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0").strip() not in ("", "0"):
        print(f"python -m helpers: {SIMULATOR}", file=sys.stderr)
        return 2
    try:
        from helpers import emulate  # noqa: F401  another's `helpers` has none

        options = parser(arguments[0]).parse_args(arguments)
    except ImportError:  # the page says what is missing
        return examined() or 1
    return options.main(options)


def examined() -> int:
    """Show the page of this machine."""
    findings = examine()
    print(page(findings))
    return int(any(finding.fault for finding in findings))


def parser(name) -> argparse.ArgumentParser:
    """The command line; of the commands, only the one that is used is imported."""
    new = argparse.ArgumentParser("python -m helpers", description=OTHERS)
    commands = new.add_subparsers(required=True, metavar="command")
    for each, (module, does) in COMMANDS.items():
        command = commands.add_parser(each, help=does, description=does)
        if each == name:
            used = import_module(module)
            used.add_options(command)
            command.set_defaults(main=used.main)
    return new


if __name__ == "__main__":
    sys.exit(main())

"""The commands: `lanes run script.py`, `watch`, `doctor` and `mcp`; `python -m
thirty_two_lanes` does the same.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

COMMANDS = {  # the module with its `add_options(parser)` and `main(options)`
    "run": (
        "thirty_two_lanes.scripts.command",
        "run a program, and report what is wrong or slow in its kernels",
    ),
    "watch": (
        "thirty_two_lanes.film.command",
        "run a program, and make a film of one block of a launch",
    ),
    "doctor": (
        "thirty_two_lanes_doctor",
        "say what this machine can do for kernels, and what it lacks",
    ),
    "mcp": (
        "thirty_two_lanes.agents.command",
        "serve coding agents, by the Model Context Protocol",
    ),
}


def main(arguments=None) -> int:
    """Do what the command line asks for; the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser(arguments[:1]).parse_args(arguments)
    return options.main(options)


def parser(names) -> argparse.ArgumentParser:
    """The command line; of the commands, only the one that is used is imported."""
    new = argparse.ArgumentParser(_name(), description=__doc__)
    commands = new.add_subparsers(required=True, metavar="command")
    for each, (module, does) in COMMANDS.items():
        command = commands.add_parser(each, help=does, description=does)
        if each in names:
            used = import_module(module)
            used.add_options(command)
            command.set_defaults(main=used.main)
    return new


def _name() -> str:
    """How this was called."""
    script = Path(sys.argv[0]).stem == "lanes"
    return "lanes" if script else "python -m thirty_two_lanes"


if __name__ == "__main__":
    sys.exit(main())

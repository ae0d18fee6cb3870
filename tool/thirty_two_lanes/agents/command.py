"""The command `lanes mcp`: a server of the Model Context Protocol
on stdin and stdout, with which coding agents check kernels. docs/AGENTS.md shows it.
"""

import sys
from importlib.util import find_spec

from thirty_two_lanes.agents.allowance import Allowance
from thirty_two_lanes.scripts.options import whole_number

HOW = (
    "it needs the package `mcp`, which an extra brings: `python -m pip install "
    '"./tool[mcp]"` in the repository, or `[mcp]` behind the name of a wheel'
)


def add_options(parser):
    """What one call may use at most."""
    most = Allowance()
    seconds, memory = "seconds of a call", "MB of memory of a call"
    for name, what, value in (
        ("--seconds", seconds, most.seconds),
        ("--memory", memory, most.megabytes),
    ):
        said = f"at most so many {what}; {value:,} without it"
        parser.add_argument(name, type=_some, default=value, metavar="N", help=said)


def _some(text):
    return whole_number(text, least=1)


def main(options) -> int:
    """Serve until the client is gone; the exit status."""
    if find_spec("mcp") is None:
        print(f"lanes mcp: {HOW}", file=sys.stderr)
        return 2
    from thirty_two_lanes.agents.server import serve

    serve(Allowance(options.seconds, options.memory))
    return 0

"""A word from a launch that takes long: that it still runs, where, and how to stop it.

A loop without an end that changes memory is no error, since nobody can know it. So a
launch says on stderr, after some seconds and then whenever its time has doubled, at
which loop it is. It asks for the time only where it looks at a loop in any case.
"""

import math
import sys
from time import monotonic

from thirty_two_lanes.core.source import in_notebook


class StillRunning:
    """Knows how long a launch has been running, and when it next says so; after
    `patience` seconds for the first time, and never if that is 0.
    """

    def __init__(self, patience):
        self.began, self.next = monotonic(), patience or math.inf

    def look(self, launch, site):
        """Say so if it is time, of a launch that is in the loop at a site."""
        seconds = monotonic() - self.began
        if seconds >= self.next:
            self.next = 2 * seconds
            behind = "\n" if sys.stderr.isatty() else ""  # a line that is not ended
            print(f"{behind}{sentence(launch, seconds, site)}", file=sys.stderr)


def sentence(launch, seconds, site) -> str:
    """How long it has been running, where it is, and what stops it."""
    where = f", in the loop at {site.label}" if site else ""
    stop = "■ (Interrupt)" if in_notebook() else "Ctrl+C"
    return (
        f"`{launch.program.name}` still runs after {seconds:.0f} seconds{where}, with "
        f"{launch.blocks_done:,} of {launch.geometry.blocks:,} blocks done. If it does "
        f"not end, stop it with {stop}."
    )

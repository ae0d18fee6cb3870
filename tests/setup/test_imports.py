"""What importing the tool, or the course, brings into a process."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

BROUGHT = """
import sys
before = set(sys.modules)
import {module}
modules = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(modules - sys.stdlib_module_names))
"""


def brought(module, then="") -> set:
    """The packages that are imported with a module in a process of its own, but the
    standard library.
    """
    ran = subprocess.run(
        [sys.executable, "-c", BROUGHT.format(module=f"{module}\n{then}")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "module, ours",
    [
        ("thirty_two_lanes", {"thirty_two_lanes"}),
        ("helpers", {"helpers", "thirty_two_lanes"}),
    ],
)
def test_importing_us_brings_ours_and_what_numba_brings(module, ours):
    """No matplotlib, and nothing of Jupyter's: the tool is installed without them, and
    the course's figures import them when one is drawn.
    """
    assert ours == brought(module) - brought("numba.cuda")


def test_a_figure_brings_matplotlib():
    """So the test above would notice it."""
    drawn = "helpers.plot_warps(40)._repr_mimebundle_()"

    assert "matplotlib" in brought("helpers", drawn)

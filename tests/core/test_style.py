"""The look of the figures: lent to one drawing, and to nothing else of a reader's."""

import subprocess
import sys

from helpers import plotting


def test_drawing_leaves_no_trace_in_matplotlib():
    """The look is lent to one drawing: settings, figures and back end stay alone."""
    source = (
        "import sys, helpers.plotting\n"
        "from thirty_two_lanes.core import style\n"
        "assert 'matplotlib' not in sys.modules, 'loaded by the import'\n"
        "import matplotlib\n"
        "def settings():\n"
        "    return [matplotlib.rcParams[it] for it in style.SETTINGS]\n"
        "before = settings()\n"
        "helpers.plotting.plot_grid(2, 4, 7)._repr_mimebundle_()\n"
        "assert before == settings(), 'changed settings'\n"
        "assert 'matplotlib.pyplot' not in sys.modules, 'loaded pyplot'\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )

    assert "" == ran.stderr


def test_a_readers_own_style_does_not_change_ours():
    """A dark style that a reader set leaves our ground white and our ink dark."""
    from matplotlib import pyplot

    plain = plotting.plot_times(["a"], [3.0]).png()
    with pyplot.style.context("dark_background"):
        assert plain == plotting.plot_times(["a"], [3.0]).png()

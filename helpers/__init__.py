"""The front door of the course: what its lessons import.

It offers the tool's verbs (`thirty_two_lanes`, which says what importing it changes for
the process) and what the course adds to them: times, checks, exercises and figures.
"""

import sys

if sys.version_info < (3, 8):  # it cannot read the modules that tell newer ones
    sys.exit("This Python is too old: the course needs 3.11 or newer.")

from helpers.doctor import unusable

__all__ = [
    "emulate",
    "watch",
    "assemble",
    "measure",
    "check",
    "expect",
    "explore",
    "device",
    "table",
    "compare",
    "baseline",
    "twin",
    "load4",
    "store4",
    "copy4_async",
    "copy4_or_zero_async",
    "copy_or_zero_async",
    "commit_copies",
    "wait_copies",
    "load_acquire",
    "store_release",
    "allow_dynamic_shared",
    "exercise",
]

try:
    from thirty_two_lanes import *  # noqa: F403  its `__all__`: the tool's verbs
    from thirty_two_lanes.assembly import recorded
    from thirty_two_lanes.core.errors import is_a_part
    from thirty_two_lanes.core.gc_pause import gc_paused
    from thirty_two_lanes.core.pages.tables import table

    is_a_part(__name__)
    with gc_paused(promote=True):
        from helpers import plotting
        from helpers.checking.check import check, expect
        from helpers.exercises.catalogue import exercise
        from helpers.measuring import store
        from helpers.measuring.baselines import baseline
        from helpers.measuring.comparison import compare
        from helpers.measuring.timing import measure
        from helpers.plotting import *  # noqa: F403  its `__all__`: the figures
        from helpers.plotting.sliders.explore import explore
except Exception as error:  # other packages raise more than ImportError
    __getattr__ = unusable(error)
else:
    __all__ += plotting.__all__
    recorded.add(store.FOLDER / "assemblies")

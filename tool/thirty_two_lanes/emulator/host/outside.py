"""What belongs inside a kernel, called by the host: one sentence in place of Numba's.

Numba knows its functions for kernels by what they are, so they stay the same objects;
what happens when Python calls them is changed.
"""

from numba import cuda
from numba.cuda import stubs

from thirty_two_lanes.core.errors import KernelError, short_traceback


def explain_calls():
    """Let `cuda.grid(1)`, `cuda.syncwarp()` and `cuda.shared.array(…)` say it."""
    intrinsic = type(cuda.grid)
    before = intrinsic.__call__

    def call(asked, *arguments, **named):
        name = asked._name
        if getattr(cuda, name, None) is asked:
            refuse(f"cuda.{name}")
        if asked._defn.__module__.startswith("thirty_two_lanes."):
            refuse(name)
        return before(asked, *arguments, **named)

    intrinsic.__call__ = call
    stubs.Stub.__new__ = lambda stub, *arguments, **named: refuse(
        f"cuda.{stub.__qualname__}"
    )
    for space in (stubs.shared, stubs.local, stubs.const):
        for function in (getattr(space, name) for name in vars(space)):
            if getattr(function, "__closure__", None):
                function.__closure__[0].cell_contents = NoFunction(
                    f"cuda.{function.__qualname__}"
                )


class NoFunction:
    """What Numba's stub functions are about to raise a text of."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        refuse(self.name)


@short_traceback
def refuse(name):
    """Say that something is for kernels."""
    raise KernelError(
        f"`{name}` works inside a kernel only: a function with `@cuda.jit` that is "
        "launched with brackets, `kernel[blocks, threads](…)`"
    )

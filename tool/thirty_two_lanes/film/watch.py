"""The verb `watch`."""

from thirty_two_lanes.core.errors import short_traceback
from thirty_two_lanes.emulator import whole
from thirty_two_lanes.frontend.kernels import require_kernel

STEPS = 2000


@short_traceback
def watch(kernel, *, block=0, variables=None, steps=STEPS, seed=None):
    """Run `watch(kernel)[blocks, threads](*args)` in the emulator and return a Film.

    The film shows one block, by its number or its place `(x, y, z)`, and at most so
    many steps of it; of the variables, those that are named, or all that are numbers.
    Arrays are changed in place, as by a launch, and `film.run` is what `emulate` gives.
    A launch that an error ends has a film up to there: the error is its last step, its
    first line as text, and `film.error`.
    """
    from thirty_two_lanes.film.watching import Watching

    require_kernel(kernel, "watch")
    whole("steps", steps, "watch")
    seed = whole("seed", seed, "watch")
    return Watching(kernel, seed, block=block, variables=variables, steps=steps)

"""Which `numba.cuda` is here: the package numba-cuda, or the one built into numba,
which is all that macOS has.

What differs between the two for the front end stands in `package_target` and in
`builtin_target`, under the same names; what differs for the host stands in
`emulator/host/driver.py`. A third target that keeps Numba's passes would be a third
such file, and a branch here and there.
"""

from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

if find_spec("numba.cuda.core"):
    from thirty_two_lanes.frontend import package_target as target
else:
    from thirty_two_lanes.frontend import builtin_target as target


@contextmanager
def stand_ins(*replaced):
    """Put objects in the place of Numba's own: each is an owner, a name and an object.

    Numba looks these names up while it compiles, also for the device functions that a
    kernel calls, and takes no others by argument. Nobody else sees the stand-ins: the
    lock that Numba compiles under is held until its own objects are back.
    """
    with target.global_compiler_lock, ExitStack() as undo:
        for owner, name, stand_in in replaced:
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, stand_in)
        yield


def silence_numba():
    """Switch off Numba's warnings about small grids and host arrays; reports say it
    instead.
    """
    for config in target.CONFIGS:
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0

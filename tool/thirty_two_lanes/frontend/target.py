"""Which `numba.cuda` is here: the package numba-cuda, or the one built into numba,
which is all that macOS has.

What differs between the two for the front end stands in `package_target` and in
`builtin_target`, under the same names; what differs for the host stands in
`emulator/host/driver.py`. A third target that keeps Numba's passes would be a third
such file, and a branch here and there.
"""

from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

from numba.cuda.dispatcher import CUDADispatcher

if find_spec("numba.cuda.core"):
    from thirty_two_lanes.frontend import package_target as target
else:
    from thirty_two_lanes.frontend import builtin_target as target


@contextmanager
def stand_ins(*replaced):
    """Put objects in the place of Numba's own: each is an owner, a name and an object.

    Numba looks these names up while it compiles, also for the device functions that a
    kernel calls, and takes no others by argument. Nobody else sees the stand-ins, nor
    what was compiled with them: the lock that Numba compiles under is held until its
    own objects are back, and its device functions are as they were.
    """
    with target.global_compiler_lock, ExitStack() as undo:
        for owner, name, stand_in in (*replaced, _forgotten(undo)):
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, stand_in)
        yield


def _forgotten(undo):
    """Let a device function forget what is compiled of it: it has the globals of now,
    and Numba would take it for every later kernel, also on a GPU.
    """
    compile_device = CUDADispatcher.compile_device

    def compile_and_forget(function, types, *result):
        if types not in function.overloads:
            undo.callback(function.overloads.pop, types, None)
        return compile_device(function, types, *result)

    return CUDADispatcher, "compile_device", compile_and_forget


def silence_numba():
    """Switch off Numba's warnings about small grids and host arrays; reports say it
    instead.
    """
    for config in target.CONFIGS:
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0

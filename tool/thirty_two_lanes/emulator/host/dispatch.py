"""Plain launches, `kernel[blocks, threads](*args)`.

What compiles and runs them, `overloads`, is imported when there is a kernel for it.
"""

import numpy as np
from numba.cuda.dispatcher import ForAll, sigutils

from thirty_two_lanes.core.errors import LaunchError, short_traceback, shown
from thirty_two_lanes.core.source import package_of
from thirty_two_lanes.emulator.arguments import contiguous_or_refused, staged_arguments
from thirty_two_lanes.emulator.host.outside import refuse
from thirty_two_lanes.frontend.kernels import (
    bracketed,
    configuration,
    device_function,
    missing_brackets,
    refuse_named,
)


@short_traceback
def brackets(kernel, config):
    """What stands between a launch's brackets."""
    return kernel.configure(*bracketed(config))


@short_traceback
def configure(kernel, griddim, blockdim, stream=0, sharedmem=0):
    """A kernel with its blocks and threads, which waits for its arguments."""
    return LaunchConfiguration(
        kernel, configuration(griddim, blockdim, stream, sharedmem), stream
    )


@short_traceback
def call_without_brackets(kernel, *arguments, **named):
    """`kernel(*args)`: an error."""
    function = kernel.py_func
    if package_of(function) == "numba":  # as `shfl_sync` of numba's own
        refuse(f"cuda.{function.__name__}")
    if kernel.targetoptions.get("device"):
        raise device_function(function)
    raise missing_brackets(kernel)


class LaunchConfiguration:
    """A kernel with its blocks and threads, which waits for its arguments."""

    is_launch = True

    def __init__(self, dispatcher, config, stream):
        self.dispatcher, self.stream, self._config = dispatcher, stream, config
        self.griddim, self.blockdim, self.sharedmem = config
        self.pre_launch_callbacks = []

    def __repr__(self):
        return (
            f"a launch of `{self.dispatcher.py_func.__name__}`, "
            f"[{self.griddim}, {self.blockdim}], that waits for its arguments"
        )

    @short_traceback
    def __call__(self, *arguments, **named):
        from thirty_two_lanes.emulator.launch import run_plainly
        from thirty_two_lanes.frontend.argument_types import argument_types

        kernel = self.dispatcher
        refuse_named(kernel, named)
        contiguous_or_refused(kernel, arguments)
        with staged_arguments(kernel, arguments) as values:
            types = argument_types(kernel, values)
            self.begin(types)
            run_plainly(kernel, self._config, values, types)

    def begin(self, types):
        """What comes before a launch for these argument types: compile, call back."""
        from thirty_two_lanes.emulator.host.overloads import overload_of

        overload = overload_of(self.dispatcher, types)
        for callback in self.pre_launch_callbacks:
            callback(overload, self)


@short_traceback
def compile_kernel(kernel, declared):
    """An eager signature: refuse now what would be refused at the first launch."""
    from thirty_two_lanes.emulator.host.overloads import overload_of

    argument_types = tuple(sigutils.normalize_signature(declared)[0])
    return overload_of(kernel, argument_types)


@short_traceback
def recompile(kernel):
    """Compile all overloads again, with the current values of globals."""
    from thirty_two_lanes.emulator.host.overloads import compile_again

    compile_again(kernel)


@short_traceback
def for_all(kernel, ntasks, tpb=0, stream=0, sharedmem=0):
    """`kernel.forall(n)`, for a number of tasks."""
    if not isinstance(ntasks, (int, np.integer)) or ntasks < 0:
        raise LaunchError(
            "`forall` takes the number of elements, a whole number, 0 or more, not "
            f"{shown(ntasks)}"
        )
    return ForAll(kernel, ntasks, tpb, stream, sharedmem)


@short_traceback
def run_for_all(forall, *arguments):
    """`kernel.forall(n)(*args)`: as many threads as tasks, or a few more."""
    from thirty_two_lanes.emulator.limits import most_threads

    if forall.ntasks:
        most = most_threads(forall.dispatcher.targetoptions)
        threads = forall.thread_per_block or min(256, most)
        blocks = -(-forall.ntasks // threads)
        forall.dispatcher[blocks, threads, forall.stream, forall.sharedmem](*arguments)

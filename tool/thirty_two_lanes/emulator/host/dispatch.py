"""Plain launches, `kernel[blocks, threads](*args)`, and what stands for a compiled
kernel: one for each list of argument types.
"""

import numpy as np
from numba.core.types import none
from numba.core.typing import signature
from numba.cuda.dispatcher import ForAll, sigutils

from thirty_two_lanes.core.errors import (
    LaunchError,
    UnsupportedError,
    short_traceback,
    shown,
)
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.core.occupancy import resident_blocks
from thirty_two_lanes.core.source import package_of
from thirty_two_lanes.emulator import launch
from thirty_two_lanes.emulator.arguments import contiguous_or_refused, staged_arguments
from thirty_two_lanes.emulator.host.outside import refuse
from thirty_two_lanes.emulator.limits import most_threads, static_bytes
from thirty_two_lanes.emulator.program_cache import forget, prepared
from thirty_two_lanes.frontend.inference import compiled, ptx
from thirty_two_lanes.frontend.kernels import (
    argument_types,
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
        kernel = self.dispatcher
        refuse_named(kernel, named)
        contiguous_or_refused(kernel, arguments)
        with staged_arguments(kernel, arguments) as values:
            types = argument_types(kernel, values)
            self.begin(types)
            launch.run_plainly(kernel, self._config, values, types)

    def begin(self, types):
        """What comes before a launch for these argument types: compile, call back."""
        overload = _overload(self.dispatcher, types)
        for callback in self.pre_launch_callbacks:
            callback(overload, self)


@short_traceback
def compile_kernel(kernel, declared):
    """An eager signature: refuse now what would be refused at the first launch."""
    argument_types = tuple(sigutils.normalize_signature(declared)[0])
    return _overload(kernel, argument_types)


@short_traceback
def recompile(kernel):
    """Compile all overloads again, with the current values of globals."""
    known = list(kernel.overloads)
    forget(kernel)
    kernel._reset_overloads()
    for types in known:
        _overload(kernel, types)


def _overload(kernel, argument_types):
    """What Numba keeps of a kernel for these argument types."""
    if argument_types not in kernel.overloads:
        prepared(kernel, argument_types)
        kernel.add_overload(CompiledForTypes(kernel, argument_types), argument_types)
    return kernel.overloads[argument_types]


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
    if forall.ntasks:
        most = most_threads(forall.dispatcher.targetoptions)
        threads = forall.thread_per_block or min(256, most)
        blocks = -(-forall.ntasks // threads)
        forall.dispatcher[blocks, threads, forall.stream, forall.sharedmem](*arguments)


class CompiledForTypes:
    """A kernel for one list of argument types, in the place of Numba's `_Kernel`."""

    entry_point, objectmode = None, False  # what Numba looks at when it lets go
    launch_config_sensitive = False

    def __init__(self, kernel, argument_types):
        self.kernel, self.argument_types = kernel, argument_types
        self.signature = signature(none, *argument_types)

    @property
    def _function(self):
        return self.kernel.py_func, self.argument_types, self.kernel.targetoptions

    @property
    def _prepared(self):
        return prepared(self.kernel, self.argument_types)

    @property
    def regs_per_thread(self):
        raise UnsupportedError(
            "registers are allocated by NVIDIA's compiler, for a given GPU: the "
            "emulator has none to count"
        )

    @property
    def cooperative(self):
        """Does the kernel have a grid barrier?"""
        return bool(self._prepared.program.grid_barriers)

    @property
    def shared_mem_per_block(self):
        return static_bytes(self._prepared.program, "shared")

    @property
    def local_mem_per_thread(self):
        return static_bytes(self._prepared.program, "local")

    @property
    def const_mem_size(self):
        """The bytes of the global arrays that the kernel uses."""
        return self._prepared.constant_bytes

    @property
    def max_threads_per_block(self):
        return most_threads(self.kernel.targetoptions)

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """The blocks that an H200 holds at a time, by their threads and their shared
        memory.
        """
        threads = int(np.prod(blockdim))
        shared_bytes = self.shared_mem_per_block + dynsmemsize
        return resident_blocks(H200, threads, shared_bytes)

    def inspect_types(self, file=None):
        """Print the kernel's lines with the types that Numba inferred."""
        print(f"{self.kernel.py_func.__name__} {self.argument_types}", file=file)
        print("-" * 80, file=file)
        print(self._compiled().type_annotation, file=file)
        print("=" * 80, file=file)

    def inspect_llvm(self):
        return self._compiled().library.get_llvm_str()

    def inspect_asm(self, cc):
        return ptx(*self._function, cc)

    def inspect_sass(self, *compute_capability):
        raise UnsupportedError(
            "machine code (SASS) is generated by NVIDIA's assembler, for a given GPU: "
            "the emulator has none to show"
        )

    inspect_sass_cfg = inspect_lto_ptx = inspect_sass

    def _compiled(self):
        return compiled(*self._function)

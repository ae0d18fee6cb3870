"""What the front end needs of the package numba-cuda, where it keeps that.

What brings all of its lowering, a tenth of a second, waits for the first kernel.
"""

from numba.core import config
from numba.cuda.compiler import compile_extra as compile_extra
from numba.cuda.core import config as cuda_config
from numba.cuda.core.compiler import (  # noqa: F401
    _EarlyPipelineCompletion as EarlyPipelineCompletion,
)
from numba.cuda.core.compiler_lock import global_compiler_lock as global_compiler_lock
from numba.cuda.core.compiler_machinery import AnalysisPass as AnalysisPass
from numba.cuda.core.compiler_machinery import register_pass as register_pass
from numba.cuda.core.typed_passes import NopythonTypeInference as NopythonTypeInference
from numba.cuda.extending import intrinsic as intrinsic
from numba.cuda.utils import numba_target_override

CONFIGS = config, cuda_config  # where warnings are switched off
cuda_target_in_use = numba_target_override  # a context in which Numba compiles for CUDA


def none_equality(equal):
    """How Numba compares what may be None with None."""
    from numba.cuda.cpython.builtins import gen_non_eq

    return gen_non_eq(equal)


def make_array(kind):
    """How Numba's lowering reads the parts of an array."""
    from numba.cuda.np import arrayobj

    return arrayobj.make_array(kind)

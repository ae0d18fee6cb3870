"""What the front end needs of the `numba.cuda` built into numba, where that keeps it;
and what it lacks that lessons need: `min` and `max` of numbers, with the types of
numba-cuda.
"""

import operator

from numba.core import config, types
from numba.core.compiler import (  # noqa: F401
    _EarlyPipelineCompletion as EarlyPipelineCompletion,
)
from numba.core.compiler import compile_extra as compile_extra
from numba.core.compiler_lock import global_compiler_lock as global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass as AnalysisPass
from numba.core.compiler_machinery import register_pass as register_pass
from numba.core.extending import intrinsic as intrinsic
from numba.core.target_extension import target_override
from numba.core.typed_passes import NopythonTypeInference as NopythonTypeInference
from numba.core.typing.templates import AbstractTemplate, signature
from numba.cpython import builtins
from numba.cpython.builtins import gen_non_eq as none_equality  # noqa: F401
from numba.cuda import cudadecl, cudaimpl
from numba.np.arrayobj import make_array as make_array

CONFIGS = (config,)  # where warnings are switched off


def cuda_target_in_use():
    """A context in which Numba compiles for CUDA."""
    return target_override("cuda")


def complete():
    """Add `min` and `max` to the target."""
    for function, compare in ((min, operator.lt), (max, operator.gt)):
        cudadecl.registry.register_global(function)(_template(function))
        cudaimpl.registry.lower(function, types.VarArg(types.Any))(_lower(compare))


def _template(function):
    """How a call of `min` or `max` is typed: all numbers become one type."""

    class Extreme(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            numbers = all(isinstance(a, types.Number | types.Boolean) for a in args)
            if kws or len(args) < 2 or not numbers:
                return None
            return signature(self.context.unify_types(*args), *args)

    return Extreme


def _lower(compare):
    """The LLVM code of such a call, which Numba has already."""

    def lower(context, builder, sig, args):
        return builtins.do_minmax(context, builder, sig.args, args, compare)

    return lower


complete()

"""What the front end needs of the package numba-cuda, where it keeps that."""

from numba.core import config
from numba.cuda import fp16  # noqa: F401  a third of what Numba imports late
from numba.cuda.compiler import compile_extra as compile_extra
from numba.cuda.core import config as cuda_config
from numba.cuda.core.compiler_lock import global_compiler_lock as global_compiler_lock
from numba.cuda.core.compiler_machinery import AnalysisPass as AnalysisPass
from numba.cuda.core.compiler_machinery import register_pass as register_pass
from numba.cuda.core.typed_passes import NopythonTypeInference as NopythonTypeInference
from numba.cuda.cpython.builtins import gen_non_eq as none_equality  # noqa: F401
from numba.cuda.extending import intrinsic as intrinsic
from numba.cuda.np.arrayobj import make_array as make_array
from numba.cuda.utils import numba_target_override

CONFIGS = config, cuda_config  # where warnings are switched off
cuda_target_in_use = numba_target_override  # a context in which Numba compiles for CUDA

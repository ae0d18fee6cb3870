"""What the compiler makes of a kernel, with no GPU: registers, occupancy, and the
machine instructions of each source line.

kernel -> Numba, libNVVM, nvJitLink, nvdisasm -> instructions, resources -> Assembly
          compiler.py                            instructions.py, resources.py

compilation.py compiles, or takes what was recorded of a lesson's kernel where NVIDIA's
compiler is missing; of other kernels it then has the types alone, and the reason.
"""

from thirty_two_lanes.core.errors import short_traceback
from thirty_two_lanes.frontend.kernels import require_kernel

__all__ = ["assemble"]


@short_traceback
def assemble(kernel, target=None):
    """Compile `assemble(kernel)[blocks, threads](*args)` and return an Assembly.

    Nothing runs, and no argument changes. The target is a GPU's name ("T4", "A100",
    "RTX 4090", "H100", "H200", "B200") or a compute capability such as (8, 6); without
    one it is this machine's GPU, or else an H200.
    """
    from thirty_two_lanes.assembly.assembly import Assembler, capability_of

    require_kernel(kernel, "assemble")
    return Assembler(kernel, capability_of(target))

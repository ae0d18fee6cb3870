"""Numba's and NVIDIA's compilers, asked for a kernel's machine code with no GPU and no
driver: libNVVM, nvJitLink and nvdisasm, each from its wheel.

The steps are those of a launch (Numba's `_Kernel`): Numba lowers to LLVM, libNVVM makes
LTO-IR of it, nvJitLink links that to machine code. Line information is kept, which
changes no instruction.

Not modelled: kernels that link code of other languages, by `link=` or, as arithmetic in
float16, by Numba itself; and `debug=True`, whose code is another.
"""

import functools
import os
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

from numba.cuda import compiler as numba_compiler
from numba.cuda import dispatcher as numba_dispatcher
from numba.cuda.cudadrv import nvvm

from thirty_two_lanes.core.errors import ExplainedError, KernelError, UnsupportedError
from thirty_two_lanes.core.source import definition_of
from thirty_two_lanes.frontend.refusals.refusals import refusal, unknown
from thirty_two_lanes.frontend.target import stand_ins

HOW = (
    "install the extra `[compiler]` of thirty-two-lanes, on Linux and Windows; in the "
    "course's folder, `make setup` or `python -m pip install --requirement "
    "requirements-compiler.lock` does so"
)


@dataclass(frozen=True)
class MachineCode:
    """What the compilers made of a kernel."""

    entry: str  # its name there
    log: str  # the linker's
    cubin: bytes
    capability: tuple[int, int]


def missing() -> str:
    """Which compilers this machine lacks, and the remedy; "" when there are all."""
    try:
        from cuda import pathfinder
    except ImportError:
        return (
            "NVIDIA's compiler needs the package numba-cuda, which exists for Linux "
            "and Windows"
        )
    lacking = [name for name in ("nvvm", "nvJitLink") if not _loads(pathfinder, name)]
    if pathfinder.find_nvidia_binary_utility("nvdisasm") is None:
        lacking.append("nvdisasm")
    if find_spec("elftools") is None:
        lacking.append("pyelftools")
    if not lacking:
        return ""
    return f"NVIDIA's compiler is incomplete ({', '.join(lacking)} missing): {HOW}"


def _loads(pathfinder, name):
    try:
        return bool(pathfinder.load_nvidia_dynamic_lib(name))
    except Exception:  # whatever keeps a library from loading, it is not usable
        return False


def machine_code(function, types, options, capability) -> MachineCode:
    """A kernel's machine code for argument types and a compute capability.

    Raises KernelError where Numba refuses the kernel, and UnsupportedError where
    NVIDIA's compiler does.
    """
    try:
        made = _lowered(function, types, options, capability)
    except ExplainedError:
        raise
    except Exception as error:  # whatever goes wrong in Numba is about this kernel
        raise refusal(function, error, types) from error
    if made.library._linking_files:
        raise UnsupportedError(
            f"`{function.__name__}` needs code that Numba has in CUDA C++, as for sums "
            "of float16, and `assemble` does not compile that: `emulate` shows what it "
            "does"
        )
    try:
        cubin, log = _linked(made.library, options, capability)
    except Exception as error:
        if type(error).__module__ == "builtins" and type(error) is not RuntimeError:
            raise unknown(function, error) from error
        first = str(error).strip().splitlines()[:1]
        raise UnsupportedError(
            f"NVIDIA's compiler cannot compile `{function.__name__}` for compute "
            f"capability {dotted(capability)}: {''.join(first)}"
        ) from None
    return MachineCode(made.fndesc.llvm_func_name, log, cubin, capability)


def dotted(capability) -> str:
    """A compute capability as people write it."""
    return "{}.{}".format(*capability)


def _lowered(function, types, options, capability):
    """A kernel lowered to LLVM, as Numba's `_Kernel` does it."""
    from numba.cuda import lowering as numba_lowering  # the package's alone

    if options.get("link") or options.get("debug"):
        name = "link" if options.get("link") else "debug"
        raise KernelError(
            f"`{function.__name__}` has the option `{name}=`, which `assemble` does "
            "not support: leave it out"
        )
    # in place of the one that Numba finds
    device = SimpleNamespace(compute_capability=capability)
    asked = numba_dispatcher, "get_current_device", lambda *number: device
    # Numba's own fails where a docstring is all that a function has
    line = numba_lowering, "get_func_def_lineno", _line_of_definition
    with stand_ins(asked, line), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a kernel whose source is not available
        made = numba_compiler.compile_cuda(
            function,
            numba_compiler.types.void,
            tuple(types),
            lineinfo=True,
            forceinline=bool(options.get("forceinline")),
            fastmath=bool(options.get("fastmath")),
            nvvm_options=_nvvm_options(options),
            cc=capability,
            max_registers=options.get("max_registers"),
            lto=True,
        )
    kernel = made.library.get_function(made.fndesc.llvm_func_name)
    numba_compiler.kernel_fixup(kernel, False)
    nvvm.set_launch_bounds(kernel, options.get("launch_bounds"))
    return made


def _line_of_definition(function) -> int | None:
    """The line of a function's `def`; None where its source is not available."""
    found = definition_of(function)
    return found and found.lineno


def _nvvm_options(options):
    return {
        "fastmath": bool(options.get("fastmath")),
        "opt": 3 if options.get("opt", True) else 0,
    }


def _linked(library, options, capability):
    """The linker's log and the machine code."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    target = "".join(map(str, capability)) + ("a" if capability >= (9, 0) else "")
    choices = LinkerOptions(
        arch=f"sm_{target}",
        lineinfo=True,
        link_time_optimization=True,
        max_register_count=options.get("max_registers"),
        verbose=True,
    )
    objects = [ObjectCode.from_ltoir(_lto_ir(library, options, target))]
    if library.use_cooperative:  # a grid's barrier is CUDA's own code
        objects.append(ObjectCode.from_library(_cuda_file("cudadevrt")))
    linker = Linker(*objects, options=choices)
    return linker.link("cubin").code, linker.get_info_log()


def _lto_ir(library, options, target):
    """libNVVM's part, with CUDA's functions in bitcode from the wheel that has them."""
    choices = _nvvm_options(options) | {"arch": f"compute_{target}", "gen-lto": None}
    with stand_ins((nvvm.LibDevice, "_cache_", _cuda_file("device"))):
        return nvvm.compile_ir(library.llvm_strs, **choices)


@functools.cache
def _cuda_file(name):
    """A file of CUDA's own code, out of its wheel."""
    from cuda import pathfinder

    bitcode = name in pathfinder.SUPPORTED_BITCODE_LIBS
    find = pathfinder.find_bitcode_lib if bitcode else pathfinder.find_static_lib
    return Path(find(name)).read_bytes()


def disassembled(cubin) -> str:
    """nvdisasm's listing of machine code, with its source lines.

    Not asked for the flow of data between instructions, it takes a third less time.
    """
    from cuda import pathfinder

    program = pathfinder.find_nvidia_binary_utility("nvdisasm")
    handle, name = tempfile.mkstemp(suffix=".cubin")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(cubin)
        command = [program, "-c", "-gi", "-ndf", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout
    finally:
        os.unlink(name)

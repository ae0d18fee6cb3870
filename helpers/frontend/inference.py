"""Numba's own front end, asked for a kernel's typed IR.

Numba analyses the bytecode, infers every type and lowers once, with no driver and no
GPU, so that what is refused there is refused here. A pass of ours, right after type
inference, keeps what it found. What lowering asks of libNVVM, the layout of data and a
version, is answered for it, since a laptop has no libNVVM.
"""

import contextlib
import difflib
import inspect
from dataclasses import dataclass

import numba.cuda.compiler as numba_compiler
from numba.cuda import dispatcher as numba_dispatcher
from numba.cuda.cudadrv import nvvm
from numba.cuda.descriptor import cuda_target

from helpers.core.errors import UnsupportedError
from helpers.core.hardware import H200
from helpers.frontend.refusals.refusals import at, refusal
from helpers.frontend.target import stand_ins, target


@dataclass(frozen=True)
class TypedIR:
    """What Numba knows of one function for one list of argument types."""

    function: object  # the Python function
    ir: object  # numba's FunctionIR
    types: dict  # name of a variable: numba type
    calls: dict  # expression: signature
    result: object  # numba type of what it returns


def typed_ir(function, argument_types, options=None, known=None) -> TypedIR:
    """The typed IR of a Python function; raises KernelError where Numba refuses it.

    `known` has those of functions that were typed before, and gets what Numba types on
    the way, such as the device functions that are called.
    """
    known = {} if known is None else known
    key = function, tuple(argument_types)
    if key not in known:
        try:
            compiled(function, argument_types, options or {}, keeping(known))
        except Exception as error:  # whatever goes wrong in Numba is about this kernel
            raise refusal(function, error) from None
    return known[key]


def overload_of(function_type, signature):
    """The device function in Python that Numba has chosen for a function, or None."""
    for template in getattr(function_type, "templates", ()):
        chosen = getattr(function_type, "_impl_keys", {}).get(signature.args)
        compiled = getattr(template, "_compiled_overloads", {}).get(signature.args)
        if chosen is None or compiled is not chosen:
            continue
        with target.cuda_target_in_use(), contextlib.suppress(Exception):
            overload = template(cuda_target.typing_context)
            return overload._get_impl(signature.args, {})[0]
    return None


def compiled(function, argument_types, options, compiler=numba_compiler.CUDACompiler):
    """What Numba's own lowering makes of a kernel: LLVM's code, and its types."""
    replaced = (nvvm, "NVVM", LibNVVM), (numba_compiler, "CUDACompiler", compiler)
    with stand_ins(*replaced), target.cuda_target_in_use():
        return target.compile_extra(
            typingctx=cuda_target.typing_context,
            targetctx=cuda_target.target_context,
            func=function,
            args=tuple(argument_types),
            return_type=None,
            flags=_flags(options),
            locals={},
            pipeline_class=compiler,
        )


def assembly(function, argument_types, options, compute_capability) -> str:
    """A kernel's PTX, where NVIDIA's compiler is installed."""
    try:
        return numba_compiler.compile_ptx(
            function,
            tuple(argument_types),
            fastmath=bool(options.get("fastmath")),
            cc=compute_capability,
        )[0]
    except Exception as error:
        raise UnsupportedError(
            "PTX is written by NVIDIA's compiler (libnvvm), which this machine does "
            f"not have, or not one that fits ({type(error).__name__})"
        ) from None


def check_options(function, options):
    """Refuse what is no option of `@cuda.jit`, or makes no kernel that runs here."""
    known = inspect.signature(numba_dispatcher._Kernel).parameters
    strange = next((name for name in options if name not in known), None)
    if strange:
        close = difflib.get_close_matches(strange, known, 1)
        meant = f"; did you mean `{close[0]}`?" if close else ""
        raise at(
            function,
            function.__code__.co_firstlineno,
            f"`@cuda.jit` has no option `{strange}`{meant}",
        )
    if options.get("device"):
        raise at(
            function,
            function.__code__.co_firstlineno,
            f"`{function.__name__}` is a device function: kernels call it, and it "
            "cannot be launched",
        )
    if options.get("link"):
        raise at(
            function,
            function.__code__.co_firstlineno,
            "this kernel links code that is not Python (`link=`), which needs a GPU",
            UnsupportedError,
        )


def _flags(options):
    """Numba's flags for a kernel that is analysed and never made into machine code."""
    flags = numba_compiler.CUDAFlags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "python" if options.get("debug") else "numpy"
    flags.fastmath = bool(options.get("fastmath"))
    flags.compute_capability = H200.compute_capability  # of recorded measurements
    return flags


def keeping(known):
    """Numba's compiler, which also keeps the typed IR of each function that it compiles
    in a dictionary: of a kernel, and of the device functions that it calls.
    """

    class Keeping(numba_compiler.CUDACompiler):
        """Numba's compiler with one pass more."""

        typed = known

        def define_pipelines(self):
            (passes,) = super().define_pipelines()
            passes.add_pass_after(KeepTypedIR, target.NopythonTypeInference)
            passes.finalize()
            return [passes]

    return Keeping


@target.register_pass(mutates_CFG=False, analysis_only=True)
class KeepTypedIR(target.AnalysisPass):
    """The pass: what type inference found, before later passes change it."""

    _name = "keep_typed_ir"

    def __init__(self):  # abstract in Numba
        super().__init__()

    def run_pass(self, state):
        function = state.func_id.func
        state.pipeline.typed[function, tuple(state.args)] = TypedIR(
            function,
            state.func_ir.copy(),
            dict(state.typemap),
            dict(state.calltypes),
            state.return_type,
        )
        return False


class LibNVVM:
    """What lowering asks of libNVVM: NVVM IR specification, "Data layout"."""

    data_layout = (
        "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
        "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
    )

    def get_ir_version(self):
        return (2, 0, 3, 1)

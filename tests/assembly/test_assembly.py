"""`assemble`: what NVIDIA's own compiler makes of a kernel, line by line, no GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from helpers import assemble
from tests.paths import RECORDED
from tests.specimens import assembly_kernels as kernels
from thirty_two_lanes.assembly import compilation
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.assembly.instructions import Instruction, instructions_of
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.emulator import KernelError, LaunchError

X = np.ones(4096, np.float32)
PLACES = np.arange(100)
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")


def line_of(kernel, text):
    """The number of the kernel's line that begins with a text."""
    code = kernel.py_func.__code__
    lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()
    numbers = range(code.co_firstlineno, len(lines))
    return next(n for n in numbers if lines[n - 1].strip().startswith(text))


def topics(found):
    """What stands out, by line."""
    return {(it.site.line, it.topic) for it in found.findings}


@needs_compiler
def test_a_docstring_may_be_all_that_a_kernel_has():
    """Its code only ends, and belongs to the line of its definition."""

    @cuda.jit
    def end_at_once(out):
        """Each thread ends at once."""

    found = assemble(end_at_once)[1, 32](X)

    assert 1 == found.opcodes["EXIT"]
    assert {line_of(end_at_once, "def end_at_once")} == set(found.by_line)


# ---------------------------------------------------------------- instructions

LISTING = """
	.section	.text.other,"ax",@progbits
        /*0000*/                   EXIT ;
	.section	.text.mine,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=14"
	//## File "cell.py", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "cell.py", line 5
        /*0010*/              @!P0 LDS.128 R4, [R2] ;
        /*0020*/                   UIADD3 UR4, UR4, 0x4, URZ ;
	//## File "other.py", line 90 inlined at "cell.py", line 5
	//## File "cell.py", line 5
        /*0030*/                   HFMA2.MMA R8, -RZ, RZ, 0, 0 ;
        /*0040*/                   LDG.E.U8 R1, desc[UR4][R2.64] ;
        /*0050*/                   F2F.F64.F32 R2, R1 ;
        /*0060*/                   NOP;
"""


@pytest.mark.parametrize(
    "opcode, operands, kind",
    [
        ("MOV", "R1, R2", "moves"),
        ("IMAD.MOV.U32", "R1, RZ, RZ, R2", "moves"),
        ("IMAD.U32", "R1, RZ, RZ, UR4", "moves"),
        ("IMAD", "R1, R2, R3, R4", "integers and addresses"),
        ("IMAD.WIDE.U32", "R2, R3, 0x4, R4", "integers and addresses"),
        ("HFMA2.MMA", "R8, -RZ, RZ, 0, 0", "moves"),
        ("HFMA2", "R8, R2, R3, R4", "float16"),
    ],
)
def test_arithmetic_that_only_copies_a_value_is_a_move(opcode, operands, kind):
    """As the compiler writes it where the other units are idle."""
    assert kind == Instruction(0, opcode, operands, 1).kind


def test_a_listing_is_read_instruction_by_instruction():
    """Another kernel's section and the padding are no part of it."""
    found = instructions_of(LISTING, "mine", 1, 9)

    assert [(0, 3), (16, 5), (32, 5), (48, 5), (64, 5), (80, 5)] == [
        (it.offset, it.line) for it in found
    ]
    assert ["LDC", "LDS.128", "IADD3", "HFMA2", "LDG.U8", "F2F"] == [
        it.name for it in found
    ]
    assert [4, 16, 0, 0, 1, 0] == [it.width for it in found]
    assert "@!P0 LDS.128 R4, [R2]" == str(found[1])
    assert ["moves", "global loads", "conversions"] == [it.kind for it in found[3:]]


# ---------------------------------------------------------------- what it says


@pytest.mark.slow
@needs_compiler
def test_the_saxpy_with_32_bit_indices_is_as_short_as_nvccs():
    """Recorded: what nvcc makes of the twin in CUDA C++."""
    recorded = json.loads((RECORDED / "assembly.json").read_text())["nvcc"]
    args = np.float32(2), X, X

    plain = assemble(kernels.saxpy)[4, 256](*args)
    narrow = assemble(kernels.saxpy_32)[4, 256](*args, np.uint32(4096))

    line = line_of(kernels.saxpy, "y[i] =")
    assert recorded["saxpy"] == len(narrow.instructions)
    assert len(plain.instructions) > 1.5 * len(narrow.instructions)
    assert {(line, "indices")} == topics(plain)
    assert set() == topics(narrow)
    assert plain.by_line[line].total() > 2 * narrow.by_line[line + 7].total()
    text = repr(plain.beside(narrow))
    assert "instructions" in text and "saxpy_32" in text


@needs_compiler
def test_types_stand_beside_the_line_that_gives_a_value():
    """As Numba infers them; arguments at the definition."""
    found = assemble(kernels.saxpy)[4, 256](np.float32(2), X, X)

    assert {"a": "float32", "x": "float32[::1]", "y": "float32[::1]"} == (
        found.variables[line_of(kernels.saxpy, "def")]
    )
    assert {"i": "int64"} == found.variables[line_of(kernels.saxpy, "i = ")]


@needs_compiler
@pytest.mark.parametrize(
    "kernel, arguments, text, topic, opcode",
    [
        (kernels.doubled, (X,), "x[i] =", "float64", "DMUL"),
        (kernels.strided, (X.reshape(64, 64)[:, ::2],), "x[i, 0]", "generic", "ST"),
        (kernels.divided, (PLACES, np.int64(3)), "x[i] =", "calls", "CALL"),
        (kernels.spilled, (X,), "own[k] =", "spills", "STL"),
    ],
    ids=["float64", "generic", "call", "spill"],
)
def test_what_is_costly_stands_out(kernel, arguments, text, topic, opcode):
    """Conversions, generic accesses, calls and spills, at their line."""
    found = assemble(kernel)[1, 64](*arguments)

    assert (line_of(kernel, text), topic) in topics(found)
    assert found.by_line[line_of(kernel, text)][opcode]


@needs_compiler
def test_a_call_is_named_for_what_it_does():
    """The routine's name in the machine code, in words."""
    found = assemble(kernels.divided)[1, 64](PLACES, np.int64(3))
    root = assemble(kernels.rooted)[1, 64](X)

    assert "1 call of a routine: a division of 64-bit integers." in repr(found)
    assert "1 call of a routine: a power of float64." in repr(root)


@needs_compiler
def test_spills_are_the_linkers_own_numbers():
    """What 24 registers have no room for."""
    found = assemble(kernels.spilled)[1, 64](X)

    assert 24 == found.registers
    assert found.spill_stores > 0 and found.spill_loads > 0
    assert found.stack >= 32 * 4
    assert f"{found.spill_stores:,} bytes spilled" in repr(found)


@needs_compiler
def test_memories_are_counted_in_bytes():
    """Shared, dynamic shared and constant memory; a thousand weights of 4 bytes."""
    shared = assemble(kernels.neighbours)[1, 256, 0, 2048](X)
    constant = assemble(kernels.weighed)[1, 64](X, PLACES)

    assert (1024, 2048) == (shared.shared_memory, shared.dynamic_shared_memory)
    assert 4000 == constant.constant_memory
    assert 0 == shared.constant_memory


@needs_compiler
@pytest.mark.parametrize("gpu", ["A100", "H200"])
def test_what_a_gpu_reserves_is_not_the_kernels(gpu):
    """Machine code counts a kilobyte in from compute capability 9.0 on. Numba on an
    H200 does not: 8 bytes for lesson 19's `sum_after_all`, whose section has 1,032.
    """
    for kernel in kernels.neighbours, kernels.neighbours_of_all:
        assert 1024 == assemble(kernel, gpu)[1, 256](X).shared_memory


@pytest.mark.slow
@needs_compiler
def test_loads_that_the_compiler_merged_or_left_out_are_told():
    """So that the counts of `emulate` and the instructions explain each other."""
    merged = assemble(kernels.tiled)[(4, 4), (16, 16)](*[X.reshape(64, 64)] * 3)
    once = assemble(kernels.twice)[1, 64](X)
    kept = assemble(kernels.in_registers)[1, 64](X)

    assert 4 == merged.opcodes["LDS.128"]
    (sentence,) = merged.accesses[line_of(kernels.tiled, "total +=")]
    assert sentence.startswith(
        "the compiler merged neighbouring loads: 4 LDS.128 do 16 loads of 4 bytes"
    )
    (sentence,) = once.accesses[line_of(kernels.twice, "x[i] =")]
    assert sentence.startswith("3 loads of `x` in the source, 1 in the code")
    (sentence,) = kept.accesses[line_of(kernels.in_registers, "own[k]")]
    assert sentence.startswith("`own` is in registers")


@pytest.mark.slow
@needs_compiler
def test_device_functions_and_grid_barriers_have_their_code():
    """A callee's instructions are at the line that calls it."""
    halved = assemble(kernels.halved)[1, 64](X)
    whole = assemble(kernels.whole_grid)[1, 64](X)

    assert 1 == halved.by_line[line_of(kernels.halved, "x[i] =")]["FMUL"]
    assert 1 == whole.by_line[line_of(kernels.whole_grid, "grid.sync")]["CALL"]
    assert set() == {topic for _, topic in topics(whole)} - {"indices"}


@needs_compiler
def test_another_gpu_gets_its_own_code():
    """Registers, limits and instructions are those of its compute capability."""
    found = assemble(kernels.saxpy)[4, 256](np.float32(2), X, X)
    old = found.on("T4")

    assert (7, 5) == old.compute_capability
    assert 32 == old.occupancy.most_warps
    table = repr(found.on_each("T4", "H200"))
    assert "T4" in table and "H200" in table
    assert "saxpy on 9.0" in repr(found.beside(old))


@pytest.mark.parametrize(
    "name, capability",
    [("H100", (9, 0)), ("nvidia h200", (9, 0)), ("GeForce RTX 4090", (8, 9))],
)
def test_a_gpu_is_chosen_by_name(name, capability):
    """As people write it, with the maker's name or without."""
    found = assemble(kernels.saxpy, name)[4, 256](np.float32(2), X, X)

    assert capability == found.compute_capability


FACTOR = 3


@pytest.mark.slow
@needs_compiler
def test_a_kernel_is_compiled_once_until_what_it_depends_on_changes(monkeypatch):
    """Its types, the capability, and the numbers around it."""

    @cuda.jit
    def scaled(x):
        i = cuda.grid(1)
        x[i] = x[i] * np.float32(FACTOR)

    compiled, ask = [], compilation.machine_code
    monkeypatch.setattr(
        compilation, "machine_code", lambda *its: compiled.append(its) or ask(*its)
    )
    first = assemble(scaled)[1, 64](X)
    assert first == assemble(scaled)[1, 64](X)
    assert 1 == len(compiled)

    monkeypatch.setitem(globals(), "FACTOR", 5)
    assert first.instructions != assemble(scaled)[1, 64](X).instructions
    assemble(scaled, "T4")[1, 64](X)
    assemble(scaled)[1, 64](X.astype(np.float64))
    assert 4 == len(compiled)


@needs_compiler
def test_nothing_runs_and_nothing_changes():
    """Arguments are asked for their types only."""
    x = np.arange(64, dtype=np.float32)
    device = cuda.to_device(x)

    assemble(kernels.doubled)[1, 64](device)

    assert np.array_equal(x, device.copy_to_host())


@needs_compiler
def test_the_page_has_each_line_its_types_and_its_instructions():
    """Folded, with the sentences below the lines."""
    page = assemble(kernels.doubled)[1, 64](X)._repr_html_()

    assert "float32[::1]" in page
    assert "<details><summary>" in page and "DMUL" in page
    assert "Cast constants: <code>float32(...)</code>" in page
    assert "class='s costly'" in page


@needs_compiler
def test_the_listing_has_every_instruction():
    """At its offset, below its line."""
    found = assemble(kernels.doubled)[1, 64](X)

    for it in found.instructions:
        assert f"{it.offset:04x}  {it}" in found.listing


# ---------------------------------------------------------------- what it refuses


def test_without_the_compiler_there_are_the_types(monkeypatch):
    """And the sentence says what is missing, and how to get it."""
    monkeypatch.setattr(compilation, "missing", lambda: "no compiler: get it so")

    found = assemble(kernels.saxpy)[4, 256](np.float32(2), X, X)

    assert "no compiler: get it so" in repr(found)
    assert "i: int64" in repr(found) and "i: int64" in found._repr_html_()
    for ask in ("registers", "opcodes", "by_line", "occupancy", "accesses"):
        with pytest.raises(UnsupportedError, match="no compiler: get it so"):
            getattr(found, ask)


def test_what_is_missing_is_named():
    """On a machine that lacks a part, the sentence names it and the remedy."""
    said = missing()

    assert not said or "requirements-compiler.lock" in said or "numba-cuda" in said


@needs_compiler
def test_a_kernel_that_numba_refuses_is_refused_in_a_sentence():
    """The same as a launch says."""

    @cuda.jit
    def wrong(x):
        x[0] = sorted(x)[0]

    with pytest.raises(KernelError, match="line"):
        assemble(wrong)[1, 32](X)


@needs_compiler
def test_arithmetic_that_numba_keeps_in_another_language_is_refused():
    """Sums of float16 are compiled from CUDA C++, which needs a toolkit."""

    @cuda.jit
    def halves(x):
        x[0] = x[1] + x[2]

    with pytest.raises(UnsupportedError, match="sums of float16, and `assemble` does"):
        assemble(halves)[1, 32](X.astype(np.float16))


def test_what_is_no_kernel_no_gpu_or_no_launch_is_refused():
    """Each with its sentence."""
    with pytest.raises(TypeError, match="takes a kernel"):
        assemble(len)
    with pytest.raises(ValueError, match="unknown GPU 'Voodoo': use one of"):
        assemble(kernels.saxpy, "Voodoo")
    with pytest.raises(ValueError, match="two whole numbers"):
        assemble(kernels.saxpy, (9.0,))
    with pytest.raises(LaunchError, match="the launch configuration is missing"):
        assemble(kernels.saxpy)(X)
    with pytest.raises(LaunchError, match="2,048 threads per block are too many"):
        assemble(kernels.saxpy)[1, 2048](np.float32(2), X, X)


@needs_compiler
def test_a_capability_that_the_compiler_does_not_know_is_refused():
    """libNVVM 13 begins at 7.5."""
    with pytest.raises(UnsupportedError, match="compute capability 3.5"):
        assemble(kernels.doubled, (3, 5))[1, 32](X)


def test_a_reader_of_machine_code_that_is_missing_is_named_with_its_remedy(monkeypatch):
    """As the compilers are: on the doctor's page, and where code would stand."""
    pytest.importorskip("cuda.pathfinder")
    compiler = "thirty_two_lanes.assembly.compiler"
    monkeypatch.setattr(f"{compiler}.find_spec", lambda name: None)

    lacking = missing()
    assert "pyelftools" in lacking
    assert "requirements-compiler.lock" in lacking

"""Kernels with signatures, beside what an H200 made of the same launches."""

import numpy as np
import pytest
from numba import cuda

from helpers import device, emulate
from tests.on_gpu.declared_signatures import answer, recorded
from tests.on_gpu.signature_cases import CASES
from tests.quick import some
from tests.specimens.kernels import BUILT_IN
from thirty_two_lanes.emulator import KernelError, LaunchError

pytestmark = [
    pytest.mark.skipif(BUILT_IN, reason="the package's launches are what is recorded"),
    pytest.mark.skipif(device.has_gpu, reason="launches go to the GPU"),
]
NOT_MODELLED = {  # a GPU takes these from the argument, or from wrong places
    "int64 for int32[:], bytes",
    "int64 for int32[::1], bytes",
}
REFUSED = {  # what a GPU runs, with the sentence's part that says why not here
    "int32 for int64[::1], all": "which has 64 bytes",
    "one int32 for int64[:]": "which has 4 bytes",
    "backwards for int32[::1]": "which has 64 bytes",
    "two axes for int32[:], the last": "from wrong places",
    "two axes for int32[::1], the last": "from wrong places",
    "[1, 2] for UniTuple(int32, 2)": "is a list",
    "too many arguments": "takes 1 arguments (a) but got 2",
}
SAME = [name for name in CASES if name not in {*NOT_MODELLED, *REFUSED}]


@pytest.fixture(scope="module")
def on_gpu():
    """What an H200 gave, by the names of the cases."""
    return recorded()


@pytest.mark.parametrize("name", some(SAME, every=2))
def test_a_launch_leaves_the_bytes_that_an_h200_leaves_or_both_refuse(name, on_gpu):
    """To the last byte of each array."""
    ours = answer(CASES[name])

    if "arrays" in on_gpu[name]:
        assert on_gpu[name] == ours
    else:
        assert ours["error"] in ("KernelError", "LaunchError"), ours


@pytest.mark.parametrize("name", REFUSED)
def test_a_launch_that_leaves_its_arguments_is_refused_and_says_why(name, on_gpu):
    """Though an H200 ran it."""
    ours = answer(CASES[name])

    assert "arrays" in on_gpu[name]
    assert REFUSED[name] in ours["text"]


@cuda.jit("void(int32[:], int32[::1], int32)")
def three_arguments(a, b, n):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = n
        b[i] = a[i]


def test_a_report_says_what_is_read_of_arguments_unlike_their_signature():
    """Each with what was declared, what was passed, and what is read."""
    run = emulate(three_arguments)[1, 32](np.zeros(32, int), np.zeros(32), 2**40 + 3)

    (found,) = [it for it in run.warnings if it.kind == "signature"]
    assert (
        "`a` is declared int32[:] and gets elements of int64: the low 4 bytes of each "
        "element are read; `b` is declared int32[::1] and gets elements of float64 "
        "that are 8 bytes apart: its bytes are read as int32 from the first on, one "
        "after the other; `n` is declared int32: 1099511627779 becomes 3. A GPU does "
        "the same, without a word: pass what the signature declares, or change it"
    ) == found.text
    assert "signature" not in {it.kind for it in _of_the_declared_types().warnings}


def _of_the_declared_types():
    arrays = np.zeros(32, np.int32), np.zeros(32, np.int32)
    return emulate(three_arguments)[1, 32](*arrays, 3)


def test_a_report_says_that_a_kernel_stores_to_a_read_only_array():
    """As it does on a GPU: the copy goes back."""
    frozen = np.zeros(32, np.int32)
    frozen.flags.writeable = False

    run = emulate(three_arguments)[1, 32](frozen, np.zeros(32, np.int32), 3)

    assert "`a` is read-only, and the kernel stores to it" in run.warnings[0].text
    assert [3] * 32 == frozen.tolist()


@cuda.jit("void(int64[:], int64, int64)")
def count(a, step, turns):
    for turn in range(turns):
        a[step * cuda.grid(1) + turn // (turns - 1)] += 1


@pytest.mark.parametrize("turns", [2, 4000])
def test_misaligned_elements_are_refused_with_their_line_and_thread(turns):
    """A GPU's launch fails with a misaligned address; in a long loop, too, which goes
    on as machine code.
    """
    with pytest.raises(KernelError, match=r"byte 4 .* misaligned(.|\n)*thread 0 of"):
        count[1, 1](np.zeros(16, np.int32), 2, turns)


def test_an_emulation_leaves_what_a_launch_leaves():
    """The bytes of elements of another size."""
    once, again = np.zeros(17, np.int32), np.zeros(17, np.int32)

    with pytest.raises(KernelError):
        count[1, 4](once, 2, 9)
    with pytest.raises(KernelError):
        emulate(count)[1, 4](again, 2, 9)

    assert [8, 0] * 4 + [0] * 9 == once.tolist() == again.tolist()


def test_a_recompiled_kernel_has_each_signature_once():
    """Twice, and Numba's dispatcher would call a launch ambiguous."""

    @cuda.jit(["void(int32[:])", "void(int64[:])"])
    def count(a):
        a[0] += 1

    count.recompile()
    a = np.zeros(1, np.int32)
    count[1, 1](a)

    assert [1] == a.tolist()


@pytest.mark.parametrize("kind, value", [("boolean", 2**70), ("float32", 10**400)])
def test_numbers_too_large_for_any_type_are_refused(kind, value):
    """Not as a GPU, but as Numba before it."""
    kernel = cuda.jit(f"void({kind})")(lambda x: None)

    with pytest.raises(KernelError, match=f"`x` is declared {kind[:4]}.* cannot pass"):
        kernel[1, 1](value)


def test_arguments_of_no_type_that_kernels_have_are_refused_by_name():
    """Whatever is declared."""
    with pytest.raises(LaunchError, match="argument `n` is a str"):
        three_arguments[1, 1](np.zeros(1, np.int32), np.zeros(1, np.int32), "3")

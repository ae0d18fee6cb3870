"""Dynamic shared memory above 48 KB: refused as a GPU does, until a kernel opts in."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32

from helpers import allow_dynamic_shared, assemble, emulate, measure
from tests.specimens.kernels import reversing
from thirty_two_lanes.core import dynamic_shared
from thirty_two_lanes.core.hardware import STATIC_SHARED_BYTES
from thirty_two_lanes.emulator import LaunchError

MOST = 232_448  # bytes of a block on an H200: CUDA's programming guide


@cuda.jit
def with_a_tile(out):
    """16 KB are declared."""
    tile = cuda.shared.array(4096, float32)
    cells = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = cells[t] = t
    out[t] = tile[t] + cells[t]


def verbs(kernel):
    """What takes a launch's brackets."""
    return {
        "launch": kernel,
        "emulate": emulate(kernel),
        "assemble": assemble(kernel),
        "measure": measure(kernel),
    }


VERBS = tuple(verbs(with_a_tile))


@pytest.mark.parametrize("verb", VERBS)
def test_above_48_kb_a_launch_is_refused_with_the_remedy(verb):
    """As on a GPU; 48 KB are still there without asking."""
    kernel, out = reversing(), np.zeros(32, np.int32)
    launch = verbs(kernel)[verb]

    launch[1, 32, 0, STATIC_SHARED_BYTES](out)
    with pytest.raises(LaunchError) as refused:
        launch[1, 32, 0, 65536](out)

    text = str(refused.value)
    assert "`reversed_in_shared` is launched with 65,536 bytes of dynamic" in text
    assert "49,152 unless its kernel asks for more" in text
    assert "`allow_dynamic_shared(reversed_in_shared, 65536)`" in text


@pytest.mark.parametrize("verb", VERBS)
def test_a_kernel_that_opts_in_has_what_it_asked_for(verb):
    """And not more."""
    kernel, out = reversing(), np.zeros(32, np.int32)
    launch = verbs(kernel)[verb]
    allow_dynamic_shared(kernel, 96 * 1024)

    launch[1, 32, 0, 96 * 1024](out)
    if verb in ("launch", "emulate"):
        np.testing.assert_array_equal(np.arange(32)[::-1], out)
    with pytest.raises(LaunchError, match="it was allowed 98,304: call"):
        launch[1, 32, 0, 96 * 1024 + 4](out)


def test_a_kernel_opts_in_for_all_its_types_and_copies():
    """Whatever is compiled later, `forall`, and what is specialised."""
    kernel = reversing()
    allow_dynamic_shared(kernel, MOST)

    for dtype in (np.int32, np.float32, np.int64):
        out = np.zeros(32, dtype)
        kernel[1, 32, 0, MOST](out)
        np.testing.assert_array_equal(np.arange(32)[::-1], out)
    out[:] = 0
    kernel.forall(32, sharedmem=MOST)(out)
    np.testing.assert_array_equal(np.arange(32)[::-1], out)
    out[:] = 0
    kernel.specialize(out)[1, 32, 0, MOST](out)
    np.testing.assert_array_equal(np.arange(32)[::-1], out)


def test_a_kernel_that_opts_in_to_less_keeps_48_kb():
    """What every kernel has is not taken away."""
    kernel, out = reversing(), np.zeros(32, np.int32)
    allow_dynamic_shared(kernel, 1024)

    kernel[1, 32, 0, STATIC_SHARED_BYTES](out)

    np.testing.assert_array_equal(np.arange(32)[::-1], out)


def test_what_a_kernel_declares_counts():
    """16 KB declared leave 32 KB without asking, and 211 KB in all."""
    out, room = np.zeros(32, np.float32), STATIC_SHARED_BYTES - 16384

    with_a_tile[1, 32, 0, room](out)
    with pytest.raises(LaunchError, match="declares 16,384 of them"):
        with_a_tile[1, 32, 0, room + 4](out)
    allow_dynamic_shared(with_a_tile, MOST)
    with_a_tile[1, 32, 0, MOST - 16384](out)
    with pytest.raises(LaunchError, match="and declares 16,384 bytes itself: a block"):
        emulate(with_a_tile)[1, 32, 0, MOST - 16384 + 4](out)
    np.testing.assert_array_equal(2 * np.arange(32), out)


def test_what_no_gpu_allows_is_refused_at_once():
    """More than a block can have, no number, and what is no kernel."""
    kernel = reversing()

    with pytest.raises(LaunchError, match="has at most 232,448 on an H200"):
        allow_dynamic_shared(kernel, MOST + 1)
    for wrong in (-1, 1.5, "64 KB"):
        with pytest.raises(LaunchError, match="a whole number of bytes"):
            allow_dynamic_shared(kernel, wrong)
    with pytest.raises(TypeError, match="takes a kernel"):
        allow_dynamic_shared(cuda.jit(device=True)(lambda x: x), 1024)
    with pytest.raises(TypeError, match="takes a kernel"):
        allow_dynamic_shared(np.sin, 1024)


class Kernel:
    """A kernel as Numba keeps one on a GPU: each version has a function of the driver.

    One version declares 16 KB.
    """

    targetoptions = {}

    def __init__(self, *versions):
        self.py_func = with_a_tile.py_func
        self.overloads = {it: self.version(it) for it in versions}

    def version(self, name):
        function = SimpleNamespace(handle=name, device=SimpleNamespace(id=0))
        return SimpleNamespace(
            shared_mem_per_block=16384 if name == "declares" else 0,
            _codelibrary=SimpleNamespace(get_cufunc=lambda: function),
        )

    def compile(self, name):
        self.overloads[name] = self.version(name)
        return self.overloads[name]

    def specialize(self, name):
        return Kernel(f"special {name}")


@pytest.fixture
def opted_in(monkeypatch):
    """What the driver of a GPU is told: a function, and its bytes."""
    told = []
    names = {"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 8}
    binding = SimpleNamespace(CUfunction_attribute=SimpleNamespace(**names))
    driver = SimpleNamespace(
        cuKernelSetAttribute=lambda *values: told.append(values),
    )
    fake = SimpleNamespace(binding=binding, driver=driver)
    monkeypatch.setattr(dynamic_shared, "driver", fake)
    gpu = SimpleNamespace(has_gpu=True, name="a GPU")
    monkeypatch.setattr(dynamic_shared, "device", gpu)
    return told


def test_on_a_gpu_each_version_opts_in_once_it_is_compiled(opted_in):
    """Those that there are, those that come, and specialised ones; never to less than
    it has by default.
    """
    kernel = Kernel("first", "declares")

    allow_dynamic_shared(kernel, 65536)
    assert [(8, 65536, "first", 0), (8, 65536, "declares", 0)] == opted_in
    kernel.compile("later")
    kernel.specialize("later")
    assert ["later", "special later"] == [it[2] for it in opted_in[2:]]
    opted_in.clear()
    allow_dynamic_shared(kernel, 1024)
    assert [49152, 32768, 49152] == [it[1] for it in opted_in]
    opted_in.clear()
    kernel.compile("last")
    assert [(8, 49152, "last", 0)] == opted_in


def test_on_a_gpu_what_a_version_declares_counts(opted_in):
    """The driver would refuse it without a reason."""
    with pytest.raises(LaunchError, match="at most 232,448 on this GPU"):
        allow_dynamic_shared(Kernel("declares"), MOST)
    assert [] == opted_in

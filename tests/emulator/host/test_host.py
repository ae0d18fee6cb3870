"""What `numba.cuda` offers the host, answered where there is no GPU."""

import subprocess
import sys

import numpy as np
import pytest
from numba import cuda, float32

from helpers import device, emulate
from tests.paths import ROOT
from tests.specimens.kernels import add, matrix_product

pytestmark = pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")


def launched(*arguments, blocks=4, threads=32):
    """The last argument, after a plain launch of `add`."""
    add[blocks, threads](*arguments)
    return arguments[-1]


def test_a_gpu_seems_to_be_there_and_the_device_tells_the_truth():
    """`cuda.is_available()` is True, as in Numba's simulator."""
    assert cuda.is_available()
    assert not device.has_gpu
    assert "Emulator" in repr(device)
    assert 1 == len(cuda.gpus)
    assert (9, 0) == tuple(cuda.get_current_device().compute_capability)


def test_a_plain_launch_changes_numpy_arrays_in_place():
    """As Numba copies them back from a GPU."""
    a, out = np.arange(100.0), np.zeros(100)

    assert (3 * a).tolist() == launched(a, 2 * a, out).tolist()


def test_a_plain_launch_and_emulate_give_the_same():
    """Bit for bit."""
    rng = np.random.default_rng(3)
    a, b = (
        rng.standard_normal(shape).astype(np.float32) for shape in ((40, 50), (50, 30))
    )
    plain, emulated = np.zeros((40, 30), np.float32), np.zeros((40, 30), np.float32)

    matrix_product[(2, 3), (16, 16)](a, b, plain)
    emulate(matrix_product)[(2, 3), (16, 16)](a, b, emulated)

    assert plain.tolist() == emulated.tolist()
    np.testing.assert_allclose(plain, a @ b, rtol=1e-4, atol=1e-4)


def test_device_arrays_go_there_and_back():
    """`to_device` copies; a launch changes the copy; `copy_to_host` brings it."""
    host = np.arange(100, dtype=np.float32)
    there, out = cuda.to_device(host), cuda.device_array(100, np.float32)
    host[:] = 0

    launched(there, there, out)

    assert (2 * np.arange(100)).tolist() == out.copy_to_host().tolist()
    assert np.arange(100).tolist() == there.copy_to_host().tolist()
    target = np.empty(100, np.float32)
    out.copy_to_host(target)
    assert (2 * np.arange(100)).tolist() == target.tolist()


def test_device_arrays_of_every_shape():
    """Two axes, Fortran order, like another, and copies between devices."""
    fortran = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    there = cuda.to_device(fortran)
    like = cuda.device_array_like(there)

    like.copy_to_device(there)

    assert fortran.tolist() == like.copy_to_host().tolist()
    assert fortran.strides == like.strides
    assert (5, 6) == cuda.device_array((5, 6), np.int8).copy_to_host().shape


def test_slices_of_device_arrays_are_views():
    """A launch on a slice changes the whole."""
    whole = cuda.to_device(np.zeros(64))
    ones = cuda.to_device(np.ones(16))

    launched(ones, ones, whole[16:32], blocks=1)
    whole[40:44] = 7
    whole[60:] = ones[:4]

    expected = [0] * 16 + [2] * 16 + [0] * 8 + [7] * 4 + [0] * 16 + [1] * 4
    assert expected == whole.copy_to_host().tolist()
    assert [0, 2, 7, 1] == [whole[0], whole[20], whole[40], whole[63]]


def test_pinned_arrays_are_host_memory():
    """They are filled and launched as any other."""
    pinned = cuda.pinned_array(32, np.float64)
    pinned[:] = 4

    assert [8] * 32 == launched(pinned, pinned, np.zeros(32), blocks=1).tolist()


def test_streams_are_taken_in_launches_and_copies():
    """Everything has happened when the call returns."""
    stream = cuda.stream()
    with stream.auto_synchronize():
        a = cuda.to_device(np.ones(32), stream=stream)
        out = cuda.device_array(32, stream=stream)
        add[1, 32, stream](a, a, out)
    stream.synchronize()
    cuda.synchronize()

    assert [2] * 32 == out.copy_to_host(stream=stream).tolist()


def test_events_measure_a_time():
    """In milliseconds, between two records."""
    start, end = cuda.event(), cuda.event()
    start.record()
    launched(np.ones(32), np.ones(32), np.zeros(32))
    end.record()
    end.synchronize()

    assert 0 < cuda.event_elapsed_time(start, end) < 60_000


def test_forall_covers_as_many_threads_as_asked():
    """It chooses blocks and threads itself."""
    out = np.zeros(1000)

    add.forall(1000)(np.ones(1000), np.ones(1000), out)

    assert [2] * 1000 == out.tolist()


def test_an_eager_signature_refuses_at_once_and_runs():
    """`@cuda.jit("…")` compiles where it stands."""

    @cuda.jit("void(float32[:], float32[:])")
    def double(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] * 2

    out = np.zeros(10, np.float32)

    double[1, 32](np.arange(10, dtype=np.float32), out)

    assert [2 * i for i in range(10)] == out.tolist()
    with pytest.raises(TypeError, match="`np.sqrt`"):

        @cuda.jit("void(float32[:])")
        def wrong(a):
            a[0] = np.sqrt(a[1])


def test_dynamic_shared_memory_in_a_plain_launch():
    """The fourth item of the brackets."""

    @cuda.jit
    def sizes(out):
        out[0] = cuda.shared.array(0, float32).size

    out = np.zeros(1)

    sizes[1, 1, 0, 4 * 77](out)

    assert [77] == out.tolist()


def test_arguments_marked_in_and_out():
    """`cuda.In`, `cuda.Out` and `cuda.InOut` wrap host arrays."""
    a, out = np.ones(32), np.zeros(32)

    launched(cuda.In(a), cuda.InOut(a), cuda.Out(out), blocks=1)

    assert [2] * 32 == out.tolist()


@pytest.mark.slow
def test_names_bound_before_helpers_is_imported_work():
    """`from numba.cuda import …` may come first: methods are answered, not names."""
    program = """
from numba import cuda
from numba.cuda import device_array, grid, jit, synchronize, to_device
@jit
def double(a, out):
    i = grid(1)
    if i < a.size:
        out[i] = 2 * a[i]
import helpers
import numpy as np
a = to_device(np.arange(5))
out = device_array(5, np.int64)
double[1, 32](a, out)
synchronize()
print(out.copy_to_host().tolist(), cuda.is_available())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert "[0, 2, 4, 6, 8] True\n" == done.stdout, done.stderr


def test_an_array_of_no_elements_is_fine_until_it_is_indexed():
    """A guarded kernel does nothing with it."""
    empty = cuda.to_device(np.zeros(0))

    launched(empty, empty, empty)

    assert 0 == empty.copy_to_host().size


def test_print_writes_a_line_for_each_thread(capsys):
    """Texts and numbers, the latter as a GPU prints them; only active threads print."""

    @cuda.jit
    def tell(values):
        thread = cuda.threadIdx.x
        if thread > 29:
            print("thread", thread, values[0])

    tell[1, 32](np.ones(1))

    assert "thread 30 1.000000\nthread 31 1.000000\n" == capsys.readouterr().out


def test_print_stops_after_a_thousand_lines(capsys):
    """A grid that prints in every thread says that there is more, and ends."""

    @cuda.jit
    def tell():
        print(cuda.grid(1))

    tell[2, 1024]()

    lines = capsys.readouterr().out.splitlines()
    assert 1001 == len(lines) and "first 1,000 lines" in lines[-1]


def test_an_error_leaves_the_emulators_insides_out_of_its_traceback():
    """A beginner sees the cell, one frame of the front door, and the sentence."""

    @cuda.jit
    def beyond(values):
        values[cuda.grid(1)] = 1

    for launch in (beyond[1, 32], emulate(beyond)[1, 32]):
        with pytest.raises(IndexError) as caught:
            launch(np.zeros(31))
        assert len(caught.traceback) <= 3


def test_an_eager_signature_decides_the_types():
    """A Python number becomes what the signature says: 32 bits here, not 64."""

    @cuda.jit("void(int32[:], int32)")
    def zeros_above(out, number):
        out[0] = cuda.clz(number)

    out = np.zeros(1, np.int32)
    zeros_above[1, 1](out, 0x00100000)

    assert 11 == out[0]

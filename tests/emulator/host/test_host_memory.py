"""Memory and copies where there is no GPU: what is shared, what is copied, and when."""

import gc
from typing import NamedTuple

import numpy as np
import pytest
from numba import cuda

from helpers import device, emulate
from tests.specimens.kernels import add
from thirty_two_lanes.emulator import LaunchError, arguments

pytestmark = pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def shift(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i]


@cuda.jit
def fill_with_two(out):
    out[cuda.grid(1)] = 2


@cuda.jit
def advance(to, of):
    i = cuda.grid(1)
    to[i] = of[i] + 1


class Planes(NamedTuple):
    factor: float
    arrays: tuple


@cuda.jit
def scale_planes(planes):
    """The second array of a tuple in a tuple, by its first and by a number."""
    i = cuda.grid(1)
    a, b = planes.arrays
    b[i] += planes.factor * a[i]


@pytest.mark.parametrize("launch", [lambda kernel: kernel, emulate])
@pytest.mark.parametrize("here", [cuda.to_device, np.array, cuda.mapped_array_like])
def test_arrays_in_tuples_are_arguments(here, launch):
    """Of the device or of the host, in named tuples and in tuples in them."""
    numbers = np.arange(32.0)
    a, b = here(numbers), here(numbers)
    a[:], b[:] = numbers, numbers

    launch(scale_planes)[1, 32](Planes(2.0, (a, b)))

    found = b if isinstance(b, np.ndarray) else b.copy_to_host()
    assert (3 * numbers).tolist() == found.tolist()


def test_an_array_twice_in_a_tuple_has_a_copy_each():
    """As two arguments have; the last one that is copied back wins."""

    @cuda.jit
    def kernel(pair):
        pair[0][0], pair[1][1] = 5, 6

    a = np.zeros(2)
    with pytest.warns(UserWarning, match="`pair` of `kernel` share host memory"):
        kernel[1, 1]((a, a))

    assert [0, 6] == a.tolist()


def test_mapped_and_managed_arrays_are_shared():
    """A kernel writes where the host reads."""
    for make in (cuda.mapped_array, cuda.managed_array):
        shared = make(8, np.float64)
        shared[:] = 4

        add_one[1, 8](shared)

        assert [5] * 8 == shared.tolist()
    assert (2, 3) == cuda.mapped_array_like(np.zeros((2, 3))).shape
    assert (2, 3) == cuda.pinned_array_like(np.zeros((2, 3))).shape


def test_host_arrays_are_pinned_and_mapped_for_a_while():
    """`with cuda.pinned` changes nothing; `with cuda.mapped` gives the array itself."""
    host = np.zeros(8)

    with cuda.pinned(host):
        add_one[1, 8](host)
    with cuda.mapped(host) as mapped:
        add_one[1, 8](mapped)

    assert [2] * 8 == host.tolist()


def test_what_is_only_in_is_not_changed_and_what_is_only_out_is_not_copied():
    """`cuda.In` brings nothing back, `cuda.Out` brings nothing there."""
    only_in, only_out, both = (np.zeros(8) for _ in range(3))

    add_one[1, 8](cuda.In(only_in))
    add_one[1, 8](cuda.Out(only_out))
    add_one[1, 8](cuda.InOut(both))

    assert [0] * 8 == only_in.tolist()
    assert [1] * 8 != only_out.tolist()
    assert [1] * 8 == both.tolist()


@pytest.mark.parametrize("step", [-1, 2])
def test_what_is_only_out_may_have_gaps_where_numba_does_not_copy_it(step):
    """`emulate` takes host arrays of any stride; a plain launch refuses them."""
    whole = np.zeros(16)
    out = whole[::step][:8]

    emulate(fill_with_two)[1, 8](cuda.Out(out))
    with pytest.raises(LaunchError, match="is not contiguous"):
        fill_with_two[1, 8](cuda.Out(out))

    assert [2] * 8 == out.tolist()
    assert 16 == whole.sum()


def test_columns_of_a_host_array_share_nothing(recwarn):
    """Though each begins before the other one ends."""
    matrix = np.arange(12.0).reshape(4, 3)

    emulate(advance)[1, 4](matrix[:, 0], matrix[:, 2])

    assert [] == [str(it.message) for it in recwarn]
    expected = [[3, 1, 2], [6, 4, 5], [9, 7, 8], [12, 10, 11]]
    assert expected == matrix.tolist()


def test_a_row_and_a_column_of_a_host_array_share_a_cell():
    """So each is a copy, with a warning."""
    matrix = np.arange(12.0).reshape(4, 3)

    with pytest.warns(UserWarning, match="`to` and `of` of `advance` share"):
        emulate(advance)[1, 3](matrix[1], matrix[:3, 1])

    assert [1, 4, 7, 10] == matrix[:, 1].tolist()


def test_two_arguments_of_one_host_array_are_two_copies():
    """The last one that is copied back wins, as on the hardware, with a warning."""

    @cuda.jit
    def back(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i]

    for launch in (shift[1, 8], emulate(shift)[1, 8]):
        host = np.arange(8.0)
        launch(host[:4], host[1:5])
        assert [0, 0, 1, 2, 3, 5, 6, 7] == host.tolist()
    host = np.arange(8.0)
    with pytest.warns(UserWarning, match="(?s)`out` and `a` of `back` .* last wins"):
        back[1, 8](host[:4], host[1:5])
    assert [1, 1, 2, 3, 4, 5, 6, 7] == host.tolist()


def test_two_arguments_of_one_device_array_are_the_same_memory():
    """What one writes the other reads."""
    there = cuda.to_device(np.arange(8.0))

    shift[1, 4](there[:4], there[4:])

    assert [0, 1, 2, 3, 0, 1, 2, 3] == there.copy_to_host().tolist()


def test_a_host_array_with_gaps_is_refused_by_a_plain_launch():
    """Numba cannot copy it; a slice of a device array is fine."""
    host = np.zeros(16)

    with pytest.raises(LaunchError, match="`np.ascontiguousarray"):
        add_one[1, 8](host[::2])
    there = cuda.to_device(host)
    add_one[1, 8](there[::2])

    assert [1, 0] * 8 == there.copy_to_host().tolist()


def test_shapes_of_device_arrays():
    """Their methods are Numba's, over memory that is there."""
    host = np.arange(12.0).reshape(3, 4)
    there = cuda.to_device(host)

    assert host.T.tolist() == there.T.copy_to_host().tolist()
    assert host.ravel().tolist() == there.ravel().copy_to_host().tolist()
    assert host[1].tolist() == there[1].copy_to_host().tolist()
    assert host[:, 2].tolist() == [x for x in there[:, 2].copy_to_host()]
    parts = there.reshape(12).split(5)
    assert [5, 5, 2] == [part.size for part in parts]
    bits = there.view(np.int64).copy_to_host()
    assert host.view(np.int64).tolist() == bits.tolist()
    assert there.is_c_contiguous() and there.T.T.is_c_contiguous()
    there[1:2].copy_to_device(np.zeros((1, 4)))
    assert 0 == there.copy_to_host()[1].sum()


def test_the_cuda_array_interface_goes_in_and_out():
    """A foreign array is seen in place, with its slices."""
    there = cuda.to_device(np.zeros(8))

    class Foreign:
        __cuda_array_interface__ = there[2:6].__cuda_array_interface__

    add_one[1, 8](Foreign())
    add_one[1, 8](cuda.as_cuda_array(Foreign())[1:])

    assert [0, 0, 1, 2, 2, 2, 0, 0] == there.copy_to_host().tolist()
    assert cuda.is_cuda_array(there) and not cuda.is_cuda_array(np.zeros(1))


def test_a_copy_of_a_gpus_array_begins_as_far_past_an_aligned_address(monkeypatch):
    """`emulate` counts a view that begins late, where a GPU has it, as anywhere."""
    monkeypatch.setattr(arguments, "is_here", lambda array: False)
    there = cuda.to_device(np.zeros(1025, np.float32))

    run = emulate(add_one)[4, 256](there[1:])

    assert 5 == run.coalescing.sectors / run.coalescing.requests
    assert [0, *[1] * 1024] == there.copy_to_host().tolist()


@cuda.jit
def take_the_next(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i + 1]


def test_a_gpus_array_given_twice_is_one_array(monkeypatch):
    """A thread's store races with the load of its neighbour, as the GPU has it."""
    monkeypatch.setattr(arguments, "is_here", lambda array: False)
    host = np.arange(129.0)
    there, copy = cuda.to_device(host), cuda.to_device(host)

    apart = emulate(take_the_next)[2, 64](there[:128], copy)
    once = emulate(take_the_next)[2, 64](there[:128], there)

    assert [] == [it.kind for it in apart.races]
    assert ["WAR", "WAR"] == [it.kind for it in once.races]
    assert ["block", "grid"] == sorted(it.scope for it in once.races)


def test_slices_of_a_gpus_array_overlap_as_they_do_there(monkeypatch):
    """What a launch wrote through one of them is there for the other."""
    monkeypatch.setattr(arguments, "is_here", lambda array: False)
    there = cuda.to_device(np.arange(12.0).reshape(3, 4))

    @cuda.jit
    def sums(right, left, low):
        right[0] = 100
        cuda.syncthreads()
        left[1] += 1
        low[0, 0] += 1

    sums[1, 1](there[0, 1:], there[0, :3], there[1:])

    assert [0, 101, 2, 3, 5, 5] == there.copy_to_host().ravel()[:6].tolist()


def test_an_extension_prepares_arguments_and_cleans_up():
    """`@cuda.jit(extensions=…)`, as other packages' arrays need it."""
    done = []

    class Unwrap:
        def prepare_args(self, ty, value, stream, retr):
            retr.append(lambda: done.append(ty))
            return ty, value[0] if isinstance(value, list) else value

    @cuda.jit(extensions=[Unwrap()])
    def first(a):
        a[0] = 7

    out = np.zeros(1)
    first[1, 1]([out])

    assert [7] == out.tolist() and 1 == len(done)


def test_memory_is_an_h200s_less_what_is_in_use():
    """It is counted, and given back."""
    gc.collect()
    before = cuda.current_context().get_memory_info()
    array = cuda.device_array(1 << 20, np.uint8)
    during = cuda.current_context().get_memory_info()
    del array

    assert before.total > 140e9 and before.total == during.total
    assert 1 << 20 == before.free - during.free
    assert before == cuda.current_context().get_memory_info()


def test_sharing_with_another_process_is_refused():
    """There is no memory of a device to share."""
    with pytest.raises(NotImplementedError, match="copy the array to the host"):
        cuda.to_device(np.zeros(3)).get_ipc_handle()


def test_a_call_of_the_driver_that_nobody_answers_names_itself():
    """And asks for a GPU."""
    with pytest.raises(NotImplementedError, match="`cuCtxPopCurrent`.* needs a GPU"):
        cuda.cudadrv.driver.driver.cuCtxPopCurrent()


def test_a_launch_leaves_read_only_arrays_alone():
    """They may be read by two arguments at once."""
    host = np.ones(8)
    host.flags.writeable = False
    out = np.zeros(8)

    add[1, 8](host, host, out)

    assert [2] * 8 == out.tolist()


def test_what_lies_on_a_gpu_is_copied_for_the_emulator_and_back():
    """As where there is a GPU: its memory cannot be read in place."""
    there = cuda.to_device(np.zeros(8))
    memory = there.gpu_data

    class Elsewhere:
        __cuda_memory__ = True
        device_ctypes_pointer = memory.device_ctypes_pointer
        context = None

        def view(self, *extent):
            return self

    there.gpu_data = Elsewhere()
    emulate(add_one)[1, 8](there)

    assert [1] * 8 == there.copy_to_host().tolist()

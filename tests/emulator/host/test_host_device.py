"""Devices, streams, events and what Numba keeps of a kernel, where there is no GPU."""

import asyncio

import numpy as np
import pytest
from numba import cuda, float32, int32
from numba.cuda.cudadrv import driver

from helpers import device, emulate
from tests.specimens.kernels import BUILT_IN, add, reverse
from thirty_two_lanes.emulator import KernelError, LaunchError

pytestmark = pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")


def test_the_device_has_an_h200s_limits_and_a_name_that_does_not_pretend(capsys):
    """There is one, by every way to ask."""
    here = cuda.get_current_device()

    assert here is cuda.select_device(0) is cuda.gpus[0] is cuda.gpus.current
    assert [here] == list(cuda.list_devices())
    assert "Emulator" in str(here) and (9, 0) == tuple(here.compute_capability)
    assert (132, 1024) == (here.MULTIPROCESSOR_COUNT, here.MAX_THREADS_PER_BLOCK)
    assert 232448 == here.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    with cuda.gpus[0], cuda.defer_cleanup(), cuda.profiling():
        cuda.synchronize()
    assert cuda.detect() and "1/1 devices" in capsys.readouterr().out
    cuda.close()
    with pytest.raises(LaunchError, match="there is no device 1"):
        cuda.select_device(1)


def test_a_device_that_a_program_makes_itself_is_the_one_there_is():
    """As some do for its name; Numba asks NVIDIA's driver there, which is missing."""
    assert driver.Device(0) is driver.Device(devnum=0) is cuda.get_current_device()
    with pytest.raises(LaunchError, match="there is no device 2"):
        driver.Device(2)


def test_no_deallocation_is_pending():
    """Programs clear them before they ask for much memory."""
    pending = cuda.current_context().deallocations

    cuda.to_device(np.zeros(9))
    pending.clear()
    with pending.disable():
        assert pending.is_disabled

    assert 0 == len(pending)


def test_streams_call_back_and_are_awaited():
    """At once: all that came before is done."""
    called = []
    stream = cuda.stream()

    stream.add_callback(lambda *given: called.append(given), "argument")

    async def awaited():
        return await stream.async_done()

    assert [(stream, 0, "argument")] == called
    assert stream is asyncio.run(awaited())
    assert "Default" in repr(cuda.default_stream())
    assert "77" in repr(cuda.external_stream(77))
    assert int(stream) != int(cuda.stream())


def test_events_know_the_time_between_them():
    """In milliseconds, whichever way it is asked."""
    start, end = cuda.event(), cuda.event()
    start.record(cuda.stream())
    end.record()
    start.wait(cuda.stream())

    assert start.query()
    assert 0 < start.elapsed_time(end) == cuda.event_elapsed_time(start, end)


def test_the_drivers_version_is_that_of_the_numbers():
    """By either target's way to call the driver."""
    assert (13, 0) == driver.driver.get_version()


def test_a_launch_configuration_can_be_kept_and_read():
    """As Numba's own."""
    launch = add[4, (32, 2), cuda.stream(), 16]

    assert ((4, 1, 1), (32, 2, 1), 16) == (
        launch.griddim,
        launch.blockdim,
        launch.sharedmem,
    )
    seen = []
    launch.pre_launch_callbacks.append(lambda *given: seen.append(given))
    out = np.zeros(128)
    launch(np.ones(128), np.ones(128), out)
    assert 1 == len(seen) and launch is seen[0][1]
    assert [2] * 128 == out.tolist()


def test_what_numba_keeps_of_a_kernel():
    """Sizes that the kernel says itself; types, LLVM's code; registers are refused."""

    @cuda.jit
    def kernel(a):
        own = cuda.local.array(6, float32)
        tile = cuda.shared.array((8, 4), int32)
        own[0] = tile[0, 0] = 1
        a[0] = own[0] + tile[0, 0]

    kernel[1, 32](np.zeros(1))
    specialized = kernel.specialize(np.zeros(1))

    assert [128] == list(kernel.get_shared_mem_per_block().values())
    assert 128 == specialized.get_shared_mem_per_block()
    assert 24 == specialized.get_local_mem_per_thread()
    assert 1024 == specialized.get_max_threads_per_block()
    assert 0 == specialized.get_const_mem_size()
    (overload,) = kernel.overloads.values()
    assert 132 * 16 == overload.max_cooperative_grid_blocks(128)
    assert 132 * 2 == overload.max_cooperative_grid_blocks((32, 4), 100_000)
    assert ["define" in text for text in kernel.inspect_llvm().values()] == [True]
    with pytest.raises(NotImplementedError, match="registers"):
        kernel.get_regs_per_thread()
    with pytest.raises(NotImplementedError, match="SASS"):
        kernel.inspect_sass()


def test_types_are_printed_line_by_line(capsys):
    """`inspect_types`, the front end's own view."""

    @cuda.jit("void(float32[:])")
    def double(a):
        a[0] *= 2

    double.inspect_types()

    assert "float64" in capsys.readouterr().out


def test_an_eager_signature_is_chosen_by_its_types_or_refused():
    """The nearest one; arrays must be of their kind."""

    @cuda.jit(["void(float64[::1], int64)", "void(float64[::1], float64)"])
    def size(out, number):
        out[0] = number / 2

    out = np.zeros(1)
    size[1, 1](out, 3.5)

    assert [1.75] == out.tolist()
    with pytest.raises(KernelError, match=r"was compiled for .* change the signature"):
        size[1, 1](np.zeros(1, np.int8), 1)


def test_an_eager_signature_takes_whole_numbers_of_the_same_size():
    """As Numba does: the bits are the same."""

    @cuda.jit("void(uint32[:], float64[:])")
    def first(a, out):
        out[0] = a[0]

    out = np.zeros(1)
    first[1, 1](np.array([-1], np.int32), out)

    assert [2**32 - 1] == out.tolist()


@pytest.mark.parametrize(
    "options, launch, sentence",
    [
        pytest.param(
            {"launch_bounds": 32},
            (1, 64),
            "promises at most 32 threads",
            marks=pytest.mark.skipif(BUILT_IN, reason="it has no such option"),
        ),
        ({"fastmth": True}, (1, 1), "no option `fastmth`; did you mean `fastmath`"),
        ({"link": ["x.cu"]}, (1, 1), "links code that is not Python"),
        ({"device": True}, (1, 1), "is a device function"),
    ],
)
def test_an_option_that_forbids_a_launch_is_named(options, launch, sentence):
    """In plain launches and emulated ones."""

    @cuda.jit(**options)
    def kernel(a):
        a[0] = 1

    for start in (
        lambda a: kernel[launch](a),
        lambda a: emulate(kernel)[launch](a),
    ):
        with pytest.raises((LaunchError, KernelError), match=sentence):
            start(np.zeros(1))


def test_a_call_without_brackets_or_with_names_says_how_to_launch():
    """And a kernel takes positional arguments only."""
    with pytest.raises(
        ValueError, match=r"is missing: write `add\[blocks, threads\]"
    ):
        add(np.zeros(1), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="positional arguments only"):
        add[1, 1](np.zeros(1), np.zeros(1), out=np.zeros(1))


def test_a_grid_too_large_to_wait_for_itself_is_refused():
    """A GPU would not launch it."""

    @cuda.jit
    def waits(a):
        cuda.cg.this_grid().sync()
        a[0] = 1

    with pytest.raises(LaunchError, match="an H200 holds 264 of them"):
        waits[265, 1024](np.zeros(1))


def test_a_grid_that_shared_memory_keeps_from_fitting_is_refused():
    """45,600 bytes leave room for 4 blocks a multiprocessor: `cuda_occupancy.h`."""

    @cuda.jit
    def waits(a):
        cuda.shared.array(0, float32)[0] = 1
        cuda.cg.this_grid().sync()
        a[0] = 1

    with pytest.raises(LaunchError, match="an H200 holds 528 of them"):
        waits[660, 32, 0, 45_600](np.zeros(1))
    waits[1, 32, 0, 45_600](np.zeros(1))
    (overload,) = waits.overloads.values()
    assert 528 == overload.max_cooperative_grid_blocks(32, 45_600)


def test_the_seed_of_plain_launches_is_an_environment_variable(monkeypatch):
    """The same for `emulate`, where nothing else is said."""

    @cuda.jit
    def order(turn, out):
        if cuda.threadIdx.x % 32 == 0:
            out[cuda.threadIdx.x // 32] = cuda.atomic.add(turn, 0, 1)

    def seeded(seed, launch):
        monkeypatch.setenv("EMULATOR_SEED", seed)
        out = np.zeros(8, np.int64)
        launch(np.zeros(1, np.int64), out)
        return out.tolist()

    plain, emulated = order[1, 256], emulate(order)[1, 256]
    orders = [seeded(str(seed), plain) for seed in range(4)]
    assert orders == [seeded(str(seed), emulated) for seed in range(4)]
    assert orders[3] == seeded("0", emulate(order, seed=3)[1, 256])
    assert 4 == len(set(map(tuple, orders)))
    monkeypatch.setenv("EMULATOR_SEED", "three")
    with pytest.raises(LaunchError, match="EMULATOR_SEED must be a whole number"):
        plain(np.zeros(1, np.int64), np.zeros(8, np.int64))


def test_the_turns_that_are_too_many_can_be_chosen(monkeypatch):
    """By a word of `emulate`, and by an environment variable for all launches."""

    @cuda.jit
    def long(out):
        total = 0
        for k in range(50_000):
            total += k & 1
        out[0] = total

    out = np.zeros(1)
    with pytest.raises(RuntimeError, match="does it ever end"):
        emulate(long, turns=1000)[1, 1](out)
    monkeypatch.setenv("EMULATOR_TURNS", "1000")
    with pytest.raises(RuntimeError, match="does it ever end"):
        long[1, 1](out)
    emulate(long, turns=100_000)[1, 1](out)
    assert [25_000] == out.tolist()


def test_kernels_are_launched_from_several_threads():
    """Numba compiles for one thread at a time."""
    from concurrent.futures import ThreadPoolExecutor

    def launched(number):
        kernel = cuda.jit(reverse.py_func)
        out = np.zeros(256, np.int64)
        kernel[1, 256](np.arange(256) + number, out)
        return out[0]

    with ThreadPoolExecutor(4) as pool:
        assert [255 + n for n in range(8)] == list(pool.map(launched, range(8)))


@pytest.mark.parametrize(
    "argument, sentence",
    [
        ("text", "argument `a` is a str: a kernel takes"),
        ([1, 2], "makes an array from a list"),
        (2**70, "does not fit into 64 bits"),
        (np.ma.zeros(3), "argument `a` is a MaskedArray"),
        (np.array([1, None]), "an array of Python objects"),
        (None, "`a` is None here: pass the array"),
        (3.5, "are the arguments of the launch in the right order"),
    ],
)
def test_an_argument_that_no_kernel_takes_is_named(argument, sentence):
    """By its name and its type."""

    @cuda.jit
    def kernel(a):
        a[0] = 1

    with pytest.raises((LaunchError, KernelError), match=sentence):
        kernel[1, 1](argument)


def test_what_stands_in_the_brackets_is_checked():
    """Bytes of shared memory are a whole number; a starred argument has no place."""
    for wrong in (-4, "x", 1.5):
        with pytest.raises(LaunchError, match="dynamic shared memory in bytes"):
            add[1, 1, 0, wrong]

    @cuda.jit
    def starred(*arrays):
        arrays[0][0] = 1

    with pytest.raises(LaunchError, match="name each argument"):
        starred[1, 1](np.zeros(1))


def test_a_kernel_is_compiled_again_when_it_is_asked_to():
    """With what is around it now; a number too large for its type wraps round."""
    around = {"cuda": cuda, "N": 1}
    exec("def kernel(a, n):\n    a[0] = N + n\n", around)
    kernel = cuda.jit("void(float64[:], int32)")(around["kernel"])
    out = np.zeros(1)
    around["N"] = 5

    kernel.recompile()
    kernel[1, 1](out, 2**32 - 1)

    assert [4] == out.tolist()

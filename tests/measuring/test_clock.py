"""When the clock of a measurement runs, and what it is made of, on the stand-in."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from helpers.measuring import timing
from helpers.measuring.timing import measure
from tests.measuring.stand_in import DeviceArray, put_in_place
from thirty_two_lanes.core.errors import LaunchError
from thirty_two_lanes.core.hardware import GPUS

COPY = timing.copy_gb_per_s.__wrapped__  # without what it found before


@cuda.jit
def add_one(array):
    """Add one to each element."""
    array[cuda.grid(1)] += 1


@pytest.fixture
def gpu(monkeypatch):
    """A machine with the stand-in GPU, whose clock is the host's, too."""
    stand_in = put_in_place(monkeypatch)
    clock = SimpleNamespace(perf_counter=lambda: stand_in.clock_us / 1e6)
    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(timing, "copy_gb_per_s", lambda: 400.0)
    return stand_in


def test_the_clocks_go_up_once_the_kernel_is_compiled(gpu, monkeypatch):
    """Its first launch takes half a second, in which the GPU does nothing."""
    monkeypatch.setattr(timing, "WARM_UP_S", 0.025)
    launch, compiles = gpu.launch, [500_000.0]

    def launches(array):
        gpu.clock_us += compiles.pop() if compiles else 0.0
        launch(array)

    monkeypatch.setattr(type(add_one), "__getitem__", lambda *_: launches)
    result = measure(add_one)[2, 4](np.ones(8))

    warming = len(gpu.seen) - 1 - result.launches
    assert 25_000 <= warming * 1046 < 50_000  # microseconds: flush, restore, launch


@pytest.mark.parametrize(
    "takes_us, launches", [(1, 100), (4999, 100), (10_000, 50), (99_000, 5), (1e6, 5)]
)
def test_as_many_launches_are_timed_as_fit_half_a_second(gpu, takes_us, launches):
    """A hundred at most, and five at least."""
    gpu.kernel_us = takes_us

    assert launches == measure(add_one)[2, 4](np.ones(8)).launches


def test_times_are_told_by_their_quarters():
    """Of 101 launches that take 0 to 100 microseconds."""
    assert {
        "launches": 101,
        "min_us": 0,
        "lower_us": 25,
        "median_us": 50,
        "upper_us": 75,
        "max_us": 100,
    } == timing.summary(range(101))
    assert 33.33 == timing.summary([100 / 3])["median_us"]


def test_a_copy_reads_and_writes_its_bytes(gpu, monkeypatch):
    """5 microseconds for 2 · 1,000,000 bytes are 400 GB/s."""
    monkeypatch.setattr(timing, "COPY_BYTES", 1_000_000)

    assert 400.0 == COPY()
    monkeypatch.setattr(timing, "COPY_BYTES", 1_000_190)  # a tenth is kept
    assert 400.1 == COPY()


def test_caches_hold_none_of_what_is_flushed_or_copied():
    """Four times the largest L2 cache that is known."""
    largest = max(it.attributes.get("L2_CACHE_SIZE", 0) for it in GPUS.values())

    assert 4 * largest <= timing.COLD_BYTES < timing.COPY_BYTES < 2**30 and largest


@pytest.mark.parametrize("name", ["bytes", "flops"])
@pytest.mark.parametrize("wrong", [-1, "1 GB", None, 1j, [3]])
def test_what_is_no_amount_is_refused(name, wrong):
    """0, and NaN where nothing is said, are amounts."""
    with pytest.raises(LaunchError, match=f"`{name}` of `measure` is a number, 0 or"):
        measure(add_one, **{name: wrong})
    measure(add_one, **{name: 0}), measure(add_one, **{name: float("nan")})


def test_more_shared_memory_than_a_launch_gets_is_refused():
    """Before anything is timed, and where there is nothing to time."""
    with pytest.raises(LaunchError, match="100,000 bytes"):
        measure(add_one)[1, 4, 0, 100_000](np.ones(4))


def test_a_profiled_kernel_leaves_arrays_as_they_were(gpu, tmp_path, monkeypatch):
    """The GPU has done all that was asked of it before, and is done when it ends."""
    monkeypatch.setenv(timing.recordings.PROFILE, str(tmp_path / "journal"))
    monkeypatch.setattr(timing.recordings, "forms", lambda: ())
    ones = DeviceArray(np.ones(8))

    measure(add_one)[2, 4](ones)

    assert (ones.values == 1).all() and not gpu.is_busy


def test_arguments_that_numba_refuses_are_refused_without_a_gpu(monkeypatch):
    """As a launch would; arguments that an extension takes, only a GPU knows."""
    monkeypatch.setattr(timing, "device", SimpleNamespace(has_gpu=False))
    monkeypatch.setattr(timing.recordings, "forms", lambda: ())
    extended = cuda.jit(extensions=[object()])(add_one.py_func)

    with pytest.raises(LaunchError, match="`array` is a str"):
        measure(add_one)[1, 1]("text")
    assert not measure(extended)[1, 1]("text").is_measured

"""`measure` times what it should on a GPU, and elsewhere tells what was recorded.

There is no GPU here: a stand-in shows the order of things, the numbers made of them and
the arrays' contents.
"""

import math
from dataclasses import asdict
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import cuda
from numba.cuda.cudadrv import driver

from helpers.measuring import recordings, store, timing
from helpers.measuring.measurement import Measurement
from helpers.measuring.timing import measure
from tests.measuring.stand_in import DeviceArray, put_in_place


@cuda.jit
def add_one(array):
    """Add one to each element."""
    array[cuda.grid(1)] += 1


@cuda.jit
def add_two(array):
    """Add two to each element."""
    array[cuda.grid(1)] += 2


@cuda.jit
def add_to_both(pair):
    """Add one to the elements of a tuple's arrays."""
    pair.host[cuda.grid(1)] += 1
    pair.rest[0][cuda.grid(1)] += 1


@pytest.fixture
def gpu(monkeypatch):
    """A machine with the stand-in GPU, on which nothing was recorded yet."""
    monkeypatch.setattr(timing, "copy_gb_per_s", lambda: 400.0)
    return put_in_place(monkeypatch)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(timing, "device", SimpleNamespace(has_gpu=False))


@pytest.fixture(autouse=True)
def recorded(tmp_path, monkeypatch):
    """A function that records measurements; at first there are none."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.delenv(recordings.JOURNAL, raising=False)
    monkeypatch.delenv(recordings.PROFILE, raising=False)
    recordings.load.cache_clear()

    def record(form, **values):
        entry = {**asdict(form), "launches": 50, "median_us": 41.2,
                 "lower_us": 40.9, "upper_us": 43.0, **values}
        run = {"date": "2026-11-21", "copy_gb_per_s": 4000.0, "measurements": [entry]}
        content = {"gpu": "NVIDIA H200", "runs": {"a lesson": run}}
        store.write(store.file_of(content["gpu"], "times"), content)
        recordings.load.cache_clear()

    yield record
    recordings.load.cache_clear()


def form_of_ones(kernel=add_one, size=8, launch=(2, 4)):
    return timing.form_of(kernel, timing.launch_text(*launch), [np.ones(size)])


# ---------------------------------------------------------------- with a GPU


def test_the_times_are_those_between_the_events(gpu):
    """Launches take 40 and 41 µs in turn; copies and flushes do not count."""
    result = measure(add_one)[2, 4](np.ones(8))

    assert (100, 40.0, 40.5, 41.0) == (
        result.launches, result.min_us, result.median_us, result.max_us
    )
    assert ("Stand-in", False) == (result.gpu, result.recorded)


def test_each_launch_comes_after_a_flush_and_between_two_events(gpu):
    """What is timed is one launch with cold caches."""
    measure(add_one)[2, 4](np.ones(8))

    launches = [i for i, what in enumerate(gpu.diary) if what == "launch"]
    expected = ["restore", "flush", "event", "launch", "event"]
    assert all(expected == gpu.diary[i - 3 : i + 2] for i in launches)


def test_each_launch_finds_the_arrays_as_they_were_passed(gpu):
    """A kernel that adds in place sees ones each time."""
    measure(add_one)[2, 4](np.ones(8))

    assert len(gpu.seen) > 100
    assert all((values == 1).all() for values in gpu.seen)


def test_a_host_array_is_not_written_to(gpu):
    """The launches work on a copy."""
    ones = np.ones(8)

    measure(add_one)[2, 4](ones)

    assert (ones == 1).all()


def test_a_device_array_has_its_contents_back(gpu):
    """The launches work on the array itself, whose address may matter."""
    ones = DeviceArray(np.ones(8))

    measure(add_one)[2, 4](ones)

    assert (ones.values == 1).all()


class Pair(NamedTuple):
    host: object
    rest: tuple


def test_the_arrays_of_a_tuple_have_their_contents_back(monkeypatch):
    """Those of the host are copied once, and not in each launch that is timed."""
    monkeypatch.setattr(timing, "COLD_BYTES", 64)
    host, device = np.ones(8), cuda.to_device(np.ones(8))
    bench = timing.Bench(add_to_both, (2, 4, 0, 0), [Pair(host, (device,))])

    (pair,) = bench.arguments
    bench.launch()
    seen = pair.host.copy_to_host(), device.copy_to_host()
    bench.leave()

    assert [2] * 16 == [*seen[0], *seen[1]]
    assert [1] * 16 == [*host, *device.copy_to_host()]
    assert [1] * 8 == pair.host.copy_to_host().tolist()


def test_a_slow_kernel_is_launched_less_often(gpu):
    """0.2 s a launch leave time for five."""
    gpu.kernel_us = 200_000.0

    assert 5 == measure(add_one)[2, 4](np.ones(8)).launches


def test_a_journal_takes_down_what_is_measured(gpu, tmp_path, monkeypatch):
    """A line holds the form, the times and the circumstances."""
    monkeypatch.setenv(recordings.JOURNAL, str(tmp_path / "journal"))

    measure(add_one)[2, 4](np.ones(8))

    (entry,) = recordings.read_journal(tmp_path / "journal")
    assert form_of_ones() == recordings.form_from(entry)
    assert (40.5, "Stand-in", 400.0) == (
        entry["median_us"], entry["gpu"], entry["copy_gb_per_s"]
    )


def test_a_profiler_sees_one_launch(gpu, tmp_path, monkeypatch):
    """Nothing is timed under a profiler, and only the launch is in its sight."""
    monkeypatch.setenv(recordings.PROFILE, str(tmp_path / "journal"))

    result = measure(add_one)[2, 4](np.ones(8))

    assert ["profiler on", "launch", "profiler off"] == gpu.diary[1:4]
    assert 1 == gpu.diary.count("launch") and not result.is_measured
    (entry,) = recordings.read_journal(tmp_path / "journal")
    assert form_of_ones() == recordings.form_from(entry)


def test_counters_recorded_elsewhere_stand_beside_the_time_measured_here(gpu, recorded):
    """They are of the GPU that is named with them."""
    recorded(form_of_ones(), counters={"shared_load_conflicts": 31})

    result = measure(add_one)[2, 4](np.ones(8))

    assert (40.5, 31) == (result.median_us, result.counters["shared_load_conflicts"])
    assert ("Stand-in", "NVIDIA H200") == (result.gpu, result.counters_gpu)


class Stream(driver.Stream):
    """The default stream, of which nothing is ever pending in the emulator."""

    def __init__(self):
        self.handle = 0

    def synchronize(self):
        cuda.synchronize()


def test_numba_takes_what_a_measurement_asks_of_it(monkeypatch):
    """Its own arrays, events and copies, strided views included; any memory will do."""
    pytest.importorskip("numba_cuda")
    machine = SimpleNamespace(has_gpu=True, name="none")
    monkeypatch.setattr(timing, "device", machine)
    sizes = {"WARM_UP_S": 0.001, "COLD_BYTES": 64, "COPY_BYTES": 2**20}
    for name, value in sizes.items():
        monkeypatch.setattr(timing, name, value)
    monkeypatch.setattr(timing, "copy_gb_per_s", timing.copy_gb_per_s.__wrapped__)
    monkeypatch.setattr(cuda, "stream", Stream)
    numbers = np.arange(12.0).reshape(3, 4)
    matrix = cuda.to_device(numbers)

    result = measure(add_one)[1, 3](matrix[:, 1])

    assert result.is_measured and result.copy_gb_per_s > 0
    assert ("float64[3] strides (32,) from byte 8",) == result.form.arguments
    assert (numbers == matrix.copy_to_host()).all()


# ---------------------------------------------------------------- without one


def test_a_recorded_measurement_says_where_and_when(no_gpu, recorded):
    """No one can take it for a time of this machine."""
    recorded(form_of_ones())

    assert (
        "add_one: 41.2 µs (median of 50, half of them between 40.9 and 43.0),\n"
        "    NVIDIA H200, recorded 2026-11-21\n"
        "    2 blocks for 132 multiprocessors"
    ) == repr(measure(add_one)[2, 4](np.ones(8)))


@pytest.mark.parametrize(
    "grid, words",
    [
        (1, "1 block for 132 multiprocessors"),
        ((13, 10), "130 blocks for 132 multiprocessors"),
        (132, ""),
        (100_000, ""),
    ],
)
def test_a_grid_too_small_for_the_gpu_is_told_with_its_time(
    no_gpu, recorded, grid, words
):
    """An H200 has 132 multiprocessors; fewer blocks leave some of them idle."""
    recorded(form_of_ones(launch=(grid, 4)))

    told = repr(measure(add_one)[grid, 4](np.ones(8)))

    assert words in told
    assert bool(words) == ("multiprocessors" in told)


def test_bytes_and_operations_become_rates_and_shares(no_gpu, recorded):
    """824 MB in 41.2 µs are 20,000 GB/s, five copies; the peak is 67 TFLOP/s."""
    recorded(form_of_ones())

    result = measure(add_one, bytes=824e6, flops=1.3802e9)[2, 4](np.ones(8))

    assert 20_000 == pytest.approx(result.gb_per_s)
    assert 5 == pytest.approx(result.share_of_copy)
    assert 0.5 == pytest.approx(result.share_of_peak)
    assert "20,000 GB/s (500% of a copy), 33,500 GFLOP/s (50% of the" in repr(result)


def test_what_was_not_measured_is_nan_and_says_what_comes_nearest(no_gpu, recorded):
    """No error, so that a notebook runs on after an edit, and no number either."""
    recorded(form_of_ones(add_two, launch=(1, 8)))

    result = measure(add_two, bytes=64)[2, 4](np.ones(8))

    assert math.isnan(result.median_us) and math.isnan(result.gb_per_s)
    assert (
        "add_two: not measured on a GPU in this form; "
        "nearest recorded: 41.2 µs on NVIDIA H200 (1 block × 8\n"
        "    threads)"
    ) == repr(result)


def test_a_kernel_never_recorded_says_so(no_gpu):
    """The emulator runs it, and its time is not shown."""
    sentence = repr(measure(add_one)[2, 4](np.ones(8)))

    assert "not measured on a GPU in this form; nothing like it was" in sentence


def test_measuring_without_a_gpu_changes_no_array(no_gpu):
    """With or without a GPU, arrays stay as they are."""
    ones = np.ones(8)

    measure(add_one)[2, 4](ones)

    assert (ones == 1).all()


def test_a_function_that_is_no_kernel_is_refused():
    """The message says what a kernel is."""
    with pytest.raises(TypeError, match="a function with `@cuda.jit`"):
        measure(len)


def test_numbers_of_a_measurement_that_never_was_are_nan():
    """Plots leave a gap."""
    nothing = Measurement(form_of_ones())

    assert not nothing.is_measured
    assert all(math.isnan(n) for n in (nothing.median_us, nothing.share_of_peak))

"""`measure`: how fast a kernel is on a GPU, timed here or recorded elsewhere.

Each launch is timed by itself, between two events, with cold caches and with arrays as
they were passed. Emulated time says nothing about a GPU, so none is ever shown.
"""

import math
import os
import time
from datetime import date
from functools import cache, partial
from numbers import Real
from platform import python_version

import numpy as np
from numba import cuda

from helpers.measuring import recordings
from helpers.measuring.measurement import Measurement
from thirty_two_lanes.core.device import device, installed
from thirty_two_lanes.core.dynamic_shared import check_dynamic_shared
from thirty_two_lanes.core.errors import LaunchError, short_traceback, shown
from thirty_two_lanes.frontend.kernels import (
    Verb,
    bracketed,
    configuration,
    require_kernel,
)
from thirty_two_lanes.frontend.launch_form import form_of, launch_text

COLD_BYTES = 256 * 2**20  # more than any L2 cache holds
COPY_BYTES = 512 * 2**20
WARM_UP_S = 0.025  # until the clocks are up
BUDGET_US = 500_000
FEWEST, MOST = 5, 100  # launches
PACKAGES = "numba", "numba-cuda", "numpy"


@short_traceback
def measure(kernel, *, bytes=math.nan, flops=math.nan):
    """Measure a kernel: `measure(kernel)[blocks, threads](*args)`.

    The arrays keep their contents. Say how many bytes a launch moves or how many
    operations it does, and the result has GB/s and GFLOP/s. Without a GPU the result
    is the recorded measurement of this very kernel, arguments and launch, if any is.
    """
    require_kernel(kernel, "measure")
    return Measure(kernel, amount("bytes", bytes), amount("flops", flops))


def amount(name, value):
    """What a launch moves or computes, as the caller says: a number, 0 or more."""
    if isinstance(value, Real) and not value < 0:  # NaN: not said
        return value
    said = shown(value)
    raise LaunchError(f"`{name}` of `measure` is a number, 0 or more, not {said}")


class Measure(Verb):
    """A kernel to be measured, waiting for its launch configuration."""

    verb = "measure"

    def __init__(self, kernel, bytes, flops):
        self.kernel, self.bytes, self.flops = kernel, bytes, flops

    @short_traceback
    def __getitem__(self, config):
        blocks, threads, shared_bytes = configuration(*bracketed(config))
        stream = config[2] if len(config) > 2 else 0
        return partial(self._launched, (blocks, threads, stream, shared_bytes))

    def _run(self, config, *arguments):
        grid_dim, block_dim, _, shared_bytes = config
        check_dynamic_shared(self.kernel, shared_bytes)
        if not device.has_gpu and not self.kernel.targetoptions.get("extensions"):
            from thirty_two_lanes.frontend.argument_types import argument_types

            argument_types(self.kernel, arguments)  # refuses what Numba would
        launch = launch_text(grid_dim, block_dim, shared_bytes)
        form = form_of(self.kernel, launch, arguments)
        if device.has_gpu:
            values = measured(self.kernel, config, arguments, form)
        else:
            values = recorded(form)
        work = {"bytes": self.bytes, "flops": self.flops}
        size = math.prod(grid_dim), math.prod(block_dim)
        return Measurement(form, *size, **work, **values)


def recorded(form):
    """What was recorded of this form, or else what comes nearest."""
    if values := recordings.find(form):
        return {**values, "recorded": True}
    near = recordings.nearest(form)
    if near is None:
        return {"nearest": "nothing like it was recorded"}
    known, values = near
    took = f"{values['median_us']:,.1f} µs on {values['gpu']}"
    words = recordings.differences(known, form)
    return {"nearest": f"nearest recorded: {took} ({words})"}


def measured(kernel, config, arguments, form):
    """What is measured here and now, and written to the journal if there is one."""
    bench = Bench(kernel, config, arguments)
    if journal := os.environ.get(recordings.PROFILE):
        bench.profile()
        recordings.note(journal, form, {})
        return recorded(form)
    values = summary(bench.times_us()) | circumstances()
    values["copy_gb_per_s"] = copy_gb_per_s()
    if journal := os.environ.get(recordings.JOURNAL):
        recordings.note(journal, form, values)
    known = recordings.find(form) or {}
    counted = known.keys() & {"counters", "counters_gpu"}  # on the GPU that is named
    return values | {name: known[name] for name in counted}


# ---------------------------------------------------------------- the clock


class Bench:
    """A kernel on the GPU with its arguments, which each launch finds as they were."""

    def __init__(self, kernel, config, arguments):
        cuda.synchronize()
        blocks, threads, stream, shared_bytes = config
        self.stream = stream or cuda.stream()
        self.arguments = [on_device(argument) for argument in arguments]
        self.configured = kernel[blocks, threads, self.stream, shared_bytes]
        arrays = device_arrays(self.arguments)
        self.copies = [(array, duplicate(array)) for array in arrays]

    def launch(self):
        self.configured(*self.arguments)

    def restore(self):
        """Give the arrays their first contents again."""
        for array, first in self.copies:
            transfer(first, array, self.stream)

    def times_us(self):
        """The times of many launches, in microseconds."""
        times = steady_times_us(self.launch, self.restore, self.stream)
        self.leave()
        return times

    def profile(self):
        """Launch once, with the profiler on."""
        self.stream.synchronize()
        with cuda.profiling():
            self.launch()
            self.stream.synchronize()
        self.leave()

    def leave(self):
        """Leave the caller's arrays as they were."""
        self.restore()
        self.stream.synchronize()


def steady_times_us(work, prepare, stream):
    """The times of as many runs as fit the budget, once the clocks are up."""
    cold = cuda.device_array(COLD_BYTES, np.uint8)

    def prepare_cold():
        prepare()
        # while this is on its way the host queues what comes next, so that the
        # time between the events holds none of the host's
        cuda.cudadrv.driver.device_memset(cold, 0, COLD_BYTES, stream)

    times_us(work, prepare_cold, stream, 1)  # compiles
    end = time.perf_counter() + WARM_UP_S
    while time.perf_counter() < end:
        once = times_us(work, prepare_cold, stream, FEWEST)
    runs = int(np.clip(BUDGET_US / np.median(once), FEWEST, MOST))
    return times_us(work, prepare_cold, stream, runs)


def times_us(work, prepare, stream, runs):
    """The times of some runs, each after a preparation that does not count."""
    events = [[cuda.event(timing=True) for _ in range(2)] for _ in range(runs)]
    for start, end in events:
        prepare()
        start.record(stream)
        work()
        end.record(stream)
    stream.synchronize()
    return [1000 * cuda.event_elapsed_time(start, end) for start, end in events]


def summary(times):
    """The launches in five numbers."""
    names = "min_us", "lower_us", "median_us", "upper_us", "max_us"
    values = np.percentile(times, (0, 25, 50, 75, 100)).round(2).tolist()
    return {"launches": len(times), **dict(zip(names, values, strict=True))}


# ---------------------------------------------------------------- arrays on the device


def on_device(argument):
    """A host array's copy on the device, also in a tuple; anything else as it is."""
    if isinstance(argument, tuple):
        return getattr(type(argument), "_make", tuple)(map(on_device, argument))
    return cuda.to_device(argument) if isinstance(argument, np.ndarray) else argument


def device_arrays(arguments):
    """The arrays among arguments, those in tuples too, that have any element."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from device_arrays(argument)
        elif cuda.is_cuda_array(argument) and argument.size:
            yield cuda.as_cuda_array(argument)


def duplicate(array):
    copy = cuda.device_array(array.alloc_size, np.uint8)
    transfer(array, copy, stream=0)
    return copy


def transfer(source, target, stream):
    """Copy the bytes, whatever the arrays' strides."""
    size = min(source.alloc_size, target.alloc_size)
    cuda.cudadrv.driver.device_to_device(target, source, size, stream)


# ---------------------------------------------------------------- circumstances


def circumstances():
    """Where and when this is measured."""
    return {
        "gpu": device.name,
        "date": date.today().isoformat(),
        "versions": versions(),
    }


@cache
def copy_gb_per_s():
    """What copying a large array reaches here, bytes read and bytes written."""
    source, target = (cuda.device_array(COPY_BYTES, np.uint8) for _ in range(2))
    stream = cuda.stream()
    work = partial(transfer, source, target, stream)
    median_us = np.median(steady_times_us(work, lambda: None, stream))
    return float(round(2 * COPY_BYTES / median_us / 1e3, 1))


@cache
def versions():
    """The versions of Python and of the packages that compile a kernel."""
    return {"python": python_version(), **installed(PACKAGES)}

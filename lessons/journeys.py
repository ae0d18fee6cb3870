"""The way of lesson 1's numbers: loops on the CPU, and to the GPU and back.

All by the host's clock, since that is what somebody waits for; for `lessons.baselines`.
"""

import time

import numpy as np
from numba import cuda, njit

from helpers.measuring.timing import summary

THREADS = 256
RUNS, WARM = 30, 3
SLOW_RUNS = 1  # of what takes seconds
ARRAYS = {  # that a step moves; a launch alone moves none
    "loop in Python": 2,
    "loop compiled for the CPU": 2,
    "copy there": 1,
    "copy back": 1,
}


def journeys(ours, sizes):
    """For each size, the time of each step, {name: values}; `ours` is the lesson."""
    found = {}
    for n in sizes:
        for step, values in journey(ours, n).items():
            found[f"add one to {n:,}: {step}"] = values
    return found


def journey(ours, n):
    """The steps, each with its times and the bytes that it moves."""
    a = np.random.default_rng(0).random(n, dtype=np.float32)
    out = np.empty_like(a)
    runs = RUNS if n <= 1_000_000 else SLOW_RUNS
    loop, compiled = ours["add_one_loop"], njit(ours["add_one_loop"])
    times = {
        "loop in Python": [timed(lambda: loop(out, a), out, a) for _ in range(runs)],
        "loop compiled for the CPU": [
            timed(lambda: compiled(out, a), out, a) for _ in range(WARM + RUNS)
        ][WARM:],
    }
    trips = [there_and_back(ours["add_one"], out, a) for _ in range(WARM + RUNS)][WARM:]
    for step in trips[0]:
        times[step] = [trip[step] for trip in trips]
    sizes = {step: {"bytes": arrays * a.nbytes} for step, arrays in ARRAYS.items()}
    return {step: summary(it) | sizes.get(step, {}) for step, it in times.items()}


def timed(work, out, a):
    """The time of some work in microseconds, once its result is found right."""
    out.fill(np.nan)
    start = time.perf_counter()
    work()
    took = time.perf_counter() - start
    verify(out, a)
    return 1e6 * took


def there_and_back(kernel, out, a):
    """The steps of a kernel whose numbers come from the host and go back there."""
    out.fill(np.nan)
    cuda.synchronize()
    clock = [time.perf_counter()]
    d_a = cuda.to_device(a)
    d_out = cuda.device_array_like(d_a)
    cuda.synchronize()
    clock.append(time.perf_counter())
    kernel[(a.size + THREADS - 1) // THREADS, THREADS](d_out, d_a)
    clock.append(time.perf_counter())
    cuda.synchronize()
    clock.append(time.perf_counter())
    d_out.copy_to_host(out)
    clock.append(time.perf_counter())
    verify(out, a)
    names = "copy there", "launch", "wait", "copy back"
    return dict(zip(names, (1e6 * np.diff(clock)).tolist(), strict=True))


def verify(out, a):
    if not np.array_equal(out, a + np.float32(1)):
        raise ValueError("the result is wrong")

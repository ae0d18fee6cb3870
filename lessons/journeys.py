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
ARRAYS = {  # that a step moves; the others move none
    "loop in Python": 2,
    "loop compiled for the CPU": 2,
    "copy there": 1,
    "copy back": 1,
    "copy there, pinned": 1,
    "copy back, pinned": 1,
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
    times |= trips(lambda: there_and_back(ours["add_one"], out, a))
    pinned = trips(lambda: from_pinned(ours["add_one"], a))
    times |= {f"{step}, pinned": values for step, values in pinned.items()}
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


def trips(trip):
    """The times of each step of a trip that is made again and again."""
    made = [trip() for _ in range(WARM + RUNS)][WARM:]
    return {step: [one[step] for one in made] for step in made[0]}


def there_and_back(kernel, out, a):
    """The steps of a kernel whose numbers come from the host and go back there."""
    out.fill(np.nan)
    cuda.synchronize()
    clock = [time.perf_counter()]
    d_a, d_out = cuda.device_array_like(a), cuda.device_array_like(a)
    cuda.synchronize()
    clock.append(time.perf_counter())
    d_a.copy_to_device(a)
    cuda.synchronize()
    clock.append(time.perf_counter())
    kernel[(a.size + THREADS - 1) // THREADS, THREADS](d_out, d_a)
    clock.append(time.perf_counter())
    cuda.synchronize()
    clock.append(time.perf_counter())
    d_out.copy_to_host(out)
    clock.append(time.perf_counter())
    verify(out, a)
    names = "reserve", "copy there", "launch", "wait", "copy back"
    return dict(zip(names, (1e6 * np.diff(clock)).tolist(), strict=True))


def from_pinned(kernel, a):
    """The same steps with arrays that stay in their place, and what these take."""
    start = time.perf_counter()
    pinned, out = (cuda.pinned_array(a.shape, a.dtype) for _ in range(2))
    took = time.perf_counter() - start
    pinned[:] = a
    return {"arrays": 1e6 * took} | there_and_back(kernel, out, pinned)


def verify(out, a):
    if not np.array_equal(out, a + np.float32(1)):
        raise ValueError("the result is wrong")

"""The ladder of histograms: 256 bins of 2^30 bytes, of four kinds, beside CUB's, and
beside kernels that only read the bytes.
"""

import ctypes
from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from thirty_two_lanes.core.hardware import H200
from lessons.baselines import lesson_kernels
from lessons.ladders import reduction
from lessons.native import built

LESSON = "27"
SOURCE = Path(__file__).with_suffix(".cu")
BYTES = 2**30
FEW = 2**25     # for the rungs in global memory, of which each byte takes long
KINDS = "uniform", "skewed", "constant", "adverse"
BLOCKS, THREADS = 264, 1024
APART, MOVED = 1024, 512    # bytes
GLOBAL = {  # counted value by value, in global memory
    "global": "count_globally",
    "aggregated globally": "aggregate_globally",
}
BYTEWISE = {
    "block": "count_in_blocks",
    "aggregated": "aggregate_in_blocks",
    "reads bytes": "read_bytes",
}
FEWER = 2, 4, 8, 16     # copies
LOADS = 1, 2, 4         # of 16 bytes, at a time
WIDE = {
    "16 bytes": "count_sixteen",
    "two loads": "count_two_loads",
    "four loads": "count_four_loads",
    "runs": "count_runs",
}
TWINS = {  # in CUDA C++: the function, and the bytes that it counts
    "global in C++": ("global", FEW),
    "block in C++": ("block", BYTES),
    "16 bytes in C++": ("wide", BYTES),
    "32 copies in C++": ("copies", BYTES),
    "two loads in C++": ("two", BYTES),
    "four loads in C++": ("four", BYTES),
}
READING = "only reading"
READS = READING, "reads "


def works_of(kind, bench):
    """All that counts one kind of data, or only reads it. A time includes setting the
    bins to 0, but for the lesson on sums' kernel that only reads.
    """
    cupy, ours = bench.cupy, kernels()
    values, bins, moved = data(cupy, kind), bins_at(cupy), bins_at(cupy, MOVED)
    right = {size: right_for(cupy, values[:size], bins) for size in (BYTES, FEW)}
    run = partial(numba_work, bins, values)
    works = {
        **{name: (run(ours[kernel], FEW), FEW) for name, kernel in GLOBAL.items()},
        **{name: (run(ours[kernel]), BYTES) for name, kernel in BYTEWISE.items()},
        **{name: (run(it, wide=True), BYTES) for name, it in wide_kernels().items()},
        READING: (reading_work(cupy, values), BYTES),
        "CUB": (cub_work(cupy, bins, values), BYTES),
        **{
            name: (twin_work(bins, values, call, size), size)
            for name, (call, size) in TWINS.items()
        },
    }
    right_at = {name: right[size] for name, (_, size) in works.items()}
    right_at |= {name: lambda: True for name in works if name.startswith(READS)}
    name = f"global, {MOVED} bytes on"
    works[name] = numba_work(moved, values, ours["count_globally"], FEW), FEW
    right_at[name] = right_for(cupy, values[:FEW], moved)
    return {
        f"histogram {name}, {kind}": (work, right_at[name], {"bytes": size})
        for name, (work, size) in works.items()
    }


def bins_at(cupy, moved=0):
    """256 bins, `moved` bytes beyond a multiple of `APART`. With cells moved by less
    than 1,024 bytes, an H200's time for atomics changes twofold; by more, not at all.
    """
    room = cupy.zeros(1024, np.uint32)
    first = -room.data.ptr % APART + moved
    return room[first // room.itemsize :][:256]


@cache
def kernels():
    """The lesson's, each compiled once for all kinds of data."""
    return lesson_kernels(LESSON)


@cache
def wide_kernels():
    """The lesson's that load 16 bytes at a time, by the names of their rungs."""
    ours = kernels()
    copies, beside = ours["make_copies"], ours["beside"]
    return {
        **{name: ours[kernel] for name, kernel in WIDE.items()},
        **{f"{count} copies": copies(ours["fewer"](count), count) for count in FEWER},
        "32 copies": copies(beside, 32),
        "32 copies behind": copies(ours["behind"], 32),
        "32 copies padded": copies(ours["padded"], 32),
        **{f"reads {16 * it} bytes": ours["make_reading"](it) for it in LOADS},
    }


@cache
def data(cupy, kind):
    """The bytes of a kind, on the GPU."""
    if kind == "constant":
        return cupy.full(BYTES, 77, np.uint8)
    cupy.random.seed(0)
    values = cupy.random.randint(0, 256, BYTES, dtype=np.uint8)
    if kind == "adverse":
        values &= np.uint8(0b11100000)
    for _ in range(2 if kind == "skewed" else 0):
        values &= cupy.random.randint(0, 256, BYTES, dtype=np.uint8)
    return values


def right_for(cupy, values, bins):
    """Whether the bins are those of the values; clears them."""
    expected = sum(
        cupy.bincount(values[at : at + FEW], minlength=256)
        for at in range(0, values.size, FEW)
    )

    def right():
        good = bool((bins == expected).all())
        bins.fill(0)
        return good

    return right


def numba_work(bins, values, kernel, size=BYTES, wide=False, grid=(BLOCKS, THREADS)):
    """A launch of one of the lesson's kernels."""
    values = values[:size]
    parts = (values.view(np.uint32), values[size:]) if wide else (values,)
    arguments = [cuda.as_cuda_array(it) for it in (bins, *parts)]
    stream = cuda.default_stream()

    def launch():
        bins.data.memset_async(0, bins.nbytes)
        kernel[*grid, stream](*arguments)

    return launch


def cub_work(cupy, bins, values):
    """The library's, which sets the bins to 0 itself."""
    call = built(SOURCE).run_cub
    size = ctypes.c_size_t()
    arguments = [*map(pointer, (values, bins)), ctypes.c_int(values.size)]
    call(None, ctypes.byref(size), *arguments)
    room = cupy.empty(size.value, np.uint8)
    return lambda: call(pointer(room), ctypes.byref(size), *arguments)


def twin_work(bins, values, name, size):
    """The same kernel in CUDA C++."""
    call = getattr(built(SOURCE), f"run_{name}")
    arguments = [*map(pointer, (bins, values)), ctypes.c_uint(size), BLOCKS, THREADS]

    def launch():
        bins.data.memset_async(0, bins.nbytes)
        call(*arguments)

    return launch


def reading_work(cupy, values):
    """The lesson on sums' kernel that only reads, 64 bytes of a thread at a time."""
    source = reduction.SOURCE.read_text("utf-8")
    module = cupy.RawModule(code=source, options=("-O3",), backend="nvcc")
    read, threads = module.get_function("read_only"), reduction.kernels()["THREADS"]
    blocks = reduction.BLOCKS_EACH * H200.multiprocessors
    room, numbers = cupy.zeros(1, np.uint32), values.view(np.float32)
    return lambda: read((blocks,), (threads,), (room, numbers, np.uint32(numbers.size)))


def pointer(array):
    return ctypes.c_void_p(array.data.ptr)


def sweep_work(bench, grid):
    """The last rung on uniform data, in a grid of (blocks, threads)."""
    cupy, kernel = bench.cupy, kernels()["count_two_loads"]
    values, bins = data(cupy, KINDS[0]), bins_at(cupy)
    launch = numba_work(bins, values, kernel, wide=True, grid=grid)
    launch()    # compiles it
    return launch, right_for(cupy, values, bins), {"bytes": BYTES}


LADDERS = {
    kind: (f"histogram CUB, {kind}", partial(works_of, kind)) for kind in KINDS
}
LIBRARIES = (SOURCE,)
SWEEP = {
    f"{blocks} × {threads} threads for a multiprocessor": (
        blocks * H200.multiprocessors,
        threads,
    )
    for threads in (256, 512, 1024)
    for blocks in (1, 2, 3, 4, 6, 8)
    if 512 <= blocks * threads <= 4096
}

"""The ladder of lesson 25: rungs of a sum, CUB's and one that only reads.

A rung is the whole sum, all its launches. Each is right if it is as near to the sum in
float64 as the lesson's bound says.
"""

import ctypes
from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels
from lessons.native import built

LESSON = "25"
N = 2**28
SOURCE = Path(__file__).with_suffix(".cu")
LIBRARIES = (SOURCE.with_name("reduction_cub.cu"),)
BLOCKS_EACH = 4     # of a multiprocessor


@cache
def kernels():
    """The lesson's, each compiled once for all runs."""
    return lesson_kernels(LESSON)


def works(bench):
    """Whole sums of N numbers, a copy of as many bytes, and a pass that only reads."""
    return Sums(bench, kernels()).works()


LADDERS = {"sum of 2^28 numbers": ("CUB, sum", works)}


class Sums:
    """Numbers on the device, room for their sum, and works that put it there."""

    def __init__(self, bench, ours, blocks_each=BLOCKS_EACH):
        self.cupy, self.ours = bench.cupy, ours
        self.threads = self.ours["THREADS"]
        self.src = self.cupy.random.random(N, dtype=np.float32)
        self.truth = float(self.src.sum(dtype=np.float64))
        self.out = self.room(1)
        self.blocks = blocks_each * cuda.get_current_device().MULTIPROCESSOR_COUNT
        self.parts, self.finished = self.room(self.blocks), self.room(1, np.uint32)

    def room(self, n, dtype=np.float32):
        return self.cupy.zeros(n, dtype)

    def works(self):
        """{name: (launch, right, sizes)}; a rung's bound follows from its additions."""
        ours, threads = self.ours, self.threads
        by_tree = ours["additions_by_tree"]
        many = ours["additions_of_many"](N, self.blocks, 1)
        wide = ours["additions_of_many"](N, self.blocks, 4)
        make, one, four = (ours[it] for it in ("make_sum", "load_one", "load_four"))
        trees = {
            name: self.rung(self.by_tree(ours[kernel], each), by_tree(N, each))
            for name, kernel, each in (
                ("interleaved", "sum_interleaved", threads),
                ("strided", "sum_strided", threads),
                ("halves", "sum_halves", threads),
                ("one warp", "sum_by_one_warp", threads),
                ("pairs", "sum_pairs", 2 * threads),
                ("shuffled", "sum_shuffled", 2 * threads),
            )
        }
        rungs = trees | {
            "many": self.rung(self.twice(make(one, 1)), many),
            "wide": self.rung(self.twice(make(four, 4)), wide),
            "at once": self.rung(self.at_once(), wide),
        }
        found = {f"sum, {name}": it for name, it in rungs.items()}
        return {**self.others(), **found, **self.native(by_tree, wide)}

    def rung(self, launch, additions):
        """A work that is right if its sum is as near as so many additions allow."""
        bound = self.ours["bound"](additions) * self.truth

        def right():
            error = abs(float(self.out[0]) - self.truth)
            self.out.fill(np.nan)
            return error <= bound

        return launch, right, {"bytes": 4 * N}

    # ------------------------------------------------------------ in Numba

    def by_tree(self, kernel, each):
        """Launches until one number is left."""
        arrays = self.steps(each)
        made = [kernel[it.size, self.threads, cuda.default_stream()] for it in arrays[1:]]
        views = [cuda.as_cuda_array(it) for it in arrays]

        def launch():
            for go, out, src in zip(made, views[1:], views, strict=False):
                go(out, src)

        return launch

    def steps(self, each):
        """The numbers, then room for as many as each launch leaves, down to one."""
        arrays = [self.src]
        while arrays[-1].size > 1:
            left = -(-arrays[-1].size // each)
            arrays.append(self.room(left) if left > 1 else self.out)
        return arrays

    def twice(self, kernel):
        """A launch for a number of each block, and one for their sum."""
        parts, src, out = map(cuda.as_cuda_array, (self.parts, self.src, self.out))
        first = kernel[self.blocks, self.threads, cuda.default_stream()]
        second = kernel[1, self.threads, cuda.default_stream()]

        def launch():
            first(parts, src)
            second(out, parts)

        return launch

    def at_once(self):
        arrays = self.out, self.parts, self.finished, self.src
        views = [cuda.as_cuda_array(it) for it in arrays]
        kernel = self.ours["make_sum_at_once"](self.ours["load_four"], 4)
        go = kernel[self.blocks, self.threads, cuda.default_stream()]
        return lambda: go(*views)

    # ------------------------------------------------------------ by others

    def native(self, by_tree, wide):
        """The twins in CUDA C++."""
        source = SOURCE.read_text("utf-8")
        module = self.cupy.RawModule(
            code=source, options=("-O3",), backend="nvcc"
        )
        n = np.uint32(N)

        def tree(name, each):
            kernel, arrays = module.get_function(name), self.steps(each)
            steps = list(zip(arrays[1:], arrays, strict=False))

            def launch():
                for out, src in steps:
                    kernel((out.size,), (self.threads,), (out, src, np.uint32(src.size)))

            return self.rung(launch, by_tree(N, each))

        last, read = map(module.get_function, ("sum_at_once", "read_only"))
        values = self.out, self.parts, self.finished, self.src, n
        reading = (self.blocks,), (self.threads,), (self.finished, self.src, n)
        return {
            "CUDA C++ sum, interleaved": tree("sum_interleaved", self.threads),
            "CUDA C++ sum, pairs": tree("sum_pairs", 2 * self.threads),
            "CUDA C++ sum, at once": self.rung(
                lambda: last((self.blocks,), (self.threads,), values), wide
            ),
            "only reading": (lambda: read(*reading), lambda: True, {"bytes": 4 * N}),
        }

    def others(self):
        """CUB, with room for its parts asked for before, and a copy."""
        library = built(*LIBRARIES)
        size, n = ctypes.c_size_t(), ctypes.c_int(N)
        src, out = (ctypes.c_void_p(it.data.ptr) for it in (self.src, self.out))
        library.sum(None, ctypes.byref(size), src, out, n)
        room = self.cupy.empty(max(1, size.value), np.uint8)
        values = ctypes.c_void_p(room.data.ptr), ctypes.byref(size), src, out, n

        def launch():
            assert room.size    # keeps it
            library.sum(*values)

        half, copy = self.src[: N // 2], self.room(N // 2)
        copying = partial(self.cupy.copyto, copy, half)
        return {
            "CUB, sum": self.rung(launch, 2 * 28 + N / 2**16),
            "copy of 2^27 numbers": (
                copying,
                lambda: bool((copy == half).all()),
                {"bytes": 4 * N},
            ),
        }


SWEEP = {
    f"{threads} threads, {blocks} blocks for a multiprocessor, {loads} loads": (
        threads,
        blocks,
        loads,
    )
    for threads, blocks in ((256, 8), (512, 2), (512, 3), (512, 4), (1024, 2))
    for loads in (2, 4, 8)
}


def sweep_work(bench, choice):
    """The last rung in blocks of another size, with other loads in flight."""
    threads, blocks, loads = choice
    ours = lesson_kernels(LESSON)     # of its own, with other constants
    ours |= {"THREADS": threads, "WARPS": threads // 32, "LOADS": loads}
    sums = Sums(bench, ours, blocks)
    work = sums.at_once()
    work()      # compiles it
    return sums.rung(work, sums.ours["additions_of_many"](N, sums.blocks, 4))

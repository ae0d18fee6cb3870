"""The ladder of scans: CUB's, a copy, the lesson's rungs, and three of them in CUDA C++.

Rungs that scan each tile by itself are checked as such. A scan in one launch includes
the time in which its tiles' words are set to zero, as CUB's does.
"""

import ctypes
from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels
from lessons.native import built

LESSON = "26"
SOURCE = Path(__file__).with_suffix(".cu")
N = 2**28
SIZE = 1024     # elements of a tile that is scanned by itself
SHAPE, LAST = (8, 512, 2), (12, 512, 2)     # fours, threads, blocks at least
ONCE = {
    "one by one": ("look_back_singly", *SHAPE),
    "32 at a time": ("look_back", *SHAPE),
    "more in flight": ("look_back", 12, 256, 4),
    "larger tiles": ("look_back", *LAST),
}


class Arrays:
    """What all rungs work on: whole numbers, whose sums float32 holds exactly."""

    def __init__(self, cupy):
        cupy.random.seed(26)
        self.cupy = cupy
        self.src = cupy.random.randint(-1, 2, N).astype(np.float32)
        whole = cupy.cumsum(self.src.astype(np.int32), dtype=np.int32)
        self.sums = whole.astype(np.float32)
        self.out = cupy.full(N, np.nan, np.float32)
        self.tile_sums = cupy.zeros(N // SIZE, np.float32)
        self.state = cupy.zeros(N // SIZE, np.uint64)
        self.stream = cuda.default_stream()

    def right(self, expected=None, n=N):
        """Is the output as expected? It is overwritten for the next rung."""
        expected = self.sums if expected is None else expected
        good = bool((self.out[:n] == expected[:n]).all())
        self.out.fill(np.nan)
        return good

    def right_tiles(self, size=SIZE):
        """Is each tile scanned by itself?"""
        tiles = self.sums.reshape(-1, size)
        before = self.cupy.zeros((len(tiles), 1), np.float32)
        before[1:, 0] = tiles[:-1, -1]
        return self.right((tiles - before).ravel())

    def launch(self, kernel, threads, *arrays, blocks):
        """A launch of one of the lesson's kernels."""
        arrays = [cuda.as_cuda_array(it) for it in arrays]
        return lambda: kernel[blocks, threads, self.stream](*arrays)

    def words(self, tiles):
        """A word for each tile and the counter of taken ones, with what clears them."""
        state = self.state[: tiles + 1]
        return state[1:], state[:1].view(np.uint32)[:1], partial(cleared, state)


def cleared(array):
    array.data.memset_async(0, array.nbytes)


@cache
def arrays(cupy):
    """Those of all runs in a process."""
    return Arrays(cupy)


@cache
def kernels():
    """The lesson's, each compiled once for all runs."""
    return lesson_kernels(LESSON)


def works(bench):
    """All rungs, each with its check."""
    data, ours = arrays(bench.cupy), kernels()
    found = {
        "CUB": (cub(data), data.right),
        "copy": (
            lambda: data.cupy.copyto(data.out, data.src),
            lambda: data.right(data.src),
        ),
        **tile_works(data, ours),
        "three launches": (three_launches(data, ours), data.right),
        **{
            name: once(data, ours, ours[look_back], *shape)
            for name, (look_back, *shape) in ONCE.items()
        },
        **twins(data),
    }
    sizes = {"bytes": 8 * N}
    return {f"scan, {name}": (*work, sizes) for name, work in found.items()}


def tile_works(data, ours):
    """Tiles of 1,024 elements, each by itself."""
    kernels = {
        "doubling": (ours["scan_doubling"], SIZE),
        "sweeps": (ours["make_sweeping"](32), SIZE // 2),
        "padded": (ours["make_sweeping"](33), SIZE // 2),
        "shuffles": (ours["scan_shuffling"], SIZE),
        "fours": (ours["scan_fours"], SIZE // 4),
    }
    return {
        name: (
            data.launch(kernel, threads, data.out, data.src, blocks=N // SIZE),
            data.right_tiles,
        )
        for name, (kernel, threads) in kernels.items()
    }


def three_launches(data, ours):
    """Sums of tiles, their scan, and a scan of each tile."""
    fours, threads = SHAPE[:2]
    blocks = N // (4 * fours * threads)
    sums = data.tile_sums[:blocks]
    sum_tiles, scan_from = ours["make_ends"](fours, threads)
    parts = (
        data.launch(sum_tiles, threads, sums, data.src, blocks=blocks),
        data.launch(ours["scan_in_turn"], SIZE, sums, blocks=1),
        data.launch(scan_from, threads, data.out, data.src, sums, blocks=blocks),
    )
    return lambda: [part() for part in parts]


def once(data, ours, look_back, fours, threads, resident, n=N):
    """A scan of n elements in one launch."""
    tiles = -(-n // (4 * fours * threads))
    words, taken, clear = data.words(tiles)
    kernel = ours["make_once"](look_back, fours, threads, resident)
    arrays = data.out[:n], data.src[:n], words, taken
    scan = data.launch(kernel, threads, *arrays, blocks=tiles)
    return lambda: (clear(), scan()), partial(data.right, n=n)


def works_of(n, bench):
    """A copy of n elements, and scans of as many by CUB and by the last rung."""
    data, ours = arrays(bench.cupy), kernels()
    out, src = data.out[:n], data.src[:n]
    found = {
        "CUB": (cub(data, n), partial(data.right, n=n)),
        "copy": (
            lambda: data.cupy.copyto(out, src),
            lambda: data.right(data.src, n),
        ),
        "larger tiles": once(data, ours, ours["look_back"], *LAST, n),
    }
    power = n.bit_length() - 1
    return {f"scan, {k} 2^{power}": (*it, {"bytes": 8 * n}) for k, it in found.items()}


# ------------------------------------------------------------------ CUDA C++


def pointer(array):
    return ctypes.c_void_p(array.data.ptr)


def called(function, *arguments):
    """Call a function of the library, which returns CUDA's error."""
    if error := function(*arguments):
        raise RuntimeError(f"CUDA's error {error}")


def cub(data, n=N):
    """The library's scan, with the memory that it asks for."""
    size = ctypes.c_size_t(0)
    arrays = pointer(data.src), pointer(data.out), ctypes.c_int(n)
    scan = built(SOURCE).cub_scan
    called(scan, None, ctypes.byref(size), *arrays)
    memory = data.cupy.empty(size.value, np.uint8)
    given = pointer(memory), ctypes.byref(size), *arrays
    return lambda: (called(scan, *given), memory)[0]


def twins(data):
    """The first rung, one in the middle and the last one."""
    plain = pointer(data.out), pointer(data.src), ctypes.c_uint(N)
    words, taken, clear = data.words(-(-N // (4 * LAST[0] * LAST[1])))
    more = *plain[:2], pointer(words), pointer(taken), plain[2]
    tools = built(SOURCE)
    return {
        "doubling in C++": (lambda: called(tools.doubling, *plain), data.right_tiles),
        "shuffles in C++": (lambda: called(tools.shuffling, *plain), data.right_tiles),
        "larger tiles in C++": (
            lambda: (clear(), called(tools.once, *more)),
            data.right,
        ),
    }


# ------------------------------------------------------------------ the sweep

POWERS = 12, 16, 20, 24
LADDERS = {"sums of 2^28 float32": ("scan, CUB", works)} | {
    f"sums of 2^{power} float32": (f"scan, CUB 2^{power}", partial(works_of, 2**power))
    for power in POWERS
}
SHAPES = {  # by the threads: fours, and blocks at least
    512: ((4, 4), (6, 3), (8, 2), (12, 1), (12, 2)),
    256: ((8, 4), (12, 3), (12, 4), (16, 3), (20, 2), (24, 2), (26, 2)),
    128: ((12, 8), (24, 4)),
    384: ((16, 2),),
    1024: ((12, 1),),
}
SWEEP = {
    f"{fours} fours, {threads} threads, {resident} blocks": (fours, threads, resident)
    for threads, shapes in SHAPES.items()
    for fours, resident in shapes
}
LIBRARIES = (SOURCE,)


def sweep_work(bench, choice):
    """The last rung in another shape."""
    data, ours = arrays(bench.cupy), kernels()
    work, right = once(data, ours, ours["look_back"], *choice)
    work()      # compiles it
    return work, right, {"bytes": 8 * N}

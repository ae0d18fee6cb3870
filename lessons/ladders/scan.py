"""The ladder of scans: CUB's, a copy, the lesson's rungs, and three of them in CUDA C++.

Rungs that scan each tile by itself are checked as such. A scan in one launch includes
the time in which its tiles' words are set to zero, as CUB's does.
"""

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numba import cuda

from lessons.baselines import lesson_kernels

SOURCE = Path(__file__).with_suffix(".cu")
N = 2**28
SIZE = 1024     # elements of a tile that is scanned by itself


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

    def right(self, expected=None):
        """Is the output as expected? It is overwritten for whoever is next."""
        good = bool((self.out == (self.sums if expected is None else expected)).all())
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
        clear = lambda: state.data.memset_async(0, state.nbytes)    # noqa: E731
        return state[1:], state[:1].view(np.uint32)[:1], clear


def works(bench):
    """All rungs, each with its check."""
    it, ours = Arrays(bench.cupy), lesson_kernels("26")
    found = {
        "CUB": (cub(it), it.right),
        "copy": (lambda: it.cupy.copyto(it.out, it.src), lambda: it.right(it.src)),
        **tile_works(it, ours),
        **three_launches(it, ours),
        **one_launch(it, ours),
        **twins(it, ours),
    }
    sizes = {"bytes": 8 * N}
    return {f"scan, {name}": (*work, sizes) for name, work in found.items()}


def tile_works(it, ours):
    """Tiles of 1,024 elements, each by itself."""
    kernels = {
        "doubling": (ours["scan_doubling"], SIZE),
        "sweeps": (ours["make_sweeping"](0), SIZE // 2),
        "padded": (ours["make_sweeping"](1), SIZE // 2),
        "shuffles": (ours["scan_shuffling"], SIZE),
    }
    works = {
        name: it.launch(kernel, threads, it.out, it.src, blocks=N // SIZE)
        for name, (kernel, threads) in kernels.items()
    }
    arrays = it.out, it.src, it.tile_sums
    fours = ours["make_tiles"](1, SIZE // 4)
    works["fours"] = it.launch(fours, SIZE // 4, *arrays, blocks=N // SIZE)
    return {name: (work, it.right_tiles) for name, work in works.items()}


def three_launches(it, ours):
    """Across blocks: with a second pass over the output, and over the input."""
    fours, threads = ours["FOURS"], ours["THREADS"]
    blocks = N // (4 * fours * threads)
    sums = it.tile_sums[:blocks]

    def made(name, *arrays):
        return it.launch(ours[name](fours, threads), threads, *arrays, blocks=blocks)

    middle = it.launch(ours["make_sums"](4, SIZE), SIZE, sums, blocks=1)
    steps = {
        "three launches": (
            made("make_tiles", it.out, it.src, sums),
            middle,
            made("make_add", it.out, sums),
        ),
        "three that move less": (
            made("make_totals", sums, it.src),
            middle,
            made("make_from", it.out, it.src, sums),
        ),
    }

    def in_turn(parts):
        return lambda: [part() for part in parts]

    return {name: (in_turn(parts), it.right) for name, parts in steps.items()}


def one_launch(it, ours):
    """The rungs that look back."""
    return {
        "one by one": numba_once(it, ours["make_once"], ours["look_back_singly"], ours),
        "32 at a time": numba_once(it, ours["make_once"], ours["look_back"], ours),
        "ahead": ahead(it, ours["make_ahead"], *ours["AHEAD"], ours["BLOCKS"]),
    }


def numba_once(it, make, look_back, ours):
    """A scan in one launch, with a block for each tile."""
    fours, threads = ours["FOURS"], ours["THREADS"]
    tiles = N // (4 * fours * threads)
    words, taken, clear = it.words(tiles)
    kernel = make(look_back, fours, threads)
    scan = it.launch(kernel, threads, it.out, it.src, words, taken, blocks=tiles)
    return lambda: (clear(), scan()), it.right


def ahead(it, make, fours, threads, resident, blocks):
    """The last rung, of so many blocks."""
    words, taken, clear = it.words(-(-N // (4 * fours * threads)))
    arrays = it.out, it.src, words, taken
    scan = it.launch(make(fours, threads, resident), threads, *arrays, blocks=blocks)
    return lambda: (clear(), scan()), it.right


# ------------------------------------------------------------------ CUDA C++


@cache
def library():
    """CUB's scan and the rungs in CUDA C++, compiled by nvcc."""
    made = Path(tempfile.mkdtemp()) / "scan.so"
    options = "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC"
    subprocess.run(["nvcc", *options, str(SOURCE), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def pointer(array):
    return ctypes.c_void_p(array.data.ptr)


def called(function, *arguments):
    """Call a function of the library, which returns CUDA's error."""
    if error := function(*arguments):
        raise RuntimeError(f"CUDA's error {error}")


def cub(it):
    """The library's scan, with the memory that it asks for."""
    size = ctypes.c_size_t(0)
    arrays = pointer(it.src), pointer(it.out), ctypes.c_int(N)
    called(library().cub_scan, None, ctypes.byref(size), *arrays)
    memory = it.cupy.empty(size.value, np.uint8)
    given = pointer(memory), ctypes.byref(size), *arrays
    return lambda: (called(library().cub_scan, *given), memory)[0]


def twins(it, ours):
    """The first rung, one in the middle and the last one."""
    plain = pointer(it.out), pointer(it.src), ctypes.c_uint(N)
    fours, threads, _ = ours["AHEAD"]
    words, taken, clear = it.words(-(-N // (4 * fours * threads)))
    more = pointer(it.out), pointer(it.src), pointer(words), pointer(taken)
    more = *more, ctypes.c_uint(N), ctypes.c_int(ours["BLOCKS"])
    tools = library()
    return {
        "doubling in C++": (lambda: called(tools.doubling, *plain), it.right_tiles),
        "shuffles in C++": (lambda: called(tools.shuffling, *plain), it.right_tiles),
        "ahead in C++": (lambda: (clear(), called(tools.ahead, *more)), it.right),
    }


# ------------------------------------------------------------------ the sweep

LADDERS = {"sums of 2^28 float32": ("scan, CUB", works)}
SWEEP = {
    f"{fours} fours, {threads} threads, {resident} blocks": (fours, threads, resident)
    for threads, most in ((256, 12), (512, 6), (1024, 3))
    for fours in range(2, most)
    for resident in (2048 // threads // 2, 3 * 2048 // threads // 4)
    if resident and fours * threads * 16 <= 48 * 1024
}


def sweep_work(bench, choice):
    """The last rung in another shape."""
    it, ours = Arrays(bench.cupy), lesson_kernels("26")
    blocks = choice[2] * cuda.get_current_device().MULTIPROCESSOR_COUNT
    work, right = ahead(it, ours["make_ahead"], *choice, blocks)
    return work, right, {"bytes": 8 * N}

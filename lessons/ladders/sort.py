"""The ladder of sorts: CUB's radix sort, and the lesson's rungs, of 2^28 keys of 32 bits.

Each rung sorts from an array that stays as it is, by way of two others. Its time
includes all that it launches for a sort, and setting words and bins to zero, as CUB's
does.
"""

import ctypes
from functools import cache, partial
from pathlib import Path

import numpy as np
from numba import cuda

from helpers import allow_dynamic_shared
from lessons.baselines import lesson_kernels
from lessons.native import built

LESSON = "29"
SOURCE = Path(__file__).with_suffix(".cu")
N = 2**28
DIGITS, PASSES = 256, 4
FEW, MANY = (16, 8, 2), (16, 22, 2)     # warps, keys of a thread, blocks at least
COUNTING = {1: 4 * 132, 32: 132}        # copies of the bins, and blocks of 1,024
MINUS_0 = 2**31 - 1                     # as bits in order
KINDS = "random", "sorted", "all equal", "few bits"


class Arrays:
    """What all rungs of one kind of keys work on."""

    def __init__(self, cupy, keys, expected=None):
        self.cupy, self.src = cupy, keys
        self.expected = cupy.sort(keys) if expected is None else expected
        self.outs = cupy.zeros((2, keys.size), np.uint32)
        self.bins = cupy.zeros((PASSES, DIGITS), np.uint32)
        self.stream = cuda.default_stream()

    def right(self):
        """Are the keys sorted? They are overwritten for the next rung."""
        good = bool((self.outs[1] == self.expected).all())
        self.outs.fill(0)
        return good

    def launch(self, kernel, blocks, threads, *arguments, room=0):
        """A launch of one of the lesson's kernels."""
        given = [
            it if isinstance(it, int) else cuda.as_cuda_array(it) for it in arguments
        ]
        return lambda: kernel[blocks, threads, self.stream, room](*given)

    def ways(self):
        """From where to where each pass goes, and the shift of its digit."""
        first, second = self.outs
        yield first, self.src, 0
        yield second, first, 8
        yield first, second, 16
        yield second, first, 24


def cleared(*arrays):
    for array in arrays:
        array.data.memset_async(0, array.nbytes)


@cache
def kernels():
    """The lesson's, each compiled once for all runs."""
    return lesson_kernels(LESSON)


@cache
def made(factory, *arguments, room=0):
    """One of the lesson's kernels, compiled once, with its dynamic shared memory."""
    kernel = kernels()[factory](*arguments)
    if room:
        allow_dynamic_shared(kernel, room)
    return kernel


def random_keys(cupy, n=N):
    """Keys of 32 random bits."""
    cupy.random.seed(29)
    halves = cupy.random.randint(0, 2**16, (2, n), dtype=np.uint32)
    return halves[0] << np.uint32(16) | halves[1]


@cache
def arrays(cupy, kind="random", n=N):
    """The keys of a kind, for all runs in a process."""
    keys = random_keys(cupy, n)
    if kind == "sorted":
        keys = cupy.sort(keys)
    elif kind == "all equal":
        keys.fill(29)
    elif kind == "few bits":
        keys &= np.uint32(0x01010101)
    return Arrays(cupy, keys)


# ------------------------------------------------------------------ the rungs


def works(bench):
    """All rungs, each with its check."""
    data = arrays(bench.cupy)
    found = {
        "CUB": cub_keys(data),
        "three launches": three_launches(data, False),
        "in runs": three_launches(data, True),
        "one pass": in_passes(data, FEW, passes(FEW)),
        "more keys": in_passes(data, MANY, passes(MANY)),
        "known digits": in_passes(data, MANY, known_passes(MANY)),
        "own bins": last(data),
    }
    return named(found, data)


def works_of(kind, bench):
    """CUB's sort and the last rung, on other keys."""
    data = arrays(bench.cupy, kind)
    return named({"CUB": cub_keys(data), "own bins": last(data)}, data, f" {kind}")


def works_of_size(n, bench):
    """CUB's sort and the last rung, on fewer keys."""
    data = arrays(bench.cupy, n=n)
    found = {"CUB": cub_keys(data), "own bins": last(data)}
    return named(found, data, f" 2^{n.bit_length() - 1}")


def named(found, data, of="", size=4):
    """The works as a Bench takes them, by the names of their times."""
    sizes = {"bytes": size * data.src.size}
    return {f"sort, {name}{of}": (work, data.right, sizes) for name, work in found.items()}


def three_launches(data, in_runs):
    """For each digit: count it in each tile, scan the table, scatter."""
    warps, items, _ = FEW
    tiles, threads = tiles_of(data, FEW), 32 * warps
    table = data.cupy.zeros((DIGITS, tiles), np.uint32)
    totals = data.cupy.zeros(DIGITS, np.uint32)
    count, scatter = (
        made("make_counting", items),
        made("make_scattering", warps, items, in_runs),
    )
    scan = data.launch(kernels()["scan_rows"], DIGITS, 1024, table, totals)
    parts = []
    for out, src, shift in data.ways():
        parts += [
            data.launch(count, tiles, threads, table, src, shift),
            scan,
            data.launch(scatter, tiles, threads, out, src, table, totals, shift),
        ]
    return lambda: [part() for part in parts]


def tiles_of(data, shape):
    """How many tiles the keys are, in blocks of a shape."""
    warps, items, _ = shape
    return -(-data.src.size // (32 * warps * items))


def room_of(shape):
    """The bytes of counters and a tile."""
    return kernels()["room_of"](*shape[:2])


def passes(shape):
    """One kernel for all four digits."""
    return [made("make_pass", *shape, room=room_of(shape))] * PASSES


def known_passes(shape):
    """A kernel for each digit, which knows where it is."""
    return [
        made("make_pass", *shape, known(8 * k), room=room_of(shape))
        for k in range(PASSES)
    ]


@cache
def known(shift):
    return kernels()["known"](shift)


def last(data):
    """The last rung."""
    return in_passes(data, MANY, known_passes(MANY), copies=32)


def counted(data, copies=1, *kind):
    """The launches that count all digits, after the bins are cleared."""
    room = 4 * PASSES * DIGITS * copies
    count = made("make_counts", copies, *kind, room=room)
    launches = (
        data.launch(count, COUNTING[copies], 1024, data.bins, data.src, room=room),
        data.launch(kernels()["scan_bins"], PASSES, DIGITS, data.bins),
    )
    return lambda: (cleared(data.bins), [launch() for launch in launches])


def in_passes(data, shape, kernels, copies=1, kind=(), extra=None):
    """All digits counted, then a launch for each of them."""
    tiles, threads, room = tiles_of(data, shape), 32 * shape[0], room_of(shape)
    words = data.cupy.zeros((PASSES, tiles * DIGITS), np.uint32)
    taken = data.cupy.zeros((PASSES, 1), np.uint32)
    launches = [
        data.launch(
            kernels[k], tiles, threads, out, src, *(extra(k) if extra else ()),
            words[k], taken[k], data.bins[k], shift, room=room,
        )
        for k, (out, src, shift) in enumerate(data.ways())
    ]
    count = counted(data, copies, *kind)

    def sort():
        count()
        cleared(words, taken)
        for launch in launches:
            launch()

    return sort


# ------------------------------------------------------------------ values and floats


class Pairs(Arrays):
    """Keys of few bits, so that many are equal, and the values that go with them."""

    def __init__(self, cupy):
        keys = random_keys(cupy) & np.uint32(0x0FFF0FFF)
        super().__init__(cupy, keys)
        self.order = cupy.argsort(keys, kind="stable").astype(np.uint32)
        self.values = cupy.arange(N, dtype=np.uint32)
        self.sorted_values = cupy.zeros((2, N), np.uint32)

    def right(self):
        good = bool((self.sorted_values[1] == self.order).all())
        self.sorted_values.fill(0)
        return super().right() and good

    def extra(self, k):
        """From where to where a pass takes the values."""
        first, second = self.sorted_values
        return ((first, self.values), (second, first), (first, second), (second, first))[k]


@cache
def pairs(cupy):
    """Those of all runs in a process."""
    return Pairs(cupy)


def works_of_pairs(bench):
    """CUB's sort of keys with values, and the lesson's."""
    data = pairs(bench.cupy)
    kernel = made("make_pair_pass", *MANY, room=room_of(MANY))
    ours = in_passes(data, MANY, [kernel] * PASSES, copies=32, extra=data.extra)
    return named({"CUB": cub_pairs(data), "pairs": ours}, data, " with values", 8)


def in_order(cupy, bits):
    """Bits of float32 as numbers that are in the same order, -0 as 0."""
    mask = cupy.where(bits >> np.uint32(31), np.uint32(2**32 - 1), np.uint32(2**31))
    bits = bits ^ mask
    return cupy.where(bits == MINUS_0, np.uint32(2**31), bits)


@cache
def floats(cupy):
    """All kinds of float32: of any bits, NaN among them, and many zeros of both signs."""
    bits = random_keys(cupy)
    bits[::16], bits[5::16] = 0, np.uint32(2**31)
    bits[7::4096], bits[9::4096] = np.uint32(0x7F800000), np.uint32(0xFF800000)
    order = cupy.argsort(in_order(cupy, bits), kind="stable")
    return Arrays(cupy, bits, bits[order])


def works_of_floats(bench):
    """CUB's sort of float32, and the lesson's."""
    data, ours = floats(bench.cupy), kernels()
    digit, to, back = ours["float_digit_of"], ours["to_order"], ours["from_order"]
    same, given = ours["same"], ours["as_given"]
    first, middle, end = (
        made("make_pass", *MANY, given, digit, *kind, room=room_of(MANY))
        for kind in ((to, same), (same, same), (same, back))
    )
    kernels_of = [first, middle, middle, end]
    work = in_passes(data, MANY, kernels_of, copies=32, kind=(digit, to))
    return named({"CUB": cub_keys(data, "cub_floats"), "floats": work}, data, " float32")


# ------------------------------------------------------------------ CUDA C++


def pointer(array):
    return ctypes.c_void_p(array.data.ptr)


def called(function, *arguments):
    """Call a function of the library, which returns CUDA's error."""
    if error := function(*arguments):
        raise RuntimeError(f"CUDA's error {error}")


def cub(data, function, *arrays):
    """One of the library's sorts, with the memory that it asks for."""
    size = ctypes.c_size_t(0)
    arguments = *map(pointer, arrays), ctypes.c_int(data.src.size)
    sort = getattr(built(SOURCE), function)
    called(sort, None, ctypes.byref(size), *arguments)
    memory = data.cupy.empty(size.value, np.uint8)
    given = pointer(memory), ctypes.byref(size), *arguments
    return lambda: (called(sort, *given), memory)[0]


def cub_keys(data, function="cub_keys"):
    return cub(data, function, data.src, data.outs[1])


def cub_pairs(data):
    values = data.values, data.sorted_values[1]
    return cub(data, "cub_pairs", data.src, data.outs[1], *values)


POWERS = 20, 24
LADDERS = {
    "2^28 keys": ("sort, CUB", works),
    **{
        f"2^28 keys, {kind}": (f"sort, CUB {kind}", partial(works_of, kind))
        for kind in KINDS[1:]
    },
    "2^28 keys with values": ("sort, CUB with values", works_of_pairs),
    "2^28 float32": ("sort, CUB float32", works_of_floats),
    **{
        f"2^{power} keys": (f"sort, CUB 2^{power}", partial(works_of_size, 2**power))
        for power in POWERS
    },
}
LIBRARIES = (SOURCE,)

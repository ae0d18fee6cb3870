"""What random kernels read and write: arrays by kind, special values, a module."""

import types

import numpy as np

PAIRS = 4  # rows of the arrays that are unpacked
CELLS = 8  # cells of the arrays that all threads add to

CODES = {  # of the arrays, by the kind of expression that their cells are
    "i": ("i1", "i2", "i4", "i8"),
    "u": ("u1", "u2", "u4", "u8"),
    "f": ("f4", "f8"),
    "h": ("f2",),
    "c": ("c8", "c16"),
    "b": ("b1",),
}
PLAIN_CODES = {"i": ("i1", "i4", "i8"), "u": ("u4",), "f": ("f4", "f8")}
KIND = {code: kind for kind, codes in CODES.items() for code in codes}

# a name's first letter says what an array is for: `a_` is read; the others, written
SIZES = {
    "a": lambda n, threads: n,
    "w": lambda n, threads: 4 * threads,  # four cells of each thread's own
    "p": lambda n, threads: threads,  # one cell of each thread's own, for atomics
    "g": lambda n, threads: CELLS,  # for all threads' atomics
    "m": lambda n, threads: (PAIRS, 2),  # rows to unpack
}

SMALL = (0, 1, -1, 2, 3, 7, -5)
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 127.5, -1.5)


def module():
    """Arrays that are attributes of a module, as larger programs have them."""
    made = types.ModuleType("constants")
    made.I = np.arange(12).reshape(4, 3) * 7 - 30
    made.F = np.array([0.5, -1.25, 3, 8, -0.0], np.float32)
    made.P = np.array([[1.5, -2], [0.25, 4], [-8, 1], [2, 2]])
    return made


def array(name, n, threads, seed):
    """The array that a kernel's argument of this name begins with."""
    use, code = name.split("_")[:2]
    dtype, shape = np.dtype(code), SIZES[use](n, threads)
    if use == "w":
        return np.zeros(shape, dtype)
    rng = np.random.default_rng([seed, *name.encode()])
    if use == "g" and dtype.kind == "f":
        return np.zeros(shape, dtype)  # sums of a few small numbers are exact
    mode = rng.choice(["small", "small", "special"])
    return values(rng, dtype, shape, special=mode == "special")


def plain_array(name, n, threads, seed):
    """The same without limits, infinities and NaN."""
    use, code = name.split("_")[:2]
    dtype, shape = np.dtype(code), SIZES[use](n, threads)
    rng = np.random.default_rng([seed, *name.encode()])
    if use == "w":
        return np.zeros(shape, dtype)
    low, high = (0, 2**32) if dtype.kind == "u" else (-100, 100)
    return rng.integers(low, high, shape).astype(dtype)


def values(rng, dtype, shape, special):
    """Numbers of a type; special ones among them are limits, NaN, infinities, zeros."""
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        parts = [values(rng, part, shape, special) for _ in range(2)]
        made = np.empty(shape, dtype)
        made.real, made.imag = parts
        return made
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        plain = (rng.integers(-400, 400, shape) / 4).astype(dtype)
        few = np.array([*SPECIAL, *limits(dtype)], dtype)
    else:
        small = (0, 100) if dtype.kind == "u" else (-100, 100)
        plain = rng.integers(*small, shape).astype(dtype)
        numbers = [*limits(dtype), *limits(dtype), *SMALL]
        least = np.iinfo(dtype).min
        few = np.array([x for x in numbers if x >= least], dtype)
    if not special:
        return plain
    return np.where(rng.random(shape) < 0.6, rng.choice(few, shape), plain)


def limits(dtype):
    """The greatest and the least numbers of a type, and the smallest floats."""
    if dtype.kind == "f":
        info = np.finfo(dtype)
        tiny = info.smallest_normal, info.smallest_subnormal
        return [info.max, info.min, *tiny, -info.smallest_subnormal, info.eps]
    info = np.iinfo(dtype)
    return [info.max, info.min, info.max - 1, info.min + 1, info.max // 2 + 1]

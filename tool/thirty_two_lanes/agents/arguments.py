"""The arguments of a launch out of descriptions that JSON can hold, and what became of
them.

    2.5                                                 a number
    {"value": 2, "dtype": "float32"}                    a number of a type
    {"values": [1, 2, 3], "dtype": "int32"}             an array, nested lists for axes
    {"shape": [64, 64], "dtype": "float32", "fill": 0}  an array of one number
"""

import math

import numpy as np
from numba import cuda

from thirty_two_lanes.core.errors import shown
from thirty_two_lanes.core.words import counted

MOST_BYTES = 2**28  # of all arrays of a launch
SHOWN = 16  # numbers of an array
FILLS = ("arange", "random", "empty")
KEYS = ("value",), ("values",), ("shape", "fill")
FORMS = (
    'a number, {"value": 2, "dtype": "float32"}, {"values": [1, 2], "dtype": "int32"} '
    'or {"shape": [64], "dtype": "float32", "fill": 0}'
)


class BadRequest(Exception):
    """What an agent asked for cannot be done; the message says what to ask for."""


def arguments_of(descriptions, names) -> list:
    """Numbers and arrays, one for each name of the kernel's arguments.

    "empty" is memory of `cuda.device_array`, which nobody has written. Raises
    BadRequest with the name of the argument and the form that is wanted.
    """
    if len(descriptions) != len(names):
        takes = f"{counted(len(names), 'argument')} ({', '.join(names)})"
        raise BadRequest(f"the kernel takes {takes}; given: {len(descriptions)}")
    taken, made = 0, []
    for number, (name, it) in enumerate(zip(names, descriptions, strict=True)):
        value = one(f"`{name}`", it, MOST_BYTES - taken, seed=number)
        taken += getattr(value, "nbytes", 0)
        made.append(value)
    return made


def one(name, it, room, seed):
    """One argument, an array of at most so many bytes."""
    if isinstance(it, (bool, int, float)):
        return it
    forms = [keys for keys in KEYS if isinstance(it, dict) and keys[0] in it]
    if len(forms) != 1 or set(it) - {"dtype", *forms[0]}:
        raise BadRequest(f"{name} is described by {shown(it)}: give {FORMS}")
    dtype = dtype_of(name, it.get("dtype"))
    try:
        if "value" in it:
            return (dtype or np.asarray(it["value"]).dtype).type(it["value"])
        if "values" in it:
            return np.array(it["values"], dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadRequest(f"{name} cannot be made of its numbers: {error}") from None
    return filled(name, it, dtype or np.dtype(np.float32), room, seed)


def dtype_of(name, text):
    """A type of numbers by its name; None for none."""
    try:
        dtype = None if text is None else np.dtype(text)
    except TypeError:
        dtype = np.dtype(object)
    if dtype is not None and dtype.kind not in "biufc":
        names = "float32, float64, int32, int64, uint8, bool or complex64"
        raise BadRequest(f"{name} has the dtype {shown(text)}: give {names}")
    return dtype


def filled(name, it, dtype, room, seed):
    """An array of a shape."""
    shape, fill = it["shape"], it.get("fill", 0)
    shape = (shape,) if isinstance(shape, int) else tuple(shape or ())
    if not shape or not all(isinstance(n, int) and n > 0 for n in shape):
        raise BadRequest(f"{name} has the shape {shown(it['shape'])}: give [64, 32]")
    if math.prod(shape) * dtype.itemsize > room:
        raise BadRequest(
            f"{name} is too large: all arrays together may have {MOST_BYTES:,} bytes. "
            "What is wrong with a kernel shows at a few blocks"
        )
    if fill == "empty":
        return cuda.device_array(shape, dtype)
    if fill == "arange":
        return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    if fill == "random":
        return random(shape, dtype, seed)
    if not isinstance(fill, (bool, int, float)):
        raise BadRequest(
            f"{name} has the fill {shown(fill)}: give a number or {', '.join(FILLS)}"
        )
    try:
        return np.full(shape, fill, dtype)
    except OverflowError as error:
        raise BadRequest(f"{name} cannot be filled: {error}") from None


def random(shape, dtype, seed):
    """Numbers that are the same in each call: below 1, or whole ones below 100."""
    made = np.random.default_rng(seed).random(shape)
    if dtype.kind == "b":
        return made < 0.5
    return (made * (1 if dtype.kind in "fc" else 100)).astype(dtype)


def copy_of(value):
    """What an array holds, before a launch; None for a number, or where it is empty."""
    return value.copy() if isinstance(value, np.ndarray) else None


def outcomes(names, values, before) -> list[dict]:
    """What the arrays of a launch hold after it, in a few numbers each."""
    return [
        outcome(name, np.asarray(value.copy_to_host()), None)
        if hasattr(value, "copy_to_host")
        else outcome(name, value, old)
        for name, value, old in zip(names, values, before, strict=True)
        if hasattr(value, "shape") and value.shape
    ]


def outcome(name, array, before) -> dict:
    """One array; how many cells have changed, where it is known what they were."""
    flat = array.reshape(-1)
    said = {
        "name": name,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "first": [plain(it) for it in flat[:SHOWN]],
    }
    if before is not None:
        same = (array == before) | ((array != array) & (before != before))
        said["changed"] = int(array.size - np.count_nonzero(same))
    if array.dtype.kind in "iuf" and array.size:
        known = flat[np.isfinite(flat)]
        said["not_finite"] = int(flat.size - known.size)
        if known.size:
            said |= {"least": plain(known.min()), "greatest": plain(known.max())}
            said["mean"] = float(known.mean(dtype=np.float64))
    return said


def plain(number):
    """A number as JSON has it; a text for those that it has not."""
    number = number.item()
    finite = isinstance(number, (bool, int)) or (
        isinstance(number, float) and math.isfinite(number)
    )
    return number if finite else str(number)

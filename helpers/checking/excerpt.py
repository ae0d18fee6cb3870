"""A launch whose result is wrong, in numbers: its inputs, what is expected, and got.

Small arrays are shown whole, of others what lies around the first wrong value.
"""

import numpy as np

WHOLE = 12  # elements
BESIDE = 2  # elements on each side of the wrong one
WIDTH = 84


def excerpt(inputs, name, expected, got, index) -> str:
    """Lines with the part of each array that matters for one value of a result."""
    shown = [(it, *part(array, got.shape, index)) for it, array in inputs.items()]
    rows = [(f"{it}{where}", values) for it, where, values in shown]
    for what, array in (("expected", expected), ("got", got)):
        where, values = part(array, got.shape, index)
        rows.append((f"{what} {name}{where}", values))
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"  {label:<{width}}  {numbers(it, width)}" for label, it in rows)


def part(array, shape, index):
    """The index of what matters in an array, as text, and its values."""
    if array.size <= WHOLE:
        return "", array
    if array.shape == shape:
        start = max(0, index[-1] - BESIDE)
        where = (
            *index[:-1],
            slice(start, min(array.shape[-1], start + 2 * BESIDE + 1)),
        )
    else:
        of_row = array.shape[:1] == shape[:1]
        first = [index[0] if of_row else 0] + [0] * array.ndim
        where = (*first[: array.ndim - 1], slice(0, min(WHOLE // 2, array.shape[-1])))
    inside = (
        f"{it.start}:{it.stop}" if isinstance(it, slice) else f"{it}" for it in where
    )
    return f"[{', '.join(inside)}]", array[where]


def numbers(values, before) -> str:
    """Values in as few digits as tell them apart by eye."""
    room, margin = WIDTH - before - 4, " " * (before + 4)
    short = {"float_kind": lambda it: f"{it:.6g}"}
    text = np.array2string(values, separator=", ", max_line_width=room, formatter=short)
    return text.replace("\n", f"\n{margin}")

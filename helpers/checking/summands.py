"""Which part of an input a sum lacks: an element, a row, a block, its own number.

Several results must lack the same, or it may be chance; the caller compares them.
"""

import numpy as np

from helpers.checking.tolerance import tolerance_for

ALL = np.s_[...]


def lacking(got, expected, inputs, block) -> list[str]:
    """What a result lacks whose every value is right with it, in words; `block` is how
    many elements threads of a block have together.
    """
    found, of_floats = [], got.dtype.kind == "f"
    for name, array in inputs.items():
        if array.dtype.kind == "f" and not of_floats:
            continue
        for words, where, part in parts(got, name, array, block):
            if completes(got[where], part, expected[where]):
                found.append(words)
    return found


def completes(got, part, expected) -> bool:
    """Are all values right with what they may lack?"""
    with np.errstate(all="ignore"):  # they may be infinite, or wrap
        whole = np.add(got, part).astype(got.dtype)
    right = tolerance_for(whole, expected, None, None).agree(whole, expected)
    return whole.size > 0 and bool(right.all())


def parts(got, name, array, block):
    """The parts of an input that a result may lack: in words, for which of its values,
    and as numbers.
    """
    if got.size == 1 and array.ndim == 1 and array.size > 1:
        last = (array.size - 1) // block * block
        yield f"It lacks the first element of `{name}`", ALL, array[0]
        yield f"It lacks the last element of `{name}`", ALL, array[-1]
        yield (
            f"It lacks the first block's elements of `{name}`",
            ALL,
            array[:block].sum(),
        )
        yield f"It lacks the last block's elements of `{name}`", ALL, array[last:].sum()
    if got.ndim == 1 and array.ndim == 2:
        for axis, of in enumerate(("row", "column")):
            if got.shape == array.shape[1 - axis : 2 - axis]:
                along = np.moveaxis(array, axis, 0)
                yield f"Each value lacks the first {of} of `{name}`", ALL, along[0]
                yield f"Each value lacks the last {of} of `{name}`", ALL, along[-1]
    if got.ndim == 1 and array.shape == got.shape:
        yield f"Each value lacks `{name}[i]`", ALL, array
        yield f"Each value lacks `{name}[i - 1]`", np.s_[1:], array[:-1]
        yield f"Each value lacks `{name}[i + 1]`", np.s_[:-1], array[1:]

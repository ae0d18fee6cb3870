"""What probably went wrong, seen in two arrays that differ.

`check` shows it. A clue is given only where it explains every wrong value looked at.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers.checking.tolerance import RTOL, Exactly, Within, as_float
from thirty_two_lanes.core.hardware import WARP_SIZE

ENOUGH = 3  # values make a pattern
SINGLE = 1e-6  # a float32's errors, also of short sums
SAMPLE = 10_000  # wrong values are looked at
BLOCKS = (1024, 512, 256, 128, 64, 32)  # threads, the usual numbers
REARRANGED = (  # axes, what is made of the expected values, and what it is called
    (1, lambda it: it[::-1], "It is backwards: the last value comes first"),
    (
        2,
        lambda it: it.T,
        "It is the transpose of what is expected: are the indices swapped?",
    ),
    (2, lambda it: it[:, ::-1], "It is mirrored: the last column comes first"),
    (2, lambda it: it[::-1], "It is upside down: the last row comes first"),
    (
        2,
        lambda it: it[::-1, ::-1],
        "It is turned by half, as by a quarter turn the other way: the last value "
        "comes first",
    ),
    (2, lambda it: np.rot90(it), "It is turned by a quarter, to the left"),
    (2, lambda it: np.rot90(it, -1), "It is turned by a quarter, to the right"),
    (
        2,
        lambda it: it.T.reshape(it.shape),
        "Row after row, its values are those of the transpose: are rows and columns "
        "swapped in an index?",
    ),
)


@dataclass(frozen=True)
class Evidence:
    """Two arrays of one shape, and where they differ."""

    actual: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray
    tolerance: Exactly | Within

    def report(self):
        """How many differ, the first of them, and the likely cause."""
        of_type = self.type_too_small()  # which no guard and no grid would change
        clues = (of_type,) if of_type else (self.about_indices(), self.about_values())
        return "\n".join(clue for clue in (self.numbers(), *clues) if clue)

    def numbers(self):
        at = np.unravel_index(self.indices[0], self.wrong.shape)
        got, want = self.actual[at], self.expected[at]
        if self.wrong.size == 1:
            return f"the value differs: got {got!s}, expected {want!s}"
        index = ", ".join(str(int(i)) for i in at)
        return (
            f"{self.wrong.sum():,} of {self.wrong.size:,} values differ, "
            f"the first at [{index}]: got {got!s}, expected {want!s}"
        )

    @cached_property
    def indices(self):
        """The flat indices of the wrong values looked at."""
        return np.flatnonzero(self.wrong)[:SAMPLE]

    @cached_property
    def got(self):
        return self.actual.reshape(-1)[self.indices]

    @cached_property
    def want(self):
        return self.expected.reshape(-1)[self.indices]

    # -------------------------------------------------------- where they differ

    def about_indices(self):
        """A sentence on where the wrong values are, if they form a pattern."""
        return None if self.wrong.all() else self.from_an_index_on() or self.every_nth()

    def from_an_index_on(self):
        """Is all wrong from some index on, and nothing before?"""
        names = {1: ("index",), 2: ("row", "column")}.get(self.wrong.ndim, ())
        for axis, name in enumerate(names):
            along = np.moveaxis(self.wrong, axis, 0)
            start = int(along.reshape(len(along), -1).any(axis=1).argmax())
            if start >= ENOUGH and along[start:].all():
                if start == self.wrong.size - 1:
                    return "It is the last value"
                return f"They are all values from {name} {start:,} on{blocks(start)}"
        return None

    def every_nth(self):
        """Is every nth value wrong?"""
        indices = np.flatnonzero(self.wrong)
        steps = np.unique(np.diff(indices))
        if len(indices) < ENOUGH or len(steps) > 1 or steps[0] == 1:
            return None
        step = int(steps[0])
        edges = ": look at the threads at the edge of a warp or block"
        hint = edges if step % WARP_SIZE == 0 else ""
        return f"They are one in every {step:,}, from index {indices[0]:,} on{hint}"

    # -------------------------------------------------------- how they differ

    def about_values(self):
        """A sentence on the wrong values themselves, if they show a pattern."""
        if not self.is_numeric():
            return None
        of_memory = self.rearranged() or self.unwritten()
        return of_memory or self.offset() or self.shifted() or self.near()

    def type_too_small(self):
        """Can the result's type not hold what is expected?"""
        if not self.is_numeric() or self.actual.dtype.kind not in "iu":
            return None
        if self.expected.dtype.kind not in "iuf" or not self.is_finite(self.want):
            return None
        if (self.got == np.trunc(self.want)).all():
            return f"The fractions were lost: the result is {self.actual.dtype}"
        if self.is_wrapped():
            last = np.iinfo(self.actual.dtype).max
            largest = f"the largest {self.actual.dtype} is {last:,}"
            return f"The values wrapped around: {largest}"
        return None

    def is_wrapped(self):
        """Are these the expected values, modulo what the result's type can hold?"""
        limits = np.iinfo(self.actual.dtype)
        outside = (self.want < limits.min) | (self.want > limits.max)
        whole = self.want
        if whole.dtype.kind == "f":
            outside &= np.abs(whole) < 2.0**63  # what an int64 holds
            whole = np.where(outside, whole, 0).astype(np.int64)
        return outside.all() and (whole.astype(self.actual.dtype) == self.got).all()

    def rearranged(self):
        """Are these the expected values, all of them at other places?"""
        for axes, made, sentence in REARRANGED if self.is_pattern() else ():
            if self.wrong.ndim == axes:
                other = made(self.expected)
                same = other.shape == self.actual.shape
                if same and self.tolerance.agree(self.actual, other).all():
                    return sentence
        return None

    def unwritten(self):
        """Do all of them hold one value, as unwritten memory does?"""
        value = self.got[0]
        they_are = "All of them are" if len(self.got) > 1 else "It is"
        if np.isnan(self.got).all() and not np.isnan(self.want).any():
            return f"{they_are} NaN: never written, or the result of 0/0 or inf/inf?"
        suspect = value == 0 or self.is_pattern()
        if suspect and (self.got == value).all() and self.is_finite(self.got):
            return f"{they_are} {value!s}: never written?"
        return None

    def offset(self):
        """Is each wrong by the same amount?"""
        real = self.got.dtype.kind != "c"
        if not (real and self.is_pattern() and self.is_finite(self.got, self.want)):
            return None
        first = self.exact(self.got)[0] - self.exact(self.want)[0]
        if not self.is_explained_by(self.exact(self.want) + first):
            return None
        side = "large" if first > 0 else "small"
        also = ", or they are shifted by one" if self.shifted() else ""
        return f"Each of them is {abs(first):g} too {side}{also}"

    def shifted(self):
        """Is each what its neighbour should be?"""
        return self.shifted_along() if self.wrong.ndim == 2 else self.shifted_in_order()

    def shifted_along(self):
        """Is it so of all rows, or of all columns?"""
        for axis, name in enumerate(("row", "column")):
            actual, expected, wrong = (
                np.moveaxis(it, axis, 0)
                for it in (self.actual, self.expected, self.wrong)
            )
            for sign, here, there in (("-", 1, 0), ("+", 0, 1)):
                last = len(wrong) - 1
                got, want = actual[here:][:last], expected[there:][:last]
                moved = self.is_pattern() and wrong[here:][:last].any()
                if moved and self.tolerance.agree(got, want).all():
                    other = "[row, column]".replace(name, f"{name} {sign} 1")
                    return (
                        f"Shifted by one {name}: [row, column] holds what is expected "
                        f"at {other}"
                    )
        return None

    def shifted_in_order(self):
        """Is each wrong value what the one before it should be, or the one after?"""
        for step, sign in ((-1, "-"), (1, "+")):
            source = self.indices + step
            inside = (source >= 0) & (source < self.wrong.size)
            neighbours = self.expected.reshape(-1)[source[inside]]
            same = self.tolerance.agree(self.got[inside], neighbours).all()
            if same and self.is_pattern():
                return f"Shifted by one: [i] holds what is expected at [i {sign} 1]"
        return None

    def near(self):
        """Is it rounding, or a constant factor?"""
        finite = self.is_finite(self.got, self.want)
        return (self.rounding() or self.factor()) if finite else None

    def rounding(self):
        if isinstance(self.tolerance, Exactly):
            return None
        largest = self.tolerance.errors(self.got, self.want).max()
        if self.tolerance.rtol == RTOL[8] and 100 * RTOL[8] <= largest < SINGLE:
            return (
                f"The largest relative error is {largest:.1e}, which float32 would "
                "explain: is there one on the way?"
            )
        if not self.tolerance.rtol < largest < 100 * self.tolerance.rtol:
            return None
        return (
            f"They are close: the largest relative error is {largest:.1e}, and "
            f"{self.tolerance.rtol:.1e} is allowed; if it is rounding, pass a larger "
            "`rtol`"
        )

    def factor(self):
        if not self.is_pattern() or not self.want.all():
            return None
        ratio = as_float(self.got)[0] / as_float(self.want)[0]
        if self.is_explained_by(ratio * as_float(self.want)):
            return f"Each of them is {ratio:g} times what is expected"
        return None

    # -------------------------------------------------------- questions to the sample

    def is_pattern(self):
        """Are enough different values wrong for a pattern to mean something?"""
        return len(self.indices) >= ENOUGH and len(np.unique(self.want)) >= ENOUGH

    def is_explained_by(self, values):
        """Are these the actual values?"""
        return bool(self.tolerance.agree(self.got, values).all())

    def is_numeric(self):
        """Are these numbers of NumPy's own types?"""
        return {self.actual.dtype.kind, self.expected.dtype.kind} <= set("biufc")

    def is_finite(self, *arrays):
        return all(np.isfinite(values).all() for values in arrays)

    def exact(self, values):
        """The values in a type in which their differences do not overflow."""
        exactly = isinstance(self.tolerance, Exactly)
        return values.astype(object) if exactly else as_float(values)


def blocks(start):
    """What it suggests that values are wrong from `start` on."""
    block = next((size for size in BLOCKS if start % size == 0), None)
    if block is None:
        return ": is the guard right, and is the grid large enough?"
    smaller = "" if block == BLOCKS[-1] else " and of smaller blocks"
    return f", a multiple of {block:,}{smaller}: is the grid a block short?"

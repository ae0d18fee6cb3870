"""What the machine tells the judges: the records of the emulator, and nothing else."""

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class Site:
    """A source line of a kernel, equal to its number, so that tables go by line."""

    file: str
    line: int
    text: str
    called_from: int | None = None  # the kernel's line, for lines of a device function
    kind: str | None = None  # in a table: load, store or atomic
    array: str | None = None  # in a table: the array's name in the kernel

    def __eq__(self, other):
        if isinstance(other, Site):
            return astuple(self) == astuple(other)
        return self.line == other

    def __hash__(self):
        return hash(self.line)

    def __lt__(self, other):
        return self.line < getattr(other, "line", other)

    def __repr__(self):
        return f"{self.place}  {self.text}"

    @property
    def place(self) -> str:
        """The line's place in words."""
        caller = f", called from line {self.called_from}" if self.called_from else ""
        return f"{self.file}, line {self.line}{caller}"


@dataclass(frozen=True, eq=False)
class Reference:
    """One place in the source that touches memory: where, how, and which array."""

    site: Site
    kind: str  # "load", "store" or "atomic"
    array: str  # the name that the kernel gives it


class Access(NamedTuple):
    """One request of a warp, of each block of a batch.

    `addresses` are bytes, of shape (lanes or 1, blocks or 1); `active` broadcasts
    against (lanes, blocks), None when all take part. `pattern` is a dictionary that
    lives as long as the same addresses recur, for judges to keep what they found, or
    None.
    """

    reference: Reference
    space: str
    dtype: np.dtype
    addresses: np.ndarray
    active: np.ndarray | None
    blocks: int
    pattern: dict | None

"""`baseline`: what others reach on a GPU, recorded in one run by `lessons.baselines`: a
library, a copy, or the same kernel in CUDA C++.
"""

import math
from dataclasses import dataclass
from functools import cache

from helpers.measuring import store
from helpers.measuring.measurement import Timed


@dataclass(frozen=True)
class Baseline(Timed):
    """The time of one launch, recorded on a GPU; NaN where nothing is recorded."""

    name: str

    def __repr__(self):
        if not self.launches:
            return f"{self.name}: no baseline is recorded"
        rates = {"GB/s": self.gb_per_s, "GFLOP/s": self.gflop_per_s}
        known = [f"{v:,.0f} {unit}" for unit, v in rates.items() if not math.isnan(v)]
        parts = ", ".join([self.time(), *known])
        return f"{self.name}: {parts}, {self.gpu}, recorded {self.date}"


def baseline(name):
    """What was recorded under a name, such as "cuBLAS 1024"."""
    for found in map(load, store.files("baselines")):
        if name in found["baselines"]:
            where = {"gpu": found["gpu"], "date": found["date"]}
            return Baseline(name, **where | found["baselines"][name])
    return Baseline(name)


load = cache(store.read)

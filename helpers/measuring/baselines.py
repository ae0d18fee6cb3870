"""`baseline`: what others reach on a GPU, recorded in one run by `lessons.baselines`: a
library, a copy, or the same kernel in CUDA C++.
"""

import math
from dataclasses import dataclass
from functools import cache

from helpers.measuring import store


@dataclass(frozen=True)
class Baseline:
    """The time of one launch, recorded on a GPU; NaN where nothing is recorded."""

    name: str
    median_us: float = math.nan
    lower_us: float = math.nan      # a quarter of the launches was faster
    upper_us: float = math.nan      # a quarter was slower
    min_us: float = math.nan
    max_us: float = math.nan
    launches: int = 0
    bytes: float = math.nan
    flops: float = math.nan
    gpu: str = ""
    date: str = ""

    @property
    def gb_per_s(self):
        return self.bytes / self.median_us / 1e3

    @property
    def gflop_per_s(self):
        return self.flops / self.median_us / 1e3

    def __repr__(self):
        if not self.launches:
            return f"{self.name}: no baseline is recorded"
        parts = [
            f"{self.median_us:,.1f} µs (median of {self.launches:,}, "
            f"half of them between {self.lower_us:,.1f} and {self.upper_us:,.1f})"
        ]
        rates = {"GB/s": self.gb_per_s, "GFLOP/s": self.gflop_per_s}
        parts += [f"{v:,.0f} {unit}" for unit, v in rates.items() if not math.isnan(v)]
        return f"{self.name}: {', '.join(parts)}, {self.gpu}, recorded {self.date}"


def baseline(name):
    """What was recorded under a name, such as "cuBLAS 1024"."""
    for found in map(load, store.files("baselines")):
        if name in found["baselines"]:
            where = {"gpu": found["gpu"], "date": found["date"]}
            return Baseline(name, **where | found["baselines"][name])
    return Baseline(name)


load = cache(store.read)

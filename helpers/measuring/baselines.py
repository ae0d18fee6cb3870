"""`baseline`: what others reach on a GPU, by name: a rung of a ladder, its library or
copy, as `lessons.ladders` recorded them in several runs; or a work of one run of
`lessons.baselines`.
"""

import math
from dataclasses import dataclass
from functools import cache

from helpers.measuring import store
from helpers.measuring.measurement import Timed


@dataclass(frozen=True)
class Baseline(Timed):
    """The time of one launch, recorded on a GPU; NaN where nothing is recorded.

    Of several runs, the time is the median of their medians, and its spread goes from
    the lowest of them to the highest.
    """

    name: str
    runs: int = 1

    def time(self):
        """The time of a launch, and how much it varied."""
        if self.runs == 1:
            return super().time()
        return (
            f"{self.median_us:,.1f} µs (median of {self.runs} runs, "
            f"whose medians lie between {self.lower_us:,.1f} and {self.upper_us:,.1f})"
        )

    def __repr__(self):
        if not self.launches:
            return f"{self.name}: no baseline is recorded"
        rates = {"GB/s": self.gb_per_s, "GFLOP/s": self.gflop_per_s}
        known = [f"{v:,.0f} {unit}" for unit, v in rates.items() if not math.isnan(v)]
        parts = ", ".join([self.time(), *known])
        return f"{self.name}: {parts}, {self.gpu}, recorded {self.date}"


def baseline(name):
    """What was recorded under a name, such as "cuBLAS 1024"."""
    for known in map(load, (*store.files("ladders"), *store.files("baselines"))):
        if name in known:
            return Baseline(name, **known[name])
    return Baseline(name)


@cache
def load(file) -> dict:
    """All that a file holds, by name."""
    found = store.read(file)
    facts = {"gpu": found["gpu"], "date": found.get("date", "")}
    known = {it: facts | values for it, values in found.get("baselines", {}).items()}
    for climbed in found.get("ladders", {}).values():
        facts |= {key: climbed[key] for key in ("date", "runs", "launches")}
        for title in climbed["titles"].values():
            known |= {it: facts | timed(**rung) for it, rung in title["rungs"].items()}
    return known


def timed(us, percent, **sizes) -> dict:
    """A rung's numbers as a baseline's."""
    low, middle, high = us
    times = {"median_us": middle, "lower_us": low, "upper_us": high}
    return {**times, "min_us": low, "max_us": high, **sizes}

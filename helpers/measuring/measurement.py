"""How long a kernel took on a GPU, as a sentence and as numbers."""

import json
import math
from dataclasses import dataclass, field, fields

from helpers.measuring import counters as of_hardware
from thirty_two_lanes.core.errors import WIDTH, wrapped
from thirty_two_lanes.core.hardware import WARP_SIZE, gpu_named
from thirty_two_lanes.frontend.launch_form import Form


@dataclass(frozen=True, kw_only=True)
class Timed:
    """The time of one launch on a GPU, and what it moves and computes."""

    launches: int = 0
    median_us: float = math.nan
    lower_us: float = math.nan  # a quarter of the launches was faster
    upper_us: float = math.nan  # a quarter was slower
    min_us: float = math.nan
    max_us: float = math.nan
    bytes: float = math.nan  # moved and computed, as the caller counts
    flops: float = math.nan
    gpu: str = ""
    date: str = ""

    @property
    def gb_per_s(self):
        return self.bytes / self.median_us / 1e3

    @property
    def gflop_per_s(self):
        return self.flops / self.median_us / 1e3

    def time(self):
        """The time of a launch, and how much it varied."""
        return (
            f"{self.median_us:,.1f} µs (median of {self.launches:,}, "
            f"half of them between {self.lower_us:,.1f} and {self.upper_us:,.1f})"
        )


@dataclass(frozen=True, eq=False)
class Measurement(Timed):
    """The time of one launch on a GPU; NaN where it was not measured.

    Two are equal if they are of one form, by whatever name, and all else is the same.
    """

    form: Form
    blocks: int = 0  # of a launch
    threads: int = 0  # of a block
    copy_gb_per_s: float = math.nan  # what copying a large array reaches
    versions: dict = field(default_factory=dict)
    recorded: bool = False  # on that GPU then, not on this one now
    counters: dict = field(default_factory=dict)  # of Nsight Compute, for one launch
    counters_gpu: str = ""
    nearest: str = ""  # what was recorded instead, in words

    def __eq__(self, other):
        same = isinstance(other, Measurement)
        return self._said == other._said if same else NotImplemented

    def __hash__(self):
        return hash(self._said)

    @property
    def _said(self):
        """All of it, numbers as a text, in which NaN is NaN."""
        names = (it.name for it in fields(self) if it.name != "form")
        rest = {name: getattr(self, name) for name in names}
        return self.form, json.dumps(rest, sort_keys=True, default=float)

    @property
    def kernel(self):
        return self.form.kernel

    @property
    def warps(self):
        """The warps of the launch."""
        return self.blocks * math.ceil(self.threads / WARP_SIZE)

    @property
    def is_measured(self):
        return self.launches > 0

    @property
    def share_of_copy(self):
        """The bytes per second, as a share of what a copy on that GPU moves."""
        return self.gb_per_s / self.copy_gb_per_s

    @property
    def share_of_peak(self):
        """The operations per second, as a share of the data sheet's for float32."""
        known = gpu_named(self.gpu)
        return self.gflop_per_s / (1000 * known.peak_tflop_per_s if known else math.nan)

    @property
    def traffic(self):
        """The bytes that L1, L2 and memory were asked for, by the hardware's counters;
        {} where none were recorded.
        """
        return of_hardware.traffic(self.counters)

    @property
    def waits(self):
        """What warps waited for when they did not issue, each reason with its share."""
        return of_hardware.waits(self.counters)

    def __repr__(self):
        if not self.is_measured:
            form = "not measured on a GPU in this form"
            return wrapped(f"{self.kernel}: {form}; {self.nearest}")
        when = f", recorded {self.date}" if self.recorded else ""
        lines = [f"{self.kernel}: {self.time()}, ", f"{self.gpu}{when}"]
        if sum(map(len, lines)) <= WIDTH:
            lines = ["".join(lines)]
        if rates := ", ".join(self.rates()):
            lines.append(rates)
        if waited := of_hardware.sentence(self.counters):
            elsewhere = self.counters_gpu not in ("", self.gpu)
            lines.append(waited + (f" (on {self.counters_gpu})" if elsewhere else ""))
        return wrapped("\n    ".join(map(str.rstrip, lines)))

    def rates(self):
        """What the time means for the bytes and operations declared, and a grid too
        small to keep the GPU busy.
        """
        if not math.isnan(self.bytes):
            yield f"{rate(self.gb_per_s)} GB/s{share(self.share_of_copy, 'a copy')}"
        if not math.isnan(self.flops):
            of_peak = share(self.share_of_peak, "the peak")
            yield f"{rate(self.gflop_per_s)} GFLOP/s{of_peak}"
        known = gpu_named(self.gpu)
        if known and 0 < self.blocks < known.multiprocessors:
            number = "1 block" if self.blocks == 1 else f"{self.blocks} blocks"
            yield f"{number} for {known.multiprocessors} multiprocessors"


def rate(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def share(part, whole):
    return "" if math.isnan(part) else f" ({part:.0%} of {whole})"

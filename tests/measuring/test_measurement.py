"""A measurement as a value, and what it says of rates."""

import math

import pytest

from helpers.measuring.measurement import Measurement, rate
from thirty_two_lanes.frontend.launch_form import Form

COPY = Form("copy", "c0de", (), (), "1 block")
H200 = "NVIDIA H200"


def measurement(form=COPY, **values):
    return Measurement(form, **{"launches": 9, "median_us": 4.0, "gpu": H200, **values})


def test_measurements_of_one_form_with_the_same_numbers_are_one():
    """By whatever name, in whatever order they were counted; what is NaN is NaN."""
    mine = Form("mine", "c0de", (), (), "1 block")
    renamed = measurement(mine, counters={"a": 1, "b": 2})

    counted = measurement(counters={"b": 2, "a": 1})
    assert counted == renamed and hash(counted) == hash(renamed)
    assert 1 == len({measurement(), measurement()})


@pytest.mark.parametrize(
    "other",
    [
        measurement(median_us=5.0),
        measurement(Form("copy", "edited", (), (), "1 block")),
        measurement(recorded=True),
        "copy",
    ],
)
def test_measurements_that_differ_are_two(other):
    """In a number, in the form, or in where they are from."""
    assert measurement() != other


@pytest.mark.parametrize(
    "value, digits",
    [
        (123456.7, "123,457"),
        (100, "100"),
        (99.51, "99.5"),
        (0.01234, "0.0123"),
    ],
)
def test_a_rate_has_three_digits_or_all_before_the_point(value, digits):
    """No more than two runs agree on."""
    assert digits == rate(value)


def test_only_the_rates_that_are_known_are_told():
    """Without a recorded copy and a known peak, no share of them."""
    unknown = measurement(gpu="Stand-in", bytes=8e6, flops=4e6, blocks=1)

    assert ["2,000 GB/s", "1,000 GFLOP/s"] == [*unknown.rates()]
    assert [] == [*measurement().rates()]
    assert math.isnan(unknown.share_of_peak)


@pytest.mark.parametrize("threads, warps", [(1, 3), (32, 3), (33, 6), (1024, 96)])
def test_warps_are_those_of_all_blocks(threads, warps):
    """A block's last warp may have lanes without a thread."""
    assert warps == measurement(blocks=3, threads=threads).warps


def test_what_other_hardware_counted_says_so():
    """A time of one GPU beside waits of another; of the same one, nothing is said."""
    counters = {"stalls": {"barrier": 1}, "issue_percent": 9}
    elsewhere = measurement(counters=counters, counters_gpu="NVIDIA H100")

    assert "slots used (on NVIDIA H100)" in " ".join(repr(elsewhere).split())
    assert "(on" not in repr(measurement(counters=counters, counters_gpu=H200))

"""Launches side by side: `compare`."""

import math

import numpy as np
import pytest
from numba import cuda

from helpers import baseline, compare, emulate
from helpers.measuring.comparison import QUANTITIES
from helpers.measuring.measurement import Measurement
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.frontend.launch_form import Form


@cuda.jit
def copy(dst, src, stride):
    """Each thread copies one element."""
    i = cuda.grid(1)
    dst[i] = src[stride * i]


TO, FROM = np.zeros(64, np.float32), np.zeros(512, np.float32)
together, apart = (emulate(copy)[2, 32](TO, FROM, stride) for stride in (1, 8))
FORM = Form("copy", "", (), (), "2 blocks × 48 threads")
TIMED = Measurement(
    FORM,
    blocks=2,
    threads=48,
    launches=9,
    median_us=4.0,
    bytes=8e6,
    copy_gb_per_s=4000.0,
    gpu="NVIDIA H200",
    counters={
        "stalls": {"selected": 1.0, "long_scoreboard": 6.0, "wait": 2.0},
        "issue_percent": 34.6,
        "l2_read_sectors": 4,
        "instructions": 40,
        "cycles": 100,
        "l1_data_percent": 50.0,
        "global_load_requests": 132,
        "global_store_requests": 68,
        "shared_load_requests": 0,
        "shared_store_requests": 0,
    },
)


def test_a_row_of_time_and_count_gives_each_column_what_it_knows():
    """A launch is counted by the emulator and timed by the GPU: one row has both."""
    found = compare(
        {"side by side": (together, TIMED), "apart": apart},
        "sectors per load",
        "µs",
        "waits most for",
    )

    assert ("launch", "sectors per load", "µs", "waits most for") == found.columns
    assert [
        ["side by side", "4", "4", "global or local memory"],
        ["apart", "32", "not measured", "not measured"],
    ] == found.texts()


def test_counters_are_told_in_the_units_that_their_column_says():
    """2 blocks of 48 threads are 4 warps; 132 multiprocessors pass data for half of
    100 cycles each, for 200 requests.
    """
    told = compare(
        {"copy": TIMED},
        "GB/s",
        "% of a copy",
        "instructions per warp",
        "sectors from L2 per warp",
        "cycles per request",
        "issue slots used, %",
        "waits most for",
    )
    expected = [2000.0, 50.0, 10.0, 1.0, 33.0, 34.6, "global or local memory"]

    assert expected == pytest.approx(list(told.rows[0][1:]))


def test_a_name_may_have_parts_and_a_column_may_be_a_function():
    """Two columns of names, and one that this page alone needs."""
    found = compare(
        {("copy", 1): together, ("copy", 8): apart},
        {"warps": lambda run: 2},
        "sectors per request",
        by=("kernel", "stride"),
    )

    assert ("kernel", "stride", "warps", "sectors per request") == found.columns
    assert [("copy", 1, 2, 4.0), ("copy", 8, 2, 18.0)] == [*found.rows]


def test_what_is_not_measured_says_so():
    """A baseline that nobody recorded, and quantities of another verb."""
    found = compare({"cuX": baseline("cuX")}, "µs", "sectors per load", "registers")

    assert ["cuX", *["not measured"] * 3] == found.texts()[0]


@pytest.mark.parametrize("name", QUANTITIES)
def test_each_quantity_is_empty_where_nothing_was_counted(name):
    """A launch without a GPU, of a form that was not recorded."""
    value = compare({"new": Measurement(FORM, gpu="NVIDIA H200")}, name).rows[0][1]

    assert value is None or math.isnan(value)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: compare([TIMED], "µs"), "takes a dictionary"),
        (lambda: compare({"copy": TIMED}, "Gb/s"), "did you mean 'GB/s'"),
        (lambda: compare({"copy": TIMED}, "elephants"), "knows no quantity"),
    ],
)
def test_a_wrong_call_says_what_to_write(wrong, words):
    """The rows are named, and so are the quantities."""
    with pytest.raises(ArgumentError, match=words):
        wrong()

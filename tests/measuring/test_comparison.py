"""Launches side by side: `compare`."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32

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


@cuda.jit
def spread(dst, src):
    """Each thread copies one element by way of shared memory, none beside another."""
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[4 * i] = src[8 * i]
    dst[i] = tile[4 * i]


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
    flops=134e6,
    counters={
        "stalls": {"selected": 1.0, "long_scoreboard": 6.0, "wait": 2.0},
        "issue_percent": 34.6,
        "l1_data_percent": 50.0,
        "l2_percent": 21.0,
        "memory_percent": 22.0,
        "occupancy_percent": 23.0,
        "instructions": 40,
        "cycles": 100,
        "global_load_sectors": 10e9,
        "global_store_sectors": 5e9,
        "l2_read_sectors": 4e9,
        "l2_write_sectors": 2e9,
        "memory_read_bytes": 3e9,
        "memory_write_bytes": 1e9,
        "global_load_requests": 132,
        "global_store_requests": 60,
        "shared_load_requests": 7,
        "shared_store_requests": 1,
    },
)
COMPILED = SimpleNamespace(
    registers=24, spill_stores=16, opcodes={"MOV": 3}, instructions=("MOV",) * 3
)
# 2 blocks of 48 threads are 4 warps; a sector is 32 bytes; an H200 computes 67 TFLOP/s,
# and its 132 multiprocessors pass data for half of 100 cycles each, for 200 requests
TOLD = {
    "µs": 4.0,
    "GB/s": 2000.0,
    "TFLOP/s": 33.5,
    "% of a copy": 50.0,
    "% of the peak": 50.0,
    "GB through L1": 480.0,
    "GB through L2": 192.0,
    "GB through memory": 4.0,
    "GB loaded from L2": 128.0,
    "GB stored to L2": 64.0,
    "GB read from memory": 3.0,
    "instructions per warp": 10.0,
    "sectors from L2 per warp": 1e9,
    "sectors to L2 per warp": 5e8,
    "issue slots used, %": 34.6,
    "data path busy, %": 50.0,
    "L2 busy, %": 21.0,
    "memory busy, %": 22.0,
    "occupancy, %": 23.0,
    "cycles per request": 33.0,
    "data path cycles per warp": 1650.0,
    "waits most for": "global or local memory",
    "registers": 24,
    "bytes spilled": 16,
    "machine instructions": 3,
}
# 16 of a warp's 32 lanes load 16 sectors and store 2, two of them from each bank
RUN = emulate(spread)[1, 16](TO, FROM)
EMULATED = {
    "threads per block": 16,
    "instructions": RUN.divergence.instructions,
    "active share, %": 50.0,
    "sectors per load": 16.0,
    "sectors per request": 9.0,
    "bank conflicts": 2,
}


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


@pytest.mark.parametrize("name", QUANTITIES)
def test_each_quantity_is_told_in_the_unit_of_its_name(name):
    """Of counts small enough to do it by hand."""
    (row,) = compare({"it": (TIMED, COMPILED, RUN)}, name).rows

    assert ("it", pytest.approx({**TOLD, **EMULATED}[name])) == row


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

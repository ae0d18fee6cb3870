"""What threads tell the host: lines in order, up to a number of them."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from thirty_two_lanes.emulator import KernelError


@cuda.jit
def number(n):
    i = cuda.grid(1)
    if i < n:
        print("thread", i, i * 0.5)


@pytest.mark.parametrize("count", [40, 999, 1000, 1001, 1030])
def test_a_launch_prints_a_thousand_lines(count, capsys):
    """Floats with six decimals; then a line that says so."""
    emulate(number)[1, 1024](count) if count <= 1024 else emulate(number)[2, 1024](
        count
    )

    *lines, last = capsys.readouterr().out.splitlines()
    kept = {f"thread {i} {i / 2:f}" for i in range(count)}
    if count <= 1000:
        assert (count, kept) == (len(lines) + 1, {*lines, last})
    else:
        assert 1000 == len(lines) == len({*lines} & kept)
        assert last.startswith("… (the emulator prints the first 1,000 lines")


def test_a_block_prints_lane_by_lane(capsys):
    """Those that take part."""

    @cuda.jit
    def kernel():
        t = cuda.threadIdx.x
        if t % 8 == 1:
            print(cuda.blockIdx.x, t)

    emulate(kernel)[2, 32]()

    expected = [f"{block} {t}" for block in range(2) for t in (1, 9, 17, 25)]
    assert expected == capsys.readouterr().out.splitlines()


def test_a_variable_that_no_branch_set_is_an_error_of_its_line():
    """Not one of NumPy's."""

    @cuda.jit
    def kernel(n, out):
        if n > 3:
            x = out[0] + 1
        out[1] = x * 2

    out = np.zeros(2)
    emulate(kernel)[1, 32](4, out)
    assert [0, 2] == out.tolist()
    with pytest.raises(KernelError) as told:
        kernel[1, 32](3, out)
    text = str(told.value)
    assert "out[1] = x * 2" in text and "TypeError" not in text

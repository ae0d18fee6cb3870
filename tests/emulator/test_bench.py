"""What the benchmark runs is right: the emulator and the loops give the same."""

import pytest

from helpers import check
from tests.specimens.bench.narrow import NARROW
from tests.specimens.bench_kernels import CASES

SMALL = {case.name: case.small or 1000 for case in CASES}
SMALL |= {case.name: case.size // 20 for case in NARROW}


LONG = {"overlap of boxes"}  # to compile


def cases():
    for case in (*CASES, *NARROW):
        marks = pytest.mark.slow if case.name in LONG else ()
        yield pytest.param(case, marks=marks, id=case.name)


@pytest.mark.parametrize("case", cases())
def test_a_kernel_and_its_loops_agree(case):
    """Each at its small size."""
    size = SMALL[case.name]
    launch = case.launch(size)
    ours, theirs = case.arguments(size), case.arguments(size)

    case.kernel[launch](*ours)
    case.loops(*launch, *theirs)

    check(ours[-1], theirs[-1])

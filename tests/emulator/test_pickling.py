"""Results can be kept: pickled, loaded elsewhere, compared and put into sets."""

import math
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import cuda, float32

from helpers import assemble, check, emulate, measure, table
from helpers.measuring.measurement import Measurement
from tests.paths import ROOT


@cuda.jit(device=True)
def half(x):
    return x * 0.5


@cuda.jit
def reverse(a, out):
    """With a race, a bank conflict, a warning and an uninitialised cell."""
    cells = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    cells[2 * t % 64] = a[t]
    out[t + cuda.blockIdx.x] = half(cells[63 - t])


A = np.ones(64, np.float32)


def run(seed=None):
    return emulate(reverse, seed=seed)[2, 32](A, np.zeros(64, np.float32))


RESULTS = {
    "a run": run,
    "an assembly": lambda: assemble(reverse)[2, 32](A, A),
    "a measurement": lambda: measure(reverse, bytes=8)[2, 32](A, A),
    "an agreement": lambda: check(A, A),
    "a table": lambda: table(["a", "b"], [[1, 2.5], ["x", None]]),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_comes_back_from_a_pickle_as_it_was(result):
    """Equal, with the same hash, and saying the same."""
    first = result()
    again = pickle.loads(pickle.dumps(first))

    assert first == again and hash(first) == hash(again)
    assert repr(first) == repr(again)
    assert 1 == len({first, again, result()})


def test_a_run_says_all_of_itself_after_a_pickle():
    """Its page with the kernel's lines, its tables, races, and what needs counting."""
    first = run()
    again = pickle.loads(pickle.dumps(first))

    assert first._repr_html_() == again._repr_html_()
    assert first.to_dict() == again.to_dict()
    assert first.races == again.races and first.races.minor == again.races.minor
    assert (first.reuse["a"].loads == again.reuse["a"].loads).all()
    for call in ("assert_no_races", "assert_coalesced", "assert_no_bank_conflicts"):
        with pytest.raises(AssertionError) as told:
            getattr(first, call)()
        with pytest.raises(AssertionError) as same:
            getattr(again, call)()
        assert str(told.value) == str(same.value)
    assert reverse.py_func is first.function and again.function is None


def test_two_runs_are_equal_if_they_say_the_same():
    """Another launch, count or finding makes another run."""
    first = run()

    assert first == run() and first != "a run"
    assert first != emulate(reverse)[1, 32](A, np.zeros(64, np.float32))
    assert first != replace(first, warnings=())
    assert first != replace(first, kernel="other")


def test_what_was_not_measured_equals_itself():
    """NaN stands for it, and NaN is not NaN."""
    first = measure(reverse)[2, 32](A, A)

    names = "form blocks threads nearest".split()
    same = {name: getattr(first, name) for name in names}

    assert first == Measurement(**same, bytes=float("nan"))
    assert first != Measurement(**same, launches=1)
    assert math.isnan(first.median_us)


@pytest.mark.slow
def test_a_run_can_be_loaded_where_only_the_course_is_imported(tmp_path):
    """The process that loads it knows neither the kernel nor its file."""
    file = tmp_path / "results.pickle"
    results = [result() for result in RESULTS.values()]
    file.write_bytes(pickle.dumps(results))
    code = (
        "import helpers, pickle, sys\n"
        "results = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(*results, results[0]._repr_html_(), sep='\\n')"
    )

    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert "" == done.stderr
    wanted = [*map(str, results), results[0]._repr_html_()]
    assert "\n".join(wanted).splitlines() == done.stdout.splitlines()

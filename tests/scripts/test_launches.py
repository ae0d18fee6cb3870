"""Plain launches are handed over, whichever way they are written."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32

from thirty_two_lanes.core.errors import KernelIndexError, LaunchError, UnsupportedError
from thirty_two_lanes.emulator.host.dispatch import LaunchConfiguration
from thirty_two_lanes.scripts import launches, ledger
from thirty_two_lanes.scripts.launches import handed_to


@cuda.jit
def double(values):
    """Twice each element."""
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


@cuda.jit
def doubled_in_grid(values):
    """Twice each element, and a barrier of the whole grid."""
    values[cuda.grid(1)] *= 2
    cuda.cg.this_grid().sync()


@cuda.jit
def filled(values):
    """Dynamic shared memory, of as many elements as threads."""
    tile = cuda.shared.array(0, float32)
    tile[cuda.threadIdx.x] = 7
    values[cuda.grid(1)] = tile[cuda.threadIdx.x]


@pytest.fixture
def handed():
    """The runs of the launches of a test, in their order."""
    runs = []
    with handed_to(lambda launch, *given: runs.append(launch.emulated(*given))):
        yield runs


def shapes(runs):
    """The kernel, the blocks and the threads of each run."""
    return [(run.kernel, run.blocks, run.threads_per_block) for run in runs]


def test_each_form_of_a_launch_is_handed_over(handed):
    """Two, three and four values in the brackets, `configure` and `forall`."""
    values, stream = np.ones(64, np.float32), cuda.stream()

    double[2, 32](values)
    double[(2, 1), (32, 1, 1), stream](values)
    filled[2, 32, 0, 128](values)
    double.configure(1, 64)(values)
    double.forall(64, 16)(values)
    doubled_in_grid[4, 16](values)

    wide = [("double", 2, 32)] * 2, [("filled", 2, 32)], [("double", 1, 64)]
    rest = [("double", 4, 16), ("doubled_in_grid", 4, 16)]
    assert [*wide[0], *wide[1], *wide[2], *rest] == shapes(handed)
    assert 7.0 * 8 == values[0] == values[-1]


def test_a_device_array_is_changed_as_by_a_launch(handed):
    """It is not copied on the way."""
    on_device = cuda.to_device(np.arange(64.0))

    double[2, 32](on_device)

    assert (np.arange(64.0) * 2 == on_device.copy_to_host()).all()
    assert 1 == len(handed)


def test_launches_of_other_threads_are_handed_over(handed):
    """Four threads, five launches each."""
    arrays = [np.ones(64) for _ in range(4)]

    def work(values):
        for _ in range(5):
            double[2, 32](values)

    threads = [threading.Thread(target=work, args=[a]) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [("double", 2, 32)] * 20 == shapes(handed)
    assert all((values == 32).all() for values in arrays)


def test_a_launch_leaves_behind_what_a_plain_one_does(handed):
    """The kernel's overloads, and the calls of who asked for them."""
    called = []
    kernel = cuda.jit(double.py_func)
    launch = kernel[1, 32]
    launch.pre_launch_callbacks.append(lambda *given: called.append(given))

    launch(np.ones(32))

    assert 1 == len(kernel.overloads) == len(called)
    assert launch is called[0][1]


def test_what_a_plain_launch_refuses_is_refused(handed):
    """A column of a host array, which Numba cannot copy, and an index too large."""
    with pytest.raises(LaunchError, match="not contiguous"):
        double[1, 32](np.ones((32, 2))[:, 0])
    with pytest.raises(KernelIndexError, match=r"values\[32\]"):
        doubled_in_grid[2, 32](np.ones(32))
    with pytest.raises(LaunchError, match="positional arguments only"):
        double[1, 32](values=np.ones(32))

    assert [] == handed


def test_a_launch_can_be_left_as_it_is():
    """`plainly` is the launch that would have been."""
    values, said = np.ones(32), []

    with handed_to(lambda launch, *given: said.append(launch.plainly(*given))):
        double[1, 32](values)

    assert [None] == said
    assert (values == 2).all()


def test_afterwards_a_launch_is_plain_again():
    """Even when the block ends with an error."""
    before = LaunchConfiguration.__call__

    with pytest.raises(ZeroDivisionError), handed_to(print):
        1 / 0  # noqa: B018

    assert before is LaunchConfiguration.__call__


def test_kernels_of_numba_are_known_as_such():
    """`cuda.reduce` launches one."""
    own = []

    def note(launch, *given):
        own.append(launch.is_numbas_own)
        launch.plainly(*given)

    with handed_to(note):
        total = cuda.reduce(lambda a, b: a + b)(np.arange(1000.0))
        double[1, 32](np.ones(32))

    assert 499500.0 == total
    assert [True, True, True, False] == own


def test_a_launch_of_numbas_own_is_handed_over_too(monkeypatch):
    """As on a machine with a GPU, whose launches are objects of Numba's class."""
    monkeypatch.setattr(launches, "device", SimpleNamespace(has_gpu=True))
    values, runs = np.ones(64, np.float32), []
    configured = launches.NumbasLaunch(double, (2, 1, 1), (32, 1, 1), 0, 0)

    with handed_to(lambda launch, *given: runs.append(launch.emulated(*given))):
        configured(values)

    assert [("double", 2, 32)] == shapes(runs)
    assert (values == 2).all()


def test_what_is_not_emulated_runs_on_the_gpu(monkeypatch):
    """And the report names it, though it fails nothing."""
    monkeypatch.setattr(ledger, "device", SimpleNamespace(has_gpu=True))
    seen, plain = ledger.Ledger(), []

    class Unknown(launches.PlainLaunch):
        """A launch of something that the emulator lacks."""

        def emulated(self, *arguments):
            raise UnsupportedError("not yet")

    seen.launch(Unknown(double, (1, 1, 1), (32, 1, 1), 0, plain.append), 7)

    assert [7] == plain
    assert {"errors": 1} == seen.counts()

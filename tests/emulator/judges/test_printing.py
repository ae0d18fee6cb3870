"""What a Run has prints as what it is: tables by line, and sentences."""

import re
from dataclasses import fields

import numpy as np
import pytest
from IPython.lib.pretty import pretty
from numba import cuda, float32

from tests.specimens.kernels import line_of
from thirty_two_lanes import emulate
from thirty_two_lanes.emulator.emulation import Run
from thirty_two_lanes.emulator.judges.printing import Listed


@cuda.jit
def doubtful(values, out):
    """Something for each judge."""
    tile = cuda.shared.array(64, float32)
    own = cuda.local.array(2, float32)
    t = cuda.threadIdx.x
    if t % 2:
        last = values[t]  # half
    if t < 40:
        cuda.syncthreads()  # barrier
    tile[t] = last + own[0]
    cuda.threadfence()
    if t < 16:
        tile[t] += cuda.shfl_sync(cuda.activemask(), tile[t], 20)
    out[2 * t] = tile[63 - t] * 2.0


@cuda.jit
def idle(out):
    pass


def run_of(kernel, *arguments):
    return emulate(kernel)[1, 64](*arguments)


@pytest.fixture(scope="module")
def run():
    return run_of(doubtful, np.ones(64, np.float32), np.zeros(128, np.float32))


OF_PYTHON = re.compile(r"^[({]|\w=\S|object at|namespace\(")
NAMES = [it.name for it in fields(Run) if it.name not in ("function", "data_path")]


@pytest.mark.parametrize("name", [*NAMES, "source"])
def test_nothing_prints_as_an_object_of_python(name, run):
    """With something in it and with nothing; and a notebook shows the same."""
    for value in (getattr(run, name), getattr(run_of(idle, np.zeros(1)), name)):
        said = str(value)
        assert said and not OF_PYTHON.search(said)
        if not isinstance(value, (str, int)):
            assert said == pretty(value)
    if isinstance(value, Listed):
        assert [] == list(value) or name == "warnings"
        assert str(value).startswith("no ") or name == "warnings"


TABLES = ["coalescing", "bank_conflicts", "local_memory", "divergence", "operations"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_its_own_numbers_below_its_own_names(name, run):
    """The sum first, and then each line; `by_line` has the same lines alone."""
    table = getattr(run, name)
    head, *rows = str(table).splitlines()
    head_of_lines, *lines = str(table.by_line).splitlines()

    assert (head.split(), rows[1:]) == (head_of_lines.split(), lines)
    assert ["all", *(site.label for site in table.by_line)] == [
        "all" if row.startswith("all") else " ".join(row.split()[:2]) for row in rows
    ]
    for row, counts in zip(rows, [table, *table.by_line.values()], strict=True):
        cells = row.removeprefix("line ").split()[1:]
        for column, cell in zip(head.split(), cells, strict=False):
            number = getattr(counts, column)
            assert cell == (f"{number:.1%}" if "%" in cell else f"{number:,}")
    assert {*head.split()} >= {
        key for key in vars(table) if key not in ("by_line", "by_kind")
    }


def test_a_row_and_small_tables_are_sentences(run):
    """A number beside the name of each, or words."""
    row = run.coalescing.by_line[line_of(doubtful, "# half")]

    assert str(row) == (
        "requests 2, sectors 8, ideal_sectors 4, active_lanes 32, bytes 128, "
        "bytes_moved 256, load of `values`"
    )
    assert "1 barrier of a block, 0 of the grid, 64 fences" == str(run.waits)
    assert str(run.balance).startswith(f"{run.balance.busiest_block} instructions of ")
    assert str(run.barriers).startswith(
        f"line {line_of(doubtful, '# barrier')}: barrier missed by 24 threads"
    )
    assert str(run.lanes).startswith("line ") and str(run.unset).startswith("line ")

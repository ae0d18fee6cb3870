"""The findings of films: in which steps they are, on which cells, and in what words."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import watch
from tests.film import kernels
from tests.film.kernels import finding, line_of, matrices


@pytest.fixture(scope="module")
def race():
    """A film of the product without its second barrier."""
    return watch(kernels.tiled_race)[(4, 4), (16, 16)](*matrices())


def test_a_race_is_in_the_steps_that_nothing_orders(race):
    """A warp is ahead, and stores the next tile before another has loaded this one."""
    record = race.record()
    shown = finding(record, "race")
    earlier, later = (record["steps"][n] for n in shown["steps"])

    assert line_of(kernels.tiled_race, "# store") == earlier["l"]
    assert line_of(kernels.tiled_race, "# load") == later["l"]
    assert earlier["w"] != later["w"]
    assert not any(
        step.get("e") == "pass"
        for step in record["steps"][shown["steps"][0] : shown["steps"][1]]
    )
    assert {"right"} == {record["arrays"][array]["name"] for array, _ in shown["cells"]}
    assert later["n"] == [record["findings"].index(shown)]


def test_a_race_is_said_as_it_happens_in_the_film(race):
    """The report calls it WAR; in this block the store comes first."""
    record, (found,) = race.record(), race.run.races
    shown = finding(record, "race")
    earlier, _ = (record["steps"][n] for n in shown["steps"])
    lines = [line_of(kernels.tiled_race, text) for text in ("# store", "# load")]
    number, first = shown["cells"][0]
    row, column = divmod(first, 16)

    assert {"WAR"} == {found.kind}
    assert "store" == earlier["a"][-1]["k"]
    assert shown["title"] == (
        f"no barrier orders line {lines[0]}'s store and line {lines[1]}'s load of "
        f"`right[{row}, {column}]`: either may come first; here the store did "
        "(WAR race)"
    )
    assert f"All blocks of the launch together: {found.hazards:,} h" in shown["text"]


@cuda.jit
def mirrors(out):
    row = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    for turn in range(3):
        if t < 100:
            row[t] = t + turn  # store
        out[t] = row[127 - t]  # load


def test_races_of_two_lines_are_one_finding_with_one_sentence():
    """A RAW and a WAR; both barriers go behind the branch that some threads take."""
    film = watch(mirrors)[1, 128](np.zeros(128, np.int32))
    shown = finding(film.record(), "race")
    store, load = (line_of(mirrors, text) for text in ("# store", "# load"))

    assert {"RAW", "WAR"} == {race.kind for race in film.run.races}
    assert "(RAW, WAR race)" in shown["title"]
    assert shown["text"].startswith(
        f"Put `cuda.syncthreads()` between the `if` of line {store - 1} and line "
        f"{load}, and at the end of the loop of line {store - 2}, behind line {load} "
        f"and before line {store} of the next iteration. "
    )


def test_a_queue_at_a_bank_is_a_wavefront_for_each_lane():
    """A column of a tile of 32 × 32 floats lies in one bank."""
    out = np.zeros(32, np.float32)
    film = watch(kernels.column)[1, 32](out)
    record, shown = film.record(), finding(film.record(), "conflict")

    (number,) = shown["steps"]
    load = record["steps"][number]["a"][0]

    assert [1 << lane for lane in range(32)] == load["b"]
    assert "32 wavefronts" in shown["text"]
    assert number in [moment["step"] for moment in record["moments"]]


def test_a_cell_that_nobody_wrote_is_found_where_it_is_read():
    """Cell 31 has no value when lane 31 loads it."""
    film = watch(kernels.unwritten)[1, 32](np.zeros(32, np.float32))
    record, shown = film.record(), finding(film.record(), "uninitialised")

    (number,) = shown["steps"]
    assert ["tile"] == [record["arrays"][array]["name"] for array, _ in shown["cells"]]
    assert [31] == [cell for _, cell in shown["cells"]]
    (access,) = [it for it in record["steps"][number]["a"] if "u" in it]
    assert 1 << 31 == access["u"]
    assert "Thread 31 reads `tile[31]` first" in shown["text"]
    assert "nobody wrote" in film.run.uninitialised[0].__repr__()
    line = line_of(kernels.unwritten, "out[t] = tile[t]")
    assert line == record["steps"][number]["l"]


@cuda.jit
def meets_others(out):
    out[cuda.threadIdx.x] = cuda.blockIdx.x  # store


def test_a_race_with_another_block_is_marked_where_this_block_touches_its_cell():
    """The other side is not in the film, and no sentence says who was first."""
    film = watch(meets_others, block=1)[2, 32](np.zeros(32, np.int32))
    record, (found,) = film.record(), film.run.races
    shown = finding(record, "race")
    line = line_of(meets_others, "# store")

    (number,) = shown["steps"]
    ((array, cell),) = shown["cells"]
    assert line == record["steps"][number]["l"]
    assert f"{record['arrays'][array]['name']}[{cell}]" == found.cell
    assert f"nothing orders line {line}'s store" in shown["title"]
    assert "in different blocks (WAW race)" in shown["title"]


@cuda.jit
def counts(bins, codes):
    mine = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    if t < 4:
        mine[t] = 0
    cuda.syncthreads()
    mine[codes[t]] = mine[codes[t]] + 1  # update
    cuda.syncthreads()
    if t < 4:
        bins[t] = mine[t]


def test_an_update_that_is_no_atomic_is_said_to_lose_updates():
    """No barrier would help: two threads load and store one cell in one line."""
    codes = np.arange(64, dtype=np.int32) % 4
    film = watch(counts)[1, 64](np.zeros(4, np.int32), codes)
    shown = finding(film.record(), "race")

    assert f"in line {line_of(counts, '# update')}, and nothing" in shown["title"]
    assert "an update can be lost" in shown["title"]
    assert shown["text"].startswith("Use `cuda.atomic`")


@cuda.jit
def barrier_inside(out):
    t = cuda.threadIdx.x
    if t < 32:
        cuda.syncthreads()
    out[t] = t


def test_a_barrier_that_opens_as_others_leave_is_found_there():
    """In a step of no lanes, of the barrier's line; the count is of all blocks."""
    film = watch(barrier_inside)[3, 64](np.zeros(64, np.int32))
    record, shown = film.record(), finding(film.record(), "barrier")

    (number,) = shown["steps"]
    step = record["steps"][number]
    assert line_of(barrier_inside, "cuda.syncthreads()") == step["l"]
    assert "pass" == step["e"]
    assert shown["title"].startswith("barrier missed by 96 threads of 3 blocks, ")


@cuda.jit
def adds(out, a):
    out[0] += a[cuda.threadIdx.x]


def test_an_update_that_a_warp_loses_is_found_though_the_report_calls_it_minor():
    """Two lanes add to one cell, and one sum is lost."""
    out = np.zeros(1)
    film = watch(adds)[1, 2](out, np.array([1.0, 2.0]))
    shown = finding(film.record(), "race")

    assert 3 != out[0]
    assert () == film.run.races
    assert "threads 0 and 1 each load and store `out[0]`" in shown["title"]


@cuda.jit
def eighths(out):
    t = cuda.threadIdx.x
    for it in range(1 if t % 8 else 9):
        out[t] += it


@pytest.mark.parametrize("kind", ["divergence", "sectors"])
def test_a_cost_is_noted_only_in_steps_that_have_it(kind):
    """In the first of nine rounds all lanes are active, and use their sectors whole."""
    record = watch(eighths)[1, 32](np.zeros(32)).record()
    found = [it for it in record["findings"] if it["kind"] == kind]
    lanes = {record["steps"][n]["m"].bit_count() for it in found for n in it["steps"]}

    assert {4} == lanes


def test_the_share_of_the_whole_launch_is_not_told_as_that_of_a_step():
    """Half of the block's lanes take part in its step; of the launch's, fewer."""
    film = watch(halves)[2, 32](np.zeros(64))
    record, shown = film.record(), finding(film.record(), "divergence")
    line = line_of(halves, "# some")

    assert [16] == [record["steps"][n]["m"].bit_count() for n in shown["steps"]]
    assert line == shown["line"]
    assert "%" not in shown["title"]
    assert "Over the whole launch, 28% of the lanes" in shown["text"]
    assert not any("%" in moment["caption"] for moment in record["moments"])


@cuda.jit
def halves(out):
    t = cuda.threadIdx.x
    if t < (2 if cuda.blockIdx.x else 16):
        out[cuda.grid(1)] += 1  # some


@cuda.jit
def scans(out, a):
    row = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    row[t] = a[t]
    cuda.syncthreads()
    if t >= 1:
        row[t] = row[t] + row[t - 1]
    cuda.syncthreads()
    out[t] = row[t]


def test_a_barrier_within_a_line_of_a_branch_goes_outside_of_it():
    """The advice is to load first: the barrier is for all threads."""
    film = watch(scans)[1, 64](np.zeros(64, np.int32), np.ones(64, np.int32))
    shown = finding(film.record(), "race")

    line, branch = (line_of(scans, it) for it in ("row[t - 1]", "if t >= 1"))
    assert shown["title"] == (
        f"no barrier orders the load and the store of `row[31]` in line {line}, by "
        "threads 31 and 32: either may come first; here the store did (WAR race)"
    )
    assert shown["text"].startswith(
        "Load into a variable first, then `cuda.syncthreads()`, then store, and end "
        f"the `if` of line {branch} before it and begin it again, for all threads "
    )

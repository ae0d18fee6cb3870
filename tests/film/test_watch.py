"""`watch`: what is in a film, against NumPy and the report."""

import base64
import gzip
import json
import time

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, watch
from tests.film import kernels
from tests.film.kernels import films, finding, line_of, matrices
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.film.replay import frames


def last_frame(record):
    """What there is after a film."""
    return list(frames(record, [len(record["steps"]) - 1]))[-1]


def steps_at(record, line):
    """The steps of a line."""
    return [step for step in record["steps"] if step["l"] == line]


@pytest.fixture(scope="module")
def tiled():
    """A film of the tiled product, of block (2, 1), and its arrays."""
    arrays = matrices()
    film = watch(kernels.tiled, block=(2, 1))[(4, 4), (16, 16)](*arrays)
    return film, *arrays


@pytest.fixture(scope="module")
def race():
    """A film of the product without its second barrier."""
    return watch(kernels.tiled_race)[(4, 4), (16, 16)](*matrices())


@pytest.mark.slow
def test_a_launch_does_what_it_does_without_a_film(tiled):
    """The arrays are those of the whole grid, and the run is `emulate`'s."""
    film, a, b, c = tiled
    again = matrices()

    assert emulate(kernels.tiled)[(4, 4), (16, 16)](*again) == film.run
    np.testing.assert_array_equal(a @ b, c)


def test_the_replay_ends_with_what_the_block_computed(tiled):
    """The cells of `c` that the watched block stored to, and no others."""
    film, a, b, _ = tiled
    record = film.record()
    names = [array["name"] for array in record["arrays"]]

    cells = last_frame(record).cells[names.index("c")]

    rows, columns = np.mgrid[16:32, 32:48]
    flat = (64 * rows + columns).ravel()
    assert [2, 1, 0] == record["watched"]
    assert set(flat.tolist()) == set(cells)
    np.testing.assert_array_equal(
        (a @ b)[16:32, 32:48].ravel(), [cells[cell] for cell in flat.tolist()]
    )


def test_warps_come_to_each_barrier_and_the_last_opens_it(tiled):
    """Eight barriers: seven warps wait, and the eighth passes."""
    steps = tiled[0].record()["steps"]

    ends = [step.get("e") for step in steps]
    waits = [step["w"] for step in steps if step.get("e") in ("barrier", "pass")]
    passed = [it == "pass" for it in ends if it in ("barrier", "pass")]

    assert 8 * 8 == len(waits)
    assert [False] * 7 + [True] == passed[:8] == passed[-8:]
    assert all(set(range(8)) == set(waits[n : n + 8]) for n in range(0, 64, 8))


def test_a_history_has_every_value_of_a_variable(tiled):
    """`acc` of a thread is the running sum of its products."""
    film, a, b, _ = tiled
    products = (a[17] * b[:, 37]).astype(np.float32)

    history = film.value("acc", thread=(5, 1))

    assert [0.0, *np.cumsum(products)] == [value for _, _, value in history]
    assert ("step", "line", "acc") == history.columns
    assert film.value("acc", thread=21).rows == history.rows


def test_a_cell_has_its_readers_and_writers_between_barriers(tiled):
    """A thread stores four times, and sixteen threads load what it stored."""
    film, a, *_ = tiled

    history = film.cells("left", 3, 7)

    stored = [row for row in history if row[4] == "stores"]
    assert [3 * 16 + 7] * 4 == [row[3] for row in stored]
    assert a[19, 7::16].tolist() == [row[5] for row in stored]
    for turn in range(4):
        readers = {row[3] for row in history if row[1] == 2 * turn + 1}
        assert set(range(48, 64)) == readers


def test_an_error_is_the_last_step_and_the_first_line():
    """An index outside its array ends the launch; the film goes up to there."""
    film = watch(kernels.beyond)[1, 32](np.ones(20), np.zeros(64))
    record = film.record()
    shown = finding(record, "error")

    assert isinstance(film.error, IndexError)
    assert str(film.error) == shown["text"]
    assert repr(film).startswith(str(film.error))
    assert [len(record["steps"]) - 1] == shown["steps"]
    assert line_of(kernels.beyond, "out[i] = a[i]") == record["steps"][-1]["l"]
    with pytest.raises(IndexError):
        _ = film.run


def test_an_error_of_another_block_is_in_no_step_of_this_one():
    """Block 0 does nothing wrong: the film says where the error is not."""
    film = watch(kernels.beyond)[2, 32](np.ones(40), np.zeros(64))

    assert [] == finding(film.record(), "error")["steps"]
    assert "another block" in film.record()["left_out"]


def test_a_film_ends_after_so_many_steps_and_the_launch_does_not():
    """It says so; the arrays are complete."""
    a, b, c = matrices()

    film = watch(kernels.tiled, steps=50)[(4, 4), (16, 16)](a, b, c)

    assert 50 == len(film.record()["steps"])
    assert "The film ends after 50 steps" in film.record()["left_out"]
    np.testing.assert_array_equal(a @ b, c)


@pytest.mark.parametrize("wanted", [3, ["n", 3], "m"])
def test_what_is_no_variable_is_named_with_those_that_there_are(wanted):
    """A name, or several of them."""
    with pytest.raises(ArgumentError, match="`collatz` has no variable .*it has `"):
        watch(kernels.collatz, variables=wanted)[2, 32](np.ones(64, np.int64))


def test_lanes_part_and_leave_one_after_the_other():
    """Each lane of a Collatz loop takes its own number of turns."""
    lengths = np.zeros(64, np.int32)
    film = watch(kernels.collatz, variables=["n"])[2, 32](lengths)
    record = film.record()

    turns = [len(film.value("n", thread=lane)) - 1 for lane in range(32)]

    assert lengths[:32].tolist() == turns
    assert ["n"] == record["variables"]
    assert "split" in {step.get("e") for step in record["steps"]}


@cuda.jit(device=True)
def squared(x):
    y = x * x
    return y


@cuda.jit
def calls(out):
    i = cuda.grid(1)
    out[i] = squared(i) + 1


def test_a_device_function_has_lines_and_variables_of_its_own():
    """They are behind its name."""
    film = watch(calls)[1, 32](np.zeros(32, np.int64))

    assert [i * i for i in range(32)] == [
        film.value("squared.y", i)[0][2] for i in range(32)
    ]
    assert ["i", "squared.y"] == film.record()["variables"]
    inside = [step for step in film.record()["steps"] if step["f"] == 1]
    assert {line_of(squared, "y = x * x"), line_of(squared, "return y")} == {
        step["l"] for step in inside
    }


@cuda.jit(device=True, inline=True)
def both(one, other):
    return one and other


@cuda.jit
def asks_both(x, out):
    i = cuda.grid(1)
    if both(x[i] > 2, x[i] < 9):
        out[i] = 1


def test_what_numba_inlines_has_lines_and_variables_of_its_own_too():
    """And none that only Numba names."""
    out = np.zeros(32)
    film = watch(asks_both)[1, 32](np.arange(32), out)
    record = film.record()

    assert [3, 4, 5, 6, 7, 8] == np.flatnonzero(out).tolist()
    assert ["i", "both.one", "both.other"] == record["variables"]
    assert [i > 2 for i in range(32)] == [
        bool(film.value("both.one", i)[0][2]) for i in range(32)
    ]
    inside = {step["l"] for step in record["steps"] if step["f"] == 1}
    assert line_of(both, "return one and other") in inside


@cuda.jit
def keeps_the_grid(out):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = i
    g.sync()
    out[i] += 1


def test_the_grid_s_group_may_be_a_variable():
    """As Numba's manual writes it; it is no number, and is not shown."""
    record = watch(keeps_the_grid)[2, 32](np.zeros(64)).record()

    assert ["i"] == record["variables"]
    assert "pass" in {step.get("e") for step in record["steps"]}


@cuda.jit
def adds_up(total, seen):
    cuda.atomic.add(total, 0, 1)
    seen[cuda.grid(1)] = total[0]


def test_what_other_blocks_store_is_seen_where_it_is_loaded():
    """Four blocks add to one cell; the replay knows what this block finds there."""
    total, seen = np.zeros(1, np.int32), np.zeros(128, np.int32)
    film = watch(adds_up, block=2)[4, 32](total, seen)
    record = film.record()

    names = [array["name"] for array in record["arrays"]]
    cells = dict(zip(names, last_frame(record).cells, strict=True))

    assert 128 == total[0]
    assert seen[64:96].tolist() == [cells["seen"][cell] for cell in range(64, 96)]
    loads = [row for row in film.cells("total", 0) if row[4] == "loads"]
    assert set(seen[64:96].tolist()) == {row[5] for row in loads}


@cuda.jit
def leaves(out):
    t = cuda.threadIdx.x
    if t >= 32:
        return
    cuda.syncthreads()
    out[t] = t


def test_a_barrier_that_threads_miss_is_found_at_the_barrier():
    """The warp that left does not come; the barrier opens without it."""
    film = watch(leaves)[1, 64](np.zeros(64, np.int32))
    record, shown = film.record(), finding(film.record(), "barrier")

    (number,) = shown["steps"]
    assert line_of(leaves, "cuda.syncthreads()") == record["steps"][number]["l"]
    assert 1 == sum(step.get("e") == "pass" for step in record["steps"])


def test_new_device_memory_is_unwritten_until_it_is_stored_to():
    """What was copied there has values; what was only allocated has none."""
    lengths = cuda.device_array(64, np.int32)
    record = watch(kernels.collatz)[2, 32](lengths).record()
    given = watch(kernels.collatz)[2, 32](cuda.to_device(np.ones(64, np.int32)))

    assert [None] * 64 == record["arrays"][0]["initial"]
    assert [1] * 64 == given.record()["arrays"][0]["initial"]


def test_a_shuffle_has_the_lane_of_each_value():
    """Lane + 16, + 8, ...; where that is no lane, the lane's own."""
    record = watch(kernels.tree)[4, 128](np.ones(512), np.zeros(4)).record()
    lanes = np.arange(32)

    found = [
        [cell + first for cell in record["patterns"][pattern]]
        for step in steps_at(record, line_of(kernels.tree, "shfl_down"))
        for pattern, first in step["h"]
    ]

    expected = [
        np.where(lanes + by < 32, lanes + by, lanes).tolist() for by in (16, 8, 4, 2, 1)
    ]
    assert expected * 4 == found


def test_moments_have_the_end_of_a_loop_and_the_first_finding(tiled):
    """The first step behind the loop; the first request of many wavefronts."""
    record = tiled[0].record()
    captions = {it["step"]: it["caption"] for it in record["moments"]}
    behind = line_of(kernels.tiled, "c[row, col] = acc")
    first = next(n for n, it in enumerate(record["steps"]) if it["l"] == behind)
    loop = line_of(kernels.tiled, "for t in")
    costly = watch(kernels.collatz)[2, 32](np.zeros(64, np.int32)).record()
    steps = [it["steps"][0] for it in costly["findings"]]

    warp = record["steps"][first]["w"]
    assert f"Warp {warp} has left the loop of line {loop}" == captions[first]
    assert min(steps) in [it["step"] for it in costly["moments"]]


WRONG = {
    "a block": ({"block": 16}, "there is no block 16: the grid has 16, from 0 to 15"),
    "a place": ({"block": (0, 4)}, "there is no block (0, 4)"),
    "a variable": ({"variables": ["sum"]}, "it has `ty`, `tx`, `col`, `row`, `acc`"),
    "steps": ({"steps": -1}, "`steps` of `watch` is a whole number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there_is_named_with_what_there_is(name):
    """Nothing runs."""
    options, words = WRONG[name]
    a, b, c = matrices()

    with pytest.raises((ValueError, TypeError)) as caught:
        watch(kernels.tiled, **options)[(4, 4), (16, 16)](a, b, c)

    assert words in str(caught.value)
    assert not c.any()


def test_a_film_is_asked_for_what_it_has(tiled):
    """A variable, a thread, an array, an index, a file's ending."""
    film = tiled[0]
    for ask, words in (
        (lambda: film.value("sum"), "it has `ty`, `tx`"),
        (lambda: film.value("acc", 256), "the block has 256, from 0 to 255"),
        (lambda: film.cells("tile", 0), "it has `a`, `left`"),
        (lambda: film.cells("left", 0, 16), "`left` has 16 × 16 cells"),
        (lambda: film.save("film.gif"), ".html or .json"),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            ask()
        assert words in str(caught.value)


@pytest.mark.slow
def test_a_film_is_kept_as_a_record_or_as_a_page(race, tmp_path):
    """The record is JSON, and the page holds the description."""
    race.save(tmp_path / "film.json")
    race.save(tmp_path / "film.html")

    kept = json.loads((tmp_path / "film.json").read_text("utf-8"))
    assert race.record() == kept
    assert kept["kernel"] in (tmp_path / "film.html").read_text("utf-8")
    assert "(WAR race)" in repr(race)


@pytest.mark.parametrize("name", sorted(films().keys() - {"beyond"}))
def test_a_film_is_small_and_has_its_moments(name, capsys):
    """Four to nine; with the player's 60 KB a page has less than 300."""
    began = time.perf_counter()
    record = films()[name]().record()
    took = time.perf_counter() - began

    packed = base64.b64encode(gzip.compress(json.dumps(record).encode()))

    with capsys.disabled():
        print(f"\n  {name}: {took:.2f} s, {len(packed):,} bytes")
    assert len(packed) < 240_000
    assert 4 <= len(record["moments"]) <= 9
    places = [moment["step"] for moment in record["moments"]]
    assert sorted(set(places)) == places
    assert len(record["steps"]) > places[-1]

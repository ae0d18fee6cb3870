"""The gatherer: whatever is kept, and for how long, the reports are the same."""

from functools import partial

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.quick import slow
from tests.specimens.race_cases import CASES
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.core.events import AccessSite, Requests
from thirty_two_lanes.emulator import emulation
from thirty_two_lanes.emulator.judges import gatherer
from thirty_two_lanes.emulator.judges.judge import listeners_of
from thirty_two_lanes.emulator.judges.races import races
from thirty_two_lanes.emulator.native import accelerator as native

WELL = [specimen for specimen in ZOO if not specimen.error][::6]
SOME = [*WELL, *[case for case in CASES if not case.hangs][::12]]


@cuda.jit
def all_at_once(a, out, steps):
    """Loops, masks, all memories, barriers, races, and cells that nobody wrote."""
    cells = cuda.shared.array(72, float32)
    own = cuda.local.array(6, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for step in range(steps):
        own[(t + step) % 5] = step
        if (t + step) % 3:
            cells[(t * step) % 72] = a[(i * 7 + step) % a.size]
        if step % 4 == 3:
            cuda.syncthreads()
        out[i] += cells[t] + own[step % 6]
        cuda.atomic.add(out, 3 * (t % 5), 1)
    out[i // 2] = own[t % 2]


def reports(case):
    """All that a launch reports, as plain data."""
    return emulate(case.kernel)[case.launch](*case.fresh()).to_dict()


def of_all_at_once(blocks=3):
    a, out = np.ones(100, np.float32), np.zeros(blocks * 70, np.float64)
    return emulate(all_at_once)[blocks, 70](a, out, 13).to_dict()


@pytest.fixture
def kept(monkeypatch):
    """Sets how many requests wait at most, and from how few blocks. Where none waits,
    there is no machine code, whose requests do wait.
    """

    def keep(**limits):
        if limits.get("few_blocks") == 0:
            monkeypatch.setattr(native, "WIDEST", 0)

        def with_limits(judges):
            return gatherer.Gatherer(judges, **limits).listeners()

        monkeypatch.setattr(emulation, "listeners_of", with_limits)

    return keep


LIMITS = {
    "one": {"most": 1},
    "seven": {"most": 7},
    "without end": {"most": 10**9},
    "none": {"few_blocks": 0},  # the last: it leaves the rest without machine code
}


@pytest.mark.parametrize(
    "case", [*SOME[::2], *map(slow, SOME[1::2])], ids=lambda case: case.name
)
def test_reports_do_not_depend_on_how_much_waits(case, kept):
    """One by one, by sevens, all together, or each at once as of many blocks."""
    expected = reports(case)

    for limits in LIMITS:
        kept(**LIMITS[limits])
        assert expected == reports(case), limits


def test_reports_do_not_depend_on_how_often_a_kernel_ran_before(kept):
    """From some launch on, it is machine code."""
    case = next(it for it in CASES if it.name == "bitonic_stage0_threads32")
    for _ in range(20):
        expected = reports(case)

    for limits in LIMITS:
        kept(**LIMITS[limits])
        assert expected == reports(case), limits


def test_reports_of_a_busy_kernel_do_not_depend_on_how_much_waits(kept):
    """With every kind of memory and of finding in one launch."""
    expected = of_all_at_once()

    assert expected["uninitialised"] and expected["races"]
    for limits in LIMITS:
        kept(**LIMITS[limits])
        assert expected == of_all_at_once(), limits


@pytest.mark.parametrize("most", [0, 40])
def test_races_are_the_same_in_a_second_look(most, monkeypatch):
    """Of what a first look kept, or recorded while the launch runs once more."""
    expected = of_all_at_once()
    monkeypatch.setattr(races, "MOST_KEPT", most)

    assert expected == of_all_at_once()


class Together:
    """Gives a gatherer, in place of accesses, many requests of single warps at once."""

    def __init__(self, judges):
        self.by_topic = listeners_of(judges)
        self.rows, self.batch = [], None

    def listeners(self):
        def first(topic, event):
            self.flush()
            for listener in self.by_topic[topic]:
                listener(event)

        topics = "sync", "fence", "end", "requests"  # the last are of machine code
        ordered = {t: (partial(first, t),) for t in topics}
        spaces = dict.fromkeys(gatherer.SPACES, (self.access,))
        return self.by_topic | ordered | spaces

    def access(self, access):
        if access.who.first_block != self.batch or len(self.rows) > 30:
            self.flush()
        self.batch = access.who.first_block
        shape = (32, access.blocks)
        addresses = np.broadcast_to(access.addresses, shape)
        active = True if access.active is None else access.active
        active = np.broadcast_to(active, shape)
        values = np.zeros(shape, np.uint64)
        if access.value is not None:
            bits = np.atleast_1d(access.value)
            bits = bits.view(f"u{bits.itemsize}").astype(np.uint64)
            values = np.broadcast_to(bits, shape)
        lanes = 1 << np.arange(32, dtype=np.uint64)[:, None]
        for block in range(access.blocks):
            mask = int((active * lanes)[:, block].sum())
            place = access.who.warp, self.batch + block, access.iterations
            source = AccessSite(access.reference, access.space, access.dtype)
            row = addresses[:, block], mask, *place, values[:, block]
            self.rows.append((source, *row))

    def flush(self):
        rows, self.rows = self.rows, []
        if not rows:
            return
        sources, *columns = (list(column) for column in zip(*rows, strict=True))
        names = tuple(dict.fromkeys(sources))
        numbers = np.array([names.index(source) for source in sources], np.int32)
        addresses, mask, warp, block, iterations, values = map(np.array, columns)
        requests = Requests(
            names,
            self.batch,
            numbers,
            addresses,
            mask.astype(np.uint32),
            *(it.astype(np.int32) for it in (warp, block, iterations)),
            values,
        )
        for listener in self.by_topic["requests"]:
            listener(requests)
        for column in requests[2:]:
            column[...] = 7  # the buffer is used again


@pytest.mark.parametrize("blocks", [1, 3])
def test_requests_that_are_emitted_together_are_judged_as_single_ones(
    blocks, monkeypatch
):
    """As compiled pieces of a program emit them; the gatherer copies what it keeps."""
    expected = of_all_at_once(blocks)
    monkeypatch.setattr(
        emulation, "listeners_of", lambda judges: Together(judges).listeners()
    )

    assert expected == of_all_at_once(blocks)


def test_what_is_asked_again_is_one_column_with_its_times():
    """130 loads of one warp: two columns, one of 100 and one of 30."""
    seen = []

    class Judge:
        def listeners(self):
            return {"global": seen.append}

    @cuda.jit
    def again(a, out):
        for i in range(130):
            out[0] = a[cuda.threadIdx.x + i // 100]

    def noting(judges):
        return listeners_of([*judges, Judge()])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulation, "listeners_of", noting)
        emulate(again)[1, 32](np.ones(64), np.zeros(1))

    loads = [access for access in seen if access.reference.kind == "load"]
    assert [[100, 30]] == [access.times.tolist() for access in loads]

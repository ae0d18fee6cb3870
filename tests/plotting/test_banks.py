"""The figure of one request: what is drawn is what the emulator counts."""

import re

import numpy as np
import pytest

from helpers import plotting
from helpers.plotting import banks
from tests.emulator.judges.bank_oracle import brute_wavefronts, random_request
from thirty_two_lanes.core import style
from thirty_two_lanes.core.wavefronts import lanes_by_wavefront, request_wavefronts

TALL = 20  # boxes in a bank: too many for two lines in each


def drawn(addresses, active, itemsize, kind):
    """The wavefronts and the groups of lanes that a picture shows."""
    asked = [int(it) if on else None for it, on in zip(addresses, active, strict=True)]
    groups = banks.lane_groups(asked, itemsize, kind)
    heights = [banks.ways(banks.bank_stacks(asked, lanes)) for lanes in groups]
    return sum(heights), len(groups)


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_the_figure_and_the_judge_agree(itemsize, kind):
    """On random requests, the height of the stacks is the number of wavefronts."""
    rng = np.random.default_rng(itemsize)
    requests = [random_request(rng, itemsize) for _ in range(300)]
    addresses, active = (np.stack(it, axis=1) for it in zip(*requests, strict=True))
    counted = np.stack(request_wavefronts(addresses, active, itemsize, kind), axis=1)

    shown = [drawn(*request, itemsize, kind) for request in requests]
    assert counted.tolist() == [list(it) for it in shown]
    assert shown == [brute_wavefronts(*it, itemsize, kind) for it in requests]


@pytest.mark.parametrize(
    ("addresses", "itemsize", "kind", "wavefronts"),
    {
        "all lanes on one element": ([0] * 32, 8, "load", 1),
        "a store of the same": ([0] * 32, 8, "store", 2),
        "neighbours share": ([8 * (lane // 2) for lane in range(32)], 8, "load", 1),
        "five share": ([8 * (lane // 5) for lane in range(32)], 8, "load", 2),
        "neighbours share 16 bytes": (
            [16 * (lane // 2) for lane in range(32)], 16, "load", 2
        ),
    }.values(),
)  # fmt: skip
def test_loads_of_8_and_16_bytes_by_pairs_go_together(
    addresses, itemsize, kind, wavefronts
):
    """The picture's sentence ends with the wavefronts that an H200 counted."""
    alt = plotting.plot_banks(addresses, itemsize, kind).alt

    assert str(wavefronts) == re.search(r"(\d+) wavefronts?\.$", alt)[1]


def test_a_quarter_warp_is_named_with_its_wavefronts():
    """Lanes 16 bytes apart go by eights; those of the second eight meet by twos."""
    places = [*range(8), *range(8, 24, 2), *range(24, 40)]
    addresses = [16 * place for place in places]
    active = np.ones(32, bool)
    served = lanes_by_wavefront(np.array(addresses), active, 16, "load")

    texts = [it.get_text() for it in plotting.plot_banks(addresses, 16).axes[0].texts]

    assert [
        "lanes 0 to 7: no conflict, wavefront 1",
        "lanes 8 to 15: 2-way conflict, wavefronts 2–3",
        "lanes 16 to 23: no conflict, wavefront 4",
        "lanes 24 to 31: no conflict, wavefront 5",
    ] == [it for it in texts if it.startswith("lanes")]
    firsts = [np.flatnonzero(lanes)[0] for lanes in served]
    assert [0, 8, 12, 16, 24] == firsts


def test_lanes_are_written_large_enough_to_read():
    """Each text has at least 8 points, and what has no room for a range is counted."""
    pairs = [128 * (lane // 2 % TALL) for lane in range(32)]
    for addresses in ([4 * (lane // 3) for lane in range(32)], pairs):
        ax = plotting.plot_banks(addresses).axes[0]
        texts = [it for it in ax.texts if it.get_text()]
        assert style.SMALL <= min(it.get_fontsize() for it in texts)

    assert "×2" in {it.get_text() for it in ax.texts}


def test_the_banks_of_a_tile_are_written_large_enough_to_read():
    """Those that are touched and those that are not."""
    tile = plotting.plot_tile_banks([range(32)] * 4, [(0, 3)]).axes[0]

    assert style.SMALL <= min(it.get_fontsize() for it in tile.texts if it.get_text())


def test_no_line_of_a_hatch_runs_through_a_number():
    """A number in a hatched box has a ground of the box's colour."""
    ax = plotting.plot_banks([0, 128]).axes[0]

    boxes = [it.get_bbox_patch() for it in ax.texts if it.get_text() in {"0", "1"}]
    assert 2 == len(boxes)
    assert {ax.patches[1].get_facecolor()} == {it.get_facecolor() for it in boxes}


def test_an_element_that_two_lanes_ask_for_is_a_broadcast():
    """Four lanes ask for two words, and each bank serves one of them."""
    asked = [(0, 3), (0, 3), (0, 4), (0, 3)]
    tile = plotting.plot_tile_banks([range(32)] * 4, asked)
    row = plotting.plot_banks([4 * col for _, col in asked])

    assert "a load of 2 elements in 2 banks, no conflict." in tile.alt
    assert row.alt.endswith("up to 3 lanes on one word, 30 banks idle; 1 wavefront.")

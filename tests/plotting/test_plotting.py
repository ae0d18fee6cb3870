"""Figures: the numbers in their sentences and boxes, and how a notebook shows them."""

import math
from io import BytesIO
from xml.etree import ElementTree

import pytest
from PIL import Image

from helpers import plotting
from helpers.plotting import banks
from tests.plotting.figures import FIGURES
from thirty_two_lanes.core import style

LANES = range(32)
SENTENCES = {
    "bytes in a row": (
        lambda: plotting.plot_banks(list(LANES), 1),
        "32 lanes load 1 byte each, stride 1: 1 word in each of 8 banks, "
        "up to 4 lanes on one word, 24 banks idle; 1 wavefront.",
    ),
    "stride 1": (
        lambda: plotting.plot_banks([4 * lane for lane in LANES]),
        "32 lanes load 4 bytes each, stride 1: "
        "1 word in each of 32 banks; 1 wavefront.",
    ),
    "stride 2": (
        lambda: plotting.plot_banks([8 * lane for lane in LANES]),
        "32 lanes load 4 bytes each, stride 2: "
        "2 different words in each of 16 banks, 16 banks idle; 2 wavefronts.",
    ),
    "stride 32": (
        lambda: plotting.plot_banks([128 * lane for lane in LANES], kind="store"),
        "32 lanes store 4 bytes each, stride 32: "
        "32 different words in 1 bank, 31 banks idle; 32 wavefronts.",
    ),
    "stride 33": (
        lambda: plotting.plot_banks([132 * lane for lane in LANES]),
        "32 lanes load 4 bytes each, stride 33: "
        "1 word in each of 32 banks; 1 wavefront.",
    ),
    "broadcast": (
        lambda: plotting.plot_banks([40] * 32),
        "32 lanes load 4 bytes each, stride 0: 1 word in 1 bank, "
        "up to 32 lanes on one word, 31 banks idle; 1 wavefront.",
    ),
    "half warps": (
        lambda: plotting.plot_banks([16 * lane for lane in LANES], 8),
        "32 lanes load 8 bytes each, stride 2: in 2 groups, "
        "2 different words in each of 16 banks, 16 banks idle; 2 + 2 = 4 wavefronts.",
    ),
    "quarter warps": (
        lambda: plotting.plot_banks([16 * lane for lane in LANES], 16),
        "32 lanes load 16 bytes each, stride 1: in 4 groups, "
        "1 word in each of 32 banks; 1 + 1 + 1 + 1 = 4 wavefronts.",
    ),
    "merged half warps": (
        lambda: plotting.plot_banks([8 * (lane // 2) for lane in LANES], 8),
        "32 lanes load 8 bytes each: 1 word in each of 32 banks, "
        "up to 2 lanes on one word; 1 wavefront.",
    ),
    "absent lanes": (
        lambda: plotting.plot_banks([0, None, 128, 8]),
        "3 lanes load 4 bytes each: up to 2 different words in each of 2 banks, "
        "30 banks idle; 2 wavefronts.",
    ),
    "a tile's column": (
        lambda: plotting.plot_tile_banks([LANES] * 4, [(row, 7) for row in range(4)]),
        "A tile of 4 rows and 32 columns, with the bank of each element: "
        "a load of 4 elements in 1 bank, 4-way conflict.",
    ),
    "a padded column": (
        lambda: plotting.plot_tile_banks(
            [[0, 1, 2], [3, 4, 5]], [(0, 1), (1, 1)], kind="store", padding=1
        ),
        "A tile of 2 rows and 3 columns, 1 of them padding, with the bank of each "
        "element: a store of 2 elements in 2 banks, no conflict.",
    ),
    "conflicts": (
        lambda: plotting.plot_conflicts([1, 2], [0, 1], [0.0, 1.25], [9.5, 1234.56]),
        "Conflicts a request, counted by the emulator: 0 at stride 1, 1 at stride 2; "
        "the GPU's counts differ from these by at most 0.25; "
        "the GPU's time: 9.5 µs at stride 1, 1,234.6 µs at stride 2.",
    ),
    "times": (
        lambda: plotting.plot_times(
            ["naive", "tiled"], [82.13, None], limit_us=40, limit_label="a copy"
        ),
        "Median times: 82.1 µs for naive; not measured for tiled; a copy: 40.0 µs.",
    ),
    "more threads": (
        lambda: plotting.plot_grid(4, 8, 27),
        "4 blocks of 8 threads, 27 elements: 5 threads without an element.",
    ),
    "fewer threads": (
        lambda: plotting.plot_grid(1, 8, 9),
        "1 block of 8 threads, 9 elements: 1 element without a thread.",
    ),
    "rounds": (
        lambda: plotting.plot_grid_stride(2, 4, 27),
        "2 blocks of 4 threads, 27 elements, 4 rounds: in the last, "
        "5 threads without an element.",
    ),
    "two dimensions": (
        lambda: plotting.plot_grid_2d((2, 1), (4, 3), (5, 7)),
        "2 × 1 blocks of 4 × 3 threads (x × y), 5 rows and 7 columns: "
        "3 threads without an element and 14 elements without a thread.",
    ),
}


@pytest.mark.parametrize(("plot", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_picture_says_what_it_shows(plot, sentence):
    """The text alternative carries the picture's numbers."""
    assert sentence == plot().alt


@pytest.mark.parametrize(
    ("stride", "stacks"),
    {
        0: {0: {0: [0, 1, 2]}},
        1: {0: {0: [0]}, 1: {1: [1]}, 2: {2: [2]}},
        2: {0: {0: [0]}, 2: {2: [1]}, 4: {4: [2]}},
        32: {0: {0: [0], 32: [1], 64: [2]}},
        33: {0: {0: [0]}, 1: {33: [1]}, 2: {66: [2]}},
    }.items(),
)
def test_words_lie_in_32_banks_in_turn(stride, stacks):
    """Word w is in bank w % 32; lanes that share a word share its place."""
    addresses = [4 * stride * lane for lane in range(3)]

    assert stacks == banks.bank_stacks(addresses, range(3))


def test_each_word_has_one_box_with_its_lanes():
    """Four lanes on three words of two banks make three boxes, written full."""
    ax = plotting.plot_banks([0, 128, 128, 4]).axes[0]

    written = {text.get_text() for text in ax.texts}
    assert {"0", "1–\n2", "3", "2-way conflict, 2 wavefronts"} <= written
    assert 1 + 3 == len(ax.patches)  # the strip of idle banks lies behind


def test_a_conflict_is_hatched():
    """The colour of a conflict is never the only sign of it."""
    ax = plotting.plot_banks([0, 128, 4]).axes[0]

    hatches = [box.get_hatch() for box in ax.patches[1:]]
    assert [style.HATCHES[style.CONFLICT]] * 2 + [None] == hatches


def test_threads_and_elements_are_drawn_side_by_side_in_two_dimensions():
    """x counts columns and y rows: the thread right of 0, 0 is 1, 0."""
    ax = plotting.plot_grid_2d((1, 1), (2, 2), (2, 2)).axes[0]

    at = {text.get_position(): text.get_text() for text in ax.texts}
    assert ["0, 0", "1, 0", "0, 1"] == [at[0.5, 0.5], at[1.5, 0.5], at[0.5, 1.5]]


def test_what_was_not_measured_is_not_drawn():
    """Without one number from a GPU, the emulator's counts stand alone."""
    nothing = [math.nan, math.nan]
    picture = plotting.plot_conflicts([1, 2], [0, 1], [None, None], nothing)

    assert 1 == len(picture.axes)
    assert plotting.plot_conflicts([1, 2], [0, 1]).alt == picture.alt


def test_times_that_were_never_measured_still_make_a_picture():
    """A reader who changed the kernel runs on; the picture says what is missing."""
    nan = math.nan
    picture = plotting.plot_times(["mine"], [nan], [(nan, nan)], nan)

    assert "Median times: not measured for mine." == picture.alt
    assert picture.png()


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    {
        (tuple(4 * lane for lane in range(64)),): "draw one warp at a time",
        ((None, None),): "give one that is not None",
        (("0", "4"),): "addresses are whole numbers of bytes",
        ((0, 4), 8): "multiply the index by the element's size",
        ((0, 4), 4, "reading"): "one of load, store",
    }.items(),
)
def test_what_no_warp_can_ask_is_refused(arguments, remedy):
    """The error says what to give instead."""
    with pytest.raises(ValueError, match=remedy):
        plotting.plot_banks(*arguments)


def test_a_grid_too_large_to_read_is_refused():
    """The error says how large it may be."""
    with pytest.raises(ValueError, match="2048 boxes in a row, at most 40 fit"):
        plotting.plot_grid(8, 256, 2000)


def test_a_notebook_gets_an_image_with_its_text_alternative():
    """Two, of which the second is for front ends that show no SVG. They have the size
    that their metadata states.
    """
    picture = plotting.plot_grid(2, 4, 7)
    data, metadata = picture._repr_mimebundle_()
    svg = ElementTree.fromstring(data["image/svg+xml"])

    assert ["image/svg+xml", "image/png", "text/plain"] == list(data)
    assert picture.alt == repr(picture) == data["text/plain"] == svg.get("aria-label")
    assert picture.alt == metadata["image/png"]["alt"]
    assert metadata["image/svg+xml"] == metadata["image/png"]
    assert picture.pixels == [int(svg.get(side)) for side in ("width", "height")]
    size = metadata["image/png"]["width"], metadata["image/png"]["height"]
    assert pytest.approx(size, abs=1) == Image.open(BytesIO(data["image/png"])).size


def test_the_sentence_can_be_opened_where_images_lose_theirs(monkeypatch):
    """JupyterLab drops an image's text alternative, so it stands below, folded."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda it, **_: shown.append(it))
    plotting.plot_tile_banks([[0, 1]], [(0, 1)])._ipython_display_()

    image, beside = shown
    assert {"image/svg+xml", "image/png"} < set(image)
    assert image["text/plain"] in beside["text/html"]
    assert beside["text/html"].startswith("<details><summary>")


def test_a_picture_is_opaque_white():
    """A notebook without SVG must not put a dark ground behind dark ink."""
    image = Image.open(BytesIO(plotting.plot_grid(2, 4, 7).png())).convert("RGBA")

    assert (255, 255, 255, 255) == image.getpixel((1, 1))


def test_a_picture_is_the_same_bytes_each_time():
    """What two builds of a notebook store does not differ."""
    once, again = (plotting.plot_times(["a"], [3.0]) for _ in range(2))

    assert once.svg() == again.svg()
    assert once.png() == again.png()


def test_a_reader_can_draw_on_axes_of_their_own():
    """Axes given are drawn on, and pyplot does not show them a second time."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2)
    plotting.plot_times(["a"], [3.0], ax=left)
    picture = plotting.plot_conflicts([1, 2], [0, 1], times_us=[1, 2], ax=right)
    picture._repr_mimebundle_()

    assert figure is picture.figure
    assert [] == pyplot.get_fignums()


def test_a_figure_is_offered_and_has_a_call_that_tests_draw():
    """Whoever adds a `plot_...` is told of the two lists that know it."""
    made = {
        name
        for module in vars(plotting).values()
        if getattr(module, "__package__", "") == plotting.__name__
        for name in vars(module)
        if name.startswith("plot_")
    }

    assert set() == made - {*plotting.__all__}, "add these to plotting/__init__.py"
    assert made == FIGURES.keys(), "add a call of these to tests/plotting/figures.py"

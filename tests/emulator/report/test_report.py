"""A run shown to people: in a terminal, as a page, as data."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from tests.emulator.report.made_by_hand import (
    hand_made,
    missed,
    race,
    sectors,
    share,
    site,
    stray,
    traffic,
    unwritten,
    warning,
    wavefronts,
)
from tests.paths import ROOT
from tests.specimens.kernels import add, line_of
from thirty_two_lanes.core.pages.html import source_code
from thirty_two_lanes.core.source import remember
from thirty_two_lanes.emulator.judges.mistakes import COSTS, MISTAKES
from thirty_two_lanes.emulator.report.as_dict import as_dict
from thirty_two_lanes.emulator.report.findings import findings_of
from thirty_two_lanes.emulator.report.page import as_html, lesson, lessons_in
from thirty_two_lanes.emulator.report.text import as_text


def everything():
    """A run in which all went wrong that can."""
    return hand_made(
        coalescing={
            site(4, "a[i]"): sectors(10, 50, 40),
            site(5, "b[i]"): sectors(10, 320, 40, "b"),
        },
        bank_conflicts={site(6, "tile[x] <b>"): wavefronts(10, 320, 10)},
        divergence={site(3, "if t:"): share(9, 9)},
        races=[race()],
        minor=[race(scope="warp", implied=True)],
        uninitialised=[unwritten()],
        warnings=[warning(), warning(3, "float64"), warning(2, "host arrays", True)],
    )


class Text(HTMLParser):
    """The rows of a page's tables, as lists of cells, and the text of all of it."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.text, self.inside = [], "", ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "style":
            self.inside = ""

    def handle_data(self, data):
        if self.inside != "style":
            self.text += data
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data.replace("\xa0", " ")

    def row(self, number):
        """The cells of a line of the kernel."""
        return next(row for row in self.rows if row[0] == str(number))


def test_what_may_be_wrong_comes_before_what_costs():
    """Races, unwritten cells, mistakes; then costs by the turns that they lose."""
    found = [(it.level, it.site.line) for it in findings_of(everything())]

    assert [
        ("wrong", 7),
        ("wrong", 9),
        ("wrong", 9),
        ("costly", 6),
        ("costly", 5),
        ("costly", 3),
        ("costly", 3),
        ("slight", 4),
    ] == found


def test_a_terminal_is_told_a_sentence_and_then_the_worst():
    """One line each; a race has both lines, both threads, the cell and the remedy."""
    lines = as_text(everything()).splitlines()

    assert (
        "emulated shift: 2 blocks × 64 threads, 1 race, 1 minor race, 370 sectors for "
        "20 global requests\n    (ideal 80), 310 bank conflicts in 10 shared requests"
    ) == "\n".join(lines[:2])
    assert [
        "  RAW race on shared `tile`: 31 hazards between warps of a block",
        "    line 7  tile[t] = src[i]        thread 31 stores to tile[31]",
        "    line 8  dst[i] = tile[t - 1]    thread 32 loads tile[31]",
        "    Put `cuda.syncthreads()` between line 7 and line 8",
    ] == lines[2:6]
    assert "  line 9  x = a[i - 1]    a wrap happens" == lines[8]
    assert "  line 6  tile[x] <b>     load of tile: 32-way bank conflict" == lines[9]
    assert "minor" in lines[-1]


def test_a_long_list_of_findings_is_cut():
    """The rest is a number, below the remedy of those that are shown, two lines."""
    rows = {site(line): wavefronts(1, 2, 1) for line in range(1, 21)}
    lines = as_text(hand_made(bank_conflicts=rows)).splitlines()

    assert 1 + 12 + 2 + 1 == len(lines)
    assert "  and 8 more: the tables of the run show all" == lines[-1]


def test_a_clean_run_is_one_sentence():
    """Nothing is reported that is as it should be."""
    a, b, out = (np.zeros(64, np.float32) for _ in "abo")

    run = emulate(add)[2, 32](a, b, out)

    assert (
        "emulated add: 2 blocks × 32 threads, 24 sectors for 6 global requests "
        "(ideal 24)"
    ) == repr(run)
    assert not {"✖", "▲", "△"} & set(run._repr_html_())


@cuda.jit(device=True)
def column(tile, x, y):
    return tile[x, y]  # down a column


@cuda.jit
def turn(dst, src):
    """Transpose through a tile."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[x, y]
    cuda.syncthreads()
    dst[y, x] = column(tile, x, y)


@cuda.jit
def columns(out):
    """Each thread a row of a tile of 32 columns."""
    tile = cuda.shared.array((32, 32), float32)
    tile[cuda.threadIdx.x, 0] = 1
    out[cuda.threadIdx.x] = 1


@pytest.fixture(scope="module")
def page():
    dst, src = np.zeros((2, 32, 32), np.float32)
    return Text(emulate(turn)[1, (32, 32)](dst, src)._repr_html_())


def test_a_page_shows_each_line_of_the_kernel_with_its_counts(page):
    """From the decorator to the last line; sectors of the load by its columns."""
    line = line_of(turn, "tile[y, x] =")

    head = ["", "", "source", "global requests", "sectors each"]
    assert [*head, "shared requests", "wavefronts each"] == page.rows[0]
    code = "    tile[y, x] = src[x, y]"
    counts = ["32", "▲ 32 (ideal 4)", "32", "1"]
    assert [str(line), "▲", code, *counts] == page.row(line)
    first = line_of(turn, "def turn") - 1
    shown = [row[2] for row in page.rows if row[0].isdigit() and int(row[0]) >= first]
    assert 8 == len(shown)
    assert "@cuda.jit" == shown[0]


def test_the_indent_holds_where_styles_are_taken_away():
    """As a site that shows notebooks does: spaces that no rule needs to keep."""
    rows = {site(4): sectors(1, 4, 4)}
    shown = as_html(hand_made(coalescing=rows))

    assert "<code>tile[t] = 1</code>" in shown
    assert "<code>&nbsp;&nbsp;x</code>" == source_code("  x")


def test_a_bad_line_has_one_sentence_of_advice_below_it(page):
    """What it costs, why, and what to do."""
    rows = page.rows
    below = rows[rows.index(page.row(line_of(turn, "tile[y, x] ="))) + 1]

    assert below[-1].startswith("Each load of src takes 32 sectors (ideally 4)")
    assert "Topic" not in page.text


def test_lines_of_a_device_function_stand_apart_with_the_line_of_the_call(page):
    """The function's own line number, below those of the kernel."""
    call, line = line_of(turn, "dst[y, x] ="), line_of(column, "return")
    texts = [row[2] if len(row) > 2 else "" for row in page.rows]

    at = texts.index(f"in a device function, called from line {call}")
    assert at > texts.index("    dst[y, x] = column(tile, x, y)")
    assert [str(line), "▲"] == page.rows[at + 1][:2]
    assert "▲ 32 (ideal 1)" == page.rows[at + 1][-1]


def test_what_to_write_instead_is_in_the_text_of_a_long_warning():
    """Two lines that compute in float64, and the remedy, which comes last."""

    @cuda.jit
    def clipped(a):
        i = cuda.grid(1)
        low = max(0.0, a[i])
        high = max(1.0, a[i])
        a[i] = low + high

    text = " ".join(repr(emulate(clipped)[1, 32](np.ones(32, np.float32))).split())

    assert "as line" in text and text.endswith("not a float32: write `float32(0)`")


@pytest.mark.parametrize("options", ["device=True", "device=True, inline=True"])
def test_a_device_function_of_another_file_is_told_with_that_file(options):
    """Its line's number alone would be looked up in the kernel's file."""
    code = f"@cuda.jit({options})\ndef far(a, i):\n    a[i * 8] += 1\n"
    remember(code, "steps.py")
    names = {"cuda": cuda}
    exec(compile(code, "steps.py", "exec"), names)
    far = names["far"]

    @cuda.jit
    def walk(a):
        far(a, cuda.grid(1) % 32)

    run = emulate(walk)[1, 64](np.zeros(256, np.float32))

    there = f"steps.py, line 3, called from line {line_of(walk, 'far(a')}"
    assert [there, there] == re.findall(r"^  (steps.*?)  ", run.races[0].text, re.M)
    assert {there} == {site.label for site in run.coalescing.by_line}
    assert f"steps.py, {there}" not in repr(run)
    texts = [cell for row in Text(as_html(run)).rows for cell in row]
    where = there.replace("line 3, ", "")
    assert 1 == texts.count(f"in a device function of {where}")


def test_a_page_tells_all_that_was_found():
    """Races with both lines, what shares a line with worse, notes folded away."""
    page = as_html(everything())
    text = Text(page).text

    assert "RAW race on shared tile: 31 hazards between warps of a block" in text
    assert "thread 31 stores to tile[31]" in text
    assert "A float64 happens." in text
    assert "1 minor race" in text and "1 note" in text
    assert "✖ can give wrong answers" in text
    assert "tile[x] &lt;b&gt;" in page and "tile[x] <b>" not in page


def test_a_page_breaks_no_line_of_source():
    """A notebook's own rule for code would: ours is for the code itself, and what does
    not fit the page scrolls.
    """
    page = as_html(everything())

    assert re.search(r"\.s code \{[^}]*white-space: pre;[^}]*overflow-x: auto", page)
    tables = re.findall(r"(<div class='wide'[^>]*>)?<table>", page)
    assert len(tables) > 1 and all("tabindex='0'" in it for it in tables)


def test_a_long_text_is_broken_between_words_and_within_100_columns():
    """A notebook breaks longer lines, inside of words."""
    long = "tile[a_long_name % 32, 0] = source[a_long_name + 31] * weights[a_long_name]"
    rows = {site(4, long): wavefronts(1, 32, 1)}
    run = hand_made(bank_conflicts=rows, coalescing={site(5): sectors(8, 256, 32)})
    text = as_text(run)

    assert max(map(len, text.splitlines())) <= 100
    assert set(text.split()) >= {*long.split(), "conflict"}


def test_accesses_of_one_line_stand_apart_when_one_is_bad():
    """The mean of a good load and a bad store would hide both."""
    rows = {
        site(4): sectors(8, 32, 32, "src"),
        site(4, called_from=None, text="tile[t] = 1 "): sectors(8, 256, 32, "dst"),
    }
    page = Text(as_html(hand_made(coalescing=rows)))

    assert ["16", "src 4▲ dst 32 (ideal 4)"] == page.row(4)[-2:]


def test_a_topic_becomes_a_link_where_a_lesson_treats_it():
    """A lesson's name holds the words of its topics."""
    lessons = ("14_bank_conflicts.ipynb", "15_barriers_and_races.ipynb")

    assert "" == lesson("bank conflicts", ())
    assert "href='14_bank_conflicts.ipynb'" in lesson("bank conflicts", lessons)
    assert "href='15_barriers_and_races.ipynb'" in lesson("races", lessons)
    assert "" == lesson("guards", lessons)


NO_LESSON = {"guards", "divergence"}  # what lessons 1 and 2 teach under other names


def test_each_topic_has_its_lesson():
    """Else nobody can look it up: a link needs a lesson of that name."""
    lessons = sorted(it.name for it in (ROOT / "lessons").glob("[0-9]*_*.py"))
    topics = {it.topic for it in findings_of(everything())}
    topics |= {*MISTAKES.values(), *COSTS.values()}

    missing = {it for it in topics if "href" not in lesson(it, lessons)}

    others = missing ^ NO_LESSON
    assert set() == others, f"no file in lessons/ is named after {others}"


def test_a_page_links_to_the_lessons_that_it_is_given(tmp_path, monkeypatch):
    """Whatever lies in the folder where it is drawn."""
    (tmp_path / "15_barriers_and_races.ipynb").touch()
    monkeypatch.chdir(tmp_path)

    assert "href" not in as_html(everything())
    assert "href='99_races.ipynb'" in as_html(everything(), ["99_races.ipynb"])


def test_a_run_in_a_notebook_links_to_the_lessons_beside_it(tmp_path, monkeypatch):
    """Notebooks of lessons begin with a number; others are nobody's lesson."""
    for name in ("14_bank_conflicts.ipynb", "my_types.ipynb", "15_races.txt"):
        (tmp_path / name).touch()

    assert ("14_bank_conflicts.ipynb",) == lessons_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    out = np.zeros(2048, np.float32)
    shown = emulate(columns)[1, 32](out)._repr_html_()
    assert "href='14_bank_conflicts.ipynb'" in shown


def test_a_kernel_without_source_still_has_a_page():
    """The lines that did something have their text from the compiler."""
    page = Text(as_html(hand_made(coalescing={site(4, "a[i]"): sectors(1, 4, 4)})))

    assert ["4", "", "a[i]", "1", "4"] == page.row(4)


def test_a_run_is_plain_data():
    """JSON holds it, with the numbers of the tables."""
    a, b, out = (np.zeros(40, np.float32) for _ in "abo")
    run = emulate(add)[1, 40](a, b, out)
    data = json.loads(json.dumps(run.to_dict()))

    assert ("add", 1, 40) == (data["kernel"], data["blocks"], data["threads_per_block"])
    rows = data["coalescing"]["by_line"]
    assert [("a", 5), ("b", 5), ("out", 5)] == [
        (row["array"], row["sectors"]) for row in rows
    ]
    assert {line_of(add, "out[i]")} == {row["line"] for row in rows}
    assert 160 == data["reuse"]["a"]["bytes_distinct"]
    assert 0 < data["divergence"]["active_share"] < 1


def test_findings_are_plain_data_too():
    """Races with both sites, unwritten cells, warnings."""
    run = everything()
    run.reuse["a"] = traffic([1, 2])
    data = json.loads(json.dumps(as_dict(run)))

    assert [7, 8] == [data["races"][0][end]["line"] for end in ("first", "second")]
    assert "warp" == data["minor_races"][0]["scope"]
    assert [(9, 3)] == [(u["line"], u["count"]) for u in data["uninitialised"]]
    assert [False, False, True] == [w["note"] for w in data["warnings"]]
    assert {"block": 2, "grid": 0} == data["waits"]


def test_missed_barriers_and_stray_lanes_are_in_every_form_of_a_report():
    """As text, as a page with both lines marked, and as plain data."""
    run = hand_made(barriers=[missed()], lanes=[stray("absent")])
    text = as_text(run)

    assert "1 missed barrier" in text
    assert "line 12  cuda.syncthreads()" in text
    assert "barrier missed by 24 threads, returned at line 9" in text
    assert "reads lanes 16 to 18, which the block does not have" in text
    page = as_html(run)
    assert "Let all threads reach it" in page and "Launch whole warps" in page
    assert {"9", "12", "13"} <= set(re.findall(r"<td class='n'>(\d+)</td>", page))
    data = json.loads(json.dumps(as_dict(run)))
    (barrier,), (lanes,) = data["barriers"], data["lanes"]
    where = barrier["line"], barrier["elsewhere"]["line"], barrier["threads"]
    assert (12, 9, 24) == where
    assert ([16, 17, 18], "absent") == (lanes["lanes"], lanes["kind"])

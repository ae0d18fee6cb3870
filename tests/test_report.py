"""What a run says: as text, as a page, as data, and as assertions."""

import json
import re

import numpy as np
import pytest
from kernels import (
    add,
    line_of,
    numbers,
    reverse,
    reverse_without_barrier,
    stencil,
    transpose_with,
)
from numba import cuda, float32

from helpers import emulate


@pytest.fixture(scope="module")
def conflicting():
    """A transpose with 32-way conflicts on its way out."""
    a = numbers(64, 64)
    return emulate(transpose_with(32))[(2, 2), (32, 32)](a, a.copy())


@pytest.fixture(scope="module")
def racing():
    return emulate(reverse_without_barrier)[2, 256](np.arange(512), np.zeros(512, int))


@cuda.jit(device=True)
def halved(x):
    return x * float32(0.5)


@cuda.jit
def through(a, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = halved(a[i])


def shown(page):
    """A page's text, a line for each row."""
    rows = re.sub(r"</tr>|<br>", "\n", page)
    return re.sub(r"<[^>]*>", " ", rows)


def test_the_text_is_a_sentence_and_what_costs_with_advice(conflicting):
    """One line for the launch, one for each finding, one for what to do."""
    first, finding, advice = str(conflicting).splitlines()

    assert "3,968 bank conflicts in 256 shared requests" in first
    assert "out[row, col] = tile[x, y]" in finding
    assert "32-way bank conflict" in finding
    assert "(Banks and conflicts)" in advice


def test_a_race_quotes_both_lines_both_threads_the_cell_and_the_remedy(racing):
    """All that a reader needs to mend it."""
    text = str(racing)

    line = line_of(reverse_without_barrier, "cells[t] = a[i]")
    for told in (
        "RAW race on shared `cells`: 512 hazards between warps of a block",
        "such as `cells[0]`",
        f"line {line}  cells[t] = a[i]",
        "loaded by thread 255 of block 0",
        f"`cuda.syncthreads()` between line {line} and line {line + 1}",
    ):
        assert told in text


def test_a_launch_without_findings_is_one_sentence():
    """Notes are for `run.warnings` and the page."""
    run = emulate(add)[8, 128](*(numbers(1024) for _ in "abo"))

    assert 1 == len(str(run).splitlines())
    assert "host" in shown(run._repr_html_())


def test_the_page_has_each_line_of_the_kernel_with_its_counts(conflicting):
    """Source beside counts; what costs is marked by a sign, not by colour alone."""
    text = shown(conflicting._repr_html_())

    assert re.search(r"78\s+tile\[y, x\] = a\[row, col\]\s+4\s+1\s*\n", text)
    assert re.search(r"▲ 82\s+out\[row, col\] = tile\[x, y\]\s+4\s+32 \(1\)\s*\n", text)
    assert "def transpose(a, out):" in text
    assert "active" not in text


def test_the_page_shows_shares_only_where_lanes_are_idle():
    """A column that has nothing to say is not there."""
    out = np.zeros(64, np.float32)

    text = shown(emulate(through)[1, 64](numbers(64), out)._repr_html_())

    assert re.search(r"out\[i\] = halved\(a\[i\]\)\s+50%", text)
    assert re.search(r"return x \* float32\(0.5\)\s+50%", text)
    assert "wavefronts" not in text


def test_a_page_escapes_what_a_kernel_says():
    """`<` in a kernel's line is no markup."""

    @cuda.jit
    def guarded(out):
        if cuda.grid(1) < out.size:
            out[cuda.grid(1)] = 1

    page = emulate(guarded)[1, 32](np.zeros(32))._repr_html_()

    assert "cuda.grid(1) &lt; out.size" in page


def test_the_data_of_a_run_is_json(conflicting, racing):
    """Numbers as they are in the tables."""
    data = json.loads(json.dumps(conflicting.to_dict()))
    found = json.loads(json.dumps(racing.to_dict()))

    assert 3968 == data["bank_conflicts"]["conflicts"]
    assert [0, 3968] == [row["conflicts"] for row in data["bank_conflicts"]["lines"]]
    assert [("RAW", 512)] == [(r["kind"], r["hazards"]) for r in found["races"]]


def fails(assertion, *arguments, **options):
    """What an assertion says when it fails."""
    with pytest.raises(AssertionError) as told:
        assertion(*arguments, **options)
    return str(told.value)


def test_assertions_chain_where_they_hold():
    """An exercise asks several things of one run."""
    run = emulate(reverse)[2, 256](np.arange(512), np.zeros(512, int))

    assert run is (
        run.assert_no_races(minor=True)
        .assert_no_bank_conflicts()
        .assert_coalesced()
        .assert_coalesced(at_most=8)
        .assert_initialised()
        .assert_no_warnings()
        .assert_active()
        .assert_loads("a", at_most=1)
    )


def test_assertions_say_line_figure_and_remedy(conflicting, racing):
    """One sentence each."""
    sum_of_three = emulate(stencil)[8, 128](numbers(1001)[1:], numbers(1000))

    line = line_of(reverse_without_barrier, "cells[t] = a[i]")
    assert f"between line {line} and line {line + 1}" in fails(racing.assert_no_races)
    assert "nobody wrote" in fails(racing.assert_initialised)
    assert "3,968 bank conflicts in 128 requests of `tile`" in fails(
        conflicting.assert_no_bank_conflicts
    )
    assert "sectors for each request of `a`" in fails(sum_of_three.assert_coalesced)
    assert "0.5 would do" in fails(sum_of_three.assert_loads, "a", at_most=0.5)
    assert "lanes are active" in fails(sum_of_three.assert_active)


def test_an_assertion_about_one_array_looks_at_that_alone(conflicting):
    """A line or an array that is not there is an error of its own."""
    conflicting.assert_coalesced(array="a").assert_coalesced(array="out")

    with pytest.raises(KeyError, match="no such access"):
        conflicting.assert_coalesced(array="tile")

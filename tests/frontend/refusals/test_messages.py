"""What Numba says becomes one sentence for people, by the rows of tables."""

import re
import tomllib
from pathlib import Path

import pytest

from thirty_two_lanes.frontend.refusals import source_constructs
from thirty_two_lanes.frontend.refusals.numba_messages import NAMES, SENTENCES
from thirty_two_lanes.frontend.refusals.refusals import refusal

FILE = Path(__file__).with_name("messages.toml")
MESSAGES = tomllib.loads(FILE.read_text(encoding="utf-8"))["message"]


def without_source():
    """A kernel that `exec` made: nothing but the message tells what is wrong."""
    made = {}
    exec("def kernel(a):\n    a[0] = 1", made)
    return made["kernel"]


def first_of(message):
    """The pattern that gives a message its sentence."""
    rows = [*NAMES, *SENTENCES]
    return next((p for p, _ in rows if re.search(p, message, re.DOTALL)), None)


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row["numba"].strip()[:60])
def test_a_message_of_numbas_is_said_in_plain_words(row):
    """Whatever else the message holds: a pattern is searched for."""
    error = refusal(without_source(), TypeError(f"Failed in cuda mode\n{row['numba']}"))

    assert f"{row['says']} (<string>, line 1)" == str(error)


def test_each_pattern_has_a_message():
    """One without is misspelt, comes too late, or lacks its row in messages.toml."""
    first = {first_of(row["numba"]) for row in MESSAGES}

    assert [] == [p for p, _ in (*NAMES, *SENTENCES) if p not in first]


@pytest.mark.parametrize("table", ["_NEVER", "_CALLS", "_MODULES", "_METHODS"])
def test_a_sentence_of_a_table_leaves_nothing_to_be_filled_in(table):
    """A phrase that is misspelt would stay in its braces."""
    sentences = getattr(source_constructs, table).values()

    assert [] == [it for it in sentences if re.search(r"[{}]|NAME", it)]

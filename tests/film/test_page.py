"""A film's page holds all that it needs, and reads from nowhere else."""

import gzip
import json
import re
from base64 import b64decode

import pytest

from tests.film.hand_made import record
from tests.paths import ROOT
from thirty_two_lanes.film import page

FOLDER = ROOT / "tool/thirty_two_lanes" / "film"
PARTS = sorted([*FOLDER.glob("*.js"), *FOLDER.glob("*.css")])
PACKED = re.compile(r"<script type='text/plain'>([\w+/=]+)</script>")


def unpacked(html):
    """The player and the record of a page."""
    return [gzip.decompress(b64decode(it)).decode() for it in PACKED.findall(html)]


def test_the_record_is_in_the_page_unchanged():
    film = record()

    _, text = unpacked(page.page(film))

    assert film == json.loads(text)


def test_the_same_film_is_always_the_same_page():
    """A notebook that runs again does not change."""
    assert page.page(record()) == page.page(record())


def test_a_page_asks_no_network_and_has_no_id():
    """Several films on one page cannot disturb each other through ids."""
    html = page.document(record())
    player, _ = unpacked(html)

    for text in (html, player):
        assert not re.findall(r"https?:|import\s*\(|\bfetch\s*\(|@import", text)
        assert not re.findall(r"<[^>]*\s(?:id|src|href)=", text)


def test_the_contact_sheet_stands_before_the_player():
    """It is what is left where scripts are taken away."""
    html = page.page(record(), "<img alt='nine moments' src='data:,'>")

    assert html.index("<img alt='nine moments'") < html.index("lanes-film-player")
    assert html.index(record()["description"]) < html.index("<script")


def test_words_of_a_kernel_cannot_break_out_of_the_page():
    film = record() | {"kernel": "</title><b>", "description": "<b>&</script>"}

    html = page.document(film)

    assert "<b>" not in html
    assert 3 == html.count("</script>")


def test_nan_is_never_written_as_a_number():
    """JSON has none; the record says it in a word."""
    with pytest.raises(ValueError, match="JSON"):
        page.page(record() | {"threads": float("nan")})


def test_the_player_is_small():
    """A lesson may show several films, and each brings its player along."""
    assert len(page.packed(page.player())) < 40_000


@pytest.mark.parametrize("file", PARTS, ids=lambda it: it.name)
def test_a_part_of_the_player_can_be_held_in_the_head(file):
    """As for Python: 400 lines, of 88 characters."""
    lines = file.read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 400
    assert [] == [it for it in lines if len(it) > 88]

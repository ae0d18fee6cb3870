"""What a page plays, packed: nothing is lost, and the same is always the same."""

from base64 import b64decode
from gzip import decompress

from thirty_two_lanes.core.pages import packing


def test_a_text_is_packed_and_unpacked():
    """The page's own unpacking is tested where a browser plays."""
    text = "a line\n" * 1000 + "µs, ≤"

    assert text == decompress(b64decode(packing.packed(text))).decode()
    assert len(packing.packed(text)) < 100
    assert packing.packed(text) == packing.packed(text)


def test_a_starter_knows_how_to_unpack_and_no_comments():
    """It is one script, in a function of its own, in lines without indents."""
    script = packing.starter("thirty_two_lanes.film", "boot.js")

    assert script.startswith("<script>(() => {\nconst unpacked = ")
    assert script.endswith("\n})();</script>")
    assert [] == [it for it in script.split("\n") if it.startswith(("//", " "))]

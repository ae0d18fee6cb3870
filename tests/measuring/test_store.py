"""How recordings are written, and read again."""

from helpers.measuring import store


def test_a_file_has_a_value_a_line_in_the_order_in_which_they_were_made(tmp_path):
    """Its changes are read, and its words are not spelled as numbers."""
    store.write(tmp_path / "new" / "file.json", {"µs": [1, 2], "a": 3})

    text = (tmp_path / "new" / "file.json").read_text(encoding="utf-8")
    assert ["{", "µs[", "1", "2", "]", "a3", "}"] == [
        "".join(it for it in line if it not in ' ":,') for line in text.splitlines()
    ]
    assert {"µs": [1, 2], "a": 3} == store.read(tmp_path / "new" / "file.json")


def test_a_file_that_may_be_written_in_any_order_is_written_in_one(tmp_path):
    """What is recorded alike is written alike."""
    files = [tmp_path / "one", tmp_path / "other"]
    for file, values in zip(files, ({"b": 1, "a": 2}, {"a": 2, "b": 1}), strict=True):
        store.write(file, values, sort_keys=True)

    assert files[0].read_bytes() == files[1].read_bytes()

"""How recordings are written, and read again."""

import pytest

from helpers.measuring import store


def test_a_file_keeps_its_order_and_its_words(tmp_path):
    """In a folder that is made for it; of none there is nothing."""
    file, values = tmp_path / "new" / "file.json", {"µs": [1, 2], "a": 3}
    assert {} == store.read(file)
    store.write(file, values)

    assert [*values.items()] == [*store.read(file).items()]
    assert "µs" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["times", "baselines", "ladders"])
def test_what_was_recorded_is_written_again_byte_for_byte(tmp_path, what):
    """Else a change of one number would be a change of each line."""
    recorded = store.file_of(store.USUAL, what)

    store.write(tmp_path / "again.json", store.read(recorded))

    assert recorded.read_bytes() == (tmp_path / "again.json").read_bytes()


def test_a_file_that_may_be_written_in_any_order_is_written_in_one(tmp_path):
    """What is recorded alike is written alike."""
    files = [tmp_path / "one", tmp_path / "other"]
    for file, values in zip(files, ({"b": 1, "a": 2}, {"a": 2, "b": 1}), strict=True):
        store.write(file, values, sort_keys=True)

    assert files[0].read_bytes() == files[1].read_bytes()

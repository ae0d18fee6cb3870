"""What a check compares, on notebooks made by hand: no kernel runs here."""

from pathlib import Path

import pytest
from nbformat import v4

from lessons.publishing.convert import serialise
from lessons.publishing.outputs import differences, faults


def page(*, source="run.sectors", shown="4 sectors", image="aaaa", **metadata):
    """A notebook of one text and one code cell that shows a text and a figure."""
    data = {"text/plain": shown, "image/png": image}
    outputs = [
        v4.new_output("stream", text="counted\n"),
        v4.new_output("display_data", data=data),
    ]
    cells = [
        v4.new_markdown_cell("# Count", id="t"),
        v4.new_code_cell(
            source, id="c", metadata=metadata, outputs=outputs, execution_count=1
        ),
    ]
    return v4.new_notebook(cells=cells)


def test_equal_notebooks_do_not_differ():
    """A notebook is what it is."""
    assert [] == differences(serialise(page()), page())


def test_a_figure_may_differ():
    """Fonts differ between machines; what was counted does not."""
    assert [] == differences(serialise(page(image="bbbb")), page())


def test_a_time_may_differ_in_a_cell_that_says_so():
    """A cell tagged `timing` may show another text each time."""
    old, new = (page(shown=text, tags=["timing"]) for text in ("1 ms", "2 ms"))

    assert [] == differences(serialise(old), new)


@pytest.mark.parametrize(
    "committed, told",
    [
        (page(shown="5 sectors"), ["text/plain: 5 sectors", "text/plain: 4 sectors"]),
        (page(source="run"), ["run", "run.sectors"]),
        (
            page(tags=["gpu"]),
            ['code metadata: {"tags": ["gpu"]}', "code metadata: {}"],
        ),
    ],
)
def test_a_stale_cell_is_told_with_both_texts(committed, told):
    """Sources, tags and texts shown are compared line by line."""
    old, new = told

    found = differences(serialise(committed), page())

    assert [f"cell [1]:\n    - {old}\n    + {new}"] == found


def test_a_text_cell_is_named_by_its_beginning():
    """A text has no number on the page, so the message quotes it."""
    committed = page()
    committed.cells[0].source = "# Count\nagain"

    found = differences(serialise(committed), page())

    assert ["the text `# Count`:\n    - again"] == found


def test_a_changed_id_is_found():
    """An id is part of what is committed."""
    committed = page()
    committed.cells[1].id = "other"

    assert ["cell [1]:\n    - id: other\n    + id: c"] == differences(
        serialise(committed), page()
    )


def test_a_long_difference_is_shortened():
    """A rewritten cell is told in ten lines."""
    committed = page(source="\n".join(f"line_{n}" for n in range(30)))

    (found,) = differences(serialise(committed), page())

    assert "line_9" in found
    assert "line_10" not in found
    assert found.endswith("    ... and 21 more")


def other_forms():
    """One notebook with other indents, with more metadata, with other run counts."""
    spaced = serialise(page()).replace("\n ", "\n  ")
    metadata = page()
    metadata.metadata["widgets"] = {}
    counted = page()
    counted.cells[1].execution_count = 12
    return [spaced, serialise(metadata), serialise(counted)]


@pytest.mark.parametrize("text", other_forms(), ids=["indent", "metadata", "count"])
def test_a_notebook_saved_by_another_tool_is_found(text):
    """The same cells in other bytes are not what a build writes."""
    (found,) = differences(text, page())

    assert found.startswith("is not as the build saves it")


def test_a_half_merged_notebook_is_told_as_such():
    """The marks of a merge make a file that is no notebook."""
    text = "<<<<<<< ours\n" + serialise(page())

    (found,) = differences(text, page())

    assert found == "is not a valid notebook: was a merge left unfinished?"


@pytest.mark.parametrize(
    "shown, path",
    [
        ("File /srv/course/helpers/a.py, line 3", "/srv/course/helpers/a.py"),
        ("<td>/srv/course/x</td>", "/srv/course/x"),
        (f"in {Path.home() / 'notes'}", str(Path.home() / "notes")),
    ],
)
def test_a_path_of_the_machine_is_found(shown, path):
    """The repository, the home folder and others may not stand in an output."""
    (found,) = faults(page(shown=shown), "/srv/course")

    assert found.startswith(f"cell [1] shows a path of this machine, {path}:")


@pytest.mark.parametrize("shown", ["a/srv/course", "/srv/courses", "3 GB/s, line 9"])
def test_other_strokes_are_no_path_of_the_machine(shown):
    """A unit with a stroke in it, or a name that only begins alike, is left alone."""
    assert [] == faults(page(shown=shown), "/srv/course")

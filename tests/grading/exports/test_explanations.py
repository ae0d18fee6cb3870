"""What several people mark: without names, each text once, and read back together."""

import csv

import pytest

from helpers.grading.__main__ import main
from helpers.grading.exports.explanations import number_of
from helpers.grading.store import MarksError, MarksStore

GOOD = (
    "A stride of two asks for twice as many sectors, since it skips every other word."
)
NEAR = "A stride of two asks for twice as many sectors since it skips each other word."
TEXTS = {
    "ann": GOOD,
    "bob": f"  {GOOD.upper().replace(' ', chr(10))}\n",
    "cem": "It is slower. I do not know why, but the report has said so.",
    "dee": NEAR,
    "eve": "=1+1\nof something else, as the threads of a warp go to other lines.",
}
WHY = {"points": None, "max_points": 3, "reason": "for a person", "sentence": ""}
WHY |= {"report": "", "line": None, "hints": []}


@pytest.fixture
def store(tmp_path):
    """Marks of five who have answered two questions."""
    new = MarksStore(tmp_path / "marks")
    for student, text in TEXTS.items():
        rows = [
            WHY | {"exercise": "offset_or_stride", "answer": text},
            WHY | {"exercise": "how", "answer": f"Because of {student}."},
        ]
        new.keep(student, "one", "", {"exercises": rows})
    return new


def export(store, *options):
    return main(["export", str(store.folder), "sheet", *options])


def sheets(store):
    """The rows of each sheet, as the csv module reads them."""
    found = []
    for path in sorted((store.folder / "to_mark").iterdir()):
        with open(path, encoding="utf-8-sig", newline="") as file:
            found.append([*csv.DictReader(file)])
    return found


def come_back(store, name, rows, delimiter=","):
    """Put a sheet that was filled in where it is read."""
    path = store.folder / "marked" / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def points(store, place=0):
    """The points of a question, by student."""
    return {it["student"]: it["exercises"][place]["points"] for it in store.results()}


def test_a_sheet_has_each_text_once_and_no_name(store):
    """With what earns points; texts that are nearly the same have one group."""
    assert 0 == export(store)
    (rows,) = sheets(store)
    assert ["how"] * 5 + ["offset_or_stride"] * 4 == [it["exercise"] for it in rows]
    texts = {it["answer"].removeprefix("'"): it for it in rows[5:]}
    assert {GOOD, TEXTS["cem"], NEAR, TEXTS["eve"]} == {*texts}
    assert ["2", "1", "1", "1"] == [it["answers"] for it in texts.values()]
    group = {text: it["group"] for text, it in texts.items()}
    assert group[GOOD] == group[NEAR]
    assert 3 == len({*group.values()})
    assert [GOOD, NEAR] == list(texts)[:2]
    assert 9 == len({it["number"] for it in rows})
    assert {11} == {len(it["number"]) for it in rows}
    for it in rows[5:]:
        assert not {*TEXTS} & {*it.values()}
        assert "1: with an offset" in it["rubric"]
    assert texts[TEXTS["eve"]]["answer"].startswith("'=")


def test_a_number_is_of_the_text_alone(store):
    """Those of the next export are the same; another text has another."""
    export(store)
    ((*_, last),) = sheets(store)
    row = WHY | {"exercise": "offset_or_stride", "answer": last["answer"] + " So."}
    store.keep("zoe", "one", "", {"exercises": [row]})
    export(store)
    (rows,) = sheets(store)
    assert last["number"] in [it["number"] for it in rows]
    assert 10 == len({it["number"] for it in rows})


def test_a_number_loses_no_zero_in_a_spreadsheet():
    """It has eleven digits, and begins with none."""
    rows = [{"exercise": "how", "answer": str(n)} for n in range(300)]
    numbers = {number_of("one", row, b"a key") for row in rows}
    assert 300 == len(numbers)
    assert {11} == {len(str(int(it))) for it in numbers}


def test_nobody_can_look_for_two_texts_of_one_number(store, tmp_path):
    """Of eleven digits that follow from the text alone, a second would find two: the
    numbers of other marks are others, and of one secret they are the same.
    """
    row = {"exercise": "how", "answer": "Because of that."}
    keys = [MarksStore(tmp_path / it).sheet_key(it[0]) for it in ("a", "b", "b2")]
    keys += [store.sheet_key(), store.sheet_key("a")]
    first, second, same, drawn, again = (number_of("one", row, key) for key in keys)
    assert 3 == len({first, second, drawn})
    assert (second, drawn) == (same, again)


def test_points_are_of_all_who_wrote_the_text(store, capsys):
    """With the comment; the rest waits, and is what the next sheet has."""
    export(store)
    (rows,) = sheets(store)
    rows[5] |= {"points": "2,5", "comment": "Nearly: which sectors?"}
    come_back(store, "kim.csv", rows, ";")
    assert {"ann": 2.5, "bob": 2.5, "cem": None, "dee": None, "eve": None} == points(
        store
    )
    row = store.results()[1]["exercises"][0]
    assert ("by hand", "Nearly: which sectors?") == (row["reason"], row["sentence"])
    assert 0 == export(store)
    (left,) = sheets(store)
    assert {it["number"] for it in rows[:5] + rows[6:]} == {it["number"] for it in left}


def test_points_by_name_count_before(store):
    """As after an appeal."""
    export(store)
    (rows,) = sheets(store)
    come_back(store, "kim.csv", [it | {"points": "1"} for it in rows])
    (store.folder / "by_hand.csv").write_text(
        "student,assignment,exercise,points,comment\nann,one,offset_or_stride,3,Yes.\n"
    )
    assert {"ann": 3} | dict.fromkeys("bob cem dee eve".split(), 1) == points(store)


def test_a_text_that_was_changed_waits_again(store, capsys):
    """What was marked is nobody's now, and the report says so."""
    export(store)
    (rows,) = sheets(store)
    path = come_back(store, "kim.csv", [it | {"points": "1"} for it in rows])
    assert 1 == points(store)["cem"]
    changed = store.results()[2]["exercises"]
    changed[0] = WHY | {"exercise": "offset_or_stride", "answer": "New, from me."}
    store.keep("cem", "one", "", {"exercises": changed})
    assert ["cem"] == [name for name, given in points(store).items() if given is None]
    assert 0 == main(["report", str(store.folder)])
    told = capsys.readouterr().out
    assert "1 text that somebody marked, and nobody has (now): " in told
    assert f"{path}, line " in told


@pytest.mark.parametrize("among", [1, 2, 3, 9, 20])
def test_sheets_are_shared_out(store, among):
    """Each text is in one; none has nothing, and a group is one person's."""
    assert 0 == export(store, "--among", "9")
    assert 0 == export(store, "--among", str(among))
    found = sheets(store)
    assert len(found) <= among
    numbers = [it["number"] for rows in found for it in rows]
    assert 9 == len(numbers) == len({*numbers})
    assert all(found)
    for exercise, group in {(it["exercise"], it["group"]) for it in sum(found, [])}:
        having = [
            rows
            for rows in found
            if any((it["exercise"], it["group"]) == (exercise, group) for it in rows)
        ]
        assert 1 == len(having)
    if among <= 3:
        assert len(found) == among
        assert max(map(len, found)) - min(map(len, found)) <= 2


def test_where_nothing_waits_a_sheet_is_empty(store):
    """It has its columns."""
    export(store)
    (rows,) = sheets(store)
    come_back(store, "kim.csv", [it | {"points": "0"} for it in rows])
    assert 0 == export(store, "--among", "3")
    assert [[]] == sheets(store)
    assert {0} == {*points(store).values()}


def test_two_people_who_differ_are_named(store, capsys):
    """All at once, with the places; those who agree are not."""
    export(store)
    (rows,) = sheets(store)
    kim = [it | {"points": "1"} for it in rows]
    lou = [it | {"points": "1.0"} for it in rows]
    lou[6]["points"], lou[2]["points"], lou[3]["points"] = "2", "0", ""
    first = come_back(store, "kim.csv", kim)
    second = come_back(store, "lou.csv", lou)
    assert 2 == main(["report", str(store.folder)])
    told = capsys.readouterr().err
    assert "two people differ; agree, and write it in both:\n" in told
    places = ((2, "how", 4, "0"), (6, "offset_or_stride", 8, "2"))
    for place, exercise, line, other in places:
        number = rows[place]["number"]
        assert f"{number} ({exercise}): {second}, line {line} gives {other}, " in told
        assert f"{first}, line {line} gives 1\n" in told
    assert 2 == told.count(" gives 1\n")


def damaged(**new):
    return lambda rows: [rows[0] | {"points": "1"} | new, *rows[1:]]


@pytest.mark.parametrize(
    "damage, told",
    [
        (damaged(points="4"), "line 2: points are from 0 to 3, not `4`"),
        (damaged(points="-1"), "line 2: points are from 0 to 3, not `-1`"),
        (damaged(points="nan"), "line 2: points are from 0 to 3, not `nan`"),
        (damaged(points="two"), "line 2: points are from 0 to 3, not `two`"),
        (damaged(number="1.23E+10"), "line 2: a number has 11 digits, not `1.23E+10`"),
        (
            lambda rows: [{"number": "1", "points": "2"}],
            "line 1: there is no column assignment, exercise, comment",
        ),
    ],
)
def test_a_sheet_that_is_damaged_is_named(store, damage, told):
    """With its line, before any mark is used."""
    export(store)
    (rows,) = sheets(store)
    come_back(store, "kim.csv", damage(rows))
    with pytest.raises(MarksError, match="kim.csv, ") as error:
        store.results()
    assert told in str(error.value)


def test_a_sheet_with_points_is_not_written_over(store, capsys):
    """Somebody filled it in where it was."""
    export(store, "--among", "2")
    ones, rows = sheets(store)
    path = come_back(store, "kim.csv", [it | {"points": "1"} for it in rows])
    filled = store.folder / "to_mark" / "2.csv"
    path.rename(filled)
    before = filled.read_bytes()
    capsys.readouterr()
    assert 2 == export(store)
    assert f"{filled} has points: move it to {path.parent} first" in (
        capsys.readouterr().err
    )
    assert before == filled.read_bytes()
    filled.rename(path)
    assert 0 == export(store)
    assert [len(ones)] == [len(it) for it in sheets(store)]

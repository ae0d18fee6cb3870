"""Kernels that are alike, but for what a copy changes first."""

import csv
import io
import tokenize
from tokenize import OP

import pytest

from helpers.exercises.catalogue import exercise
from helpers.grading.__main__ import main
from helpers.grading.exports.alike import alike, form_of, given_lines, own_lines
from helpers.grading.store import MarksStore
from tests.exercises.kinds import KERNELS

ORIGINAL = '''
@cuda.jit
def scale(out, a, factor):
    """Each thread scales one element."""
    i = cuda.grid(1)
    # beyond the end there is nothing
    if i < a.size:
        total = 0.0
        for step in range(TILE):
            total += a[i] * factor
        out[i] = min(total, math.sqrt(2.0))
'''
ALIKE = {
    "names": ORIGINAL.replace("total", "s").replace("factor", "f").replace("i ", "k "),
    "comments": ORIGINAL.replace("# beyond the end there is nothing", ""),
    "its docstring": ORIGINAL.replace("Each thread scales one element.", "Mine!"),
    "no docstring": ORIGINAL.replace('"""Each thread scales one element."""', ""),
    "layout": ORIGINAL.replace(" = ", "=").replace("    ", "\t"),
    "brackets": ORIGINAL.replace("i < a.size:", "(i < (a.size)):"),
    "types": ORIGINAL.replace("(out, a,", "(out: list, a: 'float32[:]',"),
    "its decorator": ORIGINAL.replace("@cuda.jit", "@cuda.jit(fastmath=True)"),
    "a constant's name": ORIGINAL.replace("TILE", "COUNT"),
    "a name that Python has": ORIGINAL.replace("total", "sum"),
    "digits": ORIGINAL.replace("2.0", "2.").replace("0.0", ".0"),
}
ALIKE["names"] = ALIKE["names"].replace("[i]", "[k]")
OTHERS = {
    "a number": ORIGINAL.replace("0.0", "1.0"),
    "an operator": ORIGINAL.replace("+=", "-="),
    "a function": ORIGINAL.replace("sqrt", "exp"),
    "a function of Python": ORIGINAL.replace("min(", "max("),
    "an attribute": ORIGINAL.replace("a.size", "a.shape"),
    "two names, swapped": ORIGINAL.replace("out[i] =", "a[i] ="),
    "a name for two": ORIGINAL.replace("total", "factor"),
    "a line more": ORIGINAL + "        cuda.syncthreads()\n",
}


@pytest.mark.parametrize("what", ALIKE)
def test_what_a_copy_changes_first_is_not_seen(what):
    """Names, comments and layout."""
    assert ALIKE[what] != ORIGINAL
    assert form_of(ORIGINAL) == form_of(ALIKE[what])


@pytest.mark.parametrize("what", OTHERS)
def test_what_it_computes_is_seen(what):
    """Also which name is which."""
    assert OTHERS[what] != ORIGINAL
    assert form_of(ORIGINAL) != form_of(OTHERS[what])


NONE = "", "def f(:", "(" * 5000, "x = \x00", "-" * 99_999, "x = 0x" + "f" * 5000


@pytest.mark.parametrize("text", NONE, ids=lambda text: text[:9])
def test_what_is_no_python_has_no_form(text):
    """And ends nothing."""
    assert "" == form_of(text)


def disguised(text):
    """A text whose parameters and variables, as Python's compiler knows them, have
    other names; an attribute and the name of an argument are not the learner's.
    """
    codes = [it for it in compile(text, "", "exec").co_consts if hasattr(it, "co_name")]
    mine = {name for it in codes for name in it.co_varnames}
    tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    lines = [(it.type, it.string) for it in tokens]
    depth = 0
    for n, (kind, name) in enumerate(lines):
        depth += (name in ("(", "[")) - (name in (")", "]"))
        argued = depth and lines[n + 1 : n + 2] == [(OP, "=")]
        if name in mine and lines[n - 1][1] != "." and not argued:
            lines[n] = kind, f"mine_{name[::-1]}"
    assert {name for _, name in lines} & {f"mine_{name[::-1]}" for name in mine}
    return tokenize.untokenize(lines) + "# and so on\n"


@pytest.mark.parametrize("name", KERNELS)
def test_the_courses_kernels_are_alike_in_disguise_and_only_then(name):
    """Answers with other names; of the wrong ones, each is another form."""
    task = exercise(name)
    form = form_of(task.answer_text)
    assert form == form_of(disguised(task.answer_text))
    others = {form_of(text) for _, text in task.wrong_texts().values()}
    assert form not in others


def test_lines_that_were_given_are_nobodys_own():
    """Wherever they stand, and whatever the names are that stand before them."""
    given = given_lines("fix_guard", None)
    stub = exercise("fix_guard").given_text
    assert 0 == own_lines(form_of(stub), given)
    assert 0 == own_lines(form_of(stub.replace("out", "result")), given)
    head, colon, body = stub.partition('"""\n')
    more = f"{head}{colon}    mine = 3 * 4\n{body}"
    assert 1 == own_lines(form_of(more), given)


MIRROR = exercise("mirror").answer_text
ODD = (
    MIRROR.replace("cuda.grid(2)", "cuda.grid(2)\n    first = row * 3")
    .replace(
        "    if row", "    second = first - col\n    third = second * 7\n    if row"
    )
    .replace("= a[row, col]", "= a[row, col] + third - third")
)


def row(answer, reason="", exercise="mirror"):
    given = {"points": 2, "max_points": 2, "sentence": "", "report": "", "line": None}
    return given | {
        "exercise": exercise,
        "answer": answer,
        "reason": reason,
        "hints": [],
    }


@pytest.fixture
def store(tmp_path):
    """Marks of nine with one answer, two with another, three with what was given."""
    new, stub = MarksStore(tmp_path), exercise("mirror").given_text
    people = {f"s{number}": MIRROR for number in range(9)}
    people |= {"dee": stub, "eve": stub, "fay": stub, "ann": ODD, "gus": "def f(:"}
    people |= {"bob": ODD.replace("third", "x").replace("first", "y")}
    for student, text in people.items():
        reason = "wrong" if text == ODD else ""
        rows = [row(text, reason), row("It is so.", exercise="offset_or_stride")]
        new.keep(student, "one", "", {"exercises": rows})
    return new


def test_those_that_are_alike_are_groups(store):
    """First those that say most: few have it, and most of it was not given."""
    found = alike(store.results())
    assert [
        ("ann", "bob"),
        tuple(f"s{n}" for n in range(9)),
        ("dee", "eve", "fay"),
    ] == [it.students for it in found]
    assert [2 / 14, 9 / 14, 3 / 14] == [it.share for it in found]
    assert [5, 1, 0] == [it.own for it in found]
    assert [True, False, False] == [it.tells for it in found]


def test_a_form_that_a_third_of_a_class_has_says_nothing(store):
    """However long it is."""
    for number in range(5):
        store.keep(f"t{number}", "one", "", {"exercises": [row(ODD)]})
    assert [False] * 3 == [it.tells for it in alike(store.results())]


def test_the_report_has_those_that_say_something(store, capsys):
    """And a table has all."""
    assert 0 == main(["report", str(store.folder)])
    told = capsys.readouterr().out
    line = "mirror, 2 answers (14.3%), 5 own lines, wrong: ann, bob\n"
    assert line in told
    assert "mirror, 3 answers" not in told
    assert 0 == main(["export", str(store.folder), "alike"])
    with open(store.folder / "alike.csv", encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert ["1"] * 2 + ["2"] * 9 + ["3"] * 3 == [it["group"] for it in rows]
    assert ("mirror", "ann", "2", "0.1429", "5") == tuple(
        rows[0][it] for it in ("exercise", "student", "students", "share", "own_lines")
    )

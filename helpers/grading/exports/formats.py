"""Marks as other programs read them: JUnit XML for CI, Gradescope's results,
nbgrader's gradebook, which is written through its own interface, what Canvas and Moodle
import, answers that are alike, and spreadsheets of what waits for a person.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from helpers.exercises.reasons import BY_HAND, NOT_GRADED, PERSON
from helpers.grading.exports.alike import write_alike
from helpers.grading.exports.explanations import write_sheets
from helpers.grading.exports.gradebooks import ExportError, canvas, moodle
from helpers.grading.feedback import without_tags
from helpers.grading.tables import as_json, without_controls

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Export:
    """A form of marks: its own file or folder in that of the marks, a function that
    writes there what a store has, and gives lines to say, if there are any; and the
    names of the options that it takes.
    """

    destination: str
    write: Callable
    takes: tuple = ()

    def __call__(self, store, **options) -> list[str]:
        """Write the marks of a store; what there is to say of them."""
        mine = {name: options[name] for name in self.takes if options.get(name)}
        path = store.folder / self.destination
        return list(self.write(store, path, **mine) or ())


def junit(store, path) -> None:
    """Write a suite for each submission, a case for each exercise."""
    root = ElementTree.Element("testsuites")
    for result in store.results():
        name = xml_text(f"{result['assignment']}.{of_student(result)}")
        suite = ElementTree.SubElement(root, "testsuite", name=name)
        for row in result["exercises"]:
            case = ElementTree.SubElement(
                suite, "testcase", classname=name, name=row["exercise"]
            )
            outcome_in(case, row)
        suite.set("tests", str(len(suite)))
        for kind, what in (("failure", "failures"), ("skipped", "skipped")):
            suite.set(what, str(len(suite.findall(f"testcase/{kind}"))))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode", xml_declaration=False)
    head = "<?xml version='1.0' encoding='utf-8'?>\n"
    store.write(path, f"{head}{text}\n")


def outcome_in(case, row):
    """What a case says of an exercise: why points are missing, or a person's words."""
    points, reason = row["points"], row["reason"]
    if points is None:
        message = xml_text(f"{reason}. {row['sentence']}")
        ElementTree.SubElement(case, "skipped", message=message)
    elif points < row["max_points"]:
        mark = f"{points:g} of {row['max_points']:g} points"
        message = xml_text(f"{mark} ({reason}). {row['sentence']}")
        failure = ElementTree.SubElement(case, "failure", message=message)
        failure.text = xml_text(row["report"])
    elif reason == BY_HAND:
        ElementTree.SubElement(case, "system-out").text = xml_text(row["sentence"])


def of_student(result) -> str:
    """The student's name, with what is not UTF-8 in it escaped."""
    return result["student"].encode("utf-8", "backslashreplace").decode()


def xml_text(text) -> str:
    """A text without the characters that no XML may hold, or that a terminal obeys."""
    return without_controls(NO_XML.sub("�", without_tags(text)))


def gradescope(store, path) -> None:
    """Write `<student>/<assignment>/results.json`, as its harness reads it.

    What a person is to mark has no score there, and is not 0.
    """
    for result in store.results():
        tests = [test_of(row) for row in result["exercises"]]
        whole = {"tests": tests, "visibility": "visible", "stdout_visibility": "hidden"}
        names = result["student"], result["assignment"], "results.json"
        store.write(path.joinpath(*names), as_json(whole))


def test_of(row) -> dict:
    """An exercise as Gradescope shows it."""
    texts = [row["sentence"], row["report"], *row["hints"][:1]]
    output = without_tags("\n\n".join(filter(None, texts)))
    test = {"name": row["exercise"], "output": output}
    if row["points"] is None:
        return test | {"output": f"{row['reason']}. {test['output']}"}
    return test | {"score": row["points"], "max_score": row["max_points"]}


def nbgrader(store, path) -> None:
    """Write its gradebook: points, and marked by hand where a person must look.

    What a person gave in the gradebook that is there stays.
    """
    try:
        from nbgrader.api import Gradebook
    except ImportError:
        remedy = ".venv/bin/python -m pip install nbgrader"
        raise ExportError(f"nbgrader's gradebook needs nbgrader: {remedy}") from None
    scripts = str(Path(sys.executable).parent)  # nbgrader starts `alembic`
    os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")
    half = store.folder / ".gradebook.half"
    half.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own queries: nobody here can act
        by_hand = given_by_hand(path)
        with Gradebook(f"sqlite:///{half}") as book:
            by_name = sorted(store.results(), key=lambda it: it["assignment"])
            for name, results in groupby(by_name, lambda it: it["assignment"]):
                into_gradebook(book, name, list(results), by_hand)
    half.replace(path)


def given_by_hand(path) -> dict:
    """What persons gave in a gradebook, by assignment, student and exercise."""
    from nbgrader.api import Gradebook

    if not path.exists():
        return {}
    try:
        with Gradebook(f"sqlite:///{path}") as book:
            return {
                (name, submission.student_id, grade.name): (
                    grade.manual_score,
                    grade.extra_credit,
                    grade.needs_manual_grade,
                )
                for name in [it.name for it in book.assignments]
                for submission in book.assignment_submissions(name)
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.manual_score is not None or grade.extra_credit
            }
    except Exception as error:  # SQLAlchemy's or SQLite's, of a file of any kind
        raise ExportError(
            f"{path} cannot be read, and may have marks by hand: {error}. Move it away "
            "to have a new one"
        ) from None


def into_gradebook(book, name, results, by_hand):
    """Add an assignment with all its submissions."""
    book.add_assignment(name)
    book.add_notebook(name, name)
    for row in results[0]["exercises"]:
        book.add_grade_cell(
            row["exercise"], name, name, max_score=row["max_points"], cell_type="code"
        )
    for result in results:
        student = of_student(result)
        book.update_or_create_student(student)
        book.add_submission(name, student)
        for row in result["exercises"]:
            grade = book.find_grade(row["exercise"], name, name, student)
            fill(grade, row, by_hand.get((name, student, row["exercise"])))
    book.db.commit()


def fill(grade, row, by_hand):
    """Give a grade its points: a person's in `row` count before those of `by_hand`."""
    grade.needs_manual_grade = row["reason"] in (PERSON, NOT_GRADED)
    if by_hand:
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = by_hand
    if row["reason"] == BY_HAND:
        grade.manual_score, grade.needs_manual_grade = row["points"], False
    else:
        grade.auto_score = row["points"]


FORMATS = {
    "junit": Export("junit.xml", junit),
    "gradescope": Export("gradescope", gradescope),
    "nbgrader": Export("gradebook.db", nbgrader),
    "canvas": Export("canvas.csv", canvas, ("gradebook", "columns")),
    "moodle": Export("moodle.csv", moodle, ("gradebook", "columns")),
    "alike": Export("alike.csv", write_alike),
    "sheet": Export("to_mark", write_sheets, ("among",)),
}

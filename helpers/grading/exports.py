"""Marks as other programs read them: JUnit XML for CI, Gradescope's results, and
nbgrader's gradebook, which is written through its own interface.
"""

import os
import re
import sys
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from helpers.grading.store import as_json
from helpers.grading.worker import NOT_GRADED, PERSON

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class ExportError(Exception):
    """Marks that cannot be written so; the message says what to do."""


def junit(store) -> None:
    """Write `junit.xml`: a suite for each submission, a case for each exercise."""
    root = ElementTree.Element("testsuites")
    for result in store.results():
        name = clean(f"{result['assignment']}.{result['student']}")
        suite = ElementTree.SubElement(root, "testsuite", name=name)
        for row in result["exercises"]:
            case = ElementTree.SubElement(
                suite, "testcase", classname=name, name=row["exercise"]
            )
            told_in(case, row)
        suite.set("tests", str(len(suite)))
        for kind, what in (("failure", "failures"), ("skipped", "skipped")):
            suite.set(what, str(len(suite.findall(f"testcase/{kind}"))))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode", xml_declaration=False)
    head = "<?xml version='1.0' encoding='utf-8'?>\n"
    store.write(store.folder / "junit.xml", f"{head}{text}\n")


def told_in(case, row):
    """What a case says of an exercise that did not earn all points."""
    if row["points"] is None:
        ElementTree.SubElement(case, "skipped", message=clean(row["reason"]))
    elif row["points"] < row["max_points"]:
        sentence = clean(f"{mark(row)} ({row['reason']}). {row['sentence']}")
        failure = ElementTree.SubElement(case, "failure", message=sentence)
        failure.text = clean(row["report"])


def mark(row) -> str:
    return f"{row['points']:g} of {row['max_points']:g} points"


def clean(text) -> str:
    """A text without the characters that no XML may hold."""
    return NO_XML.sub("�", text)


def gradescope(store) -> None:
    """Write `gradescope/<student>/<assignment>/results.json`, as its harness reads it.

    What a person is to mark has no score there, and is not 0.
    """
    for result in store.results():
        tests = [test_of(row) for row in result["exercises"]]
        whole = {"tests": tests, "visibility": "visible", "stdout_visibility": "hidden"}
        path = store.folder / "gradescope" / result["student"] / result["assignment"]
        store.write(path / "results.json", as_json(whole))


def test_of(row) -> dict:
    """An exercise as Gradescope shows it."""
    told = [row["sentence"], row["report"], *row["hints"][:1]]
    test = {"name": row["exercise"], "output": "\n\n".join(filter(None, told))}
    if row["points"] is None:
        return test | {"output": f"{row['reason']}. {test['output']}"}
    return test | {"score": row["points"], "max_score": row["max_points"]}


def nbgrader(store) -> None:
    """Write `gradebook.db`: its points, and marked by hand where a person must look."""
    try:
        from nbgrader.api import Gradebook
    except ImportError:
        told = "nbgrader's gradebook needs nbgrader: python -m pip install nbgrader"
        raise ExportError(told) from None
    scripts = str(Path(sys.executable).parent)  # nbgrader starts `alembic`
    os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")
    half = store.folder / ".gradebook.half"
    half.unlink(missing_ok=True)
    with Gradebook(f"sqlite:///{half}") as book:
        by_name = sorted(store.results(), key=lambda it: it["assignment"])
        for name, results in groupby(by_name, lambda it: it["assignment"]):
            into_gradebook(book, name, list(results))
    half.replace(store.folder / "gradebook.db")


def into_gradebook(book, name, results):
    """Add an assignment with all its submissions."""
    book.add_assignment(name)
    book.add_notebook(name, name)
    for row in results[0]["exercises"]:
        book.add_grade_cell(
            row["exercise"], name, name, max_score=row["max_points"], cell_type="code"
        )
    for result in results:
        student = result["student"]
        book.update_or_create_student(student)
        book.add_submission(name, student)
        for row in result["exercises"]:
            grade = book.find_grade(row["exercise"], name, name, student)
            grade.auto_score = row["points"]
            grade.needs_manual_grade = row["reason"] in (PERSON, NOT_GRADED)
    book.db.commit()


FORMATS = {"junit": junit, "gradescope": gradescope, "nbgrader": nbgrader}

"""The rules of a lesson that a machine judges well; the rest is for a reader's eye."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

import helpers
from lessons.build import ROOT
from lessons.publishing.convert import convert, lessons_of

LESSONS = lessons_of(ROOT)
ALLOWED = {"helpers", "numba", "numpy", "math"}
CODE_LINES = 25
CODE_WIDTH = 79
WORDS = 130
LONGER_WORDS = 150
LONGER = ("# ", "## In practice")  # the promise, and the fine print

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)


def code_of(lesson):
    return [c.source for c in convert(lesson).cells if c.cell_type == "code"]


def texts_of(lesson):
    return [c.source for c in convert(lesson).cells if c.cell_type == "markdown"]


def nodes(lesson, kind):
    tree = ast.parse(lesson.read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


@each_lesson
def test_a_lesson_holds_no_magics(lesson):
    """Each code cell of the notebook is Python too."""
    for source in code_of(lesson):
        ast.parse(source)


@each_lesson
def test_a_lesson_imports_through_the_front_door(lesson):
    """A lesson needs Numba, NumPy, `math`, and what `helpers` itself offers."""
    plain = [name.name for node in nodes(lesson, ast.Import) for name in node.names]
    taken = nodes(lesson, ast.ImportFrom)
    behind = {n.module for n in taken if n.module.startswith("helpers.")}
    offered = {a.name for n in taken if n.module == "helpers" for a in n.names}

    roots = {module.partition(".")[0] for module in plain + [n.module for n in taken]}
    assert set() == roots - ALLOWED
    assert set() == behind | {m for m in plain if m.startswith("helpers.")}
    assert set() == offered - set(helpers.__all__)


@each_lesson
def test_a_kernel_says_in_one_line_what_it_does(lesson):
    """The sentence above a kernel is its docstring."""
    for function in nodes(lesson, ast.FunctionDef):
        if any(ast.unparse(d).startswith("cuda.jit") for d in function.decorator_list):
            said = ast.get_docstring(function) or ""
            assert re.fullmatch(r".+[.?!]", said), f"{function.name}: {said!r}"


@each_lesson
def test_a_code_cell_fits_on_a_screen(lesson):
    """No code cell is longer or wider than a reader takes in at once."""
    for source in code_of(lesson):
        lines = source.splitlines()
        assert len(lines) <= CODE_LINES, source
        assert max(map(len, lines)) <= CODE_WIDTH, max(lines, key=len)


@each_lesson
def test_a_text_cell_is_short(lesson):
    """A text has a few sentences; the promise and the fine print have some more."""
    for text in texts_of(lesson):
        assert words(text) <= (LONGER_WORDS if text.startswith(LONGER) else WORDS), text


def words(text):
    """The number of words in a text, without those of tables, tags and addresses."""
    prose = re.sub(r"^\|.*$|<[^>]*>|\]\([^)]*\)", "", text, flags=re.MULTILINE)
    return len(re.findall(r"[^\W_][\w'’.,-]*", prose))


@each_lesson
def test_a_lessons_number_stands_in_its_file_name_only(lesson):
    """Renumbering a lesson touches file names, and no sentence."""
    for text in texts_of(lesson):
        assert not re.search(r"\blessons? \d", text, re.IGNORECASE), text
        assert not re.search(r"^#+ \d", text, re.MULTILINE), text


@each_lesson
def test_a_lesson_names_only_lessons_that_exist(lesson):
    """Each link leads to a notebook, or to the lesson's own assignment; the last line,
    of the lesson after this, is a question.
    """
    texts = texts_of(lesson)
    last = texts[-1].splitlines()[-1]
    known = {each.stem for each in LESSONS} | {f"assignments/{lesson.stem}"}

    assert set() == set(links("\n".join(texts))) - known
    assert last.startswith("*Next:*") or lesson == LESSONS[-1]
    assert last.endswith("?")


def links(text):
    """The notebooks that a text links to."""
    return re.findall(r"\]\(([\w/]+)\.ipynb", text)


# ------------------------------------------------------------------ what belongs to one


def lacking(lesson, root=ROOT):
    """What a lesson lacks, each as a sentence. Its notebook, its row in the README and
    its term in the glossary are written, or asked for, by `make notebooks`.
    """
    name, number = f"lessons/{lesson.name}", lesson.stem[:2]
    parts = {
        f"tests/lessons/claims/{lesson.name}": "CLAIMS, its words and when they hold",
        f"lessons/exercises/{lesson.name}": "the exercises of its assignment",
    }
    for place, what in parts.items():
        if not Path(root, place).exists():
            yield f"{name}: {place} is missing; write there {what}"
    page = "docs/TEACHING.md"
    plans, _, rows = Path(root, page).read_text("utf-8").partition("## Before")
    if not re.search(rf"^\| {number} \| \d+ \|", rows, re.M):
        yield (
            f"{name}: {page} has no row `| {number} | minutes | needs | question | "
            "misconceptions |`"
        )
    weeks = re.findall(r"^\| \d+ \| (\d\d.*) \||^(.+) are for projects", plans, re.M)
    if not re.search(rf"\b{number}\b", " ".join(map(" ".join, weeks))):
        yield (
            f"{name}: {page} has {number} in no week of a term, and not among the "
            "lessons that “are for projects”"
        )
    yield from unlinked(lesson, lessons_of(root))


def unlinked(lesson, lessons):
    """Does the lesson before it lead to this one, and this one to the next?"""
    at = lessons.index(lesson)
    for one, other in pairwise(lessons[max(at - 1, 0) : at + 2]):
        last = one.read_text("utf-8").rstrip().rpartition("\n")[2]
        if re.findall(r"\]\((\w+)\.ipynb", last) != [other.stem]:
            yield (
                f"lessons/{one.name}: its last line does not lead on; write `*Next:* a "
                f"question with a [link]({other.stem}.ipynb)?`"
            )


@each_lesson
def test_a_lesson_has_all_that_belongs_to_it(lesson):
    """Claims, exercises, its rows for teachers, and links."""
    told = [*lacking(lesson)]

    assert [] == told, "\n".join(told)


def test_a_new_lesson_is_told_what_it_lacks(tmp_path):
    """Between two others that have all but their links to it and from it."""
    texts = {
        "docs/TEACHING.md": "| 1 | 11 |\n\n13 are for projects\n\n"
        "## Before\n\n| 11 | 9 |\n| 13 | 12 |\n",
        "lessons/11_a.py": "# *Next:* why [so](13_c.ipynb)?\n",
        "lessons/12_b.py": "# *Next:* why?\n",
        "lessons/13_c.py": "# Why?\n",
        "tests/lessons/claims/13_c.py": "",
        "lessons/exercises/13_c.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    _, new, last = lessons_of(tmp_path)

    told = [*lacking(new, tmp_path)]

    assert [
        "lessons/12_b.py: tests/lessons/claims/12_b.py is missing",
        "lessons/12_b.py: lessons/exercises/12_b.py is missing",
        "lessons/12_b.py: docs/TEACHING.md has no row `| 12 | minutes | needs | "
        "question | misconceptions |`",
        "lessons/12_b.py: docs/TEACHING.md has 12 in no week of a term, and not among "
        "the lessons that “are for projects”",
        "lessons/11_a.py: its last line does not lead on",
        "lessons/12_b.py: its last line does not lead on",
    ] == [sentence.partition("; ")[0] for sentence in told]
    assert [told[-1]] == [*lacking(last, tmp_path)]

"""What a person marks: texts, without names, each once, and those that are nearly the
same one after the other; as sheets for several people, and read back together.

A text has a number that follows from the question, from its words and from a key of
the marks, without which nobody can look for two texts of one number. So no table of
names is kept, and a text that its writer changed has another number and waits again.
"""

import hmac
import re

from helpers.exercises.catalogue import exercises
from helpers.exercises.reasons import BY_HAND, PERSON
from helpers.grading.exports.gradebooks import ExportError
from helpers.grading.tables import TableError, number, read_table, table_of

MARKED = "marked"  # the folder in that of the marks where sheets come back
READ = "number", "assignment", "exercise", "points", "comment"
COLUMNS = *READ, "max_points", "answers", "group", "rubric", "answer"
NEAR = 0.7  # of the words of two texts are in both
SMALLEST = 10**10  # of 11 digits, which spreadsheets show whole
MOST_NAMED = 10  # conflicts


def write_sheets(store, path, among=1):
    """Write `1.csv` and so on, among so many people: the texts that wait for a person,
    and what earns points. A question, and a group in it, is as far as possible one
    person's.
    """
    require_empty(path)
    for old in path.glob("*.csv"):
        old.unlink()
    questions = {}
    for assignment, row in of_persons(store.results(), [PERSON]):
        texts = questions.setdefault((assignment, row["exercise"]), {})
        texts.setdefault(plain(row["answer"]), []).append(row)
    parts, done, key = {}, 0, store.sheet_key()
    total = sum(map(len, questions.values()))
    for question, texts in sorted(questions.items()):
        for group, members in enumerate(groups_of(texts), start=1):
            part = parts.setdefault(done * among // total, [])
            part += [line_of(question, texts[it], group, key) for it in members]
            done += len(members)
    for part, lines in enumerate(parts.values() or [[]], start=1):
        begins = "\ufeff"  # without it Excel reads no UTF-8
        store.write(path / f"{part}.csv", begins + table_of([COLUMNS, *lines]))


def require_empty(path):
    """Has nobody written points into the sheets that are there? Raises ExportError."""
    for file in sorted(path.glob("*.csv")):
        if any(points for _, points, *_ in lines_of(file)):
            raise ExportError(
                f"{file} has points: move it to {path.with_name(MARKED)} first"
            )


def of_persons(results, reasons=(PERSON, BY_HAND)):
    """The assignment and the row of each answer that waits for a person, or did."""
    for result in results:
        for row in result["exercises"]:
            if row["reason"] in reasons:
                yield result["assignment"], row


def line_of(question, rows, group, key):
    """The line of a sheet for answers with one text."""
    assignment, exercise = question
    row = rows[0]
    about = number_of(assignment, row, key), assignment, exercise, None, ""
    more = row["max_points"], len(rows), group, rubric(exercise)
    return *about, *more, row["answer"].strip()


def number_of(assignment, row, key) -> str:
    """The number of a text that answers a question, by the key of the marks."""
    text = "\0".join((assignment, row["exercise"], plain(row.get("answer", ""))))
    found = hmac.digest(key, text.encode("utf-8", "backslashreplace"), "sha256")
    return str(SMALLEST + int.from_bytes(found) % (9 * SMALLEST))


def plain(text) -> str:
    """A text in one case and without its layout: what is the same so, earns so."""
    return " ".join(text.split()).casefold()


def groups_of(texts) -> list[list[str]]:
    """Texts that are nearly the same, together; what most wrote comes first."""
    groups = []
    for text in sorted(texts, key=lambda it: (-len(texts[it]), it)):
        words = {*re.findall(r"\w+", text)}
        for first, members in groups:
            if len(words & first) >= NEAR * len(words | first):
                members.append(text)
                break
        else:
            groups.append((words, [text]))
    return [members for _, members in groups]


def rubric(name) -> str:
    """What earns points in an explanation."""
    found = getattr(exercises().get(name), "rubric", {})
    return "\n".join(f"{points}: {what}" for what, points in found.items())


# ---------------------------------------------------------------- read back


def mark_by_sheets(store, results) -> list[str]:
    """Give what waits the points of the sheets that came back; the places of those that
    are of no text here. Raises TableError, also where two sheets differ.
    """
    given = points_by_number(sorted((store.folder / MARKED).glob("*.csv")))
    used, secret = set(), store.sheet_key() if given else b""
    for assignment, row in of_persons(results) if given else ():
        key = assignment, row["exercise"], number_of(assignment, row, secret)
        if key not in given:
            continue
        used.add(key)
        if row["reason"] == PERSON:
            points, comment, place = given[key]
            try:
                give_points(row, points, comment)
            except ValueError as error:
                raise TableError(f"{place}: {error}") from None
    return [place for key, (_, _, place) in given.items() if key not in used]


def points_by_number(files) -> dict:
    """The points, the comment and the place of each text that somebody marked."""
    found, conflicts = {}, []
    for file in files:
        for key, points, comment, place in lines_of(file):
            before = found.setdefault(key, (points, comment, place)) if points else None
            if before and number(before[0]) != number(points):
                says = f"{place} gives {points}, {before[2]} gives {before[0]}"
                conflicts.append(f"{key[2]} ({key[1]}): {says}")
    if conflicts:
        more = ["…"] * (len(conflicts) > MOST_NAMED)
        lines = "\n  ".join(conflicts[:MOST_NAMED] + more)
        raise TableError(f"two people differ; agree, and write it in both:\n  {lines}")
    return found


def lines_of(file):
    """What a sheet says of each text: its key, points, comment and place. Raises
    TableError.
    """
    (_, head), *lines = read_table(file).lines
    if lacking := [it for it in READ if it not in head]:
        raise TableError(f"{file}, line 1: there is no column {', '.join(lacking)}")
    columns = [head.index(name) for name in READ]
    for at, line in lines:
        place = f"{file}, line {at}"
        if len(line) < len(head):
            raise TableError(f"{place}: it has {len(line)} columns, not {len(head)}")
        key, *names, points, comment = (line[it].strip() for it in columns)
        if not re.fullmatch(r"\d{11}", key):
            raise TableError(
                f"{place}: a number has 11 digits, not `{key}`: spreadsheets round "
                "what is no text"
            )
        yield (*names, key), points, comment, place


def give_points(row, text, comment):
    """Give a row the points that a person wrote; ValueError says what is wrong."""
    points = number(text)
    if points is None or not 0 <= points <= row["max_points"]:
        raise ValueError(f"points are from 0 to {row['max_points']:g}, not `{text}`")
    row["points"], row["reason"] = points, BY_HAND
    row["sentence"] = comment or "A person marked it."
    row |= {"report": "", "line": None, "hints": []}  # a person knew better

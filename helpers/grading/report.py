"""What an instructor reads: how the points are spread, which reasons were given for
which exercise, and what was not graded.
"""

from collections import Counter
from statistics import mean, median

from helpers.exercises.reasons import NOT_GRADED, PERSON, WORDS, Reason
from helpers.grading.exports.alike import alike
from helpers.grading.people import ClassList
from helpers.grading.sandbox.limits import MOST_TIMEOUTS
from helpers.grading.words import many, printable, some
from thirty_two_lanes.core.pages.tables import table

BAR = 24  # characters
NO_MORE = (
    f"It was tried {MOST_TIMEOUTS} times and is not tried again: look, or remove its "
    "file of marks."
)
LACKING = "imported, not here, and 0 points for what is missing then (notebooks)"
ALIKE = "kernels alike but for names, comments and layout (`export` of alike has all):"
MOST_ALIKE = 10  # groups
UNTRIED = "right as far as sizes were tried (read the line):"


def report(store) -> str:
    """The report on a folder of marks."""
    results, strays = store.read()
    if not results:
        return "nothing is marked yet"
    names = sorted({it["assignment"] for it in results})
    students, seen = {it["student"] for it in results}, store.seen()
    parts = [
        about(name, [r for r in results if r["assignment"] == name], students, seen)
        for name in names
    ]
    groups = [str(it) for it in alike(results, store.seed()) if it.tells]
    if groups:
        left = len(groups) - MOST_ALIKE
        parts.append("\n".join([ALIKE, *groups[:MOST_ALIKE]]))
        parts[-1] += f"\nand {many(left, 'group')} more" * (left > 0)
    if strays:
        what = f"{many(len(strays), 'text')} that somebody marked, and nobody has (now)"
        parts.append(f"{what}: {some(strays, '; ', 5)}")
    if seen["noticed"]:
        parts.append("\n".join(["what the last `grade` noticed:", *seen["noticed"]]))
    return "\n\n".join(parts)


def about(name, results, students, seen) -> str:
    """The report on an assignment, which some of these students have handed in."""
    marked = [it for it in results if not missing(it)]
    waits, rows = waiting(marked), results[0]["exercises"]
    most = sum(it["max_points"] for it in rows if not waits[it["exercise"]])
    whole = many(sum(it["max_points"] for it in rows), "point")
    lines = [f"{name}: {many(len(results), 'submission')}, {whole}"]
    lines += [
        f"not counted: {row['exercise']}, {many(row['max_points'], 'point')}, "
        f"waits for a person in {many(waits[row['exercise']], 'answer')}"
        for row in rows
        if waits[row["exercise"]]
    ]
    if marked and most:
        totals = [total(it, waits) for it in marked]
        middle = f"mean {mean(totals):.1f}, median {median(totals):g}"
        lines += [f"{middle} of {many(most, 'point')}", *histogram(totals, most)]
    levels = Counter(it.get("isolation") or "not run" for it in results)
    how = ", ".join(f"{level} {count}" for level, count in levels.most_common())
    lines += [f"isolation: {how}", "", str(exercises(results, waits))]
    rows = (row for result in results for row in result["exercises"])
    given = {Reason(row["reason"]).word for row in rows}
    lines += [
        f"  {word}: {words}" for word, words in WORDS.items() if words and word in given
    ]
    if lost := [it for it in results if missing(it)]:
        lines += ["", "not graded:"]
        lines += [printable(f"  {it['student']}: {missing(it)}") for it in lost]
    people, here = ClassList(seen["class"]), {it["student"] for it in results}
    lacks = Counter(name for it in results for name in it.get("lacks", ()))
    if lacks:
        modules = [f"`{name}` ({n})" for name, n in sorted(lacks.items())]
        lines += ["", f"{LACKING}: {some(modules)}"]
    absent = [*map(people.label, students - here), *map(str, people.absent(students))]
    if absent:
        lines += ["", f"not handed in: {some(sorted(absent))}"]
    late = {it: seen["late"].get(it, {}).get(name) for it in sorted(here)}
    if late := [f"{people.label(it)}, {how}" for it, how in late.items() if how]:
        lines += ["", f"late: {some(late, '; ')}"]
    return "\n".join([*lines, *untried(results)])


def untried(results) -> list:
    """Lines on what of right answers no launch came to."""
    rows = ((it["student"], row) for it in results for row in it["exercises"])
    noted = [(who, row) for who, row in rows if row.get("note")]
    told = [printable(f"  {who}, {it['exercise']}: {it['note']}") for who, it in noted]
    return ["", UNTRIED, *told] if told else []


def waiting(results) -> Counter:
    """For how many answers each exercise waits for a person."""
    rows = (row for it in results for row in it["exercises"])
    return Counter(row["exercise"] for row in rows if row["reason"] == PERSON)


def total(result, waits=()) -> float:
    """The points of a submission in the exercises that wait for nobody."""
    rows = result["exercises"]
    return sum(row["points"] or 0 for row in rows if row["exercise"] not in waits)


def missing(result) -> str:
    """Why something of a submission was not graded; "" if all was."""
    reasons = [row["reason"] for row in result["exercises"]]
    if NOT_GRADED not in reasons:
        return ""
    why = result["exercises"][reasons.index(NOT_GRADED)]["sentence"]
    return f"{why} {NO_MORE}" if result.get("timeouts", 0) >= MOST_TIMEOUTS else why


def histogram(totals, most):
    """Lines with bars: how many submissions have how many tenths of the points."""
    tenths = Counter(min(9, int(10 * it / most)) if most else 9 for it in totals)
    largest = max(tenths.values())
    for tenth in range(10):
        count = tenths[tenth]
        bar = "█" * round(BAR * count / largest)
        yield f"  {tenth * most / 10:6.1f} and more  {bar} {count or ''}".rstrip()


def exercises(results, waits):
    """A row for each exercise: its mean, and how often which reason was given."""
    rows = []
    for index, first in enumerate(results[0]["exercises"]):
        mine = [it["exercises"][index] for it in results]
        given = [it["points"] for it in mine if it["points"] is not None]
        reasons = Counter(it["reason"] or "right" for it in mine)
        counts = ", ".join(f"{name} {n}" for name, n in reasons.most_common())
        average = f"{mean(given):.2f}" if given else "none"
        average = "waits" if waits[first["exercise"]] else average
        rows.append([first["exercise"], average, first["max_points"], counts])
    return table(["exercise", "mean", "of", "reasons"], rows)

"""What a student reads: for each exercise the task, the answer with the report beside
it, the points, and the hint that follows. A page in Markdown and the same in HTML.

Names, sentences and errors have words of a submission in them: `markdown` and `html`
let none of them be more than text.
"""

import re
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from textwrap import dedent

from helpers.exercises import page
from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import Explain, Predict
from helpers.exercises.reasons import (
    BY_HAND,
    NO_ANSWER,
    NOT_GRADED,
    PERSON,
    REFUSED,
    STOPPED,
    Reason,
)
from helpers.grading.words import many, printable

TOLD_BY_SENTENCE = NO_ANSWER, REFUSED, STOPPED
PAGE = Template(Path(__file__).with_suffix(".html").read_text("utf-8"))
LINES = "\n\t"  # what code has besides what is printable
TAGS = (  # the names that the grader gives to texts which it compiled
    (r"<(\w+), handed in \d+>", r"\1"),
    (r"<(cell \d+)>", r"\1"),
    (r"<tokenize>, ", ""),
)
# What Markdown could read as its own, but for what ends a sentence or is in a number.
ENDS = r":(?=\s|$)|(?<=[a-z)])\.(?=\s|$)|(?<=\d)\.(?=\d)"
MARKUP = re.compile(ENDS + r"|([!#-&(-+\--/:<-@\[-`{-~])")


def write_feedback(store, manifest, say=print):
    """Write both pages of each submission."""
    results = store.results()
    for result in results:
        blocks = list(blocks_of(result, manifest.seed))
        path = store.path(result["student"], result["assignment"], ".md")
        store.write(path, "\n\n".join(map(markdown, blocks)) + "\n")
        body = "\n".join(map(html, blocks))
        title = escape(printable(f"{result['assignment']}, {result['student']}"))
        whole = PAGE.substitute(title=title, body=body)
        store.write(path.with_suffix(".html"), whole)
    say(f"{many(len(results), 'page')} of feedback")


# ---------------------------------------------------------------- what a page says


def blocks_of(result, seed):
    """A submission's feedback: pairs of a kind and a text, or a list's items."""
    rows = result["exercises"]
    yield "h1", f"{result['assignment']}: {standing(rows)}"
    yield "p", f"For {result['student']}."
    whys = {row["sentence"] if row["reason"] == NOT_GRADED else "" for row in rows}
    lost = len(whys) == 1 and any(whys)
    if len(rows) > 1 and not lost:
        yield "table", [(row["exercise"], points(row)) for row in rows]
    if result["ended"]:
        ended = f"Your notebook {result['ended']}"
        yield "p", f"{ended}: cells after that were not run."
    errors = [it for it in result["cells"] if not follows(it)]
    for error in errors:
        yield "p", f"{named(error)} ended with an error:"
        yield "said", without_tags(error["error"])
    if lost:
        yield "p", whys.pop()
        return
    for row in rows:
        yield from exercise_blocks(row, seed, errors)


def named(error) -> str:
    """The cell of an error, which text cells do not count for, and how it begins."""
    begins = error.get("begins", "").replace("`", "'")
    return f"Code cell {error['cell']}" + (f", which begins `{begins}`," * bool(begins))


def follows(error) -> bool:
    """Does an error only say that there is no answer to check? So does its exercise."""
    is_check = "exercise(" in error.get("begins", "")
    return is_check and error["error"].startswith("NameError")


def standing(rows) -> str:
    """The points of a submission in words; what nobody marked yet is not 0."""
    marked = [row for row in rows if row["points"] is not None]
    left = [row for row in rows if row["points"] is None]
    given = round(sum(row["points"] for row in marked), 2)
    most = sum(row["max_points"] for row in marked)
    parts = [f"{given:g} of {many(most, 'point')}"] if marked else []
    for reason, words in ((PERSON, "for a person to mark"), (NOT_GRADED, NOT_GRADED)):
        if waits := sum(row["max_points"] for row in left if row["reason"] == reason):
            number = f"{waits:g} more" if parts else many(waits, "point")
            parts.append(f"{number} {words}")
    return ", ".join(parts)


def exercise_blocks(row, seed, errors=()):
    """One exercise's part."""
    task = exercise(row["exercise"], seed)
    yield "h2", f"{row['exercise']}: {points(row)}"
    yield from task_blocks(row["exercise"], seed)
    if row["answer"]:
        yield "p", "Your answer:"
        kind = {"explain": "quote", "predict": "said"}.get(task.kind, "pre")
        yield kind, numbered(row) if kind == "pre" else row["answer"]
    words = Reason(row["reason"]).words
    if words and row["reason"] not in TOLD_BY_SENTENCE:
        yield "p", f"Not yet: {words}."
    yield "p", sentence(row, task, errors)
    if row["report"]:
        yield "said", without_tags(row["report"])
    if row["hints"]:
        yield "p", f"Hint: {row['hints'][0]}"


@cache
def task_blocks(name, seed) -> tuple:
    """What an exercise asks for, and all that its answer is held to."""
    task, found = exercise(name, seed), []
    for block in page.blocks_of(task.task):
        if page.is_code(block):
            found.append(("pre", dedent(block)))
            continue
        lines = page.lines_of(block)
        found += [("p", it) for it in lines if not it.startswith("- ")]
        if items := [it[2:] for it in lines if it.startswith("- ")]:
            found.append(("ul", items))
    beside = list(page.parts(task))
    if items := [f"{it.name}: {'; '.join(it.lines)}" for it in beside if not it.python]:
        found.append(("ul", items))
    for part in beside:
        if part.python:
            found += [("p", f"{part.name}:"), ("pre", "\n".join(part.lines))]
    return tuple(found)


def points(row) -> str:
    """A mark in words."""
    most = many(row["max_points"], "point")
    if row["points"] is None:
        return f"{most}, {row['reason']}"
    by = ", marked by a person" if row["reason"] == BY_HAND else ""
    return f"{round(row['points'], 2):g} of {most}{by}"


def sentence(row, task, errors) -> str:
    """What is said of an answer, to somebody who has handed it in."""
    text = without_tags(row["sentence"])
    if row["reason"] == BY_HAND:
        return f"Comment: {text}" if text else "A person marked this."
    if row["reason"] == PERSON:
        return "A person marks this."
    if row["reason"] == NO_ANSWER and text.endswith(", and check again."):
        if isinstance(task, Explain):
            return "This is too short for two sentences."
        empty = "Nothing is predicted." if isinstance(task, Predict) else ""
        return empty or "Handed in as it was given."
    if row["reason"] == NO_ANSWER and not row["answer"] and errors:
        first = f"Code cell {errors[0]['cell']} is the first that ended with an error"
        return f"{text} {first}: if it defines the answer, that is why."
    return text


def without_tags(text) -> str:
    """A text without file names that nobody but the grader knows."""
    for tag, instead in TAGS:
        text = re.sub(tag, instead, text)
    return text


def numbered(row) -> str:
    """The learner's own lines, the one that the verdict is about marked."""
    lines = row["answer"].rstrip().split("\n")
    if len(lines) == 1:
        return lines[0]
    width = len(str(len(lines)))
    return "\n".join(
        f"{'>' if number == row['line'] else ' '} {number:{width}}  {line}".rstrip()
        for number, line in enumerate(lines, start=1)
    )


# ---------------------------------------------------------------- the two forms


def markdown(block) -> str:
    """A block in Markdown."""
    kind, text = block
    if kind in ("pre", "said"):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"{fence}\n{printable(text, LINES)}\n{fence}"
    if kind == "ul":
        return "\n".join(f"- {inline(it, escaped, spanned)}" for it in text)
    if kind == "table":
        rows = ("| " + " | ".join(map(escaped, it)) + " |" for it in text)
        return "\n".join(["| exercise | points |", "|---|---|", *rows])
    marks = {"h1": "# ", "h2": "## ", "p": "", "quote": "> "}[kind]
    return marks + inline(text, escaped, spanned)


def html(block) -> str:
    """A block in HTML."""
    kind, text = block
    if kind == "pre":
        return f"<pre>{escape(printable(text, LINES))}</pre>"
    if kind == "said":  # its long lines are sentences
        return f'<pre class="said">{escape(printable(text, LINES))}</pre>'
    if kind == "ul":
        items = (f"<li>{inline(it, escape, marked_up)}</li>" for it in text)
        return "\n".join(["<ul>", *items, "</ul>"])
    if kind == "table":
        rows = (f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in text)
        return "\n".join(["<table>", *rows, "</table>"])
    tag = {"quote": "blockquote"}.get(kind, kind)
    return f"<{tag}>{inline(text, escape, marked_up)}</{tag}>"


def inline(text, words, code) -> str:
    """A text on one line: what is between two backticks as code, the rest as words."""
    pieces = re.split("`([^`]+)`", printable(" ".join(text.split())))
    return "".join(
        code(piece) if number % 2 else words(piece)
        for number, piece in enumerate(pieces)
    )


def marked_up(code) -> str:
    return f"<code>{escape(code)}</code>"


def spanned(code) -> str:
    return f"`{code}`"  # no backtick is in it, and so none ends it


def escaped(text) -> str:
    """Words in Markdown, which reads none of their characters as its own."""
    return MARKUP.sub(lambda it: harmless(it[1]) if it[1] else it[0], text)


def harmless(character) -> str:
    """A backslash before a backtick would not do: the next one may begin code."""
    return "&#96;" if character == "`" else f"\\{character}"

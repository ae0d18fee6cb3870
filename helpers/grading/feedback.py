"""What a student reads: for each exercise the task, the answer with the report beside
it, the points, and the hint that follows. A page in Markdown and the same in HTML.
"""

import re
from html import escape

from helpers.exercises.catalogue import exercise
from helpers.exercises.reasons import REASONS
from helpers.grading.worker import NOT_GRADED, PERSON

STYLE = """\
body {max-width: 50em; margin: 2em auto; padding: 0 1em; line-height: 1.45;
font-family: system-ui, sans-serif; color-scheme: light dark}
pre {padding: .6em .9em; overflow-x: auto; border-left: 3px solid #8888;
background: #8881; font-size: 13px; white-space: pre-wrap;
overflow-wrap: anywhere}
h2 {margin-top: 2em; border-bottom: 1px solid #8886}
"""
TOLD_BY_SENTENCE = "no_answer", "refused", PERSON, NOT_GRADED
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head>
<body>
{body}
</body></html>
"""


def write_feedback(store, manifest, say=print):
    """Write both pages of each submission."""
    results = store.results()
    for result in results:
        blocks = list(blocks_of(result, manifest.seed))
        path = store.path(result["student"], result["assignment"], ".md")
        store.write(path, "\n\n".join(map(markdown, blocks)) + "\n")
        body = "\n".join(map(html, blocks))
        title = escape(f"{result['assignment']}, {result['student']}")
        page = PAGE.format(title=title, style=STYLE, body=body)
        store.write(path.with_suffix(".html"), page)
    say(f"{len(results):,} pages of feedback")


def blocks_of(result, seed):
    """A submission's feedback: pairs of a kind and a text."""
    rows = result["exercises"]
    given = [row["points"] for row in rows if row["points"] is not None]
    most = sum(row["max_points"] for row in rows)
    yield "h1", f"{result['assignment']}: {sum(given):g} of {most:g} points"
    yield "p", f"For {result['student']}."
    if result["ended"]:
        told = f"Your notebook {result['ended']}: cells after that were not run."
        yield "p", told
    for it in result["cells"]:
        yield "p", f"Cell {it['cell']} ended with an error:"
        yield "pre", it["error"]
    for row in rows:
        yield from exercise_blocks(row, exercise(row["exercise"], seed))


def exercise_blocks(row, task):
    """One exercise's part."""
    yield "h2", f"{row['exercise']}: {points(row)}"
    yield "p", " ".join(task.task.split())
    if row["answer"]:
        yield "pre", numbered(row)
    if row["reason"] not in ("", *TOLD_BY_SENTENCE):
        yield "p", f"Not yet: {REASONS[row['reason'].partition(':')[0]]}."
    yield "p", row["sentence"]
    if row["report"]:
        yield "pre", row["report"]
    if row["hints"]:
        yield "p", f"Hint: {row['hints'][0]}"


def points(row) -> str:
    """A mark in words."""
    if row["points"] is None:
        return f"{row['max_points']:g} points, {row['reason']}"
    return f"{row['points']:g} of {row['max_points']:g} points"


def numbered(row) -> str:
    """The learner's own lines, the one that the verdict is about marked."""
    lines = row["answer"].splitlines()
    if len(lines) == 1:
        return lines[0]
    width = len(str(len(lines)))
    return "\n".join(
        f"{'>' if number == row['line'] else ' '} {number:{width}}  {line}".rstrip()
        for number, line in enumerate(lines, start=1)
    )


def markdown(block) -> str:
    """A block in Markdown; code is indented, which no text in it can end."""
    kind, text = block
    if kind == "pre":
        return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
    marks = {"h1": "# ", "h2": "## ", "p": ""}[kind]
    return marks + " ".join(text.split()).replace("<", "\\<")  # no tag of theirs


def html(block) -> str:
    kind, text = block
    inner = escape(text)
    if kind == "p":
        inner = re.sub("`([^`]+)`", r"<code>\1</code>", inner)
    return f"<{kind}>{inner}</{kind}>"

"""How an exercise prints: what to do, the specification, the launch, the budget."""

from html import escape
from textwrap import indent

from helpers.exercises.budgets import described
from helpers.exercises.variants import shown_function

STARS = "★"


def as_text(task) -> str:
    """All of it, for a terminal."""
    lines = [heading(task), task.task]
    for name, text in parts(task):
        code = "\n" in text or name == "specification"
        lines += [f"{name}:\n{indent(text, '    ')}" if code else f"{name}: {text}"]
    return "\n".join(lines)


def as_html(task) -> str:
    """All of it, for a notebook."""
    rows = "".join(
        f"<dt><b>{name}</b></dt><dd><pre>{escape(text)}</pre></dd>"
        for name, text in parts(task)
    )
    paragraphs = "".join(f"<p>{escape(it)}</p>" for it in task.task.split("\n\n"))
    return f"<h4>{escape(heading(task))}</h4>{paragraphs}<dl>{rows}</dl>"


def heading(task) -> str:
    """Its name, stars, kind and points."""
    points = f"{task.points} point{'s' * (task.points > 1)}"
    return f"{task.name} {STARS * task.stars} ({task.kind}, {points})"


def parts(task):
    """The names and texts of what a kind of exercise says beside its task."""
    if hasattr(task, "spec"):
        yield "specification", shown_function(task, "spec")
        yield "launch", launch_text(task)
    if getattr(task, "budget", None):
        yield "budget", "\n".join(described(task))
    if getattr(task, "options", ()):
        yield "one of", ", ".join(map(str, task.options))
    if getattr(task, "rubric", None):
        rows = (f"{points}: {what}" for what, points in task.rubric.items())
        yield "points", "\n".join(rows)


def launch_text(task) -> str:
    """How the kernel is launched: for the first size, with the function for others."""
    from helpers.exercises.exercise import whole_size

    size = whole_size(task.even[0])
    shown = ", ".join(map(str, task.launch(*size)))
    lines = shown_function(task, "launch").splitlines()
    body = " ".join(line.strip() for line in lines[1:])
    arguments = lines[0].partition("(")[2].rpartition(")")[0]
    sizes = "size" if len(size) == 1 else "sizes"
    return (
        f"[{shown}] for the {sizes} {', '.join(map(str, size))}; "
        f"for {arguments}: {body.removeprefix('return ')}"
    )

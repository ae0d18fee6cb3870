"""The tables of docs/LADDERS.md, made of what was recorded: all rungs of each ladder,
and what was tried besides.

A ladder that the page does not name yet gets its part at the end; the prose around the
parts is the page's own.
"""

from helpers.measuring import store
from lessons.ladders import ladder, names
from lessons.publishing.marked import filled, marks

PAGE = "docs/LADDERS.md"


def with_rungs(page, gpu=store.USUAL):
    """The page's text, with all that was recorded on a GPU between its marks."""
    climbed = store.read(store.file_of(gpu, "ladders"))["ladders"]
    parts = {"ladders": circumstances(gpu, climbed)}
    parts |= {f"ladder {it}": tables(it, climbed[it]) for it in names() if it in climbed}
    tried = store.read(store.file_of(gpu, "tried")).get("tables", {})
    parts |= {f"tried {name}": table_of(name, rows) for name, rows in tried.items()}
    for part, text in parts.items():
        begin, end = marks(part)
        page = page if begin in page else f"{page.rstrip()}\n\n{begin}\n{end}\n"
        page = filled(page, part, text, PAGE)
    return page


def circumstances(gpu, climbed) -> str:
    """On what all ladders were measured, and when; those apart that differ."""
    groups = {}
    for name, found in climbed.items():
        words = [f"{what} {version}" for what, version in named(found["versions"])]
        groups.setdefault(", ".join([gpu, found["date"], *words]), []).append(name)
    if len(groups) == 1:
        return f"{next(iter(groups))}."
    return "\n".join(f"- {', '.join(of)}: {words}." for words, of in groups.items())


def named(versions):
    """The versions as people write them; the driver's is left out."""
    for what, version in versions.items():
        if what == "cuda":
            yield "CUDA", f"{version // 1000}.{version % 1000 // 10}"
        elif what != "driver":
            yield what, version


def tables(name, found) -> str:
    """A ladder's tables, each below its title."""
    module = ladder(name)
    title = getattr(module, "TITLE", name.capitalize())
    lines = [f"## {title}: lesson {module.LESSON}"]
    for title, climbed in found["titles"].items():
        rows = [row(rung, **values) for rung, values in climbed["rungs"].items()]
        raised = title[:1].upper() + title[1:]
        lines += ["", f"### {raised}", "", "```text", *rows, "```"]
    return "\n".join(lines)


def row(rung, us, percent, **_) -> str:
    """A rung's time, and its share of the library's rate; the lowest and the highest."""
    low, middle, high = us
    text = f"{rung:<44} {middle:>10,.1f} µs  {low:>10,.1f}–{high:<10,.1f}"
    if percent:
        low, middle, high = percent
        text += f" {middle:6.1f}%  {low:6.1f}–{high:.1f}%"
    return text.rstrip()


def table_of(name, rows) -> str:
    """What was tried, and how long each took."""
    lines = (f"| {what} | {', '.join(map(str, us))} |" for what, us in rows.items())
    return "\n".join([f"| {name} | µs |", "|---|---|", *lines])

"""How what a Run has prints: counts as a table by line, and what was found one below
the other. The heads of columns are the names by which a program asks for them.
"""

SHARES = "active_share", "active_of_present"  # that a row computes of its counts


class Listed(tuple):
    """What a judge found, one below the other; `none` is what it says of nothing."""

    none = "nothing"

    def __repr__(self):
        return "\n".join(map(repr, self)) or self.none


def in_words(row) -> str:
    """A row's numbers with their names, and its access."""
    told = [f"{name} {value}" for name, value in _numbers(row).items()]
    return ", ".join([*told, *filter(None, [_access(row)])])


def as_table(rows, total=None) -> str:
    """Rows by site or line, below the names of their columns and their sum."""
    if total is None and not rows:
        return "no line"
    named = [(_label(at), row) for at, row in rows.items()]
    named = [("all", total)] * (total is not None) + named
    heads = [*_numbers(named[0][1])]
    lines = [["", *heads]]
    lines += [[label, *_numbers(row).values()] for label, row in named]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    behind = ["", *(_access(row) for _, row in named)]
    return "\n".join(
        "  ".join(
            [f"{line[0]:<{widths[0]}}", *_right(line[1:], widths[1:]), access]
        ).rstrip()
        for line, access in zip(lines, behind, strict=True)
    )


def _right(cells, widths):
    """Cells below their heads."""
    return (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _label(at) -> str:
    """A line in words."""
    return getattr(at, "label", f"line {at}")


def _access(row) -> str:
    """What a row counts: its kind of access, and the array."""
    kind, array = getattr(row, "kind", ""), getattr(row, "array", "")
    return f"{kind} of `{array}`" if kind else ""


def _numbers(row) -> dict:
    """A row's counts as texts, and the shares that they make, by name."""
    words = "kind", "array", "by_line", "by_kind"
    told = {k: f"{v:,}" for k, v in vars(row).items() if k not in words}
    shares = (name for name in SHARES if hasattr(row, name))
    return told | {name: f"{getattr(row, name):.1%}" for name in shares}

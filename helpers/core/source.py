"""The source of a kernel, as it stands in its file or its notebook's cell."""

import inspect
from textwrap import dedent
from typing import NamedTuple

from helpers.frontend.refusals.refusals import file_name


class Source(NamedTuple):
    """A function's lines from its first decorator on, as it stands at the margin."""

    file: str  # the name that a Site gives it
    first: int
    lines: tuple[str, ...]


def source_of(function) -> Source | None:
    """A function's source, None where nobody has it."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None
    text = dedent("".join(lines)).rstrip()
    name = file_name(function.__code__.co_filename)
    return Source(name, first, tuple(text.splitlines()))

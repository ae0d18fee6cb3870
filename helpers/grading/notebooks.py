"""Submitted notebooks, read with distrust: links are not followed, only files are
opened, and no more is read than there may be.
"""

import errno
import json
import os
import re
import stat

from helpers.grading.sandbox.limits import (
    CODE_CHARACTERS,
    MOST_CELLS,
    NOTEBOOK_BYTES,
)


class Unreadable(Exception):
    """Why a submission cannot be marked, for the one who grades."""


def read(folder, path) -> bytes:
    """The bytes of a file that was submitted in a folder; raises Unreadable."""
    try:
        descriptor = open_within(folder, path)
    except OSError as error:
        linked = error.errno in (errno.ELOOP, errno.ENOTDIR)
        why = "a link leads to it" if linked else error.strerror
        raise Unreadable(f"it cannot be opened: {why}") from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        os.close(descriptor)
        raise Unreadable("it is no file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(NOTEBOOK_BYTES + 1)
    if len(data) > NOTEBOOK_BYTES:
        size = f"{about.st_size:,} bytes; {NOTEBOOK_BYTES:,} are the most"
        raise Unreadable(f"it has {size}: hand it in without its outputs")
    return data


def open_within(folder, path) -> int:
    """Open a file part by part: no link within the folder is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    *parts, name = path.relative_to(folder).parts
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, flags, dir_fd=here)
    finally:
        os.close(here)


def cells_of(data) -> list[str]:
    """The texts of a notebook's code cells; raises Unreadable."""
    try:
        cells = json.loads(data, parse_int=float)["cells"]  # of any number of digits
        found = [text_of(it) for it in cells if it["cell_type"] == "code"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise Unreadable("the file cannot be read as a notebook (JSON)") from None
    if len(found) > MOST_CELLS:
        raise Unreadable(f"it has {len(found):,} cells; {MOST_CELLS:,} are the most")
    if (size := sum(map(len, found))) > CODE_CHARACTERS:
        most = f"{CODE_CHARACTERS:,} are the most"
        raise Unreadable(f"its code has {size:,} characters; {most}")
    return found


def require_its_own(cells, items):
    """Has a notebook at least half of an assignment's exercises? Raises Unreadable.

    A lesson has the name of its assignment, and an exercise or two of it.
    """
    words = set(re.findall(r"\w+", "\n".join(cells)))
    there = sum(not words.isdisjoint({it.exercise, it.answer}) for it in items)
    if 2 * there < len(items):
        few = f"only {there} of its {len(items)}" if there else "none of its"
        few += f" exercises {'are' if there > 1 else 'is'} in it"
        raise Unreadable(f"{few}: it may be the lesson, or another assignment")


def text_of(cell) -> str:
    """A cell's text: one, or a list of lines."""
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    text.encode()  # ValueError where it has half a character
    return text

"""Parts of a page that are made of something else, between two marks of one name."""

from lessons.publishing.errors import LessonError


def filled(text, part, fresh, page="README.md"):
    """The text of a page with this between the marks of a part."""
    begin, end = marks(part)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise LessonError(f"{page} needs {begin} and {end}, once each")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{fresh}\n{end}{rest.partition(end)[2]}"


def marks(part):
    """What stands before and after a part."""
    return f"<!-- {part}: begin -->", f"<!-- {part}: end -->"

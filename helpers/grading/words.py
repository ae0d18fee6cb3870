"""Words of reports: numbers of things, and texts of others that only show."""

import re

JOINERS = "\u200c\u200d"  # invisible, and part of names in some scripts


def many(number, noun) -> str:
    """A number of things, in the singular for one."""
    return f"{round(number, 2):,g} {noun}{'s' * (number != 1)}"


def some(names, between=", ", most=40) -> str:
    """The first names, and how many there are beside."""
    text, left = printable(between.join(names[:most])), len(names) - most
    return f"{text}{between}and {left:,} more" if left > 0 else text


def named(result) -> str:
    """Whose marks they are, and of which assignment."""
    return f"{result['student']} ({result['assignment']})"


def printable(text, kept="") -> str:
    """A text whose characters show, and do nothing: a terminal obeys some of them."""
    return "".join(
        char if char.isprintable() or char in JOINERS + kept else shown(char)
        for char in text
    )


def shown(character) -> str:
    """A character by its number: `\\x1b` for Escape."""
    return character.encode("unicode_escape").decode()


def words_of(name) -> str:
    """A name's letters and digits, in one case and with a line between its words, by
    which those that were typed otherwise are compared.
    """
    words = re.findall(r"[^\W_]+", name.casefold())
    return f"_{'_'.join(words)}_"

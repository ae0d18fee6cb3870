"""The syntax of our own files, parsed once for all rules that read it."""

import ast
import gc
from functools import cache


@cache
def tree_of(file):
    """A file's syntax. The collector would look again and again for garbage among a
    million nodes, and find none: that took longer than to parse.
    """
    gc.disable()
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


@cache
def statements_of(file):
    """Each statement of a file, wherever in it: a tenth of its nodes."""
    found = [tree_of(file)]
    for node in found:
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            found += getattr(node, field, ())
    return found[1:]

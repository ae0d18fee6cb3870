"""What the advice on a small kernel says, of which each edit is applied."""

import linecache

import numpy as np
from numba import cuda, float32

from tests.core.advice.trying import tried


def told(kernel, config, *arguments, edits=None):
    """The sentences of a launch's advice, of which each edit is right; they have one,
    or have none, if that is asked.
    """

    def fresh():
        return [it.copy() if hasattr(it, "copy") else it for it in arguments]

    found = tried("", kernel, config, fresh)
    assert [] == [it.found for it in found if it.edit and not it.right]
    assert edits is None or {edits} == {it.edit is not None for it in found}
    return [it.sentence for it in found]


def ones(count=64):
    return np.ones(count, np.float32)


def made(text, **names):
    """A kernel of a text that has a file's name, and sees these names."""
    name = f"told_{abs(hash(text))}.py"
    text = text.lstrip("\n")
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    scope = {"cuda": cuda, "float32": float32, **names}
    exec(compile(text, name, "exec"), scope)
    return cuda.jit(scope[text.partition("(")[0].removeprefix("def ")])

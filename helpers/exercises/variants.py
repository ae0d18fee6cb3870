"""Variants: what a seed chooses for an exercise, put into its texts and kernels.

Texts name a choice as `$name`; the exercise's own functions as `self.name`.
"""

import inspect
import re
from string import Template
from textwrap import dedent

import numpy as np


def chosen(choices, name, seed) -> dict:
    """One of the values of each choice, by its name; the first ones without a seed.

    It depends on the names and the seed alone, so that a new choice changes no other.
    """
    if seed is None:
        return {key: values[0] for key, values in choices.items()}
    return {
        key: values[int(generator(seed, name, key).integers(len(values)))]
        for key, values in choices.items()
    }


def generator(*keys) -> np.random.Generator:
    """Random numbers that depend on these numbers and words alone."""
    text = "\0".join(map(str, keys)).encode()
    return np.random.default_rng(np.frombuffer(text, np.uint8))


class Names:
    """An exercise's attributes, as a template looks for them."""

    def __init__(self, task):
        self.task = task

    def __getitem__(self, name):
        return getattr(self.task, name)


def filled(text, task) -> str:
    """A text with an exercise's attributes in the places of their names."""
    return chosen_in(dedent(text).strip("\n"), task)


def chosen_in(text, task) -> str:
    """The same of a part of a text, whose spaces count."""
    return Template(text).substitute(Names(task))


def shown_function(task, name) -> str:
    """The lines of an exercise's function, with values in place of `self.…`."""
    lines = dedent(inspect.getsource(getattr(type(task), name)))
    lines = re.sub(r"\(self(, )?", "(", lines, count=1)
    lines = re.sub(r"self\.(\w+)", lambda it: repr(getattr(task, it[1])), lines)
    return re.sub(r"getattr\((\w+), '(\w+)'\)", r"\1.\2", lines).rstrip()

"""The source of a function as syntax: what names in it stand for, and which was
probably meant.
"""

import ast
import builtins
import difflib
import math
import re
import sys
from contextlib import suppress

import numba

from thirty_two_lanes.core.source import definition_of

# what a kernel reads and cannot call, by its name below `cuda`
NO_FUNCTION = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize"),
    *(f"{name}.{axis}" for name in ("threadIdx", "blockIdx") for axis in "xyz"),
    *(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in "xyz"),
)
_IMPORTS = {
    "cuda": "from numba import cuda",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "cmath": "import cmath",
    "numba": "import numba",
    "libdevice": "from numba.cuda import libdevice",
}
_NEAR = 0.75  # how alike two names are, of 1
_ARRAYS = r"`(shared|local)` has no|`numba\.cuda` has no `(shared|local)_?array`"
_MISSING = r"(?:there is no|`numba\.(cuda)` has no) `(\w+)`"


def nodes_of(function):
    """The nodes of a function's source, with the line numbers of its file."""
    definition = definition_of(function)
    return [
        node
        for statement in (definition.body if definition else ())
        for node in ast.walk(statement)
        if hasattr(node, "lineno")
    ]


def named_value(node, function):
    """What a name, or an attribute of one, stands for outside a function, or None."""
    if isinstance(node, ast.Attribute):
        return getattr(named_value(node.value, function), node.attr, None)
    if not isinstance(node, ast.Name) or node.id in function.__code__.co_varnames:
        return None
    free = function.__code__.co_freevars
    if node.id in free:
        with suppress(ValueError):  # nothing is in it yet
            return function.__closure__[free.index(node.id)].cell_contents
        return None
    return function.__globals__.get(node.id, vars(builtins).get(node.id))


def suggestion(function, sentence) -> str:
    """What to write in the place of a name that a sentence says does not exist."""
    if of_array := re.match(_ARRAYS, sentence):
        return _meant(f"cuda.{of_array[1] or of_array[2]}.array")
    missing = re.match(_MISSING, sentence)
    if not missing:
        return ""
    of_cuda, name = missing.groups()
    if of_cuda and name in _IMPORTS:
        return f" Write `{name}` alone, and put `{_IMPORTS[name]}` above the kernel"
    if of_cuda:
        return _meant(_near(name, _of_cuda()))
    if name in _IMPORTS:
        return f" Put `{_IMPORTS[name]}` above the kernel"
    if isinstance(getattr(numba, name, None), numba.types.Type):
        return f" Put `from numba import {name}` above the kernel"
    if name in _of_cuda():
        return _meant(f"{_alias(function, numba.cuda, 'cuda')}.{name}")
    if hasattr(math, name):
        return _meant(f"{_alias(function, math, 'math')}.{name}")
    if own := _near(name, {*function.__code__.co_varnames, *function.__globals__}):
        return _meant(own)
    if of_cuda := _near(name, _of_cuda()):
        return _meant(f"{_alias(function, numba.cuda, 'cuda')}.{of_cuda}")
    return _meant(_near(name, dir(builtins)))


def _near(name, names):
    return next(iter(difflib.get_close_matches(name, names, 1, _NEAR)), None)


def _meant(name) -> str:
    return f" Did you mean `{name}`?" if name else ""


def _of_cuda():
    """The public names of `numba.cuda`."""
    return {n for n in dir(sys.modules["numba.cuda"]) if not n.startswith("_")}


def _alias(function, module, usual) -> str:
    """What the kernel's file calls a module."""
    named = (n for n, value in function.__globals__.items() if value is module)
    return next(named, usual)

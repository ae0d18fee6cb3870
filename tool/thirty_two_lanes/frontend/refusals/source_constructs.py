"""What kernels cannot do, found in the source of the line that was refused, whatever
Numba's message says.
"""

import ast
import inspect
import re
import sys

from thirty_two_lanes.frontend.refusals.array_calls import wrong_array
from thirty_two_lanes.frontend.refusals.array_copies import array_copy
from thirty_two_lanes.frontend.refusals.nodes import NO_FUNCTION, nodes_of

_LOOP = "loop over the elements with `range(…)`"
_TEXT = 'strings can only be printed in a kernel: `print("thread", i)`'
_NEW = (
    "makes a new array, which a kernel cannot do: make it outside and pass it, or use "
    "`cuda.local.array(8, float32)` for a thread's own array"
)
_WHOLE = (
    "works on whole arrays, and a thread of a kernel on one element at a time: "
    "write the loop, or call it outside of the kernel"
)
_FILES = "a kernel cannot use files or input: do that outside and pass the result"
_RANDOM = (
    "random numbers in kernels come from `numba.cuda.random`: "
    "`xoroshiro128p_uniform_float32(states, i)`"
)
_CLOCK = "a kernel has no clock: measure the launch from outside, with `measure`"
_KINDS = "types are fixed when the kernel is compiled: a kernel cannot ask for them"
_NO_TRY = (
    "`try`, `with` and `yield` do not exist in kernels: test for the case with `if`"
)

# what no kernel may contain, wherever it stands
_NEVER = {
    ast.JoinedStr: f"an f-string makes a string, and {_TEXT}",
    ast.ListComp: "list comprehensions make lists, which kernels do not have: " + _LOOP,
    ast.SetComp: "sets do not exist in kernels: use a tuple or an array",
    ast.DictComp: "dictionaries do not exist in kernels: use a tuple or an array",
    ast.GeneratorExp: "generators do not exist in kernels: " + _LOOP,
    ast.Dict: "dictionaries do not exist in kernels: use a tuple or an array",
    ast.Set: "sets do not exist in kernels: use a tuple or an array",
    ast.Try: _NO_TRY,
    ast.With: _NO_TRY,
    ast.Yield: _NO_TRY,
    ast.YieldFrom: _NO_TRY,
    ast.Import: "a kernel cannot import: move this line above the kernel",
    ast.ImportFrom: "a kernel cannot import: move this line above the kernel",
    ast.ClassDef: "a kernel cannot define a class: use a tuple, or records of an array",
    ast.Global: "a kernel cannot change a global: store into an array",
    ast.Nonlocal: "a kernel cannot change a variable outside it: store into an array",
    ast.Delete: "a kernel cannot delete anything: arrays keep their size",
    ast.Starred: "a `*` in front of a value does not work in kernels: write the items",
    ast.Await: "kernels can only wait at barriers: leave `await` out",
}
_MAKERS = (
    *("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like"),
    *("full_like", "arange", "linspace", "array", "asarray", "eye", "identity"),
    *("concatenate", "stack", "hstack", "vstack", "copy", "tile", "repeat"),
    *("meshgrid", "outer", "reshape", "ravel", "unique", "flip", "roll", "diff"),
)
_REDUCERS = (
    *("sum", "max", "min", "mean", "std", "var", "dot", "matmul", "sort", "argsort"),
    *("prod", "cumsum", "median", "any", "all", "argmax", "argmin", "inner", "vdot"),
)
_OPERATORS = {
    **{"add": "+", "subtract": "-", "multiply": "*", "power": "**", "negative": "-"},
    **{"floor_divide": "//", "remainder": "%", "mod": "%"},
}
_CALLS = {
    **{
        f"numpy.{name}": f"`np.{name}` does not exist in kernels: write `{sign}`, for "
        "one element at a time"
        for name, sign in _OPERATORS.items()
    },
    "numpy.where": "`np.where` makes a new array, which a kernel cannot do: for one "
    "element, write `a if condition else b`",
    **{f"numpy.{name}": f"`np.{name}` {_NEW}" for name in _MAKERS},
    **{f"numpy.{name}": f"`np.{name}` {_WHOLE}" for name in _REDUCERS},
    "numpy.clip": "`np.clip` does not work on one number: `min(max(x, low), high)`",
    **dict.fromkeys(("input", "open"), _FILES),
    **dict.fromkeys(
        ("str", "repr", "format", "chr", "ord", "bin", "hex", "oct", "ascii"), _TEXT
    ),
    **dict.fromkeys(("isinstance", "type", "id", "hash", "getattr", "hasattr"), _KINDS),
    **{
        name: f"`{name}` does not exist in kernels: {_LOOP}"
        for name in (
            *("sorted", "reversed", "map", "filter", "any", "all", "sum", "iter"),
            *("next", "list", "set", "dict", "frozenset", "bytearray"),
        )
    },
}
_MODULES = {
    "random": _RANDOM,
    "numpy.random": _RANDOM,
    "time": _CLOCK,
    "datetime": _CLOCK,
    "numpy.linalg": f"`np.linalg` {_WHOLE}",
    "os": _FILES,
    "sys": _FILES,
}
_METHODS = {
    **dict.fromkeys(
        ("append", "extend", "insert", "pop", "remove", "clear"),
        "arrays keep their size in a kernel, and there are no lists: count how many "
        "are in use, and store at that index",
    ),
    **{
        name: f"`.{name}()` {_NEW}"
        for name in ("copy", "astype", "flatten", "tolist", "repeat", "nonzero")
    },
    **{
        name: f"`.{name}()` {_WHOLE}"
        for name in ("max", "min", "sort", "dot", "argsort", "cumsum", "fill", "sum")
    },
    **dict.fromkeys(("format", "join", "upper", "lower", "split", "strip"), _TEXT),
    **dict.fromkeys(
        ("keys", "values", "items", "update", "add"),
        "dictionaries and sets do not exist in kernels: use a tuple or an array",
    ),
}
_FOR_THE_HOST = (
    *("to_device", "device_array", "device_array_like", "pinned_array", "synchronize"),
    *("mapped_array", "managed_array", "stream", "event", "jit", "current_context"),
    *("get_current_device", "select_device", "is_available"),
)


_BY_INDEX = (
    "an index is a whole number, or several: selecting elements by a condition or a "
    "list makes a new array. Test each element with `if`"
)
_BY_ELEMENT = (
    "an operator on whole arrays makes a new array, which a kernel cannot do: write "
    "it for one element, `c[i] = a[i] + b[i]`"
)
_LIST = (
    "lists do not exist in kernels: use a tuple, `(1, 2)`, or "
    "`cuda.local.array(8, float32)`"
)

# how many values some functions of `cuda` take, and which
_TAKES = {
    **{
        name: ("mask, value, lane", 3)
        for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
    },
    **{
        name: ("mask, condition", 2)
        for name in ("ballot_sync", "all_sync", "any_sync", "eq_sync")
    },
    **{name: ("mask, value", 2) for name in ("match_any_sync", "match_all_sync")},
    **{f"syncthreads_{name}": ("number", 1) for name in ("and", "or", "count")},
    **{
        f"atomic.{name}": ("array, index, value", 3)
        for name in (
            *("add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor"),
            *("exch", "inc", "dec"),
        )
    },
    "atomic.cas": ("array, index, old, new", 4),
    "atomic.compare_and_swap": ("array, old, new", 3),
    "syncthreads": ("", 0),
    "selp": ("condition, a, b", 3),
    "fma": ("a, b, c", 3),
    **{name: ("number", 1) for name in ("popc", "brev", "clz", "ffs", "cbrt")},
}


class Certain(str):
    """A sentence that is true of all kernels, whatever the emulator supports."""


def is_certain(sentence) -> bool:
    """Is this true of all kernels, whatever the emulator supports?"""
    known = (*_NEVER.values(), _TEXT, _FILES, _RANDOM, _CLOCK, _KINDS)
    return isinstance(sentence, Certain) or sentence in known


def explanation_from_source(function, line, needs_memory=False):
    """What is wrong with the refused line, in a sentence, and the line; or None."""
    nodes = nodes_of(function)
    here = [node for node in nodes if _first(node) <= line <= _last(node)]
    near = [node for node in here if isinstance(node, ast.expr | ast.stmt)]
    for node in sorted(near, key=lambda node: not _never(node)):
        sentence = _never(node) or _call(node, function)
        if sentence and line in (_first(node), _last(node), _head(node)):
            return sentence, _first(node)
    if needs_memory and "ufunc" in needs_memory[0]:  # of `a[:] += 1`, or of `np.add`
        near = [node for node in near if isinstance(node, ast.AugAssign)]
    for node in near if needs_memory else ():
        sentence = array_copy(node) or _makes(node)
        if sentence:
            return sentence, line
    if line <= function.__code__.co_firstlineno + 1:  # Numba did not say where
        for node in nodes:
            if _never(node):
                return _never(node), _first(node)
    return None


def named_expression(function, line, message):
    """Where Numba loses a variable of `:=`, a sentence and the line; or None."""
    lost = re.search(
        r"Type of variable '.*?' cannot be determined|Variable '\w+' is not defined",
        message,
    )
    given = [n for n in nodes_of(function) if isinstance(n, ast.NamedExpr)]
    if not lost or not given:
        return None
    here = [n for n in given if n.lineno <= line <= n.end_lineno]
    first = (here or given)[0]
    name = first.target.id
    return (
        f"Numba does not understand this `:=`: write `{name} = …` on a line of its own",
        first.lineno,
    )


def argument_without_value(function, line, types):
    """Where a line uses an argument that is None, a sentence and the line; or None."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    absent = {n for n, t in zip(names, types, strict=False) if str(t) == "none"}
    for node in nodes_of(function):
        if isinstance(node, ast.Name) and node.id in absent and node.lineno == line:
            return (
                f"`{node.id}` is None here: pass the array or the number that this "
                "line needs",
                line,
            )
    return None


def returning_line(function) -> int | None:
    """The first line of a function that returns a value, where it is known."""
    returned = (n for n in nodes_of(function) if isinstance(n, ast.Return))
    lines = [n.lineno for n in returned if not _is_none(n.value)]
    return min(lines, default=None)


def _is_none(node) -> bool:
    return node is None or isinstance(node, ast.Constant) and node.value is None


def _never(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return f"`@` {_WHOLE}"
    if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
        return None  # the arguments of a call
    return _NEVER.get(type(node))


def _makes(node):
    """What a line makes that needs new memory."""
    if isinstance(node, ast.Subscript) and isinstance(
        node.slice, ast.Compare | ast.List | ast.BoolOp
    ):
        return _BY_INDEX
    repeated = isinstance(node, ast.BinOp) and {type(node.left), type(node.right)}
    if isinstance(node, ast.List) or repeated and ast.List in repeated:
        return _LIST
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _TEXT
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign):
        return _BY_ELEMENT
    return None


def _call(node, function):
    """What is wrong with a call, by the name of what is called."""
    if not isinstance(node, ast.Call):
        return None
    name, method = _name_of(node.func, function)
    if name:
        root, _, last = name.rpartition(".")
        if root == "numba.cuda" and last in _FOR_THE_HOST:
            return f"`cuda.{last}` is for the host: call it outside of the kernel"
        if name.startswith("numba.cuda."):
            return _call_of_cuda(name[len("numba.cuda.") :], node, function)
        if root in ("math", "cmath"):
            return _wrong_count(name, node, *_parameters(name))
        return _CALLS.get(name) or _MODULES.get(root)
    return _METHODS.get(method)


def _call_of_cuda(name, node, function):
    """What is wrong with a call of something of `cuda`."""
    if name in ("shared.array", "local.array"):
        wrong = wrong_array(name, node, function)
        return Certain(wrong) if wrong else None
    if name in ("shared", "local"):
        return f"write `cuda.{name}.array(shape, type)`: `cuda.{name}` is no function"
    if name in NO_FUNCTION:
        return f"this is a number, not a function: `cuda.{name}` without parentheses"
    return _wrong_count(f"cuda.{name}", node, *_TAKES.get(name, ("", None)))


def _parameters(name):
    """What a function of `math` takes, and how many, where Python says it."""
    root, _, last = name.partition(".")
    try:
        names = inspect.signature(getattr(sys.modules[root], last)).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return "", None
    plain = all(p.default is p.empty and p.kind is p.POSITIONAL_ONLY for p in names)
    return (", ".join(p.name for p in names), len(names)) if plain else ("", None)


def _wrong_count(name, call, takes, count):
    """What a function takes, where the call gives more or fewer values."""
    given = len(call.args) + len(call.keywords)
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    if count is None or given == count or starred:
        return None
    values = "1 value" if count == 1 else f"{count} values"
    return f"`{name}({takes})` takes {values}, but this line passes {given}"


def _name_of(node, function):
    """The full name of what is called, through its module; or the name of a method."""
    path = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None, path[0] if path else None
    around = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    value = around.get(node.id)
    if inspect.ismodule(value):
        return ".".join([value.__name__, *path]), None
    if path:
        return None, path[-1]
    module = getattr(value, "__module__", None)
    if module in ("numpy", "time", "random") or module in sys.stdlib_module_names:
        return f"{module}.{node.id}", None
    local = node.id in function.__code__.co_varnames or node.id in around
    return (None, None) if local else (node.id, None)


def _first(node):
    return node.lineno


def _last(node):
    return node.end_lineno


def _head(node):
    return node.body[0].lineno if isinstance(getattr(node, "body", None), list) else -1

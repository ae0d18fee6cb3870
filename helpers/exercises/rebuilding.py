"""Answers made of data again, in the process that judges: no line of them runs.
`check` makes them, too, and refuses what it cannot.

Of a function's source only its definition is compiled, without decorators, defaults
and annotations, which would run; what it takes from outside is a number, an array, a
type, a module of a short list or another such function. All else is refused.
"""

import ast
from itertools import count
from textwrap import dedent

import numba
from numba import cuda

from helpers.exercises.packing import OPTIONS
from helpers.exercises.rebuilt_values import Malformed, is_name, require, value_of
from thirty_two_lanes.core.source import lines_of, remember

MOST_FUNCTIONS = 16
MOST_NAMES = 200
MOST_SOURCE = 60_000  # characters of a function
MOST_LINES = 1_000
MOST_BITS = 1_000  # of a number in a function: Python writes none of 4,301 digits

_number = count(1)


def answer_of(data):
    """The kernel, the prediction or the text that data describe; raises Malformed."""
    require(isinstance(data, dict) and len(data) == 1, "no answer was handed over")
    if "kernel" in data:
        return kernel_of(data["kernel"])
    return value_of(data.get("value"))


# ---------------------------------------------------------------- functions


def lines_before(functions) -> list:
    """How many lines stand before each function's in the text of all, which is shown:
    the last one comes first, with an empty line behind it.
    """
    before, above = [], 0
    for it in functions[::-1]:
        before.append(above)
        above += str(it.get("source") if isinstance(it, dict) else "").count("\n") + 2
    return before[::-1]


def kernel_of(functions):
    """The dispatcher of the first of some functions, with those that it calls."""
    require(isinstance(functions, list) and functions, "there is no kernel")
    require(
        len(functions) <= MOST_FUNCTIONS,
        f"a kernel may consist of {MOST_FUNCTIONS} functions, not {len(functions):,}",
    )
    builder = Builder(functions)
    kernel = builder.dispatcher(0)
    called = len(builder.made) == len(functions)
    require(called, "a function was handed over that it does not call")
    return kernel


class Builder:
    """Makes functions of data, each once."""

    def __init__(self, functions):
        self.functions, self.made, self.begun = functions, {}, set()
        self.before = lines_before(functions)

    def dispatcher(self, index):
        """The function at an index of the list, compiled for the emulator."""
        known = type(index) is int and 0 <= index < len(self.functions)
        require(known, "a function that it calls was not handed over")
        if index not in self.made:
            require(index not in self.begun, "a function calls itself")
            self.begun.add(index)
            self.made[index] = self.build(self.functions[index], self.before[index])
        return self.made[index]

    def build(self, data, above):
        require(isinstance(data, dict), "a function is not described")
        name, given = data.get("name"), data.get("names")
        require(is_name(name), "a function has no name")
        require(isinstance(given, dict), "a function's names are not described")
        require(len(given) <= MOST_NAMES, "a function uses too many names")
        require(all(map(is_name, given)), "a function uses a name that is none")
        definition = definition_of(data.get("source"), name)
        used = {it.id for it in ast.walk(definition) if isinstance(it, ast.Name)}
        names = {k: self.outside(k, v) for k, v in given.items() if k in used}
        function = defined(definition, data["source"], names, above)
        function.__defaults__, function.__kwdefaults__ = self.defaults(definition, data)
        options, types = options_of(data.get("options")), data.get("signatures") or []
        require(isinstance(types, list) and len(types) <= 4, "too many signatures")
        signatures = [signature_of(it) for it in types]
        try:
            return cuda.jit(signatures or None, **options)(function)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise Malformed(f"its options are refused: {error}"[:300]) from None

    def defaults(self, definition, data):
        """What a function takes where it is not given an argument."""
        given, named = data.get("defaults") or [], data.get("named defaults") or {}
        arguments = definition.args
        some = isinstance(given, list) and isinstance(named, dict)
        require(some, "its defaults are not described")
        most = len(arguments.posonlyargs) + len(arguments.args)
        known = {it.arg for it in arguments.kwonlyargs}
        require(len(given) <= most and named.keys() <= known, "defaults of nothing")
        values = tuple(self.outside("a default", it) for it in given)
        return values, {k: self.outside(k, it) for k, it in named.items()}

    def outside(self, name, data):
        if isinstance(data, dict) and "function" in data:
            return self.dispatcher(data["function"])
        try:
            return value_of(data)
        except Malformed as error:
            raise Malformed(f"it takes `{name}` from outside: {error}") from None


def definition_of(source, name):
    """The definition in a function's source, without what would run."""
    require(
        isinstance(source, str) and source.strip(),
        f"the source of `{name}` cannot be read: write it with `def`, in a cell of the "
        "notebook or in a file",
    )
    lines = source.count("\n")
    require(
        len(source) <= MOST_SOURCE and lines <= MOST_LINES,
        f"`{name}` has {lines:,} lines; {MOST_LINES:,} lines of together "
        f"{MOST_SOURCE:,} characters are the most",
    )
    try:
        body = ast.parse(dedent(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"`{name}` cannot be read: {type(error).__name__}") from None
    one = len(body) == 1 and isinstance(body[0], ast.FunctionDef)
    require(one, f"`{name}` is not one plain function")
    definition = body[0]
    arguments = definition.args
    arguments.defaults = []  # which would run
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    values = [it.value for it in ast.walk(definition) if isinstance(it, ast.Constant)]
    short = all(type(it) is not int or it.bit_length() <= MOST_BITS for it in values)
    require(short, f"`{name}` has a number of more than {MOST_BITS:,} bits")
    contexts = [it for it in ast.walk(definition) if isinstance(it, ast.With)]
    require(not contexts, f"`{name}` has a `with`, which kernels cannot use")
    definition.decorator_list, definition.returns = [], None
    if getattr(definition, "type_params", None):
        definition.type_params = []
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return definition


def defined(definition, source, names, above=0):
    """The function of a definition, so many lines further down; only the `def` runs."""
    file = f"<{definition.name}, handed in {next(_number)}>"
    first, last = definition.lineno - 1, definition.end_lineno
    lines = lines_of(dedent(source))[first:last]  # above them, a text may be a decoy
    remember("\n" * (above + first) + "".join(lines), file)
    ast.increment_lineno(definition, above)
    try:
        code = compile(ast.Module([definition], []), file, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"it cannot be compiled: {type(error).__name__}") from None
    namespace = dict(names)
    exec(code, namespace)
    return namespace[definition.name]


def options_of(data) -> dict:
    """What `@cuda.jit` was given, as far as it matters to a judge."""
    require(isinstance(data, dict), "its options are not described")
    require(data.keys() <= set(OPTIONS), "it has options that nobody knows")
    inline = data.get("inline", "never")
    require(inline in ("never", "always", True, False), "its inlining is not known")
    flags = {k: v for k, v in data.items() if k != "inline"}
    require(
        all(type(it) in (bool, int) for it in flags.values()),
        "its options are not numbers",
    )
    return data


def signature_of(data):
    """The types of a declared signature."""
    require(isinstance(data, list) and len(data) <= 64, "a signature is not described")
    types = tuple(value_of(it) for it in data)
    require(
        all(isinstance(it, numba.types.Type) for it in types),  # Numba runs texts
        "a signature is not of types",
    )
    return types

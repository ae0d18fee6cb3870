"""Numba's refusals, and ours, as one sentence with the kernel's line and the remedy."""

import linecache
import re
import sys
import traceback


class KernelError(TypeError):
    """A kernel that no GPU could run: what, where, and what to write instead."""


class UnsupportedError(KernelError, NotImplementedError):
    """A kernel that a GPU would run and the emulator cannot, yet."""


def place(function_or_file, line) -> str:
    """A source line in words: "cell [7], line 3", or the file's own name."""
    file = getattr(
        getattr(function_or_file, "__code__", None), "co_filename", function_or_file
    )
    return f"{file_name(file)}, line {line}"


def file_name(file: str) -> str:
    """The name that a reader knows a source file by, never a path."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        named = getattr(shell.compile, "format_code_name", lambda name: None)(file)
        if named:
            return f"cell {named[1][2:]}" if named[1].startswith("In[") else named[1]
    return re.split(r"[\\/]", str(file))[-1]


def source_line(file: str, line: int) -> str:
    """The text of a source line, stripped."""
    return linecache.getline(file, line).strip()


def at(function, line, sentence, error=KernelError) -> KernelError:
    """An error about one line of a kernel, quoting it."""
    text = source_line(function.__code__.co_filename, line)
    quoted = f"\n    {text}" if text else ""
    return error(f"{sentence} ({place(function, line)}){quoted}")


def refusal(function, error) -> KernelError:
    """Numba's error about a kernel, as one sentence."""
    message = str(error)
    line = _line_of(function, error, message)
    for pattern, sentence in _SENTENCES:
        found = re.search(pattern, message, re.DOTALL)
        if found:
            return at(function, line, _plain(found.expand(sentence)))
    return at(
        function, line, f"Numba refuses this line: {_plain(_first_sentence(message))}"
    )


def _plain(sentence):
    """A sentence without Numba's own marks: literal types, versions of variables,
    paths.
    """
    sentence = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", sentence)
    sentence = re.sub(r"`(\w+)\.\d+`", r"`\1`", sentence)
    return re.sub(r"(?:[A-Za-z]:)?[\\/][\w.\\/-]+[\\/]", "", sentence)


def _line_of(function, error, message):
    """The kernel's line that an error speaks of, or else its first."""
    file = function.__code__.co_filename
    lines = [
        location.line for location in _locations(error) if location.filename == file
    ]
    if lines:
        return lines[-1]
    for name, line in reversed(re.findall(r'File "([^"]*)", line (\d+)', message)):
        if file.endswith(name.lstrip("./")) or name.startswith("<"):
            return int(line)
    return function.__code__.co_firstlineno


def _locations(error):
    """The source locations that Numba had at hand, the outermost first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("self", "constraint", "inst", "stmt"):
            location = getattr(frame.f_locals.get(name), "loc", None)
            if hasattr(location, "filename"):
                yield location
    if hasattr(getattr(error, "loc", None), "filename"):
        yield error.loc


def _first_sentence(message):
    """The first line of an error's message that says something."""
    lines = [line.strip() for line in message.splitlines()]
    told = [
        line for line in lines if line and not line.startswith(("Failed in", ">>>"))
    ]
    return told[0].rstrip(".") if told else "no reason given"


_ARRAY_SIZE = (
    "the shape of `cuda.shared.array` and `cuda.local.array` must be a number known "
    "when the kernel is compiled: a literal, or a global or closure variable on its "
    "own (compute `TILE + 1` outside the kernel and give it a name)"
)

_SENTENCES = [
    (
        r"function (?:shared|local)\.array|Function\(<function (?:shared|local)\.array",
        _ARRAY_SIZE,
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), UniTuple\(\w+ x (\d)\)",
        r"this line gives \2 indices to an array that has \1 axis or axes: was an "
        r"array of another shape meant?",
    ),
    (
        r"[gs]etitem\(array\([^)]*\), (?:float|UniTuple\(float|Tuple\([^)]*float)",
        "an index must be a whole number, and this one is a float: `//` divides whole "
        "numbers, `int(…)` rounds toward zero",
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), Tuple\(",
        r"this line gives more indices than its array has axes, which is \1: was an "
        r"array of another shape meant?",
    ),
    (
        r"setitem\(array\(\w+, (\d)d, \w\), [^\n]*, array\(",
        "this line stores a whole array where one number fits: give each array as many "
        "indices as it has axes",
    ),
    (
        r"NRT required|function "
        r"(?:zeros|empty|ones|full|arange|array)\b|build_list|list\(",
        "this line makes a new array or list, and kernels cannot: use "
        "`cuda.local.array` or `cuda.shared.array`; or an array has more axes than the "
        "indices that it is given",
    ),
    (
        r"set_try_status|set_try_block",
        "`try`, `with` and `yield` do not exist in kernels: test for the case with "
        "`if`",
    ),
    (
        r"module '([\w.]+)' has no attribute '(\w+)'",
        r"`\1` has no `\2`: is it spelt right?",
    ),
    (
        r"Variable '(\w+)' is not defined",
        r"`\1` has no value yet at this line: give it one before it is used",
    ),
    (r"KeyError: ([\w.]+)", r"Numba cannot compile \1 for a GPU"),
    (
        r"(?:ufunc '|function 'numpy\.)"
        r"(sqrt|sin|cos|tan|exp|log|floor|ceil|fabs|log2|log10|exp2|tanh|arctan2)'",
        r"`np.\1` on one number does not exist in kernels: use `math.\1`",
    ),
    (
        r"ufunc 'absolute'|function 'numpy\.abs'",
        "`np.abs` on one number does not exist in kernels: use `abs`",
    ),
    (
        r"(?:ufunc '|unsupported NumPy function 'numpy\.)(\w+)'",
        r"`np.\1` on one number does not exist in kernels: write it with operators "
        r"or `math`",
    ),
    (r"name '(\w+)' is not defined", r"there is no `\1`: is it spelt right?"),
    (
        r"Untyped global name '(\w+)':.*?<class 'function'>",
        r"`\1` is a plain Python function: put `@cuda.jit(device=True)` above it, and "
        r"kernels can call it",
    ),
    (
        r"OverloadSelector.*?(?:List|Set|Dict)",
        "lists, sets and dictionaries do not exist in kernels: use a tuple or an array",
    ),
    (
        r"Untyped global name '(\w+)':.*?(?:<class '(?:\w+\.)*(\w+)'>|$)",
        r"a kernel cannot use the global `\1` (\2): only numbers, tuples, arrays, "
        r"functions and modules",
    ),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
        r"`\2` has no `\1` in a kernel: is it spelt right?",
    ),
    (
        r"Unknown attribute '(\w+)' of type (\w+)",
        r"values of type \2 have no `\1` in a kernel",
    ),
    (
        r"(?:try|with|yield|raise).*(?:not "
        r"supported|unsupported)|unsupported.*(?:try|SETUP_)",
        "`try`, `with` and `yield` do not exist in kernels: test for the case with "
        "`if`",
    ),
    (
        r"Cannot unify (.+?) and (.+?) for '([\w.]+)'",
        r"`\3` is \1 on one path and \2 on another: give it one type",
    ),
    (
        r"[Nn]o implementation of function Function\(<built-in function (\w+)>\) found "
        r"for signature:\s*>>> (\w+\(.+?\))\s",
        r"Numba has no `\1` for these types: \2",
    ),
    (
        r"[Nn]o implementation of function (?:Function\()?<(?:built-in )?function "
        r"(\w+)",
        r"Numba has no `\1` for the types given here",
    ),
    (
        r"Compilation is falling back|[Uu]se of unsupported opcode \((\w+)\)",
        r"kernels cannot use this part of Python (\1)",
    ),
]

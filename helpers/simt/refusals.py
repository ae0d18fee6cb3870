"""Numba's refusals, and ours, as one sentence with the kernel's line and the remedy."""

import builtins
import difflib
import linecache
import re
import sys
import traceback

from .errors import KernelError, UnsupportedError


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
            told = _plain(found.expand(sentence))
            return at(function, line, told + _suggestion(function, told))
    return at(
        function, line, f"Numba refuses this line: {_plain(_first_sentence(message))}"
    )


def unknown(function, error, line=None) -> UnsupportedError:
    """An error of ours about a kernel, for what the emulator was not made for."""
    if line is None:
        lines = [
            line
            for frame, _ in traceback.walk_tb(error.__traceback__)
            if isinstance(line := _line_in_hand(frame, function), int)
        ]
        line = lines[-1] if lines else function.__code__.co_firstlineno
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return at(
        function,
        line,
        "the emulator does not know what to do with this line, though a GPU may "
        f"({what}): write it in a simpler way, and tell us about it",
        UnsupportedError,
    )


def _line_in_hand(frame, function):
    """The line of this function that a frame of the lowering is about."""
    lowering = frame.f_locals.get("self")
    same = getattr(lowering, "function", None) is function
    return getattr(lowering, "line", None) if same else None


def _suggestion(function, sentence):
    """For a name that does not exist, one that does and looks like it."""
    missing = re.match(r"(?:there is no|`numba\.(cuda)` has no) `(\w+)`", sentence)
    if not missing:
        return ""
    names = {*function.__code__.co_varnames, *function.__globals__, *dir(builtins)}
    if missing[1]:
        names = {n for n in dir(sys.modules["numba.cuda"]) if not n.startswith("_")}
    close = difflib.get_close_matches(missing[2], names, 1)
    return f" Did you mean `{close[0]}`?" if close else ""


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


_SHAPE = (
    "the shape of a shared or local array must be a number known when the kernel is "
    "compiled: a literal, or a global or closure variable on its own. Compute "
    "`TILE + 1` outside the kernel and give it a name; an argument of the kernel is "
    "not known yet"
)
_NO_TRY = (
    "`try`, `with` and `yield` do not exist in kernels: test for the case with `if`"
)
_OPERATOR = r"\b(?:i?add|i?sub|i?mul|truediv|floordiv|mod|pow|lt|le|gt|ge|eq|ne)\("

# a pattern in Numba's message, and what to say in its place
_SENTENCES = [
    (
        r"<function (?:shared|local)\.array.*?>>> array\([^,\n]*\)\s",
        "a shared or local array needs a type: `cuda.shared.array(8, float32)`",
    ),
    (r"<function (?:shared|local)\.array|function (?:shared|local)\.array", _SHAPE),
    (
        r"Dim3",
        "`cuda.threadIdx` and its like are three numbers: take `.x`, `.y` or `.z`",
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), UniTuple\(\w+ x (\d)\)",
        r"this line gives \2 indices to a \1-dimensional array: was an array of "
        r"another shape meant?",
    ),
    (
        r"[gs]etitem\(array\([^)]*\), (?:float|UniTuple\(float|Tuple\([^)]*float)",
        "an index must be a whole number, and this one is a float: `//` divides whole "
        "numbers, `int(…)` rounds toward zero",
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), Tuple\(",
        r"this line gives too many indices to a \1-dimensional array: was an array of "
        r"another shape meant?",
    ),
    (
        r"setitem\(readonly array",
        "this array is read-only: pass a copy of it (`array.copy()`)",
    ),
    (
        r"setitem\(array\(\w+, (\d)d, \w\), [^\n]*, array\(",
        "this line stores a whole array where one number fits: give each array as many "
        "indices as it has axes",
    ),
    (
        r"[gs]etitem\((?:Literal\[)?(?:u?int|float|bool)\d*",
        "this line gives an index to a number, not to an array: are the arguments of "
        "the launch in the right order?",
    ),
    (
        _OPERATOR + r"(?:[^\n]*, )?UniTuple\(\w+ x (\d)\)",
        r"this line takes \1 numbers for one: unpack them first, as in "
        r"`x, y = cuda.grid(2)`",
    ),
    (
        r"failed to unpack (?:int|float)",
        "this line unpacks one number as if it were several: `cuda.grid(1)` is one "
        "number, `cuda.grid(2)` two",
    ),
    (
        r"grid(?:size)?\(\) missing 1 required",
        "`cuda.grid` needs the number of axes: 1, 2 or 3",
    ),
    (
        r"function (?:zeros|empty|ones|full|arange|array|sum|max|min)\b",
        "kernels cannot make or add up whole arrays with NumPy: go through them in a "
        "loop, and use `cuda.local.array` for a thread's own",
    ),
    (
        r"NRT required|build_list|list\(",
        "this line needs a new list or array, which kernels cannot make: give each "
        "array as many indices as it has axes, and use `cuda.local.array` for a "
        "thread's own",
    ),
    (
        r"not supported between instances of 'Array'",
        "`min` and `max` take numbers, not a whole array: go through it in a loop",
    ),
    (r"set_try_|exception_match|SETUP_|BEFORE_WITH|terminator_types", _NO_TRY),
    (
        r"'JITCUDACodegen' object has no attribute",
        "a function that calls itself cannot be compiled here: use a loop",
    ),
    (r"STORE_GLOBAL", "a kernel cannot change a global: store into an array"),
    (
        r"pyobject",
        "an array of Python objects cannot go to a GPU: give it a type such as "
        "`np.float32`",
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
    (r"(?:try|with|yield|raise).*(?:not supported|unsupported)", _NO_TRY),
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

"""Where something is in the source: files by the names that readers know, lines, and
the source of a function.
"""

import ast
import dis
import inspect
import io
import linecache
import re
import sys
import tokenize
from dataclasses import dataclass, field
from textwrap import dedent
from types import CodeType
from typing import NamedTuple

WIDEST_LINE = 48  # characters of a source line that others are aligned with
INLINED = re.compile(r"\w+?_v\d+_")  # what Numba puts before names that it inlines
IN_BETWEEN = "PUSH_NULL", "EXTENDED_ARG", "CACHE"  # instructions that compute nothing
VERSION = re.compile(r"_\d+$")  # and behind one that is assigned more than once


@dataclass(frozen=True)
class Site:
    """A source line of a kernel; in a table, one kind of access to one array on it."""

    file: str
    line: int
    text: str
    called_from: int | None = None  # the kernel's line, for lines of a device function
    kind: str | None = None  # in a table: load, store or atomic
    array: str | None = None  # in a table: the array's name in the kernel
    elsewhere: bool = False  # is it in another file than the kernel?
    path: str = field(default="", compare=False)  # of the file, as Python has it

    def __lt__(self, other):
        return self._order < other._order

    @property
    def _order(self):
        """What sites are sorted by."""
        access = self.kind or "", self.array or ""
        return self.file, self.line, self.called_from or 0, *access, self.text

    def __repr__(self):
        return f"{self.place}  {self.text}"

    @property
    def label(self) -> str:
        """The line in words, where the kernel's file is known."""
        return self.place if self.elsewhere else self._line

    @property
    def place(self) -> str:
        """The line's place in words."""
        return f"{self.file}, {self._line}"

    @property
    def _line(self):
        caller = f", called from line {self.called_from}" if self.called_from else ""
        return f"line {self.line}{caller}"


@dataclass(frozen=True, eq=False)
class Reference:
    """One place in the source that touches memory: where, how, and which array."""

    site: Site
    kind: str  # "load", "store" or "atomic"
    array: str  # the name that the kernel gives it
    order: str = ""  # "acquire", "release", or the "arrival" of an asynchronous copy
    adds_one: bool = False  # an atomic for which lanes of one word need no turns
    merged: bool = False  # does the machine code keep its value from before?
    swaps: bool = False  # an atomic that takes a lock: a compare-and-swap, an exchange
    only_stores: bool = False  # an exchange of which nobody needs the value before

    @property
    def is_request(self) -> bool:
        """Is it a request of its own? A copy was one when it began."""
        return self.order != "arrival" and not self.merged

    @property
    def served_as(self) -> str:
        """Its kind as shared memory serves it: an "increment" is no other atomic."""
        return "increment" if self.adds_one else self.kind

    @property
    def race_kind(self) -> str:
        """Its kind as races know it; what acquires or releases has one of its own."""
        return self.order if self.order in ("acquire", "release") else self.kind


class Source(NamedTuple):
    """A function's lines from its first decorator on, dedented."""

    file: str  # the name that a Site gives it
    first: int
    lines: tuple[str, ...]

    def __repr__(self):
        numbered = enumerate(self.lines, self.first)
        rows = (f"{number:>5}  {text}".rstrip() for number, text in numbered)
        return "\n".join([f"{self.file}:", *rows])


def source_of(function) -> Source | None:
    """A function's source, None where it is not available."""
    block = _block_of(function)
    if block is None:
        return None
    lines, first = block
    text = dedent("".join(lines)).rstrip()
    name = file_name(function.__code__.co_filename)
    return Source(name, first, tuple(it.rstrip("\n") for it in lines_of(text)))


def with_called(function) -> list:
    """A function, and the device functions that it and those name, nearest first."""
    found = [function]
    for one in found:
        found += [it for it in _named_in(one) if it not in found]
    return found


def _named_in(function) -> list:
    """The device functions that a function names, each once."""
    try:
        outside = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return []
    values = {**outside.globals, **outside.nonlocals}.values()
    return list(dict.fromkeys(it.py_func for it in values if hasattr(it, "py_func")))


def definition_of(function) -> ast.FunctionDef | None:
    """A function's definition, with the line numbers of its file, a `lambda` as a
    `def`; None where its source is not available.
    """
    block = _block_of(function)
    if block is None:
        return None
    lines, first = block
    text = "".join(lines)
    nested = text[:1].isspace()  # texts in it may begin further left
    try:
        tree = ast.parse(f"if True:\n{text}" if nested else text)
    except SyntaxError:
        return None
    ast.increment_lineno(tree, first - 1 - nested)
    kind = ast.Lambda if function.__name__ == "<lambda>" else ast.FunctionDef
    found = [it for it in ast.walk(tree) if isinstance(it, kind)]
    if kind is ast.FunctionDef:
        return found[0] if found else None
    return _as_definition(found[0]) if len(found) == 1 else None


def _as_definition(function: ast.Lambda) -> ast.FunctionDef:
    """What a `lambda` is as a `def`."""
    body = ast.copy_location(ast.Return(function.body), function.body)
    parts = {"name": "lambda_", "args": function.args, "body": [body]}
    made = ast.FunctionDef(**parts, decorator_list=[], type_params=[])
    return ast.copy_location(made, function)


def _block_of(function) -> tuple[list[str], int] | None:
    """The lines of a function, and the number of the first; None where they are not
    available.
    """
    code = getattr(function, "__code__", function)
    if not isinstance(code, CodeType):
        return None
    _remember_cell(code.co_filename)
    # `inspect.getsourcelines` would look through all modules, 10 ms with Numba's
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, getattr(function, "__globals__", None))
    try:
        block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    except (SyntaxError, tokenize.TokenError):
        return None
    return (block, code.co_firstlineno) if block else None


def is_compiled_from(function, definition) -> bool:
    """Is a definition what a function was compiled from? `inspect` finds another one
    where a text has lines that it does not count as Python does.
    """
    code, free = function.__code__, function.__code__.co_freevars
    arguments = ast.arguments([], [ast.arg(it) for it in free], None, [], [], None, [])
    if function.__name__ == "<lambda>":
        definition = ast.Expr(ast.Lambda(definition.args, definition.body[0].value))
    around = {"name": "around", "args": arguments, "body": [definition]}
    made = ast.FunctionDef(**around, decorator_list=[], type_params=[])
    tree = ast.fix_missing_locations(ast.Module([made], []))
    try:
        whole = compile(tree, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return _parts(code) in map(_parts, _codes_in(_codes_in(whole)[0]))


def _codes_in(code) -> list:
    """The code objects right within another."""
    return [it for it in code.co_consts if isinstance(it, CodeType)]


def _parts(code) -> tuple:
    """What a code object does, wherever it stands: a method's call depends on what else
    its file imports.
    """
    steps = [it for it in dis.get_instructions(code) if it.opname not in IN_BETWEEN]
    at = {it.offset: number for number, it in enumerate(steps)}
    told = []
    for step in steps:
        value = repr(step.argval)
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            value = at.get(step.argval)
        elif isinstance(step.argval, CodeType):
            value = _parts(step.argval)
        told.append((step.opname.replace("LOAD_METHOD", "LOAD_ATTR"), value))
    return code.co_varnames[: code.co_argcount], *told


def lines_of(text) -> list[str]:
    """The lines of a text as Python counts them, with their ends: `splitlines` also
    ends one at a form feed and at some characters of Unicode.
    """
    return io.StringIO(text, newline=None).readlines()


def remember(text, file):
    """Let tracebacks and `inspect` find the lines of a text under a file's name."""
    linecache.cache[file] = (len(text), None, lines_of(text), file)


def _remember_cell(file):
    """Let the lines of a notebook's cell be those that Python counts: IPython keeps
    them as `splitlines` does.
    """
    kept, shell = linecache.cache.get(file), _shell()
    if shell is None or kept is None:
        return
    for text in reversed(shell.user_ns.get("In", ())):
        lines = [f"{it}\n" for it in text.splitlines() if len(text) == kept[0]]
        if kept[2] == lines != lines_of(text):
            remember(text, file)
            return


def _shell():
    """IPython's, where this is a notebook."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def in_notebook() -> bool:
    """Is this a notebook's kernel?"""
    return type(_shell()).__name__ == "ZMQInteractiveShell"


def globals_of(code):
    """The names that a code object loads as globals, and those within it."""
    yield from (
        step.argval
        for step in dis.get_instructions(code)
        if step.opname == "LOAD_GLOBAL"
    )
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from globals_of(constant)


def contents(cell):
    """What a closure's cell holds."""
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def package_of(function) -> str:
    """The package that a function is from; "" where `exec` made it in no module."""
    return (function.__module__ or "").partition(".")[0]


def place(function_or_file, line) -> str:
    """A source line in words: "cell [7], line 3", or the file's own name."""
    file = getattr(
        getattr(function_or_file, "__code__", None), "co_filename", function_or_file
    )
    return f"{file_name(file)}, line {line}"


def file_name(file: str) -> str:
    """The name that a reader knows a source file by, never a path."""
    shell = _shell()
    if shell is not None:
        named = getattr(shell.compile, "format_code_name", lambda name: None)(file)
        if named:
            return f"cell {named[1][2:]}" if named[1].startswith("In[") else named[1]
    return re.split(r"[\\/]", str(file))[-1]


def source_line(file: str, line: int) -> str:
    """The text of a source line, stripped."""
    _remember_cell(file)
    return linecache.getline(file, line).strip()


def without_inlined(name, known) -> str:
    """A variable's name in the source, where Numba has put before it the functions that
    it inlined: `x` of `twice_v3_x` and `twice_v3_x_1`, unless a longer name is known.
    """
    short = name
    while short not in known and (before := INLINED.match(short)):
        short = short[before.end() :]
    stem = VERSION.sub("", short)
    version = short not in known and short != name and stem in known
    return stem if version else short


def name_on(text, name) -> str | None:
    """What a line calls a variable that Numba may have inlined: `x` of `twice_v3_x`;
    None of what only Numba names, as `twice_v3__v6pred`.
    """
    short = without_inlined(name, re.findall(r"\w+", text))
    return None if short != name and short.startswith("_v") else short

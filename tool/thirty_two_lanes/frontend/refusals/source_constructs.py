"""What kernels cannot do, found in the source of the line that was refused, whatever
Numba's message says.
"""

import ast
import inspect
import re
import sys
from functools import partial

from thirty_two_lanes.core.source import with_called
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.frontend.refusals.arrays import array_copy, wrong_array
from thirty_two_lanes.frontend.refusals.numba_messages import NO_TRY
from thirty_two_lanes.frontend.refusals.syntax import NO_FUNCTION, nodes_of
from thirty_two_lanes.frontend.refusals.table import by_name


class Certain(str):
    """A sentence that is true of all kernels, whatever the emulator supports."""


_PHRASES = {
    "loop": "loop over the elements with `range(…)`",
    "text": 'strings can only be printed in a kernel: `print("thread", i)`',
    "files": "a kernel cannot use files or input: do that outside and pass the result",
    "no_dict": "do not exist in kernels: use a tuple or an array",
    "new": "makes a new array, which a kernel cannot do: make it outside and pass it, "
    "or use `cuda.local.array(8, float32)` for a thread's own array",
    "whole": "works on whole arrays, and a thread of a kernel on one element at a "
    "time: write the loop, or call it outside of the kernel",
    "no_try": NO_TRY,
}
_certain = partial(by_name, kind=Certain, **_PHRASES)
_likely = partial(by_name, **_PHRASES)

# what no kernel may contain, wherever it stands, by the name of its class in `ast`
_NEVER = _certain("""
JoinedStr
    an f-string makes a string, and {text}
ListComp
    list comprehensions make lists, which kernels do not have: {loop}
GeneratorExp
    generators do not exist in kernels: {loop}
SetComp Set
    sets {no_dict}
DictComp Dict
    dictionaries {no_dict}
Try With Yield YieldFrom
    {no_try}
Import ImportFrom
    a kernel cannot import: move this line above the kernel
ClassDef
    a kernel cannot define a class: use a tuple, or records of an array
Global
    a kernel cannot change a global: store into an array
Nonlocal
    a kernel cannot change a variable outside it: store into an array
Delete
    a kernel cannot delete anything: arrays keep their size
Starred
    a `*` in front of a value does not work in kernels: write the items
Await
    kernels can only wait at barriers: leave `await` out
""")

# what kernels cannot call: by its full name, by its module, or by a method's name
_CALLS = _certain("""
input open
    {files}
str repr format chr ord bin hex oct ascii
    {text}
isinstance type id hash getattr hasattr
    types are fixed when the kernel is compiled: a kernel cannot ask for them
""") | _likely("""
numpy.where
    `np.where` makes a new array, which a kernel cannot do: for one element, write
    `a if condition else b`
numpy.clip
    `np.clip` does not work on one number: `min(max(x, low), high)`
numpy.zeros numpy.ones numpy.empty numpy.full numpy.zeros_like numpy.ones_like
numpy.empty_like numpy.full_like numpy.arange numpy.linspace numpy.array numpy.asarray
numpy.eye numpy.identity numpy.concatenate numpy.stack numpy.hstack numpy.vstack
numpy.copy numpy.tile numpy.repeat numpy.meshgrid numpy.outer numpy.reshape numpy.ravel
numpy.unique numpy.flip numpy.roll numpy.diff
    `np.NAME` {new}
numpy.sum numpy.max numpy.min numpy.mean numpy.std numpy.var numpy.dot numpy.matmul
numpy.sort numpy.argsort numpy.prod numpy.cumsum numpy.median numpy.any numpy.all
numpy.argmax numpy.argmin numpy.inner numpy.vdot
    `np.NAME` {whole}
numpy.add
    `np.NAME` does not exist in kernels: write `+`, for one element at a time
numpy.subtract numpy.negative
    `np.NAME` does not exist in kernels: write `-`, for one element at a time
numpy.multiply
    `np.NAME` does not exist in kernels: write `*`, for one element at a time
numpy.power
    `np.NAME` does not exist in kernels: write `**`, for one element at a time
numpy.floor_divide
    `np.NAME` does not exist in kernels: write `//`, for one element at a time
numpy.remainder numpy.mod
    `np.NAME` does not exist in kernels: write `%`, for one element at a time
sorted reversed map filter any all sum iter next list set dict frozenset bytearray
    `NAME` does not exist in kernels: {loop}
""")
_MODULES = _certain("""
random numpy.random
    random numbers in kernels come from `numba.cuda.random`:
    `xoroshiro128p_uniform_float32(states, i)`
time datetime
    a kernel has no clock: measure the launch from outside, with `measure`
os sys
    {files}
""") | _likely("""
numpy.linalg
    `np.linalg` {whole}
""")
_METHODS = _certain("""
format join upper lower split strip
    {text}
""") | _likely("""
append extend insert pop remove clear
    arrays keep their size in a kernel, and there are no lists: count how many are in
    use, and store at that index
copy astype flatten tolist repeat nonzero
    `.NAME()` {new}
max min sort dot argsort cumsum fill sum
    `.NAME()` {whole}
keys values items update add
    dictionaries and sets {no_dict}
""")
_FOR_THE_HOST = """
to_device device_array device_array_like pinned_array mapped_array managed_array jit
synchronize stream event current_context get_current_device select_device is_available
""".split()

# what makes a new array or list, where Numba says that a line needs memory
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

# what LLVM's builder says where a variable has one type, and its value another
_TWO_TYPES = (
    r"Storing (?:double|float) to ptr of i\d|Operands must be the same type, got|"
    r"\('(?:double|float)', 'i\d+'\)"
)

# what some functions of `cuda` take
_TAKES = {"syncthreads": ""} | by_name("""
shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync
    mask, value, lane
ballot_sync all_sync any_sync eq_sync
    mask, condition
match_any_sync match_all_sync
    mask, value
syncthreads_and syncthreads_or syncthreads_count popc brev clz ffs cbrt
    number
atomic.add atomic.sub atomic.max atomic.min atomic.nanmax atomic.nanmin atomic.and_
atomic.or_ atomic.xor atomic.exch atomic.inc atomic.dec
    array, index, value
atomic.cas
    array, index, old, new
atomic.compare_and_swap
    array, old, new
selp
    condition, a, b
fma
    a, b, c
""")


def is_certain(sentence) -> bool:
    """Is this true of all kernels, whatever the emulator supports?"""
    return isinstance(sentence, Certain)


def explanation_from_source(function, line, needs_memory=False):
    """The refused line, or one it is about, and what is wrong there; or None."""
    nodes = nodes_of(function)
    here = [node for node in nodes if node.lineno <= line <= node.end_lineno]
    near = [node for node in here if isinstance(node, ast.expr | ast.stmt)]
    for node in sorted(near, key=lambda node: not _never(node)):
        sentence = _never(node) or _call(node, function)
        body = getattr(node, "body", None)  # of a statement with lines below it
        head = body[0].lineno if isinstance(body, list) else node.lineno
        if sentence and line in (node.lineno, node.end_lineno, head):
            return node.lineno, sentence
    if needs_memory and "ufunc" in needs_memory[0]:  # of `a[:] += 1`, or of `np.add`
        near = [node for node in near if isinstance(node, ast.AugAssign)]
    for node in near if needs_memory else ():
        sentence = array_copy(node) or _makes(node)
        if sentence:
            return line, sentence
    if line <= function.__code__.co_firstlineno + 1:  # Numba did not say where
        for node in nodes:
            if _never(node):
                return node.lineno, _never(node)
    return None


def named_expression(function, line, message):
    """The line where Numba loses a variable of `:=`, and a sentence; or None."""
    lost = r"Type of variable '.*?' cannot be determined|Variable '\w+' is not defined"
    given = [n for n in nodes_of(function) if isinstance(n, ast.NamedExpr)]
    if not re.search(lost, message) or not given:
        return None
    here = [n for n in given if n.lineno <= line <= n.end_lineno]
    first = (here or given)[0]
    remedy = f"write `{first.target.id} = …` on a line of its own"
    return first.lineno, f"Numba does not understand this `:=`: {remedy}"


def argument_without_value(function, line, types):
    """The line, if it uses an argument that is None, and a sentence; or None."""
    given = zip(function.__code__.co_varnames, types, strict=False)
    absent = {name for name, dtype in given if str(dtype) == "none"}
    for node in nodes_of(function):
        if isinstance(node, ast.Name) and node.id in absent and node.lineno == line:
            return line, (
                f"`{node.id}` is None here: pass the array or the number that this "
                "line needs"
            )
    return None


def divided_whole_number(function, line, message):
    """The line of a `/=` on a variable that began as a whole number, where Numba keeps
    its type, and a sentence; or None.
    """
    nodes = _nodes_around(function, line) if re.match(_TWO_TYPES, message) else ()
    names = {n.id for n in nodes if isinstance(n, ast.Name) and n.lineno == line}
    for node in nodes:
        divides = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div)
        name = divides and getattr(node.target, "id", None)
        first = name in names and _first_of(nodes, name)
        if not first or isinstance(getattr(first.value, "value", None), float):
            continue
        number = isinstance(first.value, ast.Constant)
        begin = float(first.value.value) if number else "float(…)"
        return node.lineno, (
            f"`{name}` is a whole number from line {first.lineno} on "
            f"(`{ast.unparse(first)}`), and `/=` makes it a float64 here: begin "
            f"with `{name} = {begin}`, or give the quotient a name of its own"
        )
    return None


def _nodes_around(function, line):
    """The nodes of the function, or of the device function, that has a line."""
    for one in with_called(function):
        nodes = nodes_of(one)
        if any(n.lineno == line for n in nodes):
            return nodes
    return ()


def _first_of(nodes, name):
    """The first statement that gives a variable its value, if there is one."""
    given = [
        n
        for n in nodes
        if isinstance(n, ast.Assign)
        and any(getattr(it, "id", None) == name for it in n.targets)
    ]
    return min(given, key=lambda n: n.lineno, default=None)


def returning_line(function) -> int | None:
    """The first line of a function that returns a value, where it is known."""
    returned = (n for n in nodes_of(function) if isinstance(n, ast.Return))
    lines = [n.lineno for n in returned if n.value and ast.unparse(n.value) != "None"]
    return min(lines, default=None)


def _never(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return f"`@` {_PHRASES['whole']}"
    if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
        return None  # the arguments of a call
    return _NEVER.get(type(node).__name__)


def _makes(node):
    """What a line makes that needs new memory."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(index, ast.Compare | ast.List | ast.BoolOp):
        return _BY_INDEX
    repeated = isinstance(node, ast.BinOp) and {type(node.left), type(node.right)}
    if isinstance(node, ast.List) or repeated and ast.List in repeated:
        return _LIST
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Certain(_PHRASES["text"])
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
            return _wrong_count(name, node, _parameters(name))
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
    return _wrong_count(f"cuda.{name}", node, _TAKES.get(name))


def _parameters(name):
    """What a function of `math` takes, where Python says it."""
    root, _, last = name.partition(".")
    try:
        names = inspect.signature(getattr(sys.modules[root], last)).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return None
    plain = all(p.default is p.empty and p.kind is p.POSITIONAL_ONLY for p in names)
    return ", ".join(p.name for p in names) if plain else None


def _wrong_count(name, call, takes):
    """What a function takes, where the call gives more or fewer values."""
    given = len(call.args) + len(call.keywords)
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    if takes is None or starred or given == (count := len(takes.split())):
        return None
    values = counted(count, "value")
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

"""The mutants of a source file: each is the file with one small change, made on its
syntax tree. What is about words is left as it is: docstrings, annotations, messages.
"""

import ast
from contextlib import contextmanager
from dataclasses import dataclass

from tests.paths import ROOT

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
FUNCTIONS = ast.FunctionDef, ast.Lambda
ABOUT_WORDS = ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom
WORDY_FIELDS = "annotation", "returns", "decorator_list"
BRIEF = 60  # letters of a node, in a line of the report
REPRS = "__repr__", "_repr_html_"


@dataclass(eq=False)
class Mutant:
    """A node of a file's tree, and the node that takes its place."""

    file: str  # from the project's root
    line: int
    text: str  # the source line
    change: str  # before → after
    function: range | None  # the lines of the innermost function
    tree: ast.Module
    place: tuple  # parent, field and index, None where the field is no list
    new: ast.AST

    @property
    def key(self):
        """What names it in the table of equivalents."""
        return self.file, self.text, self.change

    def source(self) -> str:
        """The mutated file's source, without its comments."""
        with placed(self.place, self.new):
            return ast.unparse(ast.fix_missing_locations(self.tree))

    def code(self):
        """The mutated file compiled, None if it is no Python."""
        with placed(self.place, self.new):
            try:
                ast.fix_missing_locations(self.tree)
                return compile(self.tree, ROOT / self.file, "exec")
            except (SyntaxError, ValueError):
                return None


@contextmanager
def placed(place, new):
    """Let a node take another's place, and put the old one back."""
    parent, field, index = place
    holder = vars(parent) if index is None else getattr(parent, field)
    key = field if index is None else index
    old, holder[key] = holder[key], new
    try:
        yield
    finally:
        holder[key] = old


def mutants_of(file) -> list[Mutant]:
    """All mutants of a file, in the order of its source."""
    return mutants_in(file, (ROOT / file).read_text(encoding="utf-8"))


def mutants_in(file, source) -> list[Mutant]:
    """All mutants of a file's source."""
    tree, lines = ast.parse(source), source.splitlines()
    return [
        Mutant(file, line, lines[line - 1].strip(), change, function, tree, place, new)
        for place, function, node in _places(tree, None)
        for change, new in _changes(node, place)
        for line in [getattr(node, "lineno", 1)]
    ]


def _places(parent, function):
    """Each node that may change, where it hangs, and the function around it."""
    for field, value in ast.iter_fields(parent):
        nodes = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in nodes:
            if not isinstance(node, ast.AST) or _is_about_words(node, field):
                continue
            if _is_the_rest(node, parent):
                continue
            inner = _lines(node) if isinstance(node, FUNCTIONS) else function
            yield (parent, field, index), inner, node
            yield from _places(node, inner)


def _is_about_words(node, field):
    return (
        isinstance(node, ABOUT_WORDS)
        or field in WORDY_FIELDS
        or getattr(node, "name", None) in REPRS
        or isinstance(node, ast.keyword)
        and node.arg == "strict"  # of zip: it asks and changes nothing
    )


def _is_the_rest(node, parent):
    """Is it the -1 of a `reshape`? NumPy takes any number below 0 for it."""
    name = getattr(getattr(parent, "func", None), "attr", None)
    return name == "reshape" and isinstance(node, ast.UnaryOp)


def _lines(function):
    """From the first decorator on, where its code object begins."""
    decorators = getattr(function, "decorator_list", ())
    first = min([function.lineno, *(it.lineno for it in decorators)])
    return range(first, function.end_lineno + 1)


def _changes(node, place):
    """What a node may become: words for the change, and the new node."""
    for new in _expressions(node):
        yield _change(node, ast.copy_location(new, node), place), new
    if place[1] in ("test", "ifs"):
        new = ast.UnaryOp(ast.Not(), node)
        yield f"{_brief(node)} → negated", ast.copy_location(new, node)
    if isinstance(node, ast.FunctionDef):
        new = _with(node, body=[ast.copy_location(ast.Return(), node), *node.body[1:]])
        yield f"def {node.name} → returns at once", new
    if _is_an_effect(node):
        yield f"{_brief(node)} → deleted", ast.copy_location(ast.Pass(), node)
    if isinstance(node, ast.Dict):
        yield from _swapped_rows(node)


def _expressions(node):
    """What an operator or a number may become."""
    if isinstance(node, ast.Compare):
        for place, old in enumerate(node.ops):
            ops = [*node.ops]
            ops[place] = COMPARISONS[type(old)]()
            yield _with(node, ops=ops)
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(2 * node.value or 1.0)


def _change(node, new, place):
    """What a node was and is: of a number, with what is around it."""
    around = place[0]
    if not isinstance(node, ast.Constant) or len(ast.unparse(around)) > BRIEF:
        return f"{_brief(node)} → {_brief(new)}"
    with placed(place, new):
        after = _brief(around)
    return f"{_brief(around)} → {after}"


def _is_an_effect(node):
    """Is it a statement that calls, or that stores in an object?"""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(
        targets[0], (ast.Attribute, ast.Subscript)
    )


def _swapped_rows(table):
    """The table with two rows' values swapped, each row with the next."""
    for row, (one, other) in enumerate(
        zip(table.values, table.values[1:], strict=False)
    ):
        keys = table.keys[row : row + 2]
        if None not in keys and ast.dump(one) != ast.dump(other):
            values = [*table.values]
            values[row : row + 2] = other, one
            new = _with(table, values=values)
            yield f"{_brief(keys[0])}: {_brief(one)} → {_brief(other)}", new


def _with(node, **fields):
    """A copy of a node, some fields changed."""
    return ast.copy_location(type(node)(**dict(ast.iter_fields(node)) | fields), node)


def _brief(node):
    text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= BRIEF else f"{text[:BRIEF]}…"

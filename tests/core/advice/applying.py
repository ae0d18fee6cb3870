"""Applies an edit to a kernel's source: the kernel that somebody has who does what a
finding advises.

The edit is made in the syntax tree. Each line of the text that is made of it has an
origin, the line of the statement that it came from, so that findings of both kernels
can be compared.
"""

import ast
import copy
import itertools
import linecache

from numba import cuda

from thirty_two_lanes.core.source import contents, definition_of, file_name

OPTIONS = "debug", "opt", "fastmath", "lineinfo", "inline"
NUMBER = itertools.count()
BODIES = "body", "orelse"


class Applied:
    """A kernel with an edit, and where its lines came from."""

    def __init__(self, kernel, edit):
        self.origins = {}
        self.kernel = self._made(kernel, edit)

    def origin(self, site):
        """The first line of the statement of the old source that a site came from."""
        return self.origins.get((site.file, site.line), site.line)

    def _made(self, kernel, edit):
        """The kernel, or a device function, with what it calls changed as well."""
        function = kernel.py_func
        scope = scope_of(function)
        if function.__name__ != edit.function:
            for name, value in callees(function):
                if calls(value.py_func, edit.function):
                    scope[name] = self._made(value, edit)
        tree = copy.deepcopy(definition_of(function))
        tree.decorator_list = []
        if tree.name == edit.function:
            apply(tree, edit)
        return self._compiled(kernel, tree, scope)

    def _compiled(self, kernel, tree, scope):
        tree.returns = None
        for argument in tree.args.args:
            argument.annotation = None
        ast.fix_missing_locations(tree)
        text = ast.unparse(tree)
        name = f"advised_{next(NUMBER)}.py"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        again = ast.parse(text).body[0]
        both = zip(statements(tree), statements(again), strict=True)
        for old, new in both:
            self.origins[file_name(name), new.lineno] = old.lineno
        exec(compile(text, name, "exec"), scope)
        made = scope[tree.name]
        made.__module__ = kernel.py_func.__module__
        options = {k: v for k, v in kernel.targetoptions.items() if k in OPTIONS}
        if kernel.targetoptions.get("device"):
            options["device"] = True
        return cuda.jit(**options)(made)


def scope_of(function) -> dict:
    """All names that a function sees from outside."""
    free = function.__code__.co_freevars
    cells = map(contents, function.__closure__ or ())
    return {**function.__globals__, **dict(zip(free, cells, strict=True))}


def calls(function, name, seen=()) -> bool:
    """Is this a function of the name, or does it call one?"""
    if function.__name__ == name:
        return True
    return any(
        calls(it.py_func, name, (*seen, function))
        for _, it in callees(function)
        if it.py_func not in seen
    )


def callees(function) -> list:
    """The device functions that a function names."""
    scope = scope_of(function)
    names = {*function.__code__.co_names, *function.__code__.co_freevars}
    return [(it, scope[it]) for it in names if hasattr(scope.get(it), "py_func")]


def statements(tree):
    """All statements, in an order that is the same in two equal trees."""
    return [it for it in ast.walk(tree) if isinstance(it, ast.stmt)]


# ---------------------------------------------------------------- one edit


def apply(tree, edit):
    """Change a function as the edit says."""
    if edit.where == "guard":
        return guard(tree, edit)
    for spot in edit.out_of:
        around_what_follows(tree, spot)
    where, index = find(tree, edit.at)
    body = where
    statement = body[index]
    new = parsed(edit.code, statement.lineno)
    places = {
        "before": lambda: split(tree, body, index, new, edit.out_of),
        "behind": lambda: body.__setitem__(slice(index + 1, index + 1), new),
        "last": lambda: statement.body.extend(new),
        "instead": lambda: instead(tree, body, index, new, edit.out_of),
        "within": lambda: within(tree, body, index, new, edit.out_of),
        "apart": lambda: apart(body, index, new, edit.first),
        "halves": lambda: halves(body, index, new, edit.without),
        "test": lambda: setattr(statement, "test", expression(edit.code)),
        "iter": lambda: setattr(statement, "iter", expression(edit.code)),
    }
    places[edit.where]()
    for spot in edit.without if edit.where != "halves" else ():
        remove(tree, spot)
    if edit.also:
        apply(tree, edit.also)


def parsed(code, line):
    """Statements that are all of one line."""
    found = ast.parse(code).body
    for statement in found:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line
                node.col_offset = -1
    return found


def expression(code):
    return ast.parse(code, mode="eval").body


def bodies(tree):
    """All bodies of statements, the outermost first."""
    for owner in ast.walk(tree):
        for name in BODIES:
            body = getattr(owner, name, None)
            if isinstance(body, list):
                yield body


def find(tree, spot):
    """The body and the index of the statement that begins at a spot."""
    for body in bodies(tree):
        for index, it in enumerate(body):
            if (it.lineno, it.col_offset) == tuple(spot):
                return body, index
    raise AssertionError(f"there is no statement at {spot}")


def remove(tree, spot):
    body, index = find(tree, spot)
    body[index : index + 1] = (
        [] if len(body) > 1 else [located(ast.Pass(), body[index])]
    )


def located(node, like):
    return ast.fix_missing_locations(ast.copy_location(node, like))


def around_what_follows(tree, spot):
    """Make a guard that returns one that is around what follows it."""
    body, index = find(tree, spot)
    statement = body[index]
    if not isinstance(statement.body[-1], ast.Return):
        return
    statement.test = located(ast.UnaryOp(ast.Not(), statement.test), statement)
    statement.body = body[index + 1 :]
    body[index + 1 :] = []


def split(tree, body, index, new, out_of):
    """Put statements before one, between two halves of each `if` around it."""
    before, after = body[:index], body[index:]
    for spot in reversed(out_of):
        outer, place = find(tree, spot)
        owner = outer[place]
        second = located(ast.If(copy.deepcopy(owner.test), after, []), owner)
        owner.body = before
        halves = [owner] * bool(before), [second] * bool(after)
        before = [*outer[:place], *halves[0]]
        after = [*halves[1], *outer[place + 1 :]]
        body = outer
    body[:] = [*before, *new, *after]


def instead(tree, body, index, new, out_of):
    body[index : index + 1] = []
    split(tree, body, index, new, out_of)


def within(tree, body, index, new, out_of):
    """Load, then the new statements, then store."""
    statement = body[index]
    name = f"loaded_{statement.lineno}"
    if isinstance(statement, ast.If):
        load, statement.test = statement.test, ast.Name(name, ast.Load())
        store = statement
    elif isinstance(statement, ast.AugAssign):
        read = expression(ast.unparse(statement.target))
        load = ast.BinOp(read, statement.op, statement.value)
        store = ast.Assign([statement.target], ast.Name(name, ast.Load()))
    else:
        load = statement.value
        store = ast.Assign(statement.targets, ast.Name(name, ast.Load()))
    first = located(ast.Assign([ast.Name(name, ast.Store())], load), statement)
    body[index : index + 1] = [first, located(store, statement)]
    split(tree, body, index + 1, new, out_of)


def apart(body, index, new, first):
    """Two `if`s of the branches of one."""
    statement = body[index]
    negated = ast.UnaryOp(ast.Not(), copy.deepcopy(statement.test))
    one = located(ast.If(statement.test, statement.body, []), statement)
    other = located(ast.If(negated, statement.orelse, []), statement)
    both = (other, one) if first else (one, other)
    body[index : index + 1] = [both[0], *new, both[1]]


def halves(body, index, new, without):
    """Two `if`s of one, the first up to these statements and the second behind them."""
    statement = body[index]
    parts = [cut(it, without) for it in (statement.body, statement.orelse)]
    made = []
    for half in (0, 1):
        one, other = (part[half] for part in parts)
        if one or other:
            test = copy.deepcopy(statement.test)
            one = one or [located(ast.Pass(), statement)]
            made.append([located(ast.If(test, one, other), statement)])
        else:
            made.append([])
    body[index : index + 1] = [*made[0], *new, *made[1]]


def cut(body, without):
    """What is before a statement of these, and behind it; all is before none."""
    at = [n for n, it in enumerate(body) if (it.lineno, it.col_offset) in without]
    return (body[: at[0]], body[at[0] + 1 :]) if at else (body, [])


def guard(tree, edit):
    """Guard what follows a `return`, but for barriers and the numbers of loops."""
    body, index = find(tree, edit.at)
    rest = body[index + 1 :]
    body[index:] = guarded(rest, edit.code, headers(rest))


def headers(body):
    """The names that loops with barriers depend on."""
    loops = [it for part in body for it in ast.walk(part) if has_barrier(it)]
    asked = [getattr(it, name, None) for it in loops for name in ("iter", "test")]
    return {
        name.id
        for it in asked
        if it is not None
        for name in ast.walk(it)
        if isinstance(name, ast.Name)
    }


def guarded(body, test, names):
    found = []
    for it in body:
        if has_barrier(it):
            for name in BODIES:
                if getattr(it, name, None):
                    setattr(it, name, guarded(getattr(it, name), test, names))
            found.append(it)
        elif is_plain(it, names):
            found.append(it)
        else:
            found.append(located(ast.If(expression(test), [it], []), it))
    return found


def is_plain(statement, names):
    """Does a statement only compute, or is it what loops depend on?"""
    targets = {
        it.id
        for it in ast.walk(statement)
        if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)
    }
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr)
    touches = any(isinstance(it, ast.Subscript) for it in ast.walk(statement))
    return simple and bool(targets) and (bool(targets & names) or not touches)


def has_barrier(node):
    """Does a part wait for other threads, at a barrier or a shuffle?"""
    called = [it.func for it in ast.walk(node) if isinstance(it, ast.Call)]
    return any(
        getattr(it, "attr", "").startswith("syncthreads")
        or getattr(it, "attr", "") in ("sync", "syncwarp")
        or getattr(it, "attr", "").endswith("_sync")
        for it in called
    )

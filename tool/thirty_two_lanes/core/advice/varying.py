"""Which expressions of a function differ between the threads of a block: a barrier must
not stand where these decide who comes to it.

By the source alone: thread indices and what is made of them, what atomics and shuffles
give, and elements of global arrays that the function changes. Not modelled: aliases.
"""

import ast

THREADS = {"threadIdx", "laneid", "thread_rank", "grid", "clock", "clock64"}
OF_LANES = ("shfl", "match", "lanemask", "activemask")
BLOCKS = "syncthreads"  # with _count, _and, _or: one result for the whole block
UNIFORM = {"gridsize", "this_grid", "sync"}


def names_in(expression) -> list[str]:
    """The parts of a dotted name, `cuda.atomic.add`; empty for anything else."""
    if isinstance(expression, ast.Attribute):
        return [*names_in(expression.value), expression.attr]
    return [expression.id] if isinstance(expression, ast.Name) else []


def array_of(expression):
    """The name of the array that a subscript is of."""
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None


def calls_in(node) -> list:
    """The calls in a statement or an expression."""
    return [it for it in ast.walk(node) if isinstance(it, ast.Call)]


def arrays_changed(node) -> set:
    """The arrays that a statement or a function stores to or updates."""
    parts = [*ast.walk(node)]
    stored = {
        array_of(it)
        for it in parts
        if isinstance(it, ast.Subscript) and isinstance(it.ctx, ast.Store)
    }
    updated = {
        array_of(it.args[0])
        for it in parts
        if isinstance(it, ast.Call) and "atomic" in names_in(it.func) and it.args
    }
    return (stored | updated) - {None}


def names_set(node) -> set:
    """The variables that a statement sets."""
    return {
        it.id
        for it in ast.walk(node)
        if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)
    }


class Varying:
    """Asks whether threads of a block may differ in an expression."""

    def __init__(self, definition, is_kernel=True):
        self.names = set()
        if not is_kernel:
            self.names = {it.arg for it in definition.args.args}
        self.changed = arrays_changed(definition)
        self.shared = _declared(definition, "shared")
        self.local = _declared(definition, "local")
        before = None
        while before != self.names:
            before = set(self.names)
            self._follow(definition.body, decided=False)

    def __call__(self, node) -> bool:
        """May threads of one block differ in this expression?"""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Attribute) and node.attr in THREADS:
            return True
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            array = array_of(node)
            if array in self.local or array in self.changed - self.shared:
                return True
        return any(map(self, ast.iter_child_nodes(node)))

    def decides(self, statement) -> bool:
        """May threads go different ways at an `if` or a loop?"""
        if isinstance(statement, ast.For):
            return self(statement.iter) or self._is_left(statement)
        if isinstance(statement, ast.While):
            return self(statement.test) or self._is_left(statement)
        return isinstance(statement, ast.If) and self(statement.test)

    def _is_left(self, loop) -> bool:
        """Do some threads end a loop earlier than others?"""
        ends = ast.Break, ast.Continue, ast.Return
        return any(
            self(it.test) and any(isinstance(end, ends) for end in ast.walk(it))
            for it in ast.walk(loop)
            if isinstance(it, ast.If)
        )

    def _call(self, call):
        names = names_in(call.func)
        last = names[-1] if names else ""
        if last.startswith(BLOCKS) or last in UNIFORM:
            return False
        if last in THREADS or "atomic" in names or last.startswith(OF_LANES):
            return True
        given = [*call.args, *(it.value for it in call.keywords)]
        return not given or any(map(self, given))

    def _follow(self, body, decided):
        """Note the variables that a body gives values that vary."""
        for it in body:
            if isinstance(it, ast.Assign | ast.AugAssign | ast.AnnAssign):
                if decided or it.value is not None and self(it.value):
                    if not _declares(it.value):
                        self.names |= names_set(it)
                continue
            if isinstance(it, ast.For) and (decided or self(it.iter)):
                self.names |= names_set(it.target)
            inside = decided or self.decides(it)
            for name in ("body", "orelse"):
                self._follow(getattr(it, name, ()), inside)


def _declares(value, space="array"):
    """Is this the call that declares an array?"""
    names = names_in(value.func) if isinstance(value, ast.Call) else []
    return names[-1:] == ["array"] and space in names


def _declared(definition, space) -> set:
    """The arrays that a function declares in a memory."""
    return {
        name
        for it in ast.walk(definition)
        if isinstance(it, ast.Assign) and _declares(it.value, space)
        for name in names_set(it)
    }

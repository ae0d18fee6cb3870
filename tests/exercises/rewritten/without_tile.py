"""A kernel without its tiles: what copies elements to shared memory is left out, and
each load of a copy is one of the element itself.

After `tile[s] = a[g]`, `tile[l]` is `a[g + l - s]`, where a place in the array moves
with that in the tile: where both are sums, and share a term such as a thread's index.
"""

import ast
from collections import Counter

GRID = "cuda.blockIdx.{0} * cuda.blockDim.{0} + cuda.threadIdx.{0}"
PLAIN = {"min", "max"}  # functions whose values may be computed again elsewhere


class NoCopy(Exception):
    """What a tile holds is no copy of elements, or not at places like theirs."""


def without_tiles(text, name, tiles) -> str:
    """A text whose kernel of this name does without some of its tiles."""
    tree = ast.parse(text)
    kernel, (*_, others) = kernel_in(tree, name), ((), {*tiles_in(text, name)})
    known = definitions_in(kernel)
    stores = {it: stores_to(it, kernel) for it in tiles}
    rules = {tile: [rule_of(it, known) for it in of] for tile, of in stores.items()}
    left_out = [it for of in stores.values() for it in of]
    if others == {*tiles}:
        left_out += [it for it in ast.walk(kernel) if is_barrier(it)]
    kernel.body = without(kernel.body, left_out)
    Loads(rules, known).visit(kernel)
    return ast.unparse(ast.fix_missing_locations(tree))


def tiles_in(text, name) -> list:
    """The arrays in shared memory of a text's kernel."""
    return [
        it.targets[0].id
        for it in kernel_in(ast.parse(text), name).body
        if isinstance(it, ast.Assign) and "cuda.shared.array" in ast.unparse(it.value)
    ]


def kernel_in(tree, name):
    return next(it for it in tree.body if getattr(it, "name", "") == name)


def is_barrier(node) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node) == "cuda.syncthreads()"


def without(body, statements) -> list:
    """A body but for some statements, and for those that hold nothing else."""
    kept = []
    for it in body:
        if isinstance(it, (ast.If, ast.For, ast.While)):
            it.body = without(it.body, statements)
        if it not in statements and getattr(it, "body", True):
            kept.append(it)
    return kept


# ---------------------------------------------------------------- what is in a tile


def stores_to(tile, kernel) -> list:
    """The statements that store to a tile."""
    kinds = ast.Assign, ast.AugAssign, ast.Expr
    found = [it for it in ast.walk(kernel) if isinstance(it, kinds)]
    return [it for it in found if any(stores(part, tile) for part in ast.walk(it))]


def stores(node, tile) -> bool:
    """Does a store to a tile begin here, or a call that may?"""
    if isinstance(node, ast.Call):
        return any(getattr(it, "id", "") == tile for it in node.args)
    is_element = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    return is_element and getattr(node.value, "id", "") == tile


def rule_of(store, known):
    """Where in the tile, and what is there: an element, perhaps of several."""
    target, value = getattr(store, "targets", [None])[0], getattr(store, "value", None)
    copies = isinstance(target, ast.Subscript) and isinstance(store, ast.Assign)
    value = copies and inlined(value, known)
    if not copies or not isinstance(value, (ast.Subscript, ast.IfExp)):
        raise NoCopy(ast.unparse(store))
    return indices(target, known), value


def indices(subscript, known) -> list:
    """The sums that are the indices of an element, along each axis."""
    index = inlined(subscript.slice, known)
    return [terms_of(it) for it in getattr(index, "elts", [index])]


class Loads(ast.NodeTransformer):
    """Replaces loads of tiles by what is there."""

    def __init__(self, rules, known):
        self.rules, self.known = rules, known

    def visit_Subscript(self, node):  # noqa: N802  the name that ast looks for
        self.generic_visit(node)
        rules = self.rules.get(getattr(node.value, "id", ""))
        if rules is None:
            return node
        wanted = indices(node, self.known)
        for stored, value in rules:
            pairs = [*zip(stored, wanted, strict=True)]
            if all(one == other for one, other in pairs if {*one} == {""}):
                return Moved(pairs).visit(copied(value))
        raise NoCopy(ast.unparse(node))


class Moved(ast.NodeTransformer):
    """Moves the sums that share a term with a place in the tile to another place."""

    def __init__(self, pairs):
        self.pairs = pairs

    def visit(self, node):
        terms = terms_of(node) if isinstance(node, ast.expr) else {}
        moved = Counter(terms)
        for stored, wanted in self.pairs:
            for shared in [it for it in stored if it and it in terms][-1:]:
                times = terms[shared] // stored[shared]
                moved.update({term: times * n for term, n in wanted.items()})
                moved.subtract({term: times * n for term, n in stored.items()})
        return self.generic_visit(node) if moved == terms else sum_of(moved)


# ---------------------------------------------------------------- sums


def terms_of(node) -> Counter:
    """How often each term is in a sum, by its text; that of the number is ""."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Counter({"": node.value})
    if not isinstance(node, ast.BinOp):
        return Counter({ast.unparse(node): 1})
    left, right = terms_of(node.left), terms_of(node.right)
    if isinstance(node.op, ast.Add):
        left.update(right)
        return left
    if isinstance(node.op, ast.Sub):
        left.subtract(right)
        return left
    for number, other in ((left, right), (right, left)):
        if isinstance(node.op, ast.Mult) and {*number} == {""}:
            return Counter({it: number[""] * n for it, n in other.items()})
    return Counter({ast.unparse(node): 1})


def sum_of(terms):
    """A sum of terms, as a tree."""
    parts = (f"{n} * ({term})" if term else f"{n}" for term, n in terms.items() if n)
    text = " + ".join(parts).replace("+ -", "- ").replace(" 1 * ", " ")
    return ast.parse(text.removeprefix("1 * ") or "0", mode="eval").body


# ---------------------------------------------------------------- definitions


def definitions_in(kernel) -> dict:
    """The values of the variables that are assigned once, and hold no element."""
    every = [it for it in ast.walk(kernel) if isinstance(it, ast.Name)]
    times = Counter(it.id for it in every if isinstance(it.ctx, ast.Store))
    assigned = [it for it in ast.walk(kernel) if isinstance(it, ast.Assign)]
    pairs = [pair for it in assigned for pair in pairs_of(it.targets[0], it.value)]
    return {it: value for it, value in pairs if times[it] == 1 and is_plain(value)}


def pairs_of(target, value):
    """Each name that is assigned, and its value."""
    if ast.unparse(value).startswith("cuda.grid("):
        axes = "xyz"[: value.args[0].value]
        value = ast.parse(", ".join(map(GRID.format, axes)), mode="eval").body
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for pair in zip(target.elts, value.elts, strict=True):
            yield from pairs_of(*pair)


def is_plain(value) -> bool:
    """May this be computed again elsewhere?"""
    parts = [*ast.walk(value)]
    calls = {ast.unparse(it.func) for it in parts if isinstance(it, ast.Call)}
    elements = (it.value for it in parts if isinstance(it, ast.Subscript))
    return calls <= PLAIN and not any(isinstance(it, ast.Name) for it in elements)


def inlined(node, known):
    """An expression with the values of its variables in their places."""
    return Inlined(known).visit(copied(node))


def copied(node):
    return ast.parse(ast.unparse(node), mode="eval").body


class Inlined(ast.NodeTransformer):
    def __init__(self, known):
        self.known = known

    def visit_Name(self, node):  # noqa: N802  the name that ast looks for
        found = self.known.get(node.id)
        return inlined(found, self.known) if found else node

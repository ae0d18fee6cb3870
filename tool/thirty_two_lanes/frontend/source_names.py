"""What the source calls the values that Numba's IR has under names of its own.

In `a, b = make(), make()` the values pass through a tuple before they have a name.
"""

from collections import defaultdict


def source_names(typed_ir) -> dict[str, str]:
    """The source's names of variables without one of their own: `a`, `t[0]`, `p.x`."""
    made = [
        (statement.target.name, statement.value)
        for block in typed_ir.blocks.values()
        for statement in block.body
        if type(statement).__name__ == "Assign"
    ]
    users, names = _users(made), {}
    for target, value in made:
        name = _name(users, target, ())
        if name is None and getattr(value, "op", None) == "static_getitem":
            whole = value.value.name
            name = _name(users, whole, (value.index,)) or _item(names, whole, value)
        elif name is None and getattr(value, "op", None) == "getattr":
            name = _field(names, value.value.name, value)
        if name is not None:
            names[target] = name
    return {target: name for target, name in names.items() if target[0] == "$"}


def _item(names, whole, value):
    """`t[0][1]`, where `t[0]` has that name."""
    return f"{names[whole]}[{value.index}]" if whole in names else None


def _field(names, whole, value):
    """`p.x`, where `p` is the source's, too."""
    spelt = names.get(whole) if whole[0] == "$" else whole.split(".")[0]
    return f"{spelt}.{value.attr}" if spelt else None


def _users(made):
    """The variables made of each: a list of (variable, place there, place here).

    A place is None where a variable is the same as the other, not an item.
    """
    users = defaultdict(list)
    for target, value in made:
        operation = getattr(value, "op", None)
        if type(value).__name__ == "Var":
            users[value.name].append((target, None, None))
        elif operation == "exhaust_iter":
            users[value.value.name].append((target, None, None))
        elif operation == "static_getitem":
            users[value.value.name].append((target, None, value.index))
        elif operation == "build_tuple":
            for index, item in enumerate(value.items):
                users[item.name].append((target, index, None))
    return users


def _name(users, name, path):
    """The source's name of an item of a variable; the path to it may be empty."""
    if not name.startswith("$"):
        return name.split(".")[0] + "".join(f"[{place}]" for place in path)
    for user, inside, taken in users[name]:
        rest = path
        if taken is not None:
            if path[:1] != (taken,):
                continue
            rest = path[1:]
        found = _name(users, user, rest if inside is None else (inside, *rest))
        if found:
            return found
    return None

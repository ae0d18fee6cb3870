"""What one thread does by itself: assignments, stores, branches and loops."""

from tests.specimens.random_kernels.data import CODES, PLAIN_CODES
from tests.specimens.random_kernels.tables import Table
from tests.specimens.random_kernels.writer import CASTS

STATEMENTS = Table()
OUTPUTS = {"i": ("i8", "i1", "i4", "i2"), "u": ("u8", "u4", "u1")} | {
    kind: CODES[kind] for kind in "fhcb"
}
PLAIN_OUTPUTS = {"i": ("i8", "i1"), "u": PLAIN_CODES["u"], "f": ("f8",)}


def statement(w):
    """One statement, which may hold others."""
    w.fuel -= 1
    STATEMENTS.draw(w).write(w)


def block(w, head, most=3):
    with w.block(head):
        for _ in range(w.random.randint(1, most)):
            statement(w)


def may_nest(w):
    return w.fuel > 0 and w.depth < 6


def may_leave(w):
    return not w.stay


@STATEMENTS.row(2, plain=True)
def assign(w):
    kind = w.kind()
    mine = [name for name in w.variables[kind] if name != "t"]
    name = w.pick(*mine) if mine and w.chance(0.67) else w.name(kind)
    if name in mine and kind == "i" and w.chance(0.33):
        return w.line(f"{name} += np.int64({w.expression(kind)})")
    w.line(f"{name} = {CASTS[kind]}({w.expression(kind)})")
    if kind == "f" and (w.plain or w.chance(0.3)):  # keeps numbers within bounds
        w.write(f"if not (-1e5 < {name} < 1e5):", f"    {name} = 0.5")
    if name not in w.variables[kind]:
        w.variables[kind].append(name)


@STATEMENTS.row(2, plain=True)
def store(w):
    kind = w.kind()
    where = w.pick("t * 4", f"t * 4 + ({w.expression('i', 1)} & 3)")
    store_to(w, kind, where, w.expression(kind))


def store_to(w, kind, where, value):
    """A store in one of the thread's own four cells; njit's twin notes the turns."""
    turns = "0"
    for turn in w.loops:
        turns = f"({turns} * 12 + {turn})"
    code = f"{w.stores} + 1000 * {turns}"
    w.line(f"noted = note(trace, t, noted, {code})  # njit")
    code = w.pick(*(PLAIN_OUTPUTS if w.plain else OUTPUTS)[kind])
    operator = w.pick("=", "=", "+=") if code == "i8" else "="
    name = w.array(f"w_{code}")
    w.line(f"{name}[{where}] {operator} {value}  # store {w.stores}")
    w.stores += 1


@STATEMENTS.row(2, plain=True, when=may_nest)
def condition(w):
    block(w, f"if {w.expression('b')}:")
    if w.chance(0.3):
        block(w, f"elif {w.expression('b')}:")
    if w.chance(0.5):
        block(w, "else:")


@STATEMENTS.row(1, plain=True, when=may_nest)
def range_loop(w):
    turn, name = first_turn(w), w.name("k")
    count = w.pick("4", "(t & 3)", f"({w.expression('i', 1)} & 3)")
    up, down = f"1, {count} + 1", f"{count}, 0, -1"
    w.line(f"for {name} in range({w.pick(count, up, down)}):")
    w.variables["i"].append(name)
    loop_body(w, turn, f"{turn} += 1  # njit")
    w.variables["i"].remove(name)
    if w.chance(0.25):
        block(w, "else:", 2)


@STATEMENTS.row(1, plain=True, when=may_nest)
def while_loop(w):
    turn, name = first_turn(w), w.name("count")
    w.line(f"{name} = {w.pick('0', 't & 1')}")
    also = f"{name} < 5 and {w.expression('b', 1)}"
    w.line(f"while {w.pick(f'{name} < 4', f'{name} < (t & 3)', also)}:")
    loop_body(w, turn, f"{turn} += 1  # njit", f"{name} += 1")


def first_turn(w):
    turn = w.name("turn")
    w.line(f"{turn} = 0  # njit")
    return turn


def loop_body(w, turn, *lines):
    for line in lines:
        w.line(f"    {line}")
    w.loops.append(turn)
    w.depth += 1
    outside = {kind: list(names) for kind, names in w.variables.items()}
    for _ in range(w.random.randint(1, 4)):
        statement(w)
    w.variables = outside
    w.depth -= 1
    w.loops.pop()


@STATEMENTS.row(2, plain=True, when=lambda w: w.loops)
def leave_loop(w):
    w.line(f"if {w.expression('b', 1)}:")
    w.line(f"    {w.pick('break', 'continue')}")


@STATEMENTS.row(0.15, plain=True, when=may_leave)
def early_return(w):
    w.line(f"if {w.expression('b', 1)}:")
    w.line("    return")
    w.whole = False


@STATEMENTS.row(0.4)
def optional_value(w):
    """None on one path, a number on the other; then used where it is one."""
    kind, name = w.pick("i", "f"), w.name("maybe")
    w.line(f"{name} = None")
    w.line(f"if ({w.expression('b', 1)}) != (t % 3 == 0):")  # Numba folds constants
    w.line(f"    {name} = {CASTS[kind]}({w.expression(kind, 1)})")
    use_optional(w, kind, name)


@STATEMENTS.row(0.4)
def optional_result(w):
    """A device function that gives a number or None."""
    kind, name = w.pick("i", "f"), w.name("maybe")
    function = w.pick("number_or_none", "implicit_none")
    value = f"{CASTS[kind]}({w.expression(kind, 1)})"
    w.line(f"{name} = {function}({value}, {w.expression('i', 1)})")
    use_optional(w, kind, name)


def use_optional(w, kind, name):
    found = w.variable(kind, "0")
    if w.chance(0.5):
        return w.write(f"if {name} is not None:", f"    {found} = {name} + 1")
    w.write(f"if {name} is None:", f"    {found} = {CASTS[kind]}(-1)")
    w.write("else:", f"    {found} = {name} * 3")


@STATEMENTS.row(0.25, when=lambda w: not w.loops)
def divmod_of_numbers(w):
    kind = w.pick("i", "f")
    a, b = w.name(kind), w.name(kind)
    w.line(f"{a}, {b} = divmod({w.expression(kind, 1)}, {w.expression(kind, 1)})")
    w.line(f"{a}, {b} = {CASTS[kind]}({a}), {CASTS[kind]}({b})")
    w.variables[kind] += [a, b]


@STATEMENTS.row(0.004, when=lambda w: not (w.loops or w.long) and w.depth == 1)
def long_loop(w):
    """Some 400,000 dependent turns of one thread."""
    w.long = True
    name, turn = w.variable("i", "1"), w.name("turn")
    w.write("if t == 0:", f"    {turn} = 0", f"    while {turn} < 400000:")
    w.line(f"        {name} = ({name} * 1103515245 + 12345) & 0x7FFFFFFF")
    w.line(f"        {turn} += 1")

"""What a random program of typed values is made of: device functions, expressions by
kind, and statements.

i: whole numbers, f: floats, b: truth, z: complex numbers, t: a tuple of a whole number
and a float, s: three whole numbers, p: a named tuple. {i} stands for an expression.
"""

from typing import NamedTuple

DEVICE = """\
def tame(x):
    if -1e6 < x < 1e6:
        return x
    return 0.5

def pair_of(k, x=1.5):
    return k + 1, x

def three(k, *more):
    return np.int64(k), np.int64(k - 1), len(more)

def made(k, x):
    return Pair(k, x)

def found(numbers, limit):
    for place, number in enumerate(numbers):
        if number > limit:
            return place
    return None

def number_or_none(k):
    if k % 3:
        return k
    return None

def counted(numbers):
    total = 0
    for number in numbers:
        if number == 4:
            continue
        total += number
        if total > 50:
            return total
    else:
        total += 1
    return total

def by_mode(x, mode):
    if mode == "fast":
        return x + 1
    return x * 2

def nested(k):
    return counted(three(k)) + pair_of(k)[0]
"""

_BY = "(abs({i}) % 7 + 1)"
_CUT = "np.int64({i}) & 255"
_NUMBERS = "1 -2 7 i n[i] q[i] u[i] t[0] s[1] p.k r[i].k".split()
_INTS = """
{i} + {i}|{i} - {i}|{i} * ({i} & 31)|{i} // BY|{i} % BY|-{i}|~{i}|{i} & {i}
{i} | {i}|{i} ^ {i}|({i} & 63) << ({i} & 7)|{i} >> ({i} & 7)|min({i}, {i})
max({i}, {i}, {i})|abs({i})|int({b})|int(tame({f}))|round(tame({f}))|{t}[0]
{s}[({i}) % 3]|{s}[-1]|{p}.k|{p}[0]|len({s})|len(range({i} % 9))|sum({s})
len({t} + {s})|{i} if {b} else {i}|divmod({i}, BY)[0]|divmod({i}, BY)[1]
({i} & 15) ** 2|pow({i} & 15, 3)|({i} & 3) ** ({i} & 7)|np.int8({i} & 127)
np.uint8({i} & 255)|np.int32({i} & 4095)|n[({i}) % 12]|q[-1 - ({i}) % 5]|u[{i} % 12]
Size.SMALL + {i}|counted({s})|counted(range({i} & 7))|counted((1, {i} & 7))
nested({i} & 7)|three({i}, {i}, {f})[2]|range(2, {i}).start|range({i}, 5).stop
n[2:9].size|m.shape[1] + m.ndim|m[{i} % 4].size|int({z}.real)|bool({i}) + 1
(lambda k: k * 2)({i} & 255)|({t}, {i})[1]|(({i}, 1), 2)[0][0]|{s}[1:][0]|{s}[::-1][0]
by_mode({i}, 'fast')|by_mode({i}, MODE)|min({s})|max({s})|n[i:].size|int(True) + {i}
np.uint32({i} & 255) - {i}|q[i] * q[i] + {i}|u[i] - {i}|kind.value + {i}
""".replace("BY", _BY)
_FLOATS = """
{f} + {f}|{f} - {f}|{f} * {f}|{f} / (abs({f}) + 1)|math.sqrt(abs({f}))|-{f}
math.floor(tame({f}))|{f} // 3.0|{f} % 5.0|float({i})|{i} / BY|min({f}, {f})
max({f}, {i}, {f})|abs({z})|{z}.real|{z}.imag|{t}[1]|{p}.x|{p}[-1]|a[({i}) % 12]
round(tame({f}), 2)|{f} if {b} else {f}|np.float64({f})|tame({f}) ** 2|{f} + {i}
m[({i}) % 4, ({i}) % 3]|m[({i}) % 4][1]|r[i].x|r[i].v[({i}) % 2]|r[({i}) % 2].x
sum(({i}, {f}))|({i}, {f}, {i})[1]|pair_of({i}, {f})[1]|pair_of({i})[1]|made({i}, {f}).x
by_mode({f}, 'slow')|abs({f})|divmod({f}, 2.5)[0]|divmod({f}, 2.5)[1]|{i} * 0.5
(lambda x, y: x - y)({f}, {i})|math.hypot(tame({f}), 1.0)|math.copysign({f}, {i})
m.T[({i}) % 3, ({i}) % 4]|a[::-1][({i}) % 12]|a[3:9][({i}) % 6]|m.flat[({i}) % 12]
math.pi * {f}|int({i}) ** 0.5 if {b} else {f}|max({t})|tame({f}) ** {b}
""".replace("BY", _BY)
_TRUTHS = """
{i} < {i}|{i} == {i}|{f} <= {f}|{i} != {i}|{f} > {i}|{i} < {i} <= {i}|0 < {f} < {f} < 9
{b} and {b}|{b} or {b}|not {b}|{i} in {s}|{i} not in (1, {i}, 3)|{i} in range({i} & 7)
{t} == {t}|{t} < {t}|{s} != {s}|{s} >= {s}|{p} == {p}|MODE == 'fast'
MODE in ('slow', '')|kind is Kind.ROUND|kind == Kind.FLAT|{b} == {b}|bool({f})
bool({i})|{z} == {z}
{i} is not None|number_or_none({i}) is None|found({s}, {i}) is None|math.isnan({f})
{b} if {b} else {b}|{b} ^ {b}|{b} & {b}|not {i}|bool({t})|len({s}) == 3
{f} in (0.5, {f})|(1, {i}) == ({i}, 2)|{i} > 2.5|'fa' in MODE
kind != Kind.ROUND|3 in n[1:5]|{i} < u[i]
"""
_COMPLEX = """
{z} + {z}|{z} - {z}|{z} * {z}|complex({f}, {f})|{z} * {f}|{z}.conjugate()|-{z}
z[({i}) % 12]|{z} if {b} else {z}|{z} - 1j|{z} / (2 + 1j)
complex({f})|{f} * 2j|{i} + {z}
"""
_PAIRS = """
({i}, {f})|{t} if {b} else {t}|pair_of({i}, {f})|(({i}, {f}), 1)[0]|({i},) + ({f},)
({i}, {f}, {i})[:2]|pair_of({i})|pair_of(x={f}, k={i})|tuple(({i}, {f}))|({t}, {i})[0]
"""
_THREES = """
three({i})|{s}[::-1]|{s}[1:] + (np.int64({i}),)|three({i}, {f})|{s} if {b} else {s}
EMPTY + {s}|(np.int64({i}),) + {s}[:2]|(np.int64({i}), *{s}[1:])|({s}, {i})[0]
"""
_NAMED = "Pair({i}, {f})|made({i}, {f})|{p} if {b} else {p}|Pair(x={f}, k={i})"


def _rows(text):
    return [row for row in text.strip().replace("\n", "|").split("|") if row]


EXPRESSIONS = {
    "i": (_NUMBERS, _rows(_INTS)),
    "f": ("0.5 a[i] t[1] p.x r[i].x -1.25 1e3".split(), _rows(_FLOATS)),
    "b": (["True", "(i > 4)", "(kind is Kind.FLAT)"], _rows(_TRUTHS)),
    "z": (["1j", "z[i]", "(2 - 1j)"], _rows(_COMPLEX)),
    "t": (["t", "(2, 0.5)"], _rows(_PAIRS)),
    "s": (["s", "(1, 2, 3)"], _rows(_THREES)),
    "p": (["p"], _rows(_NAMED)),
}
CASTS = {
    "i": "np.int64({i}) & 0xFFFFF", "f": "float(tame({f}))", "b": "bool({b})",
    "z": "complex(tame({z}.real), tame({z}.imag))", "t": "(np.int64({i}), float({f}))",
    "s": "three(np.int64({i}), 1)", "p": "Pair(np.int64({i}), float({f}))",
}


class Row(NamedTuple):
    """A statement: how often it is chosen, what writes it, and where it may stand."""

    weight: float
    write: object
    nests: bool = False
    in_loop: bool = False


STATEMENTS = []


def row(weight, **where):
    """Add the decorated function to the statements."""

    def add(function):
        STATEMENTS.append(Row(weight, function, **where))
        return function

    return add


@row(5)
def assign(w):
    kind = w.random.choice("iiiffbztsp")
    w.set(kind, CASTS[kind])


@row(2)
def augment(w):
    kind = w.random.choice("if")
    name = w.set(kind, CASTS[kind])
    operator = w.random.choice(["+", "-", "*", "&", "|"] if kind == "i" else "+-*/")
    w.line(f"{name} {operator}= ({{{kind}}})" + " or 1" * (operator == "/"))
    w.line(f"{name} = {CASTS[kind]}".replace(f"{{{kind}}}", name))


@row(2)
def unpack(w):
    k, x = w.new("i"), w.new("f")
    text = w.random.choice(["{k}, {x} = {{t}}", "({k}, {x}), _ = {{t}}, {{i}}",
                            "_, ({k}, {x}) = {{s}}, {{p}}", "[{k}, {x}] = {{p}}"])
    w.line(text.format(k=k, x=x))
    w.line(f"{k}, {x} = np.int64({k}) & 0xFFFF, float(tame({x}))")
    w.names["i"].append(k)
    w.names["f"].append(x)


@row(1)
def swap(w):
    kind = w.random.choice("ifts")
    if len(names := w.names[kind]) > 1:
        one, other = w.random.sample(names, 2)
        w.line(f"{one}, {other} = {other}, {one}")
    else:
        w.line("pass")


@row(2)
def store(w):
    w.line(w.random.choice([
        "out[i, {i} & 7] = {f}", "out[i, 1:3] = {f}", "out[i, {i} & 7] += {i}",
        "out[i, ::2] = {i}", "out[i][({i}) & 7] = {f}", "r[i].k = {i} & 4095",
        "r[i].x = tame({f})", "r[i].v[{i} & 1] = tame({f})", "r[i]['x'] += {i} & 7",
        "out[i, -1 - ({i} & 3)] -= {f}", "out[i, 6] = {b}",
    ]))  # fmt: skip


@row(3, nests=True)
def condition(w):
    w.block("if {b}:")
    while w.random.random() < 0.3:
        w.block("elif {b}:")
    if w.random.random() < 0.5:
        w.block("else:")


@row(2, nests=True)
def matching(w):
    w.line("match ({i}) % 5:")
    w.depth += 1
    w.block("case 0:", 2)
    w.block("case 1 | 2:", 2)
    w.block("case _:", 2)
    w.depth -= 1


@row(5, nests=True)
def for_loop(w):
    names = [w.new("i") for _ in range(2)]
    head, known = w.random.choice([
        ("for {0} in range({{i}} & 7):", 1), ("for {0} in {{s}}:", 1),
        ("for {0} in range({{i}} & 7, -3, -2):", 1), ("for _ in m:", 0),
        ("for {0} in range(5, {{i}} & 7):", 1), ("for _ in a[:i]:", 0),
        ("for {0}, {1} in enumerate({{s}}):", 2), ("for {0} in n[3:7]:", 1),
        ("for {0}, {1} in zip({{s}}, n):", 2),
        ("for {0}, _ in enumerate(a[:4], 2):", 1),
        ("for {0}, {1} in zip(range(4), {{s}}):", 2), ("for {0} in n[::-3]:", 1),
        ("for {0}, (_, {1}) in enumerate(zip(a, q[:3])):", 2),
        ("for {0} in literal_unroll((1, {{i}}, 2.5, {{b}})):", 0),
        ("for {0}, {1} in zip(range({{i}} & 3), range(9, 0, -2)):", 2),
        ("for {0}, {1} in ((1, 2), ({{i}}, 3)):", 2),
    ])  # fmt: skip
    if "literal_unroll" in head:
        head = "for {0} in range({{i}} & 3):" if w.loops else head
    w.line(head.format(*names))
    with w.further_in(loop=True):
        w.names["i"] += [name for name in names[:known]]
        if "literal_unroll" in head:
            w.line(f"out[i, 3] += {names[0]}")
        else:
            for _ in range(w.random.randint(1, 3)):
                w.statement()
            w.line("out[i, 5] += {f}")
    if w.random.random() < 0.25:
        w.block("else:", 2)


@row(2, nests=True)
def while_loop(w):
    name = w.new("count")
    w.line(f"{name} = {{i}} & 3")
    w.line(f"while {name} < 6{w.random.choice(['', ' and {b}', ' < {i}'])}:")
    with w.further_in(loop=True):
        w.line(f"{name} += {w.random.choice('12')}")
        for _ in range(w.random.randint(1, 3)):
            w.statement()
    if w.random.random() < 0.3:
        w.block("else:", 2)


@row(2, in_loop=True)
def leave_loop(w):
    w.line("if {b}:")
    w.line(f"    {w.random.choice(['break', 'continue'])}")


@row(0.3)
def early_return(w):
    w.line("if {b}:")
    w.line("    return")


@row(2)
def maybe_none(w):
    name, result = w.new("maybe"), w.new("i")
    w.line(w.random.choice([
        f"{name} = number_or_none({{i}})", f"{name} = found({{s}}, {{i}})",
        f"{name} = {{i}} if {{b}} else None", f"{name} = found(n, {{i}})",
    ]))  # fmt: skip
    w.line(f"{result} = np.int64(-1)")
    w.line(w.random.choice([f"if {name} is not None:", f"if not ({name} is None):"]))
    w.line(f"    {result} = np.int64({name} + 1) & 0xFFFF")
    w.names["i"].append(result)


@row(1)
def inner_function(w):
    name, result = w.new("inner"), w.new("f")
    w.line(f"def {name}(x, y=2):")
    w.line("    if x > y:")
    w.line(f"        return x - {{f}}{w.random.choice(['', ' + i'])}")
    w.line("    return y * 0.5")
    w.line(f"{result} = float(tame({name}({{f}}{w.random.choice(['', ', {i}'])})))")
    w.names["f"].append(result)


@row(0.3)
def assertion(w):
    w.line(w.random.choice(["assert {b}", "if {b}:\n        raise ValueError('no')"])
           if w.depth == 1 else "pass")


@row(0.5)
def chained_assignment(w):
    one, other = w.new("i"), w.new("i")
    w.line(f"{one} = {other} = {CASTS['i']}")
    w.names["i"] += [one, other]

"""Random kernels, each written twice: as a kernel, and as one thread of it.

The function of one thread, for `njit`, also notes the turn of every loop around each
store. Lines that only it has end in `# njit`.
"""

import random
import re

from tests.specimens.kernels import BUILT_IN

ARRAYS = {"ai": "i", "al": "i", "ab": "i", "au": "u", "af": "f", "ad": "f"}
OUTPUTS = {"wi": "i", "wf": "f", "wb": "i"}
ARGUMENTS = ", ".join([*ARRAYS, *OUTPUTS])

HELPERS = """
def helper_i(x, y):
    if x > y:
        return x - y
    return y + 3


def helper_f(x, y):
    s = np.float32(0)
    for k in range(3):
        if x > k:
            s += np.float32(y)
    return s
"""

# i: signed, u: unsigned, f: float, b: truth; {i} stands for an expression of the kind
EXPRESSIONS = {
    "i": [
        *(f"({{i}} {o} {{i}})" for o in ("+", "-", "*", "//", "%", "&", "|", "^")),
        *("(-{i})", "(~{i})", "abs({i})", "min({i}, {i})", "max({i}, {i})"),
        *("({i} << ({i} & 7))", "({i} >> ({i} & 7))", "np.int32({i})", "np.int8({i})"),
        *("({i} if {b} else {i})", "int({f})", "np.int64({u})", "helper_i({i}, {i})"),
        *("({i}) ** 2", "round({f})"),
    ],
    "u": [
        *(f"({{u}} {o} {{u}})" for o in ("+", "-", "*", "//", "%", "^")),
        *("np.uint32({i})", "np.uint8({u})", "({u} >> np.uint32(5))", "(~{u})"),
        *("np.uint32({u})", "min({u}, {u})"),
    ],
    "f": [
        *("({f} + {f})", "({f} - {f})", "({f} * {f})", "({f} / (abs({f}) + 1))"),
        *("({f} * 2)", "({f} + {i} % 100)", "np.float32({f})", "np.float64({f})"),
        *("math.sqrt(abs({f}))", "math.floor({f})", "math.ceil({f})", "abs({f})"),
        *("(-{f})", "({i} / 7)", "({f} if {b} else {f})", "({f} // 3.0)"),
        *("({f} % 5.0)", "helper_f({i}, {f})", "float({i})", "({f}) ** 2"),
        *("min({f}, {f})", "max({f}, {f})", "math.fabs({f})"),
    ],
    "b": [
        *(f"({{{k}}} {o} {{{k}}})" for k in "iiuf" for o in ("<", "<=", ">", "==")),
        *("({i} != {i} and {b})", "({f} >= {f} or {b})", "(not {i} < {i})"),
        *("({i} < {i} < {i})", "bool({i})"),
    ],
}
LEAVES = {
    "i": ["3", "-2", "7", "t", "np.int32(5)", "lane"],
    "u": ["np.uint32(9)"],
    "f": ["0.5", "np.float32(1.25)", "-3.0"],
}
if BUILT_IN:  # it has no min and max
    EXPRESSIONS = {
        kind: [text for text in texts if not text.startswith(("min", "max"))]
        for kind, texts in EXPRESSIONS.items()
    }


def sources(seed):
    """The kernel's text, and that of one thread for njit."""
    lines = Writer(seed).body()
    kernel = [
        f"def kernel(n, {ARGUMENTS}):",
        "    t = cuda.grid(1)",
        "    lane = cuda.laneid",
        "    if t >= n:",
        "        return",
        *(line for line in lines if not line.endswith("# njit")),
    ]
    thread = [f"def thread(t, lane, n, {ARGUMENTS}, trace):", "    noted = 0", *lines]
    return "\n".join(kernel), "\n".join(thread)


class Writer:
    """Writes one random program: expressions by kind, and statements."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.stores, self.loops = [], 1, 0, []
        self.variables = {"i": ["t"], "u": [], "f": []}
        self.fuel = 10  # nested statements that may still be begun

    def body(self):
        """The lines of a program, which ends in a store that all threads reach."""
        for name, kind, start in (("f_start", "f", "0.25"), ("i_start", "i", "1")):
            self.line(f"{name} = {start}")
            self.variables[kind].append(name)
        for _ in range(self.random.randint(2, 4)):
            self.statement()
        self.store_to("wf", "t * 4 + 1", "f_start + i_start")
        return self.lines

    def pick(self, *choices):
        return self.random.choice(choices)

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def new_name(self, hint):
        return f"{hint}{len(self.lines)}"

    # expressions

    def expression(self, kind, depth=2):
        """An expression of a kind, as text."""
        if kind != "b" and (depth == 0 or self.random.random() < 0.15):
            return self.leaf(kind)
        text = self.pick(*EXPRESSIONS[kind])
        if depth <= 0:
            text = f"({self.leaf('i')} > {self.leaf('i')})"
        return re.sub(r"{(\w)}", lambda m: self.expression(m[1], depth - 1), text)

    def leaf(self, kind):
        arrays = [f"{a}[{self.index()}]" for a, k in ARRAYS.items() if k == kind]
        return self.pick(*self.variables[kind] * 3, *LEAVES[kind], *arrays)

    def index(self):
        i = self.pick("t", "t", "lane", *self.variables["i"])
        unsigned = f"np.uint32({i}) % np.uint32(n)"
        signed = f"({i}) % n", f"({i} + 3) % n", f"({i}) % n - n"
        return self.pick(*signed, unsigned, "t", "7")

    # statements

    def statement(self):
        self.fuel -= 1
        allowed = [self.assign, self.assign, self.store, self.store]
        if self.fuel > 0 and self.depth < 6:
            allowed += [self.condition] * 2 + [self.range_loop, self.while_loop]
        if self.loops:
            allowed += [self.leave_loop] * 2
        if self.random.random() < 0.1:
            allowed.append(self.early_return)
        self.random.choice(allowed)()

    def block(self, most=3):
        self.depth += 1
        outside = {kind: list(names) for kind, names in self.variables.items()}
        for _ in range(self.random.randint(1, most)):
            self.statement()
        self.variables = outside
        self.depth -= 1

    def assign(self):
        kind = self.pick("i", "i", "f", "u")
        mine = [name for name in self.variables[kind] if name != "t"]
        name = self.pick(*mine) if mine and self.pick(0, 1, 1) else self.new_name(kind)
        if name in mine and kind == "i" and self.pick(0, 0, 1):
            return self.line(f"{name} += np.int64({self.expression(kind)})")
        cast = {"i": "np.int64", "u": "np.uint32", "f": "np.float64"}[kind]
        self.line(f"{name} = {cast}({self.expression(kind)})")
        if kind == "f":  # so that it fits an integer
            self.line(f"if not (-1e5 < {name} < 1e5):")
            self.line(f"    {name} = 0.5")
        if name not in self.variables[kind]:
            self.variables[kind].append(name)

    def store(self):
        name = self.pick(*OUTPUTS)
        where = self.pick("t * 4", f"t * 4 + ({self.expression('i', 1)} & 3)")
        self.store_to(name, where, self.expression(OUTPUTS[name]))

    def store_to(self, name, where, value):
        turns = "0"
        for turn in self.loops:
            turns = f"({turns} * 12 + {turn})"
        code = f"{self.stores} + 1000 * {turns}"
        self.line(f"noted = note(trace, t, noted, {code})  # njit")
        operator = self.pick("=", "=", "+=") if name == "wi" else "="
        self.line(f"{name}[{where}] {operator} {value}  # store {self.stores}")
        self.stores += 1

    def condition(self):
        self.line(f"if {self.expression('b')}:")
        self.block()
        if self.random.random() < 0.3:
            self.line(f"elif {self.expression('b')}:")
            self.block()
        if self.random.random() < 0.5:
            self.line("else:")
            self.block()

    def range_loop(self):
        turn, name = self.first_turn(), self.new_name("k")
        count = self.pick("4", "(t & 3)", f"({self.expression('i', 1)} & 3)")
        up, down = f"1, {count} + 1", f"{count}, 0, -1"
        self.line(f"for {name} in range({self.pick(count, up, down)}):")
        self.variables["i"].append(name)
        self.loop_body(turn, f"{turn} += 1  # njit")
        self.variables["i"].remove(name)
        if self.random.random() < 0.25:
            self.line("else:")
            self.block(2)

    def while_loop(self):
        turn, name = self.first_turn(), self.new_name("count")
        self.line(f"{name} = {self.pick('0', 't & 1')}")
        also = f"{name} < 5 and {self.expression('b', 1)}"
        self.line(f"while {self.pick(f'{name} < 4', f'{name} < (t & 3)', also)}:")
        self.loop_body(turn, f"{turn} += 1  # njit", f"{name} += 1")

    def first_turn(self):
        turn = self.new_name("turn")
        self.line(f"{turn} = 0  # njit")
        return turn

    def loop_body(self, turn, *lines):
        for line in lines:
            self.line(f"    {line}")
        self.loops.append(turn)
        self.block(4)
        self.loops.pop()

    def leave_loop(self):
        self.line(f"if {self.expression('b', 1)}:")
        self.line(f"    {self.pick('break', 'continue')}")

    def early_return(self):
        self.line(f"if {self.expression('b', 1)}:")
        self.line("    return")

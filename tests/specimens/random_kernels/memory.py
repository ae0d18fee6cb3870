"""Memory of random kernels: local arrays, a module's, rows, views and atomics."""

from tests.specimens.random_kernels.data import KIND
from tests.specimens.random_kernels.statements import STATEMENTS, may_nest, statement
from tests.specimens.random_kernels.tables import Table
from tests.specimens.random_kernels.writer import CASTS

ATOMICS = Table()
PLACES = ("-1", "0", "2", "-3", "{i} & 3", "{i} % 4 - 4")
SIZE = 4  # cells of a local array


def place(w):
    """An index of a local array: uniform, negative or a thread's own."""
    return w.pick(*PLACES).replace("{i}", w.expression("i", 1))


def local_array(w):
    """A local array that has values in all cells; its name and its cells' kind."""
    code = w.pick("i4", "i8", "u4", "f4", "f8", *(["f2"] if "h" in w.kinds else []))
    name, k = w.name("own"), w.name("k")
    w.line(f"{name} = cuda.local.array({SIZE}, np.{DTYPES[code]})")
    with w.block(f"for {k} in range({SIZE}):"):
        w.line(f"{name}[{k}] = {w.expression(KIND[code], 1)}")
    return name, KIND[code]


DTYPES = {
    "i1": "int8", "i4": "int32", "i8": "int64", "u4": "uint32", "u8": "uint64",
    "f2": "float16", "f4": "float32", "f8": "float64",
}


@STATEMENTS.row(0.7, when=lambda w: not w.loops)
def local_memory(w):
    name, kind = local_array(w)
    for _ in range(w.random.randint(1, 2)):
        w.line(f"{name}[{place(w)}] = {w.expression(kind, 1)}")
    w.variable(kind, f"{name}[{place(w)}]")


@STATEMENTS.row(0.4, when=lambda w: not w.loops)
def view(w):
    name, kind = local_array(w)
    seen = w.pick(f"{name}[1:][-1]", f"{name}[::-1][{place(w)}]", f"{name}[:3][-3]")
    w.variable(kind, seen)


@STATEMENTS.row(0.4, when=lambda w: not w.loops)
def unpacked_row(w):
    """Two variables from a row of two cells."""
    row, kind = w.pick(("m_f8", "f"), ("m_i4", "i"), ("mod.P", "f"))
    a, b = w.name(kind), w.name(kind)
    source = row if row == "mod.P" else w.array(row)
    w.line(f"{a}, {b} = {source}[{w.expression('i', 1)} & 3]")
    w.variables[kind] += [a, b]


@STATEMENTS.row(0.2, when=lambda w: not w.loops)
def unpacked_local_array(w):
    source, kind = local_array(w)
    names = [w.name(kind) for _ in range(SIZE)]
    w.line(f"{', '.join(names)} = {source}")
    w.variables[kind] += names


@STATEMENTS.row(0.6, when=may_nest)
def loop_over_an_array(w):
    """For each cell of an array, with its number or a second array's cell."""
    source = w.pick("mod.F", "mod.I[1]", "mod.P[0]", "mod.P[:, 1]", "own", "own")
    kind = "i" if source == "mod.I[1]" else "f"
    if source == "own":
        source, kind = local_array(w)
    value, other = w.name(kind), w.name("x")
    heads = {
        "": f"for {value} in {source}:",
        "enumerate": f"for {other}, {value} in enumerate({source}):",
        "zip": f"for {value}, {other} in zip({source}, {local_array(w)[0]}):",
    }
    way = w.pick(*heads)
    w.features[f"{way or 'for'} over an array"] += 1
    total = w.variable(kind, "0")
    with w.block(heads[way]):
        w.line(f"{total} = {CASTS[kind]}({total} + {value})")
        if way:
            w.line(f"{total} += {CASTS[kind]}({other})")


@STATEMENTS.row(0.3, when=lambda w: not w.loops)
def module_array_by_another_name(w):
    name = w.name("known")
    source = w.pick("mod.I", "cuda.const.array_like(mod.I)")
    w.line(f"{name} = {source}")
    w.variable("i", f"{name}[{w.expression('i', 1)} & 3, -1] + {name}.shape[1]")


@STATEMENTS.row(0.5)
def atomic(w):
    ATOMICS.draw(w).write(w)


@ATOMICS.row(3)
def atomic_on_an_own_cell(w):
    """Any operation, with what it returns, on a cell that one thread has."""
    code = w.pick("i4", "u4", "i8", "u8", "f4", "f4", "f8", "f8")
    kind, cells = KIND[code], w.array(f"p_{code}")
    value = f"np.{DTYPES[code]}({w.expression(kind, 1)})"
    names = ["add", "sub", "max", "min"]
    names += ["nanmax", "nanmin"] if kind == "f" else ["and_", "or_", "xor", "exch"]
    names += ["inc", "dec"] * (kind == "u") + ["cas", "compare"] * (kind != "f")
    name = w.pick(*names)
    w.features[f"atomic {name.strip('_')} of {code}"] += 1
    old = f"np.{DTYPES[code]}({w.leaf(kind)})"
    value = f"{old}, {value}" if name == "cas" else value
    call = f"cuda.atomic.{name}({cells}, t, {value})"
    if name == "compare":
        call = f"cuda.atomic.compare_and_swap({cells}[t:], {old}, {value})"
    w.variable(kind, call)


@ATOMICS.row(2)
def atomic_on_a_cell_of_all(w):
    """An operation whose order does not matter: one for each array of a kernel."""
    code = w.pick("i4", "u4", "i8", "u8")
    names = ["add", "max", "min", "and_", "or_", "xor"]
    name = w.pick(*names, *["inc"] * (code[0] == "u"))
    cells = w.array(f"g_{code}_{name.strip('_')}")
    where = w.pick("-1", "0", "7", "{i} & 7", "{i} % 8 - 8")
    where = where.replace("{i}", w.expression("i", 1))
    value = "9" if name == "inc" else w.expression(KIND[code], 1)
    w.features[f"atomic {name.strip('_')} of {code}, all threads"] += 1
    w.line(f"cuda.atomic.{name}({cells}, {where}, np.{DTYPES[code]}({value}))")


@ATOMICS.row(1)
def atomic_sum_of_floats_without_rounding(w):
    cells = w.array(f"g_{w.pick('f4', 'f8')}_add")
    value = f"np.float32({w.expression('i', 1)} & 15)"
    w.line(f"cuda.atomic.add({cells}, {w.expression('i', 1)} & 7, {value})")


def body_of(w, most=3):
    for _ in range(w.random.randint(1, most)):
        statement(w)

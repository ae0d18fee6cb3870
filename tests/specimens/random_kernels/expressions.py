"""Expressions of random kernels, by kind, as tables of texts.

i: signed, u: unsigned, f: float, h: float16, c: complex, b: truth. {i} stands for an
expression of the kind, {I} for a cell of an array, whatever it holds.
"""

from tests.specimens.kernels import BUILT_IN
from tests.specimens.random_kernels.tables import Row, Table

# features that can end a thread (Numba raises in them): no warp waits for it after that
ENDS_THREAD = {"complex division", "integer powers of any size"}


def plain(name, *texts):
    return [Row(name, 1, text, plain=True) for text in texts]


def rows(name, *texts, weight=0.6, when=None):
    return [Row(name, weight, text, when=when) for text in texts]


def has(kind):
    """May the kernel have numbers of this kind?"""
    return lambda writer: kind in writer.kinds


SIGNED = Table(
    [
        *plain("int", *(f"({{i}} {o} {{i}})" for o in ("+", "-", "*", "&", "|", "^"))),
        *plain("int division", "({i} // {i})", "({i} % {i})"),
        *plain("int", "(-{i})", "(~{i})", "abs({i})", "helper_i({i}, {i})"),
        *plain("int minimum", "min({i}, {i})", "max({i}, {i})"),
        *plain("shift", "({i} << ({i} & 7))", "({i} >> ({i} & 7))"),
        *plain("int cast", "np.int32({i})", "np.int8({i})", "np.int64({u})"),
        *plain("choice", "({i} if {b} else {i})"),
        *plain("int of float", "int(tame({f}))", "round(tame({f}))"),
        *plain("int power", "({i}) ** 2"),
        *rows("int cast", "np.int16({i})", "np.int32({u})", "int({b})", "np.int8({u})"),
        *rows("shift", "({i} << ({i} & 63))", "({i} >> ({i} & 63))"),
        *rows("shift by any number", "({i} << {I})", "({i} >> {I})", weight=0.15),
        *rows("int of any float", "int({f})", "np.int32({f})", weight=0.3),
        *rows("round any float", "round({f})", weight=0.3),
        *rows("int of float16", "int({h})", "np.int32({h})", when=has("h")),
        *rows("divmod", "divmod({i}, {i})[0]", "divmod({i}, {i})[1]"),
        *rows("int power", "({i}) ** ({i} & 7)", "pow({i}, 3)", "({i}) ** 5"),
        *rows("integer powers of any size", "({i}) ** {I}", weight=0.1),
        *rows("bits", "cuda.popc({u})", "cuda.clz({u})", weight=0.2),
        *rows("bits", "cuda.ffs(np.uint32({u}))", "cuda.ffs(np.int64({i}))"),
        *rows("selp", "cuda.selp({b}, np.int64({i}), np.int64({i}))", weight=0.3),
        *rows("truth as a number", "({b} + {b})", "({b} * {i})", weight=0.4),
        *rows("device function's defaults", "with_default({i})"),
        *rows("device function's defaults", "with_default({i}, y={i})"),
        *rows("module array", "mod.I[{i} & 3, 1]", "mod.I[{i} & 3, {i} & 1]"),
        *rows("module array", "len(mod.F)", "mod.I.shape[0]", weight=0.2),
        *rows("tuple", "(np.int64({i}), np.int64({i}))[{i} & 1]", weight=0.3),
    ]
)
UNSIGNED = Table(
    [
        *plain("unsigned", *(f"({{u}} {o} {{u}})" for o in ("+", "-", "*", "^"))),
        *plain("unsigned division", "({u} // {u})", "({u} % {u})"),
        *plain("unsigned cast", "np.uint32({i})", "np.uint8({u})", "np.uint32({u})"),
        *plain("unsigned", "({u} >> np.uint32(5))", "(~{u})", "min({u}, {u})"),
        *rows("unsigned cast", "np.uint64({i})", "np.uint16({u})", "np.uint8({i})"),
        *rows("unsigned", "({u} & {u})", "({u} | {u})", "max({u}, {u})"),
        *rows("unsigned shift", "({u} << ({i} & 63))", "({u} >> ({i} & 63))"),
        *rows("unsigned of float", "np.uint32(abs(tame({f})))", weight=0.3),
        *rows("unsigned of any float", "np.uint32({f})", "np.uint64({f})", weight=0.1),
        *rows("bits", "cuda.brev(np.uint32({u}))", "cuda.brev(np.uint64({u}))"),
        *rows("choice", "({u} if {b} else {u})"),
        # beyond int64 a GPU compares as if there were no overflow: keep 47 bits
        *rows("unsigned power", "(({u}) ** 2 & 0x7FFFFFFFFFFF)", weight=0.2),
    ]
)
FLOAT = Table(
    [
        *plain("float", "({f} + {f})", "({f} - {f})", "({f} * {f})", "(-{f})"),
        *plain("float", "({f} / (abs({f}) + 1))", "({f} * 2)", "({f} + {i} % 100)"),
        *plain("float cast", "np.float32({f})", "np.float64({f})", "float({i})"),
        *plain("exact math", "math.sqrt(abs({f}))", "math.floor({f})"),
        *plain("exact math", "math.ceil({f})", "abs({f})", "math.fabs({f})"),
        *plain("choice", "({f} if {b} else {f})"),
        *plain("float modulo", "({f} // 3.0)", "({f} % 5.0)"),
        *plain("float", "({i} / 7)", "helper_f({i}, {f})", "({f}) ** 2"),
        *plain("float minimum", "min({f}, {f})", "max({f}, {f})"),
        *rows("float minimum", "max({f}, 0)", "min({f}, {i})", "min({f}, {f}, {f})"),
        *rows("float minimum", "max(np.float32({f}), np.float32({f}))"),
        *rows("float modulo", "({f} % {f})", "({f} // {f})", "({F} % {i})"),
        *rows("float modulo", "divmod({f}, {f})[0]", "divmod({f}, {f})[1]"),
        *rows("float division", "({f} / {f})", "({i} / {i})", "({f} / {i})"),
        *rows("float cast", "float({u})", "np.float32({i})", "np.float32({u})"),
        *rows("exact math", "math.trunc({f})", "math.copysign({f}, {f})"),
        *rows("exact math", "math.fmod({f}, {f})", "math.sqrt({f})", weight=0.4),
        *rows("parts of a float", "math.modf({f})[0]", "math.frexp({f})[0]"),
        *rows("ldexp", "math.ldexp({f}, np.int32({i} % 20))", weight=0.2),
        *rows("round to digits", "round({f}, 2)", "round({f}, -1)", weight=0.3),
        *rows("round to digits", "round({f}, {i} & 31)", weight=0.2),
        *rows("float power", "({f}) ** 3", "({f}) ** -2", "({f}) ** ({i} & 7)"),
        *rows("float powers of any size", "({f}) ** {I}", weight=0.1),
        *rows("float of float16", "np.float32({h})", "float({h})", when=has("h")),
        *rows("float and float16", "({f} + {h})", "max({f}, {h})", when=has("h")),
        *rows("parts of a complex number", "({c}).real", "({c}).imag", when=has("c")),
        *rows("fma", "cuda.fma(float({f}), float({f}), float({f}))", weight=0.3),
        *rows("selp", "cuda.selp({b}, np.float32({f}), np.float32({f}))", weight=0.3),
        *rows("module array", "mod.F[{i} % 5]", "mod.P[{i} & 3, 1]", "mod.F[-1]"),
        *rows("device function's defaults", "scaled({f})", "scaled({f}, by={f})"),
        *rows("special float", "math.inf", "math.nan", "-0.0", weight=0.1),
    ]
)
HALF = Table(
    [
        *rows("float16", *(f"({{h}} {o} {{h}})" for o in ("+", "-", "*", "/"))),
        *rows("float16", "(-{h})", "abs({h})"),
        *rows("float16 cast", "np.float16({f})", "np.float16({i})"),
        *rows("float16 minimum", "min({h}, {h})", "max({h}, {h})"),
        *rows("choice", "({h} if {b} else {h})"),
    ]
)
COMPLEX = Table(
    [
        *rows("complex", *(f"({{c}} {o} {{c}})" for o in ("+", "-", "*"))),
        *rows("complex", "(-{c})", "({c} * {f})", "({c} + {i})", "({c}).conjugate()"),
        *rows("complex cast", "complex({f}, {f})", "np.complex64({c})", "({f} * 1j)"),
        *rows("complex division", "({c} / {c})", weight=0.4),
        *rows("choice", "({c} if {b} else {c})"),
    ]
)
TRUTH = Table(
    [
        *plain(
            "comparison",
            *(f"({{{k}}} {o} {{{k}}})" for k in "iiuf" for o in ("<", "<=", ">", "==")),
            *("({i} != {i} and {b})", "({f} >= {f} or {b})", "(not {i} < {i})"),
            *("({i} < {i} < {i})", "bool({i})"),
        ),
        *rows("comparison", "({f} != {f})", "(not {f} < {f})", "({i} < {f})"),
        *rows("comparison", "bool({f})", "({u} < {i})", "({i} >= {u})"),
        *rows("is it finite", "math.isnan({f})", "math.isinf({f})"),
        *rows("is it finite", "math.isfinite({f})"),
        *(
            rows("float16 comparison", f"({{h}} {o} {{h}})", when=has("h"))[0]
            for o in ("<", ">=", "==", "!=")
        ),
        *rows("complex comparison", "({c} == {c})", "({c} != {c})", when=has("c")),
    ]
)
EXPRESSIONS = {
    "i": SIGNED, "u": UNSIGNED, "f": FLOAT, "h": HALF, "c": COMPLEX, "b": TRUTH,
}
LEAVES = {
    "i": ["3", "-2", "7", "t", "np.int32(5)", "lane"],
    "u": ["np.uint32(9)"],
    "f": ["0.5", "np.float32(1.25)", "-3.0"],
    "h": ["np.float16(1.5)"],
    "c": ["(1 - 2j)", "np.complex64(0.5j)"],
    "b": ["True"],
}
if BUILT_IN:  # it has no min and max
    for table in EXPRESSIONS.values():
        table[:] = [row for row in table if not row.write.startswith(("min", "max"))]

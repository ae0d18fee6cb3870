"""Words of 64 bits in LLVM: how they are written, and loops over them."""

from contextlib import contextmanager

from llvmlite import ir as llvm

I1, I8, I64 = llvm.IntType(1), llvm.IntType(8), llvm.IntType(64)
CONTEXT = I64.as_pointer()
PIECE = llvm.FunctionType(I64, [CONTEXT])


def number(value):
    """A word that is known."""
    return llvm.Constant(I64, value)


def intrinsic(builder, name, result, *values):
    """An LLVM intrinsic; those that convert are named by both types."""
    types = [result] if name.endswith(".sat") else []
    types += [values[0].type]
    suffix = "".join(f".{_short(t)}" for t in types)
    module = builder.module
    full = f"llvm.{name}{suffix}"
    function = module.globals.get(full) or llvm.Function(
        module, llvm.FunctionType(result, [v.type for v in values]), full
    )
    return builder.call(function, values)


def _short(made) -> str:
    if isinstance(made, llvm.IntType):
        return f"i{made.width}"
    return "f32" if isinstance(made, llvm.FloatType) else "f64"


@contextmanager
def each(b, count):
    """A loop over the numbers below `count`."""
    before = b.block
    head, body, after = (b.append_basic_block(n) for n in ("each", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    index = b.phi(I64)
    index.add_incoming(number(0), before)
    b.cbranch(b.icmp_unsigned("<", index, count), body, after)
    b.position_at_end(body)
    yield index
    index.add_incoming(b.add(index, number(1)), b.block)
    b.branch(head)
    b.position_at_end(after)


@contextmanager
def each_bit(b, mask):
    """A loop over the places of the bits of a word."""
    before = b.block
    body, after = (b.append_basic_block(name) for name in ("bits", "no bits"))
    b.cbranch(b.icmp_unsigned("==", mask, number(0)), after, body)
    b.position_at_end(body)
    left = b.phi(I64)
    left.add_incoming(mask, before)
    yield intrinsic(b, "cttz", I64, left, llvm.Constant(I1, 1))
    rest = b.and_(left, b.sub(left, number(1)))
    left.add_incoming(rest, b.block)
    b.cbranch(b.icmp_unsigned("==", rest, number(0)), after, body)
    b.position_at_end(after)

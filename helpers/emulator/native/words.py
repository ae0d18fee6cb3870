"""Words of 64 bits in LLVM: how they are written, and loops over them."""

from contextlib import contextmanager

from llvmlite import ir as llvm

I1, I8, I64 = llvm.IntType(1), llvm.IntType(8), llvm.IntType(64)
CONTEXT = I64.as_pointer()
PIECE = llvm.FunctionType(I64, [CONTEXT])


def number(value):
    """A word that is known."""
    return llvm.Constant(I64, value)


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

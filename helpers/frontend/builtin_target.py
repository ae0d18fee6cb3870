"""What the `numba.cuda` inside Numba lacks and the lessons need: `min` and `max` of
numbers, with the types of numba-cuda. Used where numba-cuda is absent, as on macOS.
"""

import operator

from numba.core import types
from numba.core.typing.templates import AbstractTemplate, signature
from numba.cpython import builtins
from numba.cuda import cudadecl, cudaimpl


def complete():
    """Teach Numba's built-in CUDA target `min` and `max`."""
    for function, compare in ((min, operator.lt), (max, operator.gt)):
        cudadecl.registry.register_global(function)(_template(function))
        cudaimpl.registry.lower(function, types.VarArg(types.Any))(_lower(compare))


def _template(function):
    """How a call of `min` or `max` is typed: all numbers become one type."""

    class Extreme(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            numbers = all(isinstance(a, types.Number | types.Boolean) for a in args)
            if kws or len(args) < 2 or not numbers:
                return None
            return signature(self.context.unify_types(*args), *args)

    return Extreme


def _lower(compare):
    """The LLVM code of such a call, which Numba has already."""

    def lower(context, builder, sig, args):
        return builtins.do_minmax(context, builder, sig.args, args, compare)

    return lower

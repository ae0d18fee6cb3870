"""Device functions, and those of Numba's library, lowered in the place of their call; a
mix-in of Lowering.
"""

from dataclasses import dataclass

from helpers.core import ir
from helpers.frontend.inference import typed_ir
from helpers.frontend.types import our_type


@dataclass(frozen=True)
class Caller:
    """Where an inlined device function goes back to, and what it leaves there."""

    line: int
    target: str
    block: int
    lowering: object


class Inlining:
    """How a function gets its arguments, and where it leaves its result."""

    def inline(self, target, dispatcher, signature, arguments, within=None):
        """Lower a device function in the caller's place; or a library's, `within` the
        line that calls it.
        """
        if dispatcher.py_func in self.functions():
            self.refuse(
                f"device functions that call themselves (`{dispatcher.__name__}`) are "
                "not emulated: use a loop"
            )
        function, options = dispatcher.py_func, dispatcher.targetoptions
        typed = typed_ir(function, signature.args, options, self.program.typed)
        result = self.declare(target, our_type(self.numba_type(target)))
        back = self.program.new_block()
        line = self.caller.line if self.caller else self.line
        inner = type(self)(self.program, typed, {}, Caller(line, result, back, self))
        inner.within = within or self.within
        inner.specialisation = (id(function), *map(str, signature.args))
        names = typed.ir.arg_names
        for name, given, dtype in zip(names, arguments, signature.args, strict=True):
            self._give(inner, name, given, dtype)
        entry = self.program.new_block()
        self._leave(ir.Jump(entry))
        inner.run(entry)
        self.block = back

    def functions(self):
        """The Python functions that are being lowered, one in another."""
        outer = self.caller.lowering.functions() if self.caller else ()
        return (*outer, self.function)

    def _give(self, inner, name, given, dtype):
        """Let a device function know an argument: an object, or an operand."""
        if given is None:
            inner.given[name] = dtype.value
            return
        if isinstance(given, tuple):  # the rest of the arguments, of `*name`
            items = tuple(map(self.operand, given))
            inner.arguments[name] = self._whole(items, our_type(dtype))
            return
        variable = getattr(given, "name", given)
        if variable in self.known:
            inner.given[name] = self.known[variable]
        elif isinstance(self._known_tuple(variable), tuple):
            inner.given[name] = self._known_tuple(variable)
        else:
            operand = self.cast(self.operand(variable), our_type(dtype))
            inner.arguments[name] = operand
            if inner.within is not None:
                inner.array_names[name] = self.array_name(operand)

    def _known_tuple(self, name):
        """The numbers of a tuple that is known before the launch, or None."""
        items = self.packed.get(name, (None,))
        if all(isinstance(item, ir.Const) for item in items):
            return tuple(item.value.item() for item in items)
        return None

    def _value_Arg(self, target, value):
        if value.name in self.given:
            return self._know(target, self.given[value.name])
        operand = self.arguments[value.name]
        if self.caller is None:
            self.program.types[value.name] = our_type(self.numba_type(target))
            return
        self.assign(self.declare(target, self.type_of(operand)), operand)
        name = self.array_names.get(value.name, value.name)
        self.aliases[self.name(target)] = name

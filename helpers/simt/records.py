"""Fields of records, by name or as attributes; a mix-in of Lowering.

A record is an array without axes over cells that have fields; a field is one over cells
of its own, as far apart as the records are.
"""

import numpy as np

from . import ir


class Records:
    """How fields are read and written."""

    def _get_field(self, target, variable, name):
        """`record[name]`, or the field of each record of an array."""
        array = self.operand(variable)
        field = self._field(array, name)
        if self.type_of(field).ndim:
            self._bind(target, field)
            self.aliases[self.name(target)] = self.aliases.get(array, array)
            return
        result = self.declare(target, self.type_of(field).dtype)
        self.emit(ir.Load(result, field, (), self.reference("load", array)))

    def _set_field(self, statement, name):
        """`record[name] = value`."""
        array = self.operand(statement.target)
        field = self._field(array, name)
        if self.type_of(field).ndim:
            self.refuse("store to one record at a time: `array[i].field = value`")
        value = self.cast(self.operand(statement.value), self.type_of(field).dtype)
        self.emit(ir.Store(field, (), value, self.reference("store", array)))

    def _do_SetAttr(self, statement):
        self._set_field(statement, statement.attr)

    def _field(self, array, name) -> str:
        """A field's array, of the type of its elements."""
        record = self.type_of(array)
        dtype = record.dtype.fields[name][0]
        if dtype.shape or dtype.names or dtype.kind not in "iufcb":
            self.refuse(
                f"the field `{name}` is not emulated yet: use fields of numbers"
            )
        target = self.new_name(ir.ArrayType(np.dtype(dtype), record.ndim), name)
        self.emit(ir.Attribute(target, array, f"field {name}"))
        return target

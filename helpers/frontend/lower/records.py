"""Fields of records, by name or as attributes; a mix-in of Lowering.

A record is an array without axes over cells that have fields; a field is one over the
same bytes, with the axes of its own behind those of the records.
"""

import numpy as np

from helpers.core import ir


class Records:
    """How fields are read and written."""

    def _get_field(self, target, variable, name):
        """`record[name]`, or the field of each record of an array."""
        array = self.operand(variable)
        field = self._field(array, name)
        dtype = self.type_of(field)
        if dtype.ndim or dtype.dtype.names:
            self._bind(target, field)
            self.aliases[self.name(target)] = self.aliases.get(array, array)
            return
        result = self.declare(target, dtype.dtype)
        self.emit(ir.Load(result, field, (), self.reference("load", array)))

    def _set_field(self, statement, name):
        """`record[name] = value`."""
        array = self.operand(statement.target)
        self.store_to(self._field(array, name), (), self.operand(statement.value))

    def _do_SetAttr(self, statement):
        self._set_field(statement, statement.attr)

    def _field(self, array, name) -> str:
        """A field's array, of the type of its elements."""
        record = self.type_of(array)
        whole, offset = record.dtype.fields[name][:2]
        dtype, inner = whole.subdtype or (whole, ())
        if not dtype.names and dtype.kind not in "iufcb":
            self.refuse(
                f"the field `{name}` is not emulated yet: use fields of numbers"
            )
        result = ir.ArrayType(np.dtype(dtype), record.ndim + len(inner))
        target = self.new_name(result, name)
        packed = not record.dtype.isalignedstruct and not inner
        self.emit(ir.Field(target, array, result.dtype, offset, inner, packed))
        self.aliases[target] = self.aliases.get(array, array)
        return target

"""Arrays in Numba's typed IR: items, parts, attributes and stores; a mix-in of
Lowering.
"""

import numpy as np

from helpers.core import ir
from helpers.core.device_memory import Pointer, host_view
from helpers.frontend.known_values import constant_value, static_index
from helpers.frontend.types import our_type

_NUMBERS = ("size", "ndim", "itemsize", "nbytes")


class Arrays:
    """How arrays are read, written and asked."""

    def _captured_arrays(self, target, name, values, dtypes):
        """A tuple from the names around a kernel, with arrays in it."""
        items = []
        for place, (value, dtype) in enumerate(zip(values, dtypes, strict=True)):
            item = f"{target}.{place}"
            if isinstance(dtype, ir.ArrayType):
                self._captured_array(item, name, value, dtype)
                items.append(self.name(item))
            else:
                items.append(constant_value(value, dtype))
        self.pack(target, tuple(items))

    def _captured_array(self, target, kernels_name, array, dtype):
        """A host array is frozen when the kernel is compiled; a device array is not."""
        if isinstance(getattr(array, "gpu_data", None), Pointer):
            space, array = "global", host_view(array)
        elif isinstance(array, np.ndarray):
            space, array = "const", array.copy(order="K")
        else:
            self.refuse(
                "a captured device array is not emulated where there is a GPU: "
                "make it an argument"
            )
        name = self.declare(target, dtype)
        self.aliases[name] = kernels_name
        self.emit(ir.Captured(name, array, kernels_name, space, self.site()))

    # attributes

    def _value_attribute(self, target, value):
        dtype = our_type(self.numba_type(value.value))
        if type(self.numba_type(target)).__name__ == "BoundFunction":
            self.methods[target] = (value.value, value.attr)
        elif isinstance(dtype, ir.ArrayType):
            self._array_attribute(target, value.value, value.attr, dtype)
        elif isinstance(dtype, tuple):
            self._tuple_attribute(target, value)
        elif value.value.name in self.addresses and value.attr == "data":
            address = self._array_number(self.addresses[value.value.name], "address")
            self._bind(target, address)
        elif isinstance(dtype, np.dtype) and value.attr in ("real", "imag"):
            operands = (self.operand(value.value),)
            result = our_type(self.numba_type(target))
            self.operate(target, value.attr, operands, (dtype,), result)
        elif isinstance(dtype, np.dtype) and value.attr == "value":  # of an Enum
            self._bind(target, self.operand(value.value))
        else:
            self.refuse(f"the emulator does not know `.{value.attr}` of values yet")

    def _array_attribute(self, target, variable, name, dtype):
        operand = self.operand(variable)
        if name in (dtype.dtype.names or ()):
            self._get_field(target, variable, name)
        elif name in ("shape", "strides"):
            axes = range(dtype.ndim)
            numbers = (self._array_number(operand, f"{name}{axis}") for axis in axes)
            self.pack(target, tuple(numbers))
        elif name in _NUMBERS:
            self._bind(target, self._array_number(operand, name))
        elif name == "dtype":
            self.known[target] = dtype.dtype
        elif name == "ctypes":
            self.addresses[target] = operand
        elif name == "flat":
            self.flats[target] = operand
        elif name == "T":
            self._transpose(target, operand)
        elif name in ("real", "imag"):
            self._component(target, operand, name, dtype)
        else:
            self.refuse(f"the emulator does not know `.{name}` of arrays yet")

    def _array_number(self, array, name):
        target = self.new_name(np.dtype(np.int64), name)
        self.emit(ir.Attribute(target, array, name))
        return target

    def _transpose(self, target, operand):
        name = self._part_of(target, operand)
        self.emit(ir.Attribute(name, operand, "T"))

    def _component(self, target, operand, name, dtype):
        """The real or imaginary parts of an array, as a view."""
        if dtype.dtype.kind != "c":
            if name == "real":
                return self._bind(target, operand)
            self.refuse("`.imag` of an array of real numbers is not emulated")
        half = np.dtype(f"f{dtype.dtype.itemsize // 2}")
        offset = half.itemsize if name == "imag" else 0
        part = self._part_of(target, operand)
        self.emit(ir.Field(part, operand, half, offset, ()))

    def _part_of(self, target, operand) -> str:
        """A view's name, told in reports by its array's."""
        name = self.declare(target, our_type(self.numba_type(target)))
        self.aliases[name] = self.aliases.get(operand, operand)
        return name

    # items and parts

    def _expr_getitem(self, target, value):
        if value.value.name in self.flats:
            return self._get_flat(target, self.flats[value.value.name], value.index)
        if isinstance(our_type(self.numba_type(value.value)), ir.ArrayType):
            return self._get(target, value.value, value.index)
        self._tuple_item_by_lane(target, value)

    def _choose_array(self, name, index, items):
        """`name` = one of the arrays of a tuple."""
        self.aliases[name] = self.aliases.get(items[0], items[0])
        self.emit(ir.ChooseArray(name, index, tuple(items), self.site()))

    def _get(self, target, array, index):
        operand, indices = self.operand(array), self._indices(index)
        result = our_type(self.numba_type(target))
        if isinstance(result, ir.ArrayType):
            name = self._part_of(target, operand)
            self.emit(ir.View(name, operand, indices, self.reference("load", operand)))
            return
        if result is None:
            self.refuse("arrays of such elements are not emulated yet")
        self._load(self.declare(target, result), operand, indices)

    def _load(self, name, operand, indices):
        reference = self.reference("load", operand)
        self.emit(ir.Load(name, operand, indices, reference))

    def _get_flat(self, target, array, index):
        indices = self.unravelled(array, self._flat_index(index))
        self._load(self._declared(target), array, indices)

    def _declared(self, target):
        return self.declare(target, our_type(self.numba_type(target)))

    def _flat_index(self, index):
        if isinstance(index, int):
            return ir.Const(np.int64(index))
        return self.cast(self.operand(index), np.dtype(np.int64))

    def unravelled(self, array, index, order="C") -> tuple:
        """The indices of an element that is counted along all axes."""
        axes = range(self.type_of(array).ndim)
        sizes = [self._array_number(array, f"shape{axis}") for axis in axes]
        return self.unravelled_in(sizes, index, order)

    def unravelled_in(self, sizes, index, order="C") -> tuple:
        if not sizes:
            return ()
        indices, last = {}, 0 if order == "C" else len(sizes) - 1
        axes = list(reversed(range(len(sizes))))
        for axis in axes if order == "C" else reversed(axes):
            if axis == last:
                indices[axis] = index
                break
            indices[axis] = self._of_index("mod", index, sizes[axis])
            index = self._of_index("floordiv", index, sizes[axis])
        return tuple(indices[axis] for axis in sorted(indices))

    def _of_index(self, operator, *operands):
        target = self.new_name(np.dtype(np.int64), "index")
        self.emit(ir.Operation(target, operator, operands, self.site()))
        return target

    def _indices(self, index) -> tuple:
        """The parts of an index, each an operand, a Slice, Ellipsis or None."""
        if isinstance(index, (int, slice, tuple)):
            parts = index if isinstance(index, tuple) else (index,)
            return tuple(static_index(part) for part in parts)
        name = getattr(index, "name", index)
        if self._is_slice(name):
            return (self._slice(name),)
        if name not in self.packed:
            return tuple(map(self._whole_index, self.items(name)))
        return tuple(self._index_part(part) for part in self.packed[name])

    def _whole_index(self, operand):
        """An index that Numba made a float where two tuples met, as it is used."""
        kind = getattr(self.type_of(operand), "kind", "")
        return self.cast(operand, np.dtype(np.int64)) if kind == "f" else operand

    def _index_part(self, part):
        name = getattr(part, "name", None)
        if name is None:  # an operand already
            return part
        return self._slice(name) if self._is_slice(name) else self.operand(part)

    def _slice(self, name):
        return static_index(self.known[name])

    # stores

    def _do_SetItem(self, statement):
        self._set(statement, statement.index)

    def _do_StaticSetItem(self, statement):
        index, variable = statement.index, statement.index_var
        if isinstance(index, str):
            return self._set_field(statement, index)
        if type(self.numba_type(statement.target)).__name__ == "Record":
            names = self.type_of(self.operand(statement.target)).dtype.names
            return self._set_field(statement, names[index])
        self._set(statement, index if variable is None else variable)

    def _set(self, statement, index):
        name = statement.target.name
        if name in self.flats:
            array = self.flats[name]
            indices = self.unravelled(array, self._flat_index(index))
        else:
            array, indices = self.operand(name), self._indices(index)
        self.store_to(array, indices, self.operand(statement.value))

    def store_to(self, array, indices, value):
        """`array[indices] = value`: an element, a record, or the same to each."""
        ours, theirs = self.type_of(array), self.type_of(value)
        reference = self.reference("store", array)
        whole = all(isinstance(part, ir.Operand) for part in indices)
        whole = whole and len(indices) == ours.ndim
        if whole and isinstance(theirs, np.dtype):
            value = self.cast(value, ours.dtype)
            self.emit(ir.Store(array, indices, value, reference))
            return
        part = array
        if indices:
            part = self.new_name(ir.ArrayType(ours.dtype, None), "part")
            self.emit(ir.View(part, array, indices, reference))
        if isinstance(theirs, ir.ArrayType):
            self.emit(ir.Move(part, value, reference, self.reference("load", value)))
        elif isinstance(theirs, tuple):
            items = self._items_of(value, theirs)
            items = tuple(self.cast(item, ours.dtype) for item in items)
            packed = self.new_name(tuple(ours.dtype for _ in items), "items")
            self.emit(ir.Pack(packed, items))
            self.emit(ir.Fill(part, packed, reference))
        else:
            self.emit(ir.Fill(part, self.cast(value, ours.dtype), reference))

    def _items_of(self, whole, dtypes) -> list:
        """The items of an operand that is a tuple."""
        if isinstance(whole, ir.Const):
            return [ir.Const(item) for item in whole.value]
        return [self._item(whole, place, dtype) for place, dtype in enumerate(dtypes)]

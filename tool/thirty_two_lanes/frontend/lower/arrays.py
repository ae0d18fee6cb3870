"""Arrays in Numba's typed IR: those that a kernel makes, items and parts, attributes,
stores and atomics, and the fields of records.

A record is an array without axes over cells that have fields; a field is one over the
same bytes, with the axes of its own behind those of the records.
"""

from dataclasses import replace

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import KernelError
from thirty_two_lanes.frontend.known_values import static_index
from thirty_two_lanes.frontend.lower.builder import INDEX, NONE, ZERO, index_constant
from thirty_two_lanes.frontend.lower.tuples import is_slice, pack
from thirty_two_lanes.language.warp_intrinsics import ATOMICS, CACHE_HINTS, SWAPS

_NUMBERS = ("size", "ndim", "itemsize", "nbytes")


def allocate(builder, target, space, value):
    """`cuda.shared.array(shape, dtype)`, or a thread's own."""
    named = dict(value.kws)
    alignment = builder.known.get(getattr(named.pop("alignment", None), "name", None))
    if len(value.args) > 2:
        alignment = builder.known.get(value.args[2].name)
    arguments = [*value.args, *named.values()]
    if "shape" in named:
        arguments = [named["shape"]]
    result = builder.our_type(target)
    shape = builder.known.get(getattr(arguments[0], "name", arguments[0]))
    if shape is None:
        shape = tuple(int(item.value) for item in builder.items(arguments[0]))
    shape = tuple(shape) if isinstance(shape, tuple) else (int(shape),)
    if min(shape, default=1) < (shape != (0,) or space == "local"):
        builder.refuse(  # Numba asks only how many elements there are in all
            "a shared or local array has at least 1 element along each axis, and "
            f"this one has {min(shape)}",
            KernelError,
        )
    name = builder.declare(target, result)
    # a thread has its own local arrays in each call, a block has one shared array
    key = (*builder.specialisation, target) if space == "shared" else (name,)
    reported, site, dtype = builder.array_name(name), builder.site(), result.dtype
    builder.emit(
        ir.Allocate(name, space, shape, dtype, reported, site, key, alignment or 1)
    )


def constant_array(builder, target, name, arguments, signature):
    """`cuda.const.array_like(array)`: the captured array itself."""
    array = builder.operand(arguments[0])
    builder.bind(target, array)
    builder.arrays.alias(builder.name(target), array)


# attributes


def array_attribute(builder, target, variable, name, dtype):
    """`array.name`."""
    operand = builder.operand(variable)
    if name in (dtype.dtype.names or ()):
        record_field(builder, target, variable, name)
    elif name in ("shape", "strides"):
        axes = range(dtype.ndim)
        numbers = (array_number(builder, operand, f"{name}{axis}") for axis in axes)
        pack(builder, target, tuple(numbers))
    elif name in _NUMBERS:
        builder.bind(target, array_number(builder, operand, name))
    elif name == "dtype":
        builder.known[target] = dtype.dtype
    elif name == "ctypes":
        builder.arrays.addresses[target] = operand
    elif name == "flat":
        builder.arrays.flats[target] = operand
    elif name == "T":
        transpose(builder, target, operand)
    elif name in ("real", "imag"):
        _component(builder, target, operand, name, dtype)
    else:
        builder.refuse(f"the emulator does not support `.{name}` of arrays yet")


def array_number(builder, array, name):
    """A number that an array has, such as its size."""
    target = builder.new_name(INDEX, name)
    builder.emit(ir.Attribute(target, array, name))
    return target


def transpose(builder, target, operand):
    """`array.T`."""
    name = declare_view(builder, target, operand)
    builder.emit(ir.Attribute(name, operand, "T"))


def _component(builder, target, operand, name, dtype):
    """The real or imaginary parts of an array, as a view."""
    if dtype.dtype.kind != "c":
        if name == "real":
            return builder.bind(target, operand)
        builder.refuse("`.imag` of an array of real numbers is not emulated")
    half = np.dtype(f"f{dtype.dtype.itemsize // 2}")
    offset = half.itemsize if name == "imag" else 0
    part = declare_view(builder, target, operand)
    builder.emit(ir.Field(part, operand, half, offset, ()))


def declare_view(builder, target, operand) -> str:
    """Our name of a view, which is reported by the name of its array."""
    name = builder.declared(target)
    builder.arrays.alias(name, operand)
    return name


# items and parts


def array_item(builder, target, array, index):
    """`array[index]`: an element, or a part."""
    _take(builder, target, builder.operand(array), _indices(builder, index))


def _take(builder, target, operand, indices):
    """An element of an array, or a part, as the target's type says."""
    result = builder.our_type(target)
    if isinstance(result, ir.ArrayType):
        name = declare_view(builder, target, operand)
        reference = builder.reference("load", operand)
        return builder.emit(ir.View(name, operand, indices, reference))
    if result is None:
        builder.refuse("arrays of such elements are not emulated yet")
    indices = tuple(part for part in indices if part is not Ellipsis)  # of no axes
    load(builder, builder.declare(target, result), operand, indices)


def load(builder, name, operand, indices):
    """Load an element."""
    reference = builder.reference("load", operand)
    builder.emit(ir.Load(name, operand, indices, reference))


def flat_item(builder, target, variable, index):
    """`array.flat[index]`."""
    array = builder.arrays.flats[variable.name]
    indices = unravelled(builder, array, flat_index(builder, index))
    _take(builder, target, array, indices)


def flat_index(builder, index):
    """An index that counts along all axes."""
    if isinstance(index, int):
        return index_constant(index)
    return builder.cast(builder.operand(index), INDEX)


def unravelled(builder, array, index, order="C") -> tuple:
    """The indices of an element that is counted along all axes."""
    axes = range(builder.type_of(array).ndim)
    sizes = [array_number(builder, array, f"shape{axis}") for axis in axes]
    return unravelled_in(builder, sizes, index, order)


def unravelled_in(builder, sizes, index, order="C") -> tuple:
    """The indices of an element that is counted in an array of these sizes."""
    if not sizes:
        return ()
    indices, last = {}, 0 if order == "C" else len(sizes) - 1
    axes = list(reversed(range(len(sizes))))
    for axis in axes if order == "C" else reversed(axes):
        if axis == last:
            indices[axis] = index
            break
        indices[axis] = builder.index("mod", index, sizes[axis])
        index = builder.index("floordiv", index, sizes[axis])
    return tuple(indices[axis] for axis in sorted(indices))


def _indices(builder, index) -> tuple:
    """The parts of an index, each an operand, a Slice, Ellipsis or None."""
    if isinstance(index, (int, slice, tuple)):
        parts = index if isinstance(index, tuple) else (index,)
        return tuple(static_index(part) for part in parts)
    name = getattr(index, "name", index)
    if is_slice(builder, name):
        return (_slice(builder, name),)
    if name not in builder.packed:
        return tuple(_index(builder, item) for item in builder.items(name))
    return tuple(_index_part(builder, part) for part in builder.packed[name])


def _index(builder, operand):
    """An index as it is used: Numba made it a float where two tuples met, or it may
    be None.
    """
    dtype = builder.type_of(operand)
    changed = isinstance(dtype, ir.Optional) or getattr(dtype, "kind", "") == "f"
    return builder.cast(operand, INDEX) if changed else operand


def _index_part(builder, part):
    name = getattr(part, "name", None)
    if name is None:  # an operand already
        return None if part == NONE else _index(builder, part)
    return _slice(builder, name) if is_slice(builder, name) else builder.operand(part)


def _slice(builder, name):
    """A slice, `...` or None, known before the launch."""
    return static_index(builder.known[name])


# stores


def static_set_item(builder, statement):
    """`array[0] = value`, `record["name"] = value`: the index is written out."""
    index, variable = statement.index, statement.index_var
    if isinstance(index, str):
        return _set_field(builder, statement, index)
    if builder.kind(statement.target) == "Record":
        names = builder.type_of(builder.operand(statement.target)).dtype.names
        return _set_field(builder, statement, names[index])
    set_item(builder, statement, index if variable is None else variable)


def set_item(builder, statement, index=None):
    """`array[index] = value`."""
    name, index = statement.target.name, statement.index if index is None else index
    if name in builder.arrays.flats:
        array = builder.arrays.flats[name]
        indices = unravelled(builder, array, flat_index(builder, index))
    else:
        array, indices = builder.operand(name), _indices(builder, index)
    store(builder, array, indices, builder.operand(statement.value))


def store(builder, array, indices, value):
    """`array[indices] = value`: an element, a record, or the same to each."""
    check_writable(builder, array)
    ours, theirs = builder.type_of(array), builder.type_of(value)
    reference = builder.reference("store", array)
    is_element = all(isinstance(part, ir.Operand) for part in indices)
    if is_element and len(indices) == ours.ndim and isinstance(theirs, np.dtype):
        value = builder.cast(value, ours.dtype)
        return builder.emit(ir.Store(array, indices, value, reference))
    part = array
    if indices:
        part = builder.new_name(ir.ArrayType(ours.dtype, None), "part")
        builder.emit(ir.View(part, array, indices, reference))
    if isinstance(theirs, ir.ArrayType):
        builder.emit(ir.Move(part, value, reference, builder.reference("load", value)))
    elif isinstance(theirs, tuple):
        dtypes = (ours.dtype,) * len(theirs)
        items = builder.casts(builder.parts(value), dtypes)
        packed = builder.pack(items, dtypes, "items")
        builder.emit(ir.Fill(part, packed, reference))
    else:
        builder.emit(ir.Fill(part, builder.cast(value, ours.dtype), reference))


def check_writable(builder, array):
    """Refuse to change an array that is frozen in constant memory."""
    frozen = builder.body.frozen.get(builder.arrays.base(array))
    if frozen is not None:
        builder.refuse(
            f"`{frozen}` is outside the kernel, and its values are "
            "frozen when the kernel is compiled: pass it as an argument to store in it",
            KernelError,
        )


def hinted_access(builder, target, name, arguments, signature):
    """A load or a store that also says what caches are to keep."""
    array, indices = builder.operand(arguments[0]), _indices(builder, arguments[1])
    if CACHE_HINTS[name] == "load":
        return load(builder, builder.declared(target), array, indices)
    store(builder, array, indices, builder.operand(arguments[2]))


def atomic(builder, target, name, arguments, signature):
    """`cuda.atomic.name(array, index, value)`."""
    array = builder.operand(arguments[0])
    check_writable(builder, array)
    dtype = builder.type_of(array).dtype
    if name == "cuda.atomic.compare_and_swap":
        indices, values = (ZERO,), arguments[1:]
    else:
        indices, values = _indices(builder, arguments[1]), arguments[2:]
    values = tuple(builder.cast(o, dtype) for o in builder.operands(values))
    ours, operator = builder.declare(target, dtype), ATOMICS[name]
    reference = builder.reference("atomic", array)
    reference = replace(reference, swaps=operator in SWAPS)
    builder.emit(ir.Atomic(ours, operator, array, indices, values, reference))


# fields of records


def record_field(builder, target, variable, name):
    """`record[name]`, or the field of each record of an array."""
    array = builder.operand(variable)
    field = _field(builder, array, name)
    dtype = builder.type_of(field)
    if dtype.ndim or dtype.dtype.names:
        builder.bind(target, field)
        builder.arrays.alias(builder.name(target), array)
        return
    result = builder.declare(target, dtype.dtype)
    builder.emit(ir.Load(result, field, (), builder.reference("load", array)))


def set_attribute(builder, statement):
    """`record.name = value`."""
    _set_field(builder, statement, statement.attr)


def _set_field(builder, statement, name):
    """`record[name] = value`."""
    array = builder.operand(statement.target)
    store(builder, _field(builder, array, name), (), builder.operand(statement.value))


def _field(builder, array, name) -> str:
    """A field's array, of the type of its elements."""
    record = builder.type_of(array)
    field, offset = record.dtype.fields[name][:2]
    dtype, inner = field.subdtype or (field, ())
    if not dtype.names and dtype.kind not in "iufcb":
        builder.refuse(f"the field `{name}` is not emulated yet: use fields of numbers")
    result = ir.ArrayType(np.dtype(dtype), record.ndim + len(inner))
    target = builder.new_name(result, name)
    packed = not record.dtype.isalignedstruct and not inner
    builder.emit(ir.Field(target, array, result.dtype, offset, inner, packed))
    builder.arrays.alias(target, array)
    return target

"""Arrays that host and device share, and that tell what the host does with them: those
of `cuda.pinned_array`, `mapped_array` and `managed_array`, while somebody hears it.

What an element-wise function, an index or a method reads comes out as plain NumPy
arrays. Not modelled, as NumPy does not say it: `np.array` and `np.asarray` of such an
array, an assignment of it to a plain array, `memoryview`, and arrays of one's own that
`cuda.pinned` pins. An index that is an array counts as all elements.
"""

from contextlib import contextmanager
from functools import wraps

import numpy as np
from numba.cuda import api
from numba.cuda.cudadrv.devicearray import ManagedNDArray, MappedNDArray

from thirty_two_lanes.emulator.host.hearing import tell

READERS = """
__bool__ __complex__ __contains__ __copy__ __deepcopy__ __float__ __format__ __index__
__int__ __reduce_ex__ __repr__ __str__ argmax argmin argpartition argsort astype choose
compress copy cumprod cumsum diagonal dot dump dumps flatten item nonzero repeat round
searchsorted take tobytes tofile tolist trace
""".split()
WRITERS = "fill itemset partition put setfield sort".split()
WRITING = (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal)
ASKING = (  # for no element
    *(np.shape, np.ndim, np.size, np.may_share_memory, np.shares_memory),
    *(np.empty_like, np.zeros_like, np.ones_like, np.full_like, np.result_type),
)


class PinnedArray(np.ndarray):
    """An array that tells what is read and written of it."""

    @property
    def untold(self):
        """The same elements as a plain array."""
        return np.ndarray.view(self, np.ndarray)

    def __getitem__(self, key):
        found = np.ndarray.__getitem__(self, key)
        if isinstance(found, np.ndarray) and np.may_share_memory(found, self):
            return found  # a part of it, of which nothing is read yet
        _accessed(_part(self, key), writes=False)
        return _untold(found)

    def __setitem__(self, key, value):
        _accessed(_part(self, key), writes=True)
        _read([value])
        self.untold[key] = _untold(value)

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **named):
        targets = [*out, *inputs[: method == "at"]]
        _read([*inputs, *named.values()])
        _write(targets)
        given = {name: _untold(value) for name, value in named.items()}
        if out:
            given["out"] = tuple(map(_untold, out))
        made = getattr(ufunc, method)(*map(_untold, inputs), **given)
        if not out:
            return made
        return out[0] if len(out) == 1 else tuple(out)

    def __array_function__(self, function, types, arguments, named):
        out = named.get("out")
        targets = [out, *arguments[: function in WRITING]]
        made = function(*_untold(arguments), **_untold(named))
        if function in ASKING:
            return made
        if out is None and _is_part(made, self):
            return _telling_parts(made)
        _write(targets)
        _read([*arguments[function in WRITING :], *named.values()])
        return made if out is None else out


def _telling(name, writes):
    """A method of arrays that tells what it does."""
    before = getattr(np.ndarray, name)

    @wraps(before)
    def method(self, *arguments, **named):
        _accessed(self.untold, writes)
        return getattr(self.untold, name)(*_untold(arguments), **_untold(named))

    return method


for _name in [*READERS, *WRITERS]:
    if hasattr(np.ndarray, _name):
        setattr(PinnedArray, _name, _telling(_name, _name in WRITERS))

SHARED = (MappedNDArray, ManagedNDArray)
TOLD = (PinnedArray, *SHARED)
METHODS = {
    name: value
    for name, value in vars(PinnedArray).items()
    if callable(value) or name == "untold"
}


@contextmanager
def noted_arrays():
    """Let the arrays that are made meanwhile tell what the host does with them."""
    cells = getattr(api.pinned_array, "__closure__", None) or ()
    (cell,) = [it for it in cells if callable(it.cell_contents)] or [None]
    makes = cell and cell.cell_contents
    if cell:
        cell.cell_contents = lambda *a, **named: makes(*a, **named).view(PinnedArray)
    before = {kind: {name: vars(kind).get(name) for name in METHODS} for kind in SHARED}
    for kind in SHARED:
        for name, value in METHODS.items():
            setattr(kind, name, value)
    try:
        yield
    finally:
        if cell:
            cell.cell_contents = makes
        for kind, values in before.items():
            for name, value in values.items():
                delattr(kind, name) if value is None else setattr(kind, name, value)


def _part(array, key):
    """What an index means, as a plain array; all of it for an index that copies."""
    whole = array.untold
    part = whole[(*key, ...) if type(key) is tuple else (key, ...)]
    return part if np.may_share_memory(part, whole) else whole


def _is_part(made, array) -> bool:
    """Is it another look at an array, or several?"""
    several = made if isinstance(made, (list, tuple)) else [made]
    return any(
        isinstance(it, np.ndarray) and np.may_share_memory(it, array) for it in several
    )


def _telling_parts(made):
    if isinstance(made, np.ndarray):
        return made.view(PinnedArray)
    return type(made)(map(_telling_parts, made))


def _told_in(values):
    """The arrays that tell, in values and in lists of them."""
    for value in values:
        if isinstance(value, TOLD):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _told_in(value)


def _accessed(array, writes):
    if array.size:
        tell("accessed", array, writes)


def _read(values):
    for array in _told_in(values):
        _accessed(array.untold, writes=False)


def _write(values):
    for array in _told_in(values):
        _accessed(array.untold, writes=True)


def _untold(value):
    """The same with plain arrays."""
    if isinstance(value, TOLD):
        return np.ndarray.view(value, np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(_untold, value))
    if type(value) is dict:
        return {name: _untold(it) for name, it in value.items()}
    return value

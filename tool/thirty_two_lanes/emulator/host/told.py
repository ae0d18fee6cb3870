"""What the host's calls tell the judge of streams: which memory, on which stream, from
which line of the program. Each function gives what is told of one call, a topic and its
event; `hearing.tell` calls it by its name.

Not modelled: what kernels of Numba's own touch, and those that run plainly because
enough were judged; streams that others than Numba make.
"""

import sys
from functools import lru_cache, partial

import numpy as np
from numba import cuda
from numba.core import config
from numba.cuda.cudadrv import devicearray

from thirty_two_lanes.core.device_memory import is_pinned
from thirty_two_lanes.core.errors import PACKAGES
from thirty_two_lanes.core.host_events import (
    LEGACY,
    PER_THREAD,
    Bytes,
    Callback,
    CallSite,
    EventRecord,
    HostAccess,
    HostWait,
    Operand,
    StreamOperation,
    StreamWait,
)
from thirty_two_lanes.core.source import Site, file_name, source_line

OTHERS = {"numba", "numpy", "contextlib", "functools"}  # that call for a program


def number_of(stream) -> int:
    """A stream's number; 0 is the default stream that Numba was told to use."""
    number = stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else 0
    number = int(number) or int(getattr(stream, "value", stream) or 0)
    if number:
        return number
    own = getattr(config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0)
    return PER_THREAD if own else LEGACY


def copied(way, target, source, size, stream, is_async):
    """A copy: "HtoD", "DtoH" or "DtoD", of the driver's two forms."""
    target, source = (Bytes.between(it, it + size) for it in (target, source))
    host = {"HtoD": source, "DtoH": target}.get(way)
    pageable = host is not None and not is_pinned(int(host.first[0]))
    operands = [Operand(source, False), Operand(target, True)]
    if pageable:  # the call reads it all, or returns when it is all there
        operands = [it for it in operands if it.bytes is not host]
    waits = "after" if way == "DtoH" and (pageable or not is_async) else ""
    if way == "HtoD" and not is_async:
        waits = "before" if pageable else "after"
    return _submitted("the copy", stream, operands, waits)


def filled(target, size, stream):
    """Memory is set to a byte."""
    written = Operand(Bytes.between(target, target + size), True)
    return _submitted("the memset", stream, [written])


def assigned(array, value, stream):
    """The host assigns to a part of a device array, by a kernel of Numba's."""
    given = [(array, True), (value, False)]
    arrays = [it for it in given if isinstance(it[0], np.ndarray) and it[0].size]
    operands = [Operand(Bytes.of(array), writes) for array, writes in arrays]
    waits = "" if stream else "after"
    return _submitted("the assignment", stream, operands, waits)


def launched(name, stream, arguments, run):
    """A launch, and what it touched if it was judged: its run says."""
    number, copies, waits = number_of(stream), [], ""
    for array, back, there in _host_arrays(arguments):
        if array.size and is_pinned(array.ctypes.data):
            touched = Bytes.of(array)
            ways = [False] * there + [True] * back
            copies += [Operand(touched, writes) for writes in ways]
            waits = "after" if back and number == LEGACY else waits
        elif back:
            waits = "after"
    touched = _touched(run, list(_on_device(arguments))) if run is not None else []
    return _submitted(f"the launch of `{name}`", stream, [*touched, *copies], waits)


def _host_arrays(arguments):
    """The host arrays of a launch: whether they are copied back, and there."""
    for argument in arguments:
        hint = type(argument) if isinstance(argument, _HINTS) else cuda.InOut
        value = argument.value if isinstance(argument, _HINTS) else argument
        if isinstance(value, tuple):
            yield from _host_arrays(value)
        elif isinstance(value, np.ndarray) and not hasattr(value, "gpu_data"):
            yield value, hint is not cuda.In, hint is not cuda.Out


_HINTS = (cuda.In, cuda.Out, cuda.InOut)


def _on_device(arguments):
    """Where the arrays of a launch begin that are on the device before it."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _on_device(argument)
        elif hasattr(argument, "__cuda_array_interface__"):
            yield argument.__cuda_array_interface__["data"][0]


def _touched(run, starts):
    """What a launch did to memory of the device that is not its own, by argument."""
    for name, traffic in run.reuse.items():
        memory = traffic.allocation
        ends = memory.kept_at, memory.kept_at + memory.size
        if any(ends[0] <= start < ends[1] for start in starts):
            for tally, writes in ((traffic.loaded, False), (traffic.stored, True)):
                touched = _of_tally(tally, memory.kept_at - memory.start)
                if touched:
                    yield Operand(touched, writes, name)


def _of_tally(tally, moved):
    """The bytes that were asked for, where the host has them; None where none were."""
    starts, ends = [], []
    for (place, size), counts in tally.counts().items():
        first = moved + tally.origin + place + np.flatnonzero(counts) * tally.unit
        starts.append(first)
        ends.append(first + size)
    if not any(map(len, starts)):
        return None
    return Bytes.merged(np.concatenate(starts), np.concatenate(ends))


def _submitted(what, stream, operands, waits=""):
    facts = what, number_of(stream), tuple(operands), _call_site(), waits
    return "operation", StreamOperation(*facts)


def accessed(array, writes):
    """The host reads or writes an array that the device may use."""
    return "access", HostAccess(Operand(Bytes.of(array), writes), _call_site())


def recorded(event, stream):
    """An event is recorded on a stream."""
    return "record", EventRecord(event, number_of(stream))


def awaited(event, stream):
    """A stream waits for an event."""
    return "wait", StreamWait(event, number_of(stream))


def ended(stream=None, event=None):
    """The host has waited for a stream, for an event, or for all."""
    return "end", HostWait(stream if stream is None else number_of(stream), event)


def called_back(stream, begins):
    """A stream calls the host back, or has done so."""
    return "callback", Callback(number_of(stream), begins)


def allocated(address, size):
    """Memory is a new array's."""
    return "allocation", Bytes.between(address, address + size)


def _call_site() -> CallSite:
    """The program's line that called, and what it calls arrays and streams."""
    frame, others = sys._getframe(1), OTHERS | PACKAGES
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in others:
        frame = frame.f_back
    site = _site(frame.f_code.co_filename, frame.f_lineno)
    return CallSite(site, partial(_array_at, frame), partial(_stream, frame))


@lru_cache
def _site(path, line) -> Site:
    return Site(file_name(path), line, source_line(path, line), path=path)


def _named(frame):
    """What a line has names for, and the elements of its lists: (name, value)."""
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if name.startswith("__"):
                continue
            yield name, value
            if isinstance(value, (list, tuple)):
                yield from ((f"{name}[{n}]", it) for n, it in enumerate(value))
            elif isinstance(value, dict):
                yield from ((f"{name}[{key!r}]", it) for key, it in value.items())
            elif name == "self":
                yield from ((f"self.{key}", it) for key, it in vars(value).items())
        if frame.f_locals is frame.f_globals:
            return


def _array_at(frame, address) -> str:
    """The name of the smallest array that has an address."""
    found = [
        (end - start, name)
        for name, value in _named(frame)
        for start, end in _extent(value)
        if start <= address < end
    ]
    return min(found, key=lambda it: it[0], default=(0, ""))[1]


def _extent(value):
    """Where an array's memory begins and ends, if it is one."""
    if isinstance(value, np.ndarray) and value.size:
        yield np.lib.array_utils.byte_bounds(value)
    elif isinstance(value, devicearray.DeviceNDArrayBase) and value.size:
        start = value.device_ctypes_pointer.value
        yield start, start + value.alloc_size


def _stream(frame, number) -> str:
    """The name of a stream."""
    for name, value in _named(frame):
        if isinstance(value, cuda.cudadrv.driver.Stream) and int(value) == number:
            return name
    return ""

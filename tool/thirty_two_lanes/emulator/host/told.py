"""What the host's calls tell the judge of streams: which memory, on which stream, from
which line of the program.

Somebody hears it during `host_heard_by`, and nothing is looked up at other times, nor
before the program has a stream or memory that host and device share: until then all
is in order. Not modelled: what kernels of Numba's own touch, and those that run plainly
because enough were judged; streams that others than Numba make.
"""

import sys
from contextlib import contextmanager

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
    Caller,
    Callback,
    EventRecord,
    HostAccess,
    HostWait,
    Operand,
    Operation,
    StreamWait,
)
from thirty_two_lanes.core.source import Site, file_name, source_line

OTHERS = {"numba", "numpy", "contextlib", "functools"}  # that call for a program
_heard = {"listeners": {}, "awake": False}


@contextmanager
def host_heard_by(listeners):
    """Let the host's calls be told to listeners, by topic, for a while."""
    from thirty_two_lanes.emulator.host.noted import noted_arrays

    before = dict(_heard)
    _heard.update(listeners=listeners, awake=False)
    try:
        with noted_arrays():
            yield
    finally:
        _heard.update(before)


def wake():
    """From now on calls may be out of order."""
    _heard["awake"] = bool(_heard["listeners"])


def is_heard(stream=0) -> bool:
    """Does anybody hear what calls do, and does it matter?"""
    if stream and not _heard["awake"]:
        wake()
    return _heard["awake"]


def _tell(topic, event):
    _heard["listeners"][topic](event)


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
    if not is_heard(stream):
        return
    target, source = (Bytes.between(it, it + size) for it in (target, source))
    host = {"HtoD": source, "DtoH": target}.get(way)
    pageable = host is not None and not is_pinned(int(host.first[0]))
    operands = [Operand(source, False), Operand(target, True)]
    if pageable:  # the call reads it all, or returns when it is all there
        operands = [it for it in operands if it.bytes is not host]
    waits = "after" if way == "DtoH" and (pageable or not is_async) else ""
    if way == "HtoD" and not is_async:
        waits = "before" if pageable else "after"
    _operate("the copy", stream, operands, waits)


def filled(target, size, stream):
    """Memory is set to a byte."""
    if is_heard(stream):
        written = Operand(Bytes.between(target, target + size), True)
        _operate("the memset", stream, [written])


def assigned(array, value, stream):
    """The host assigns to a part of a device array, by a kernel of Numba's."""
    if is_heard(stream) and array.size:
        operands = [Operand(Bytes.of(array), True)]
        if isinstance(value, np.ndarray) and value.size:
            operands.append(Operand(Bytes.of(value), False))
        _operate("the assignment", stream, operands, "" if stream else "after")


def launched(name, stream, arguments, run):
    """A launch, and what it touched if it was judged: its run says."""
    if not is_heard(stream):
        return
    number, copies, waits = number_of(stream), [], ""
    for array, back, there in _host_arrays(arguments):
        if array.size and is_pinned(array.ctypes.data):
            touched = Bytes.of(array)
            copies += [Operand(touched, False)] * there + [Operand(touched, True)] * back
            waits = "after" if back and number == LEGACY else waits
        elif back:
            waits = "after"
    touched = _touched(run, [it.bytes for it in copies]) if run is not None else []
    _operate(f"the launch of `{name}`", stream, [*touched, *copies], waits)


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


def _touched(run, copied):
    """What a launch did to memory of the device, by argument."""
    for name, traffic in run.reuse.items():
        if not traffic.allocation.device:
            continue
        for tally, writes in ((traffic.loaded, False), (traffic.stored, True)):
            moved = traffic.allocation.kept_at - traffic.allocation.start
            touched = _of_tally(tally, moved)
            if touched and not any(it.shared_with(touched) for it in copied):
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


def _operate(what, stream, operands, waits=""):
    operation = Operation(what, number_of(stream), tuple(operands), _caller(), waits)
    _tell("operation", operation)


def accessed(array, writes):
    """The host reads or writes an array that the device may use."""
    if is_heard() and array.size:
        operand = Operand(Bytes.of(array), writes)
        _tell("access", HostAccess(operand, _caller()))


def recorded(event, stream):
    """An event is recorded on a stream."""
    if is_heard(stream):
        _tell("record", EventRecord(event, number_of(stream)))


def awaited(event, stream):
    """A stream waits for an event."""
    if is_heard(stream):
        _tell("wait", StreamWait(event, number_of(stream)))


def ended(stream=None, event=None):
    """The host has waited for a stream, for an event, or for all."""
    if is_heard():
        number = None if stream is None else number_of(stream)
        _tell("end", HostWait(number, event))


@contextmanager
def calling_back(stream):
    """A stream calls the host back."""
    heard = is_heard()
    if heard:
        _tell("callback", Callback(number_of(stream), True))
    try:
        yield
    finally:
        if heard:
            _tell("callback", Callback(number_of(stream), False))


def allocated(address, size):
    """Memory is a new array's."""
    if is_heard() and size:
        _tell("allocation", Bytes.between(address, address + size))


def _caller() -> Caller:
    """The program's line that called, and what it calls arrays and streams."""
    frame, others = sys._getframe(1), OTHERS | PACKAGES
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in others:
        frame = frame.f_back
    path, line = frame.f_code.co_filename, frame.f_lineno
    site = Site(file_name(path), line, source_line(path, line), path=path)
    return Caller(site, lambda at: _array_at(frame, at), lambda it: _stream(frame, it))


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

"""A stand-in for `numba.cuda`, with a clock that only work moves."""

import contextlib
from types import SimpleNamespace

import numpy as np
from numba import cuda

from helpers.measuring import timing


class DeviceArray:
    """An array on the stand-in GPU."""

    def __init__(self, values):
        self.values = np.array(values)
        self.dtype, self.shape = self.values.dtype, self.values.shape
        self.strides, self.size = self.values.strides, self.values.size
        self.alloc_size = self.values.nbytes

    @property
    def raw(self):
        return self.values.reshape(-1).view(np.uint8)


class Event:
    def __init__(self, gpu):
        self.gpu = gpu

    def record(self, stream):
        self.gpu.did("event")
        self.time = self.gpu.clock_us


class StandIn:
    """As much of `numba.cuda` as a measurement needs, with a clock and a diary.

    It is busy from the start, with what the caller asked of it, and whenever anything
    was asked and nobody waited; then no times, and none of the host's bytes, are known.
    """

    def __init__(self):
        self.clock_us, self.kernel_us = 0.0, 40.0
        self.diary, self.seen = [], []  # what happened; what each launch found
        driver = SimpleNamespace(device_memset=self.memset, device_to_device=self.copy)
        self.cudadrv = SimpleNamespace(driver=driver)
        self.device_array = lambda size, dtype: DeviceArray(np.zeros(size, dtype))
        self.to_device = DeviceArray
        self.as_cuda_array = lambda array: array
        self.is_cuda_array = lambda array: isinstance(array, DeviceArray)
        self.is_busy = True
        self.synchronize = self.wait
        self.stream = lambda: SimpleNamespace(synchronize=self.wait)
        self.event = lambda timing: Event(self)

    def wait(self):
        self.is_busy = False

    def event_elapsed_time(self, start, end):
        assert not self.is_busy
        return (end.time - start.time) / 1000

    def did(self, what, takes_us=0.0):
        self.diary.append(what)
        self.clock_us += takes_us
        self.is_busy = True

    def memset(self, array, value, size, stream):
        self.did("flush", 1000.0)

    def copy(self, target, source, size, stream):
        assert stream or not self.is_busy, "another stream's work is not done"
        target.raw[:] = source.raw
        self.did("restore", 5.0)

    @contextlib.contextmanager
    def profiling(self):
        assert not self.is_busy
        self.did("profiler on")
        yield
        assert not self.is_busy
        self.did("profiler off")

    def launch(self, array):
        self.seen.append(array.values.copy())
        array.values += 1
        self.did("launch", self.kernel_us + len(self.seen) % 2)


def put_in_place(monkeypatch):
    """The stand-in as the GPU of this machine; every kernel launches on it."""
    stand_in = StandIn()
    monkeypatch.setattr(timing, "cuda", stand_in)
    machine = SimpleNamespace(has_gpu=True, name="Stand-in")
    monkeypatch.setattr(timing, "device", machine)
    monkeypatch.setattr(timing, "WARM_UP_S", 0.001)
    monkeypatch.setattr(timing, "COLD_BYTES", 64)
    kernel = type(cuda.jit(lambda: None))
    monkeypatch.setattr(kernel, "__getitem__", lambda *_: stand_in.launch)
    return stand_in

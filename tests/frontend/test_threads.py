"""Numba's compiler asked by several threads at a time."""

import threading

import numpy as np
import pytest
from numba import cuda
from numba.cuda import compiler as numba_compiler
from numba.cuda import dispatcher as numba_dispatcher
from numba.cuda.cudadrv import nvvm

from helpers import assemble, device, emulate

NUMBAS_OWN = nvvm.NVVM, numba_compiler.CUDACompiler, numba_dispatcher.get_current_device
ROUNDS = 12


def kernel_that_adds(number):
    """A new kernel, which calls two new device functions."""

    @cuda.jit
    def twice(x):
        return 2 * x

    @cuda.jit
    def plus(x):
        return twice(x) + number

    @cuda.jit
    def kernel(a):
        a[cuda.threadIdx.x] = plus(a[cuda.threadIdx.x])

    return kernel


def emulated(number):
    """What the kernel makes of 0, 1, 2 and 3."""
    values = np.arange(4)
    emulate(kernel_that_adds(number))[1, 4](values)
    return values.tolist()


def assembled(number):
    """The types of a kernel's argument, as `assemble` shows them."""
    found = assemble(kernel_that_adds(number))[1, 4](np.arange(4.0))
    return list(found.variables.values())


def lowered(number):
    """Does LLVM's code of a kernel define a function?"""
    kernel = kernel_that_adds(number)
    kernel[1, 4](np.arange(4))
    return ["define" in code for code in kernel.inspect_llvm().values()]


@pytest.mark.slow
@pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")
def test_threads_that_compile_at_a_time_do_not_meet():
    """Each gets its own kernel's typed IR, and Numba is as it was."""
    given, faults = {}, []

    def work(ask):
        try:
            given[ask] = [ask(number) for number in range(ROUNDS)]
        except BaseException as error:
            faults.append(error)

    asked = emulated, assembled, lowered
    threads = [threading.Thread(target=work, args=(ask,)) for ask in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == faults
    expected = [[n, 2 + n, 4 + n, 6 + n] for n in range(ROUNDS)]
    assert expected == given[emulated]
    assert [given[assembled][0]] * ROUNDS == given[assembled]
    assert {"a": "float64[::1]"} in given[assembled][0]
    assert [[True]] * ROUNDS == given[lowered]
    now = nvvm.NVVM, numba_compiler.CUDACompiler, numba_dispatcher.get_current_device
    assert NUMBAS_OWN == now

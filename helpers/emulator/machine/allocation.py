"""Shared and local arrays: where they lie, and which cells they are made of."""

import math

import numpy as np

from helpers.emulator.machine.arrays import contiguous
from helpers.emulator.machine.cells import block_by_block, interleaved, unwritten

ALIGNMENT = 16  # bytes, of each shared array at least


def is_dynamic(request) -> bool:
    """Does the launch say how many bytes this is?"""
    return request.space == "shared" and request.shape == (0,)


def shared_addresses(allocations) -> dict:
    """Where each shared array of a block begins: dynamic ones behind the others."""
    addresses, used = {}, 0
    for request in allocations:
        if request.space == "shared" and not is_dynamic(request):
            alignment = max(ALIGNMENT, request.alignment)
            addresses[request] = used = -(-used // alignment) * alignment
            used += math.prod(request.shape) * request.dtype.itemsize
    dynamic = [request for request in allocations if is_dynamic(request)]
    alignment = max([ALIGNMENT, *(request.alignment for request in dynamic)])
    used = -(-used // alignment) * alignment
    return addresses | dict.fromkeys(dynamic, used)


def local_array(request, blocks, program, patterns, address):
    """A warp's local array, one for each thread, holding what no one wrote."""
    make = block_by_block if request in program.seen_otherwise else interleaved
    cells = make(math.prod(request.shape), request.dtype, "local", address, blocks)
    return contiguous(cells, request.shape, request.name, patterns)


def shared_array(request, batch, patterns):
    """A block's shared array; all dynamic ones begin at the same byte."""
    launch = batch.launch
    address = launch.shared_addresses[request]
    if is_dynamic(request):
        size = request.dtype.itemsize
        cells = _dynamic_cells(request, batch, address)
        shape = (launch.shared_bytes // size,)
        cells = cells.seen_as(request.dtype, 0, size)
        return contiguous(cells, shape, request.name, patterns)
    other = request in launch.program.seen_otherwise
    make = block_by_block if other else interleaved
    count = math.prod(request.shape)
    cells = make(count, request.dtype, "shared", address, batch.blocks)
    return contiguous(cells, request.shape, request.name, patterns)


def _dynamic_cells(request, batch, address):
    """The cells of all dynamic arrays: of one size, or of a multiple of all sizes."""
    if batch.dynamic is not None:
        return batch.dynamic
    batch.dynamic = _new_dynamic_cells(request, batch, address)
    return batch.dynamic


def _new_dynamic_cells(request, batch, address):
    program, size = batch.launch.program, batch.launch.shared_bytes
    dynamic = [other for other in program.allocations if is_dynamic(other)]
    sizes = {other.dtype.itemsize for other in dynamic}
    whole = math.lcm(*sizes)
    if len(sizes) == 1 and not program.seen_otherwise & {*dynamic}:
        count = size // whole
        return interleaved(count, request.dtype, "shared", address, batch.blocks)
    cells = block_by_block(
        -(-size // whole), np.dtype((np.void, whole)), "shared", address, batch.blocks
    )
    fresh = unwritten(cells.memory.size // request.dtype.itemsize, request.dtype)
    cells.memory[...] = fresh.view(np.uint8)
    return cells

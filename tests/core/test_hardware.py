"""The numbers of GPUs, each as NVIDIA's own headers and guides have it."""

import tomllib
from dataclasses import fields

import pytest

from thirty_two_lanes.core import hardware
from thirty_two_lanes.core.hardware import (
    FILE,
    GPU,
    GPUS,
    H200,
    MULTIPROCESSORS,
    gpu_named,
)
from thirty_two_lanes.core.occupancy import Occupancy, nearest, occupancy_of
from thirty_two_lanes.emulator.host.attributes import attribute, attributes_of

# bytes of shared memory of which so many blocks of a warp fit, and one less with a byte
# more: `cuda_occupancy.h` of CUDA 13, asked as tests/on_gpu/occupancy.c asks it
STEPS = [
    ((7, 5), 13056, 5),
    ((8, 0), 32512, 5),
    ((8, 6), 33024, 3),
    ((8, 9), 33024, 3),
    ((9, 0), 45568, 5),
    ((10, 0), 45568, 5),
    ((12, 0), 33024, 3),
]


@pytest.mark.parametrize("capability, shared_bytes, blocks", STEPS)
def test_shared_memory_is_handed_out_in_steps(capability, shared_bytes, blocks):
    """Of 128 bytes, and of 256 on a T4: a byte more takes the whole step."""
    found = [
        occupancy_of(capability, 32, 32, shared_bytes + more).blocks for more in (0, 1)
    ]

    assert [blocks, blocks - 1] == found


@pytest.mark.parametrize(
    "capability, warps, blocks, shared_bytes, reserved, step",
    [
        ((7, 5), 32, 16, 65_536, 0, 256),
        ((8, 0), 64, 32, 167_936, 1024, 128),
        ((8, 6), 48, 16, 102_400, 1024, 128),
        ((8, 9), 48, 24, 102_400, 1024, 128),
        ((9, 0), 64, 32, 233_472, 1024, 128),
        ((10, 0), 64, 32, 233_472, 1024, 128),
        ((12, 0), 48, 24, 102_400, 1024, 128),
    ],
)
def test_a_multiprocessor_is_as_the_programming_guide_has_it(
    capability, warps, blocks, shared_bytes, reserved, step
):
    """Its table of technical specifications by compute capability."""
    found = MULTIPROCESSORS[capability]

    assert (warps, blocks, shared_bytes) == (
        found.warps,
        found.blocks,
        found.shared_bytes,
    )
    assert (reserved, step) == (found.reserved_bytes, found.shared_granularity)
    assert (65_536, 256, 4) == (
        found.registers,
        found.register_granularity,
        found.partitions,
    )


@pytest.mark.parametrize(
    "capability, threads, most",
    [((7, 5), 1024, 65_536), ((8, 6), 1536, 101_376), ((9, 0), 2048, 232_448)],
)
def test_a_block_gets_what_the_system_leaves_it(capability, threads, most):
    """The guide's maximum shared memory of a block, and threads of a multiprocessor."""
    found = MULTIPROCESSORS[capability]

    assert (threads, most) == (found.threads, found.shared_bytes_per_block)
    assert found == GPU("one", capability, 1, 1, 1).multiprocessor


def test_the_sizes_of_memory_are_those_of_every_gpu():
    """Bytes: the programming guide's chapters on global and on shared memory."""
    assert (32, 32, 4) == (
        hardware.WARP_SIZE,
        hardware.NUM_BANKS,
        hardware.WORD_BYTES,
    )
    assert (32, 128) == (hardware.SECTOR_BYTES, hardware.LINE_BYTES)
    assert 49_152 == hardware.STATIC_SHARED_BYTES


def test_the_largest_block_and_grid_are_those_of_every_gpu():
    """Threads: the guide's table, the same for each compute capability."""
    assert (1024, (1024, 1024, 64)) == (
        hardware.MAX_THREADS_PER_BLOCK,
        hardware.MAX_BLOCK_DIM,
    )
    assert (2_147_483_647, 65_535, 65_535) == hardware.MAX_GRID_DIM


def test_a_gpu_is_as_its_data_sheet_has_it():
    """An H200's multiprocessors, GB/s and TFLOP/s."""
    assert ("NVIDIA H200", (9, 0), 132) == (
        H200.name,
        H200.compute_capability,
        H200.multiprocessors,
    )
    assert (4800, 67) == (H200.peak_gb_per_s, H200.peak_tflop_per_s)


def test_an_h100_is_as_its_data_sheet_has_it():
    """SXM5: 3.35 TB/s, 67 TFLOP/s; 228 KB of shared memory and 50 MB of L2."""
    found = GPUS["H100"]

    assert (132, 3350, 67) == (
        found.multiprocessors,
        found.peak_gb_per_s,
        found.peak_tflop_per_s,
    )
    assert 228 * 1024 == found.multiprocessor.shared_bytes
    assert 50 * 2**20 == attribute("L2_CACHE_SIZE", found)
    assert 62_914_560 == attribute("L2_CACHE_SIZE")


@pytest.mark.parametrize(
    "name", ["H100", "h100", "NVIDIA H100", "NVIDIA H100 80GB HBM3"]
)
def test_a_gpu_is_known_by_the_name_that_people_and_its_driver_use(name):
    assert GPUS["H100"] == gpu_named(name)
    assert gpu_named("emulator") is None


def lacking(short, facts):
    """What a GPU's row lacks, each as a sentence."""
    row = f"core/gpus.toml, [{short}]"
    for name in (it.name for it in fields(GPU) if it.name != "attributes"):
        if name not in facts:
            yield f"{row}: `{name}` is missing; a peak that is not known is nan"
    capability = tuple(facts.get("compute_capability", ()))
    if capability not in MULTIPROCESSORS:
        what = f"what {capability} holds is missing"
        yield f"{row}: {what} in MULTIPROCESSORS, core/hardware.py"
    for name in set(facts.get("attributes", {})) - set(attributes_of(H200)):
        yield f"{row}: the H200's attributes have no `{name}`"


@pytest.mark.parametrize("short", GPUS)
def test_a_gpu_has_all_its_facts(short):
    """What is missing is named, with where to write it."""
    told = [*lacking(short, tomllib.loads(FILE.read_text("utf-8"))[short])]

    assert [] == told, "\n".join(told)


def test_a_gpu_that_lacks_facts_is_told_which():
    """A row with a name, a new capability and nothing else."""
    told = [*lacking("X", {"name": "NVIDIA X", "compute_capability": [13, 0]})]

    assert 4 == len(told)
    assert "core/gpus.toml, [X]: `multiprocessors` is missing" in told[0]
    assert "what (13, 0) holds is missing in MULTIPROCESSORS" in told[-1]


@pytest.mark.parametrize(
    "capability, known",
    [
        ((7, 5), (7, 5)),
        ((8, 7), (8, 6)),
        ((9, 0), (9, 0)),
        ((11, 0), (10, 0)),
        ((12, 1), (12, 0)),
        ((6, 1), (7, 5)),
    ],
)
def test_an_unknown_capability_counts_as_the_one_before_it(capability, known):
    """And one before all of them as the first."""
    assert known == nearest(capability)


def test_all_that_limits_a_launch_is_named():
    """1,024 threads of 64 registers: one block by registers, two by threads."""
    found = occupancy_of((9, 0), 1024, 64, 0)

    assert {"threads": 2, "registers": 1, "shared memory": 228, "blocks": 32} == (
        found.limits
    )
    assert (1, 32, 64, 0.5) == (
        found.blocks,
        found.warps,
        found.most_warps,
        found.share,
    )
    assert ("registers",) == found.limited_by
    assert ("a", "b") == Occupancy(2, 4, 8, {"a": 2, "b": 2, "c": 3}).limited_by
    assert () == Occupancy(2, 8, 8, {"a": 2}).limited_by


def test_few_registers_count_as_eight():
    """A warp gets 256 at least, as `cuda_occupancy.h` rounds up: 8 a thread."""
    limits = [occupancy_of((9, 0), 32, count, 0).limits for count in (1, 8, 9)]

    assert [256, 256, 128] == [it["registers"] for it in limits]


def test_a_block_whose_registers_do_not_fit_does_not_launch():
    """64 registers of 1,024 threads are all 65,536."""
    found = [occupancy_of((9, 0), 1024, count, 0) for count in (64, 72)]

    assert [1, 0] == [it.blocks for it in found]
    assert repr(found[1]).startswith("does not launch")

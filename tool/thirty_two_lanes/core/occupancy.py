"""How many blocks of a launch a multiprocessor holds at a time, and what keeps it from
holding more.

The rules are those of NVIDIA's occupancy calculator, `cuda_occupancy.h` of the CUDA
toolkit; Nsight Compute calls the share "theoretical occupancy".

Not modelled: a carve-out that leaves less shared memory than the most there is.
"""

from dataclasses import dataclass

from thirty_two_lanes.core.hardware import GPU, MULTIPROCESSORS, WARP_SIZE
from thirty_two_lanes.core.words import counted

UNKNOWN = 0  # registers, of code that no compiler has made: these limit nothing


@dataclass(frozen=True)
class Occupancy:
    """The warps that a multiprocessor holds of a launch, of those that it can hold.

    `limits` are the blocks that each resource leaves room for.
    """

    blocks: int
    warps: int
    most_warps: int
    limits: dict

    @property
    def share(self) -> float:
        """The warps held, of those that a multiprocessor can hold: 0 to 1."""
        return self.warps / self.most_warps

    @property
    def limited_by(self) -> tuple[str, ...]:
        """What leaves room for no more blocks; () where all warps are held."""
        if self.warps == self.most_warps:
            return ()
        return tuple(name for name, most in self.limits.items() if most == self.blocks)

    def __repr__(self):
        held = (
            f"{self.warps} of {self.most_warps} warps ({self.share:.0%}), "
            f"{counted(self.blocks, 'block')} a multiprocessor"
        )
        if self.blocks == 0:
            held = "does not launch"
        because = " and ".join(self.limited_by)
        return f"{held}, limited by {because}" if because else held


def occupancy_of(capability, threads, registers, shared_bytes) -> Occupancy:
    """The occupancy of a launch: threads and bytes of shared memory of a block,
    dynamic ones included, and registers of a thread.
    """
    has = MULTIPROCESSORS[nearest(capability)]
    warps = -(-threads // WARP_SIZE)
    shared = round_up(shared_bytes + has.reserved_bytes, has.shared_granularity)
    limits = {
        "threads": has.warps // warps,
        "registers": _by_registers(has, warps, registers),
        "shared memory": has.shared_bytes // shared if shared else has.blocks,
        "blocks": has.blocks,
    }
    blocks = min(limits.values())
    return Occupancy(blocks, blocks * warps, has.warps, limits)


def resident_blocks(gpu: GPU, threads, shared_bytes, registers=UNKNOWN) -> int:
    """The blocks that a whole GPU holds at a time."""
    held = occupancy_of(gpu.compute_capability, threads, registers, shared_bytes)
    return held.blocks * gpu.multiprocessors


def _by_registers(has, warps, registers):
    """The blocks that registers leave room for; each partition has its own."""
    of_a_warp = round_up(max(registers, 1) * WARP_SIZE, has.register_granularity)
    held = has.registers // has.partitions // of_a_warp * has.partitions
    return held // warps


def nearest(capability):
    """A capability of the table: this one, or the one before it."""
    before = (known for known in MULTIPROCESSORS if known <= capability)
    return max(before, default=(7, 5))


def round_up(number, step) -> int:
    """The multiple of a step that is not below a number."""
    return -(-number // step) * step

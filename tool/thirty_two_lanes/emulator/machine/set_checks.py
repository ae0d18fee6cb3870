"""What a checked program asks at each read of a variable that may have no value."""

import numpy as np

from thirty_two_lanes.core.events import UnsetRead
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.warps import whole
from thirty_two_lanes.language.warp_intrinsics import lane_read


def require_set(warp, request, is_set, operand, active):
    """Emit the active threads that read a variable which has no value."""
    listeners = warp.listeners["unset_read"]
    if not listeners or np.all(is_set):
        return
    shape = WARP_SIZE, warp.blocks
    active = whole(warp.live if active is None else active, shape)
    is_set = whole(is_set, shape)
    if request.shuffle:  # a lane that is not there gives 0, which others report
        lanes = whole(lane_read(request.shuffle, operand), shape)
        is_set = np.take_along_axis(is_set | ~active, lanes, axis=0)
    unset = active & ~is_set
    if unset.any():
        for listener in listeners:
            listener(UnsetRead(request.site, request.variable, unset, warp.who))

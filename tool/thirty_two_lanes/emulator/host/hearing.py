"""Whether anybody hears what the host's calls do. If so, `told.py` says it.

Nothing is looked up at other times, nor before the program has a stream or memory that
host and device share: until then all is in order.
"""

from contextlib import contextmanager

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


def tell(what, *call, stream=0):
    """Let a function of `told.py` say what a call does, if it matters."""
    if stream:
        wake()
    if not _heard["awake"]:
        return
    from thirty_two_lanes.emulator.host import told

    topic, event = getattr(told, what)(*call)
    _heard["listeners"][topic](event)

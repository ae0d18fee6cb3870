"""What several tests share."""

import signal

import pytest

# a shell lets what it runs in the background ignore Ctrl-C, and so would every child
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def fonts():
    """Matplotlib's list of fonts: made once on a new machine, and told on stderr."""
    import matplotlib.font_manager

    return matplotlib.font_manager.fontManager

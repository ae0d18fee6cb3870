"""What several tests share."""

import signal

import pytest

# a shell lets what it runs in the background ignore Ctrl-C, and so would every child
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Have `--numprocesses` run the tests of an `xdist_group` in one worker."""
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadgroup"
    config.option.loadgroup = True  # in a worker, which learns nothing of `dist`


@pytest.fixture(scope="session")
def fonts():
    """Matplotlib's list of fonts: made once on a new machine, with a line on stderr."""
    import matplotlib.font_manager

    return matplotlib.font_manager.fontManager

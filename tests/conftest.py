"""What several tests share."""

import pytest


@pytest.fixture(scope="session")
def fonts():
    """Matplotlib's list of fonts: made once on a new machine, and told on stderr."""
    import matplotlib.font_manager

    return matplotlib.font_manager.fontManager

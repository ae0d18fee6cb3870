"""The site, built once for those who read it and those who open it."""

import pytest

from lessons.site import main


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, built by the command."""
    pytest.importorskip("myst_nb", reason="needs Sphinx: make site")
    out = tmp_path_factory.mktemp("built") / "site"
    assert main(["--out", str(out)]) == 0
    return out

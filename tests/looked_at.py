"""What figures, films and assemblies show, as digests of what somebody last looked at.

    python -m tests.looked_at           writes those that changed, to be opened
    python -m tests.looked_at --write   keeps those of now

A change of a figure is then seen, and meant. Another version of Matplotlib draws other
lines, and is not compared.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import matplotlib
import pytest

from helpers import plotting
from tests.assembly.recordings import NAMES as ASSEMBLIES
from tests.assembly.recordings import said_of
from tests.film.kernels import films
from tests.paths import RECORDED
from tests.plotting.figures import drawn

FILE = RECORDED / "looked_at.json"
AGAIN = "look at it (`python -m tests.looked_at`), and keep it (`--write`)"


def of_figure(name) -> list[str]:
    """The images of a figure's function, whose sentences are within."""
    return [svg for _, svg in drawn(name)]


def of_film(name) -> list[str]:
    """A film's page without the player, and its contact sheet."""
    film = films()[name]()
    return [json.dumps(film.record(), indent=1), repr(film), film.sheet().svg()]


SHOWN = {f"figure {name}": (of_figure, name) for name in plotting.__all__}
SHOWN |= {f"film {name}": (of_film, name) for name in films()}
SHOWN |= {f"assembly {name}": (said_of, name) for name in ASSEMBLIES}


def digests(what) -> list[str]:
    """Of all that is shown of one thing."""
    function, name = SHOWN[what]
    return [hashlib.sha256(it.encode()).hexdigest()[:16] for it in function(name)]


def assert_looked_at(what):
    """It shows what it showed when somebody last looked."""
    kept = json.loads(FILE.read_text("utf-8"))
    if kept["matplotlib"] != matplotlib.__version__:
        pytest.skip(f"drawn by Matplotlib {kept['matplotlib']}")
    assert kept["digests"].get(what) == digests(what), f"{what} has changed: {AGAIN}"


def main(write=False):
    found = {what: digests(what) for what in SHOWN}
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"digests": {}}
    folder = Path(tempfile.mkdtemp())
    for what in SHOWN:
        if kept["digests"].get(what) != found[what]:
            function, name = SHOWN[what]
            for n, text in enumerate(function(name)):
                kind = "svg" if text.startswith("<svg") else "txt"
                (folder / f"{name}-{n}.{kind}").write_text(text, "utf-8")
            print(f"{what} has changed: {folder}/{name}-*")
    if write:
        kept = {"matplotlib": matplotlib.__version__, "digests": found}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(write="--write" in sys.argv)

"""The console script `lanes`, and how ours is found whatever else has its name.

It lies outside `thirty_two_lanes`, whose import brings Numba: it has a sentence where
that fails. A program's folder may hold a `helpers.py`, a `core.py`, even a
`thirty_two_lanes.py`: what checks the program is never one of them.
"""

import os
import sys
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PACKAGE = "thirty_two_lanes"
FOLDER = Path(__file__).resolve().with_name(PACKAGE)


def ours():
    """The package beside this file, imported by its location; a module of its name
    that came earlier makes room for it.

    Raises ImportError where something that it needs is missing.
    """
    found = sys.modules.get(PACKAGE)
    if found is not None and _file_of(found) == FOLDER / "__init__.py":
        return found
    for name in [it for it in sys.modules if it.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    spec = spec_from_file_location(
        PACKAGE, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    sys.modules[PACKAGE] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[PACKAGE]
        raise
    return module


def _file_of(module) -> Path:
    return Path(getattr(module, "__file__", None) or "").resolve()


def main() -> int:
    """Do what `lanes …` asks for; the exit status."""
    if sys.argv[1:2] == ["doctor"]:  # it works where nothing of ours can be imported
        import thirty_two_lanes_doctor

        with suppress(Exception):  # its page says what hinders
            ours()
        return thirty_two_lanes_doctor.main()
    try:
        ours()
    except ImportError as error:
        print(f"lanes: {error}; `lanes doctor` says what is missing", file=sys.stderr)
        return 2
    from thirty_two_lanes.__main__ import main as command

    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()  # as `python -m` does; a script's folder is no one's
    return command()

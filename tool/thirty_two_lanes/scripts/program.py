"""Runs somebody's own program in this process, as `python program.py` would.

It is `__main__`, and has its own `sys.argv` and `sys.path[0]`. A traceback begins at
its own lines. Not modelled: processes that it starts, which nobody here hears of.
"""

import runpy
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

OURS = ("runpy", __package__)  # whose frames come before the program's first
TOOL = __package__.partition(".")[0]


class NoProgram(Exception):
    """A program that is not there."""


def run_program(name, arguments=(), module=False) -> int:
    """Run a file, or with `module` a module, to its end; its exit status.

    Ctrl-C comes out as KeyboardInterrupt.
    """
    if not module and not Path(name).exists():
        raise NoProgram(f"there is no file {name}")
    _say_whose_name(Path(name).parent if not module else Path())
    others = set(threading.enumerate())
    with _as_python_starts(name, arguments, module):
        try:
            if module:
                runpy.run_module(name, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(name, run_name="__main__")
        except SystemExit as error:
            return _status(error.code)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _show(error)
            return 1
        finally:
            for thread in set(threading.enumerate()) - others:
                if not thread.daemon:  # as Python does at its end
                    thread.join()
    return 0


def _say_whose_name(folder):
    """The program has its own modules, but for one of the tool's name."""
    for file in (folder / f"{TOOL}.py", folder / TOOL / "__init__.py"):
        if file.exists() and file.resolve() != Path(sys.modules[TOOL].__file__):
            print(
                f"{file.relative_to(folder)} has the name of the tool, which "
                f"`import {TOOL}` gives here: rename yours if the program imports it",
                file=sys.stderr,
            )


@contextmanager
def _as_python_starts(name, arguments, module):
    """The program's own `sys.argv` and `sys.path`, for a while."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [name, *arguments]
    if not module and not sys.flags.safe_path:
        sys.path[0] = str(Path(name).resolve().parent)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _status(code) -> int:
    """What `sys.exit(code)` ends a process with; a text is printed first."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def _show(error):
    """Show an error as Python would, from the program's first line on."""
    traceback = error.__traceback__
    while traceback is not None:
        if not traceback.tb_frame.f_globals.get("__name__", "").startswith(OURS):
            break
        traceback = traceback.tb_next
    sys.stdout.flush()
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)

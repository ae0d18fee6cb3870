"""The command `lanes watch script.py`: runs a program, and makes a film of one launch.

Options stand before the program: what follows it is its own, and one of ours there is
refused, unless `--` comes first. The other launches run as they always do. The exit
status is the program's, or 2 where there is nothing to watch.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.film.watch import STEPS
from thirty_two_lanes.film.watching import Watching
from thirty_two_lanes.scripts.launches import handed_to
from thirty_two_lanes.scripts.options import file_to_write, whole_number
from thirty_two_lanes.scripts.program import NoProgram, run_program

INTERRUPTED = 130
COUNT = partial(whole_number, least=1)


def add_options(parser):
    """What `watch` is given: options first, then the program and its own arguments."""
    form = "[options] (script.py | -m module) [[--] arguments]"
    parser.usage = f"{parser.prog} {form}"
    add = parser.add_argument
    add("-m", dest="module", action="store_true", help="the program is a module")
    add("--kernel", metavar="NAME", help="the kernel to watch; else the first")
    add(
        "--launch",
        type=COUNT,
        default=1,
        metavar="N",
        help="its first launch, its second, …; 1 without it",
    )
    add("--block", type=_block, default=0, help="its number, or its place as x,y,z")
    add("--variables", type=_names, help="names of variables, as a,b; else all")
    add("--steps", type=COUNT, default=STEPS, help="how many the film has at most")
    add(
        "-o",
        "--output",
        type=_file,
        default=Path("film.html"),
        metavar="FILE",
        help="a page (.html) or a record (.json); film.html without it",
    )
    whole = {"nargs": argparse.PARSER, "action": ProgramAndArguments}
    add("program", **whole, help="a file, or after -m a module, and its arguments")


class ProgramAndArguments(argparse.Action):
    """A program with arguments of its own; whoever writes an option of ours behind it
    would get another film than the one that was asked for.
    """

    def __call__(self, parser, options, values, option_string=None):
        options.program, *options.arguments = values
        name = Path(options.program).name
        if options.arguments[:1] == ["--"]:
            del options.arguments[0]
            return
        others = {"module", "program", "arguments", "main"}
        ours = {"-o", *(f"--{it}" for it in vars(options).keys() - others)}
        for value in options.arguments:
            if value.partition("=")[0] in ours:
                parser.error(
                    f"{value} stands behind {name}, where arguments are the program's "
                    f"own: write it before {name}, or `--` behind it if it is not ours"
                )


def _block(text):
    parts = text.split(",")
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text} is not a number, or x,y,z")
    place = tuple(map(int, parts))
    return place[0] if len(place) == 1 else place


def _names(text):
    return [name.strip() for name in text.split(",")]


def _file(text):
    file_to_write(text)
    if Path(text).suffix not in (".html", ".json"):
        raise argparse.ArgumentTypeError(f"{text} does not end in .html or .json")
    return Path(text)


def main(options) -> int:
    """Run the program, and keep the film; the exit status."""
    camera, output = Camera(options), options.output.absolute()
    try:
        with handed_to(camera.launch):
            status = run_program(options.program, options.arguments, options.module)
    except NoProgram as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.stdout.flush()
    if camera.refused:
        return 2
    if camera.film is None:
        return _refused(camera.nothing())
    camera.film.save(output)
    print(f"{options.output}: {camera.film.record()['description']}")
    return status


class Camera:
    """Waits for the launch to watch; the others it lets run."""

    def __init__(self, options):
        self.options, self.film, self.refused = options, None, False
        self.launches = {}  # name: how many there were

    def launch(self, launch, *arguments):
        """One launch of the program."""
        name, options = launch.kernel.py_func.__name__, self.options
        if self.film is not None or launch.is_numbas_own:
            return launch.plainly(*arguments)
        self.launches[name] = count = self.launches.get(name, 0) + 1
        if options.kernel not in (None, name) or count != options.launch:
            return launch.plainly(*arguments)
        chosen = {"block": options.block, "variables": options.variables}
        watching = partial(Watching, steps=options.steps, **chosen)
        try:
            self.film = launch.emulated(*arguments, by=watching)
        except ExplainedError as error:
            self.refused = True
            _refused(str(error))
            raise SystemExit(2) from None
        if self.film.error is not None:  # as the program's launch would have ended
            raise self.film.error
        return None

    def nothing(self) -> str:
        """That there was no such launch, and which there were."""
        names = (f"`{name}` ({count})" for name, count in self.launches.items())
        wanted = self.options.kernel
        what = f"`{wanted}`" if wanted else "a kernel"
        order = f"launch {self.options.launch:,} of {what}"
        return f"there was no {order}; launched: {', '.join(names) or 'nothing'}"


def _refused(sentence) -> int:
    print(f"lanes watch: {sentence}", file=sys.stderr)
    return 2

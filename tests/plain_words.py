"""What no reader may see of an error: words of Numba and of Python's errors, our own
names, and lines that the reader has not written.
"""

import re

from thirty_two_lanes.core.errors import readers_part

INTERNAL = re.compile(
    r"\$\w|\b\w*(?:Key|Type|Value|Attribute|Overflow|Runtime|Lookup|Assertion)Error\b|"
    r"Traceback| at 0x|site-packages|(?:helpers|thirty_two_lanes)[./]|"
    r"numba\.(?:core|cuda\.\w+\.)|Literal\[|"
    r"<class|<function|<built-in|<intrinsic|<module|\w*Tuple\(|Function\(|Dispatcher|"
    r"Var\(|%\"|nopython|Overload|NoneType|__\w+__|/\w+/\w+/"
)
LIBRARIES = {"helpers", "thirty_two_lanes", "numba", "numpy", "llvmlite"}


def internals_of(error) -> list:
    """What a reader should not see of an error that left by a door."""
    shown, frame = [*INTERNAL.findall(str(error))], readers_part(error)
    while frame is not None:
        module = frame.tb_frame.f_globals.get("__name__", "")
        if module.split(".")[0] in LIBRARIES:
            shown.append(f"a line of {module}")
        frame = frame.tb_next
    if error.__cause__ or error.__context__ and not error.__suppress_context__:
        shown.append("what it came from")
    return shown

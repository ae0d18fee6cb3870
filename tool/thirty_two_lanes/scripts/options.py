"""What an option of a command may be; argparse says what it is not."""

from argparse import ArgumentTypeError
from pathlib import Path


def whole_number(text, least=0) -> int:
    """A whole number, not below the least."""
    if not text.isdecimal() or int(text) < least:
        raise ArgumentTypeError(f"{text} is not a whole number, {least} or more")
    return int(text)


def file_to_write(text) -> Path:
    """The place of a file, wherever the program goes; its folder must be there, which
    nobody wants to hear only after the program.
    """
    path = Path(text).absolute()
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {Path(text).parent}")
    if path.is_dir():
        raise ArgumentTypeError(f"{text} is a folder: give a file's name")
    return path

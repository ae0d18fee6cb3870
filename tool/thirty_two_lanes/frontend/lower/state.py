"""What is being built, and what is known of names while a function is lowered."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Body:
    """The kernel that is being built: blocks by number, and every variable's type."""

    lower: Callable  # (builder, entry): the loop over statements, for inlined functions
    options: dict  # of `@cuda.jit`
    notes: bool = False  # does the kernel tell its lines, and what variables get?
    blocks: dict = field(default_factory=dict)
    types: dict = field(default_factory=dict)
    functions: int = 0
    frozen: dict = field(default_factory=dict)  # arrays in constant memory, as spelt
    typed: dict = field(default_factory=dict)  # what the front end knows of functions

    def new_block(self) -> int:
        """The number of a new block."""
        number = len(self.blocks)
        self.blocks[number] = []
        return number


@dataclass
class Arrays:
    """What arrays.py knows of names."""

    aliases: dict = field(default_factory=dict)  # a view: the array that reports name
    spelt: dict = field(default_factory=dict)  # what has another name in the source
    flats: dict = field(default_factory=dict)  # an array's `.flat`: the array
    addresses: dict = field(default_factory=dict)  # an array's `.ctypes`: the array
    given: dict = field(default_factory=dict)  # a library's argument: the kernel's name

    def alias(self, view, array):
        """Report a view, or an element, by the name of its array."""
        self.aliases[view] = self.base(array)

    def base(self, array):
        """The array that an array is a part of, or itself."""
        return self.aliases.get(array, array)

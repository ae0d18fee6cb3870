"""Tables of what a random kernel can hold: each row is a feature with a weight."""

from typing import NamedTuple


class Row(NamedTuple):
    """A feature: its name, how often it is chosen, what it writes, and where."""

    name: str
    weight: float
    write: object  # a text with {kinds} in it, or a function of the writer
    plain: bool = False  # numba.njit gives the same for one thread
    when: object = None  # a question about the writer; None: always


class Table(list):
    """Rows of one kind, one of which is drawn by its weight."""

    def row(self, weight, plain=False, when=None):
        """Add the decorated function; its name is the feature's."""

        def add(function):
            name = function.__name__.strip("_").replace("_", " ")
            self.append(Row(name, weight, function, plain, when))
            return function

        return add

    def draw(self, writer):
        """A row that the writer may use now; it counts as a feature of the kernel."""
        rows = [row for row in self if writer.may_have(row)]
        (row,) = writer.random.choices(rows, [row.weight for row in rows])
        writer.features[row.name] += 1
        return row

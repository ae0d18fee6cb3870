"""How much a process that a submission runs in may use."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Limits:
    """The most of each; a process that wants more is ended with all that it started."""

    wall_s: float = 60.0
    cpu_s: int = 60
    cell_s: int = 20  # of computing in one cell: it is interrupted, the next one runs
    memory_bytes: int = 5 * 2**29  # of addresses, those of the warm parent too
    resident_bytes: int = 2**31  # of memory, of all its processes together
    sockets: int = 128  # each may hold some MB that no process shows
    signals: int = 1_024  # that wait, and timers: the user who grades has a number
    file_bytes: int = 2**24
    folder_bytes: int = 2**26
    files: int = 20_000  # in that folder; one without bytes takes memory as well
    processes: int = 48  # with their threads, of which a usual pool has 32
    handed_over_bytes: int = 2**22
    judged_s: int = 240  # for all answers of a submission together

    @property
    def cell_wall_s(self) -> int:
        """The seconds of one cell in all, those too in which it waits for its turn."""
        return 2 * self.cell_s

    def of_each(self, answers) -> "Limits":
        """The limits of one of so many answers: an even share, whatever others took."""
        share = min(self.wall_s, self.judged_s / max(answers, 1))
        return replace(self, wall_s=share, cpu_s=min(self.cpu_s, int(share) + 1))


# how a process ended, said of it
LATE, WORKED_LONG, KILLED = "ran out of time", "computed for too long", "was killed"
TOO_MUCH_MEMORY = "used too much memory"
NOTEBOOK_BYTES = 2**23  # with outputs
CODE_CHARACTERS = 2**19  # of all code cells
MOST_CELLS = 1_000
MOST_MESSAGES = MOST_CELLS + 1  # one of each cell, and one at the end
MOST_TIMEOUTS = 2  # times that a submission is tried which does not end in time
NOBODY = 65534  # the user whom a submission runs as

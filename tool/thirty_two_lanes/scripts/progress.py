"""Says on stderr, from time to time, which launch of a long program is under way."""

import sys
import time

PATIENCE = 2.0  # seconds without a word at the beginning
BETWEEN = {True: 1.0, False: 30.0}  # seconds, on a terminal and elsewhere
NAME = "thirty_two_lanes run: "
CLEAR = "\r\033[K"


class Progress:
    """A line that is written over on a terminal; elsewhere a line every half minute."""

    def __init__(self, stream=None, clock=time.monotonic):
        self.stream, self.clock = stream or sys.stderr, clock
        self.on_terminal = self.stream.isatty()
        self.next, self.launches, self.is_shown = clock() + PATIENCE, 0, False

    def __call__(self, ledger, entry):
        """A launch begins."""
        self.launches += 1
        if self.clock() < self.next:
            return
        self.next = self.clock() + BETWEEN[self.on_terminal]
        before, end = (CLEAR, "") if self.on_terminal else (NAME, "\n")
        line = f"{before}launch {self.launches:,}: {entry.kernel}"
        print(line, end=end, file=self.stream, flush=True)
        self.is_shown = True

    def clear(self):
        """Take the line away."""
        if self.is_shown and self.on_terminal:
            print(CLEAR, end="", file=self.stream, flush=True)
        self.is_shown = False

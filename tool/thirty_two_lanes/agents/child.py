"""The process of one call: reads a request on stdin, and keeps its answer in a file of
its folder, what is known so far before it is whole.

    python -m thirty_two_lanes.agents.child answer.json      in an empty folder
"""

import _thread
import json
import os
import signal
import sys
import threading
from pathlib import Path

from thirty_two_lanes.agents.allowance import fenced, limit
from thirty_two_lanes.agents.arguments import BadRequest
from thirty_two_lanes.agents.tasks import TASKS


class Keeper:
    """Keeps what is known in the answer's file, whatever happens next."""

    def __init__(self, file):
        self.file = Path(file).absolute()
        self.open_fence = lambda: None

    def __call__(self, answer):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(answer), encoding="utf-8")
        os.replace(new, self.file)  # so that it is never half an answer


def main():
    """Do what the request asks for, within its limits."""
    request = json.loads(sys.stdin.buffer.read())
    seconds, megabytes = request.pop("seconds"), request.pop("megabytes")
    task, keep = TASKS[request.pop("task")], Keeper(sys.argv[1])
    limit(megabytes, seconds)
    # a server in the background may have been told to ignore it, and so its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    clock = threading.Timer(seconds, _thread.interrupt_main)
    clock.daemon = True
    try:
        with fenced(os.getcwd()) as keep.open_fence:
            clock.start()
            answer = task(keep, **request)
        clock.cancel()
        if answer.get("stopped"):
            answer["stopped"] = f"ended after {seconds:g} seconds: {answer['stopped']}"
    except BadRequest as error:
        answer = {"refused": str(error)}
    except MemoryError:
        answer = {"refused": f"it needs more than {megabytes:,} MB: use smaller arrays"}
    except KeyboardInterrupt:
        answer = {"refused": f"not done after {seconds:g} seconds: use less data"}
    clock.cancel()
    keep(answer)


if __name__ == "__main__":
    main()

"""Do the kernels that the emulator stops, since they would wait for ever, hang a GPU?

    python -m tests.on_gpu.hangs [two_barriers_in_a_warp ...]

Each of the zoo's runs in a process of its own, which is ended after a while. One that
ends by itself, `two_barriers`, comes first: it says that this is long enough.
"""

import sys
from datetime import date

from tests.on_gpu.gpu_runs import child, launch, read, run, write
from tests.paths import RECORDED
from tests.specimens.zoo_cases import ZOO

COMMAND = "python -m tests.on_gpu.hangs"
FILE = RECORDED / "hangs.json"
SECONDS = 20
CONTROL = "two_barriers"
CASES = {case.name: case for case in ZOO if case.hangs or case.name == CONTROL}


def main(arguments):
    """Ask the GPU, and write what it says; or, in a child, run one kernel."""
    from helpers import device
    from helpers.measuring.timing import versions

    if not device.has_gpu:
        sys.exit("this needs an NVIDIA GPU")
    if arguments[:1] == ["--launch"]:
        return launch(CASES[arguments[1]])
    about = {"command": COMMAND, "gpu": device.name, "versions": versions()}
    about |= {"date": date.today().isoformat(), "seconds": SECONDS}
    found = read(FILE).get("kernels", {})
    for name in (CONTROL, *(arguments or CASES.keys() - {CONTROL})):
        found[name] = {"digest": CASES[name].digest, "ended": outcome(name)}
        print(f"{name}: {found[name]['ended']}", flush=True)
        write(FILE, about | {"kernels": found})


def outcome(name):
    """How a kernel ended: "by itself", "not" within the time, or by which error."""
    status, said = run(child(__spec__.name, "--launch", name), SECONDS)
    last = said.strip().splitlines()[-1:] or [f"status {status}"]
    return {0: "by itself", "timeout": "not"}.get(status, last[0])


def recorded():
    """How each kernel ended; nothing of one that has changed since."""
    kernels = read(FILE).get("kernels", {})
    return {
        name: it["ended"]
        for name, it in kernels.items()
        if name in CASES and it["digest"] == CASES[name].digest
    }


if __name__ == "__main__":
    main(sys.argv[1:])

"""What a GPU makes of arguments that are not of the types that a signature declares.

    python -m tests.on_gpu.declared_signatures

Each case runs in a process of its own, since some end the GPU's context, or the
process. Writes to `tests/recorded/` the bytes of the arrays after the launch, or the
error; the tests compare the emulator with it.
"""

import json
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import cuda

from tests.on_gpu.signature_cases import CASES
from tests.paths import RECORDED, ROOT

COMMAND = "python -m tests.on_gpu.declared_signatures"
FILE = RECORDED / "declared_signatures.json"
AT_ONCE = 8  # processes
SECONDS = 120  # that one may take


def main():
    """Ask the GPU, and write what it says."""
    from datetime import date

    from helpers import device
    from helpers.measuring.timing import versions

    if not device.has_gpu:
        sys.exit("this needs an NVIDIA GPU")
    about = {"command": COMMAND, "gpu": device.name, "versions": versions()}
    about["date"] = date.today().isoformat()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(CASES, pool.map(asked, CASES), strict=True))
    text = json.dumps(about | {"answers": answers}, indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")
    for name, found in answers.items():
        print(f"{name:44} {found}")


def recorded():
    """What a GPU gave, by the names of the cases."""
    return json.loads(FILE.read_text("utf-8"))["answers"]


def asked(name):
    """What a process of its own says of a case, or how it ended."""
    command = [sys.executable, "-m", "tests.on_gpu.declared_signatures", name]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"not after {SECONDS} seconds"}
    if not done.stdout.strip():
        return {"ended": done.returncode, "said": done.stderr.strip()[-200:]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def answer(case):
    """What a launch leaves in its arrays, as hexadecimal bytes, or its error."""
    kernel = case.kernel()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for arguments in case.before:
                kernel[1, 32](*arguments)
            arguments = case.arguments()
            kernel[1, 32](*arguments)
            cuda.synchronize()
            found = {"arrays": [shown(argument) for argument in arguments]}
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), "")
        return {"error": type(error).__name__, "text": first}
    if case.signature is None:
        found["compiled"] = [str(types[0]) for types in kernel.overloads]
    return found


def shown(argument):
    """The bytes of an array, those that are its own alone; None for what is none."""
    if cuda.is_cuda_array(argument):
        contiguous = argument.is_c_contiguous()
        return argument.copy_to_host().tobytes().hex() if contiguous else None
    return argument.tobytes().hex() if isinstance(argument, np.ndarray) else None


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(answer(CASES[sys.argv[1]])))
    else:
        main()

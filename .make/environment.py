"""Make `.venv` and install the pinned packages into it: `make setup`.

Runs before anything is installed: standard library only, and nothing newer than
Python 3.6, so that an old `python3` can say what is needed instead.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from driver import cuda_series

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "ready.txt"  # written last: the fingerprint of what was installed
LOG = VENV / "setup.log"
OLDEST, NEWEST = (3, 11), (3, 14)  # the Pythons that Numba 0.68 was tested with

# pip's words for a connection that was tried for the last time
NO_ANSWER = re.compile(r"Retry\(total=0|Max retries exceeded")

NO_PYTHON = """\
Python {}.{} to {}.{} is needed; `python3` here is {}.{}, and no other was found.
  Debian, Ubuntu   sudo apt install python3.11 python3.11-venv
  macOS            brew install python@3.13
  elsewhere        python.org, or conda (see README.md)
Then run the same command again: it looks for python3.11 to python3.14 too."""

NO_VENV = """\
{0} cannot make virtual environments: a part of Python is missing.
  Debian, Ubuntu   sudo apt install {1}-venv
  elsewhere        install Python from python.org, or use conda (see README.md)
Then run the same command again."""

NO_WRITING = """\
Nothing can be written in this folder, {}.
Copy the course to one where you may write, and run the same command there."""

NO_NETWORK = """\
The package index does not answer, or there is no network. What pip says:

{}

If you need a proxy, set HTTPS_PROXY; if you have an index of your own, PIP_INDEX_URL.
Then run the same command again: what has been downloaded is kept."""

NO_INSTALL = """\
The packages could not be installed. The last lines from pip:

{}

Its full output is in .venv/setup.log. If the network was the cause, run the same
command again: what has been downloaded is kept."""


def main(cuda="auto"):
    """Update `.venv` to match the locks, where it does not."""
    locks = chosen_locks(cuda)
    if not is_ready(locks):
        if not os.access(str(ROOT), os.W_OK):
            sys.exit(NO_WRITING.format(ROOT))
        make_venv()
        install(locks)
    print("Ready: .venv, Python {}.{}, {}.".format(*venv_version(), purpose(locks)))


def chosen_locks(cuda):
    """The lock files to install from, in order: the course, then the compiler alone,
    or with it the libraries for a GPU.
    """
    series = cuda_series() if cuda == "auto" else cuda
    if series not in ("13", "12", "none"):
        sys.exit(f"CUDA={series} is not supported: use 13, 12 or none.")
    second = "compiler" if series == "none" else f"cu{series}"
    return [ROOT / "requirements.lock", ROOT / f"requirements-{second}.lock"]


def purpose(locks):
    """What the installed packages are for: a GPU, or the emulator alone."""
    if "compiler" in locks[1].name:
        return "no libraries for a GPU: kernels run in the emulator"
    return "with the libraries of CUDA " + re.findall(r"\d+", locks[1].name)[0]


def is_ready(locks):
    """Is everything installed already?"""
    return (
        PYTHON.exists()  # a link whose Python was removed does not exist
        and STAMP.exists()
        and STAMP.read_text() == fingerprint(locks)
    )


def fingerprint(locks):
    """A digest of all that decides what is installed, and where."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in locks + [ROOT / "pyproject.toml", ROOT / "tool" / "pyproject.toml"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make_venv():
    """Make `.venv`, unless there is one that works."""
    if PYTHON.exists() and OLDEST <= venv_version() <= NEWEST:
        return
    python = tried_python()
    if answers(python, "import ensurepip, venv") is None:
        sys.exit(NO_VENV.format(python, "python{}.{}".format(*version(python))))
    subprocess.check_call([python, "-m", "venv", "--clear", str(VENV)])


def tried_python():
    """A Python of a tested version: the one that runs this, or another on PATH."""
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    others = [shutil.which(f"python3.{minor}") for minor in minors]
    for python in [sys.executable] + others:
        if python and OLDEST <= version(python) <= NEWEST:
            return python
    sys.exit(NO_PYTHON.format(*OLDEST + NEWEST + sys.version_info[:2]))


def version(python):
    """The (major, minor) of an interpreter; (0, 0) when it does not start."""
    answer = answers(python, "import sys; print(*sys.version_info[:2])")
    return tuple(int(word) for word in answer.split()) if answer else (0, 0)


def venv_version():
    """The (major, minor) of `.venv`, read without starting it."""
    settings = (VENV / "pyvenv.cfg").read_text()
    found = re.search(r"^version\s*=\s*(\d+)\.(\d+)", settings, re.MULTILINE)
    return tuple(int(number) for number in found.groups())


def answers(python, code):
    """What an interpreter prints for a line of code; None when it fails."""
    done = subprocess.run(
        [python, "-c", code],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    )
    return None if done.returncode else done.stdout


def install(locks):
    """Install the locks and then the tool and the course, and note that it was done."""
    began = time.time()
    print(
        "Setting up .venv with Python {}.{}: about {} MB to download, kept by pip for"
        " the next time.".format(*venv_version(), sum(map(megabytes, locks)))
    )
    LOG.write_text("")
    if STAMP.exists():  # from here on nothing is whole until the end
        STAMP.unlink()
    for lock in locks:
        pip_install("--only-binary=:all:", "--require-hashes", "-r", str(lock))
    for folder in (ROOT / "tool", ROOT):
        pip_install("--no-deps", "--no-build-isolation", "--editable", str(folder))
    STAMP.write_text(fingerprint(locks))
    print(f"Installed in {time.time() - began:.0f} s.")


def megabytes(lock):
    """The size of a lock's download, from the line that `make lock` writes in it."""
    return int(re.search(r"about (\d+) MB", lock.read_text()).group(1))


def pip_install(*arguments):
    """Run pip, with its output on one line that changes; stop where it fails."""
    command = [str(PYTHON), "-m", "pip", "install", "--progress-bar=off"]
    settings = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pip = subprocess.Popen(
        command + list(arguments),
        env=dict(os.environ, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    with pip, LOG.open("a") as log:
        for line in pip.stdout:
            log.write(line)
            show(line.strip())
    show("")
    if pip.returncode:
        sys.exit(failure(LOG.read_text().strip().splitlines()))


def failure(lines):
    """What to tell of pip's output, of which most lines say nothing of the cause."""
    unanswered = [line for line in lines if NO_ANSWER.search(line)]
    errors = [line for line in lines if line.startswith("ERROR")]
    said = unanswered[-1:] or errors[-4:] or lines[-4:]
    text = "\n".join("  " + line for line in said)
    return (NO_NETWORK if unanswered else NO_INSTALL).format(text)


def show(line):
    """Replace the line that was shown before; only in a terminal."""
    if sys.stdout.isatty():
        print("\r\033[K" + line[:79], end="", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to continue.")

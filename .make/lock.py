"""Write the lock files from pyproject.toml: `make lock`.

requirements.lock holds every package of the two commands. The others hold only what is
added to it, or changed in it: by the compiler alone (requirements-compiler.lock), by
the libraries for a GPU (requirements-cu13.lock and requirements-cu12.lock), or by
`make site` (requirements-site.lock).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "# Written by `make lock`. On Linux with Python {}, about {} MB to download.\n"
ADDED = "# Adds to requirements.lock: install that first, or both at once.\n"
EXPORT = (
    "export --quiet --no-config --format=requirements-txt --no-header --no-annotate"
    " --no-emit-local --extra=test --group=build"
)


def main():
    """Resolve from scratch, in a folder without older locks."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "pyproject.toml", folder)
        shutil.copytree(ROOT / "tool", Path(folder, "tool"))
        course = pins(folder)
        write("requirements.lock", course)
        for extra in ("compiler", "cu13", "cu12", "site"):
            with_extra = pins(folder, f"--extra={extra}")
            added = [pin for pin in with_extra if pin not in course]
            name = f"requirements-{extra}.lock"
            write(name, added, "--no-deps", head=HEADER + ADDED)


def pins(folder, *options):
    """The pinned requirements, each with its hashes."""
    uv = [sys.executable, "-m", "uv", *EXPORT.split(), *options]
    pipe = {"stdout": subprocess.PIPE, "text": True}
    result = subprocess.run(uv, cwd=folder, check=True, **pipe)
    return result.stdout.replace("\n    ", "\0").splitlines(keepends=True)


def write(name, pins, *options, head=HEADER):
    """Write a lock, then download what it lists to note the size in it."""
    lock = ROOT / name
    text = "".join(pins).replace("\0", "\n    ")
    lock.write_text(text)
    minor = "{}.{}".format(*sys.version_info)
    lock.write_text(head.format(minor, megabytes(lock, *options)) + text)
    print(f"{name}: {len(pins)} packages")


def megabytes(lock, *options):
    """The size of a lock's download on this platform."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", *options]
        pip += ["--only-binary=:all:", "--require-hashes", "-r", lock, "-d", folder]
        subprocess.run(pip, check=True)
        return round(sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6)


if __name__ == "__main__":
    main()

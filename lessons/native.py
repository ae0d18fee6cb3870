"""The ladders' sources in CUDA C++ as libraries, compiled by nvcc."""

import ctypes
import os
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

FOLDER = "LADDERS_LIBRARIES"    # where processes find those that are compiled


@cache
def built(source):
    """A source as a library that is loaded; compiled, if it is not there yet."""
    file = Path(os.environ.get(FOLDER) or tempfile.mkdtemp(), f"{source.stem}.so")
    if not file.exists():
        options = "-O3", "-std=c++17", "-arch=native", "-shared", "-Xcompiler", "-fPIC"
        subprocess.run(["nvcc", *options, "-o", str(file), str(source)], check=True)
    return ctypes.CDLL(str(file))


@contextmanager
def compiled(sources):
    """Meanwhile, processes that begin find these sources compiled."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        for source in sources:
            built(source)
        yield
        del os.environ[FOLDER]

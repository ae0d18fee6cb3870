"""What each kind of finding means: meanings.toml."""

import tomllib
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")
PREAMBLE = "import numpy as np\nfrom numba import cuda, float32, int32\n\n\n"


@cache
def meanings() -> dict:
    """Of each kind: what it `means`, `why` it is wrong or slow, how to `mend` it, and
    programs that have it (`wrong`) and do not (`mended`), without their imports.
    """
    return tomllib.loads(FILE.read_text(encoding="utf-8"))

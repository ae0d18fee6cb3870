"""Pages that play by themselves: their scripts, and what they play, packed as text."""

import gzip
from base64 import b64encode
from importlib.resources import files

UNPACKED = "unpacked.js"  # what unpacks it on the page


def packed(text) -> str:
    """A text in gzip and base64: the same text always gives the same."""
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def bare(package, name) -> str:
    """A file of a package, without comments and indents."""
    text = files(package).joinpath(name).read_text("utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(it for it in lines if it and not it.startswith("//"))


def starter(package, name) -> str:
    """A script that may call `unpacked`, in a function of its own."""
    code = bare(__package__, UNPACKED) + "\n" + bare(package, name)
    return f"<script>(() => {{\n{code}\n}})();</script>"

"""The reference of the front door: what `from helpers import ...` gives, from its own
docstrings.
"""

import inspect

HEAD = """\
# What helpers gives

`from helpers import ...` gives a lesson these names, and no others.
The words are those of `help(name)` in a notebook.
"""


def reference() -> str:
    """The page, in Markdown."""
    import helpers

    return "\n".join(
        [
            HEAD,
            *(entry(name, getattr(helpers, name)) for name in helpers.__all__),
        ]
    )


def entry(name, value) -> str:
    """A name, how it is called, and what it does."""
    value_of = (
        getattr(value, "py_func", None)
        or getattr(value, "_defn", None)
        or value
    )
    text = inspect.getdoc(value_of) or ""
    return f"## {name}\n\n{signature(name, value_of)}{text}\n"


def signature(name, value) -> str:
    """How a function is called, as a piece of code; nothing for what is none."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ""
    shown = [it for it in parameters if it.name not in ("typingctx", "self")]
    inside = str(inspect.Signature(shown))
    return f"```python\n{name}{inside}\n```\n\n"

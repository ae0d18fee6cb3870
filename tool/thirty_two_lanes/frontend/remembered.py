"""What Numba finds out anew for each kernel although nothing has changed, as stand-ins
for its own functions: a quarter of the time that a kernel's analysis takes.
"""

from numba.core.types import BaseFunction
from numba.cuda.descriptor import cuda_target

CONTEXTS = type(cuda_target.typing_context), type(cuda_target.target_context)
_sizes = {}  # of a context's registries, when it was refreshed last


def stand_ins():
    """Each an owner, a name and an object."""
    yield BaseFunction, "get_call_type", _call_type(BaseFunction.get_call_type)
    for context in CONTEXTS:
        yield context, "refresh", _refresh(context.refresh)


def _refresh(anew):
    """Read Numba's registries where one of them has grown: it reads all of them before
    each kernel, and for each intrinsic that a kernel calls.
    """

    def refresh(context):
        which = id(context._registries)  # copies of a context share them
        if _sizes.get(which) != _sizes_of(context):
            anew(context)
            _sizes[which] = _sizes_of(context)

    return refresh


def _sizes_of(context):
    """Of each registry that a context has read, and its typing context, which is
    refreshed with it: registries are only ever added to.
    """
    typing = getattr(context, "typing_context", context)
    return [
        len(getattr(registry, name))
        for registries in (context._registries, typing._registries)
        for registry, loader in registries.items()
        for name in loader.registry_items
    ]


def _call_type(anew):
    """Type a call as an equal one before: an operator tries dozens of templates."""

    def get_call_type(function, context, args, kws):
        key = context, tuple(args), tuple(kws.items())
        known = vars(function).setdefault("_typed_calls", {})
        if key not in known:
            signature = anew(function, context, args, kws)
            if not _lasts(function, signature):
                return signature
            known[key] = signature
        return known[key]

    return get_call_type


def _lasts(function, signature):
    """Is it typed by a table and not by a function in Python, which is compiled each
    time?
    """
    chosen = function._impl_keys[signature.args]
    compiled = any(hasattr(it, "_compiled_overloads") for it in function.templates)
    return chosen is function.typing_key or not compiled

"""Where a thread is in its block, or a block in the grid, as a report names it."""


def coordinates(number, sizes) -> str:
    """`7`, or `(7, 1)` where the launch has several axes; x varies fastest."""
    axes = max((axis + 1 for axis, size in enumerate(sizes) if size > 1), default=1)
    parts = []
    for size in sizes[:axes]:
        number, part = divmod(int(number), int(size))
        parts.append(part)
    return str(parts[0]) if axes == 1 else str(tuple(parts))

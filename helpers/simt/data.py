"""A run as plain numbers and texts, as JSON has them, for graders and the like."""

TABLES = ("coalescing", "bank_conflicts", "local_memory", "divergence", "operations")


def as_data(run) -> dict:
    """Sums and lines of each table, traffic by argument, and what was found."""
    return {
        "kernel": run.kernel,
        "blocks": run.blocks,
        "threads_per_block": run.threads_per_block,
        **{name: _table(getattr(run, name)) for name in TABLES},
        "reuse": {name: _traffic(traffic) for name, traffic in run.reuse.items()},
        "races": [_race(race) for race in run.races],
        "minor_races": [_race(race) for race in run.races.minor],
        "uninitialised": [
            _place(found.site)
            | {"array": found.array, "space": found.space, "count": found.count}
            for found in run.uninitialised
        ],
        "warnings": [
            _place(warning.site)
            | {"kind": warning.kind, "text": warning.text, "note": warning.note}
            for warning in run.warnings
        ],
    }


def _table(table):
    lines = [_place(site) | _numbers(row) for site, row in table.by_line.items()]
    return _numbers(table) | {"lines": lines}


def _numbers(row):
    words = ("kind", "array")
    return {n: v for n, v in vars(row).items() if isinstance(v, int) or n in words}


def _place(site):
    return {"file": site.file, "line": site.line, "text": site.text}


def _traffic(traffic):
    names = ("bytes_asked", "bytes_moved", "bytes_distinct", "bytes_stored", "reuse")
    return {name: getattr(traffic, name) for name in names}


def _race(race):
    names = (
        *("kind", "space", "scope", "array", "hazards", "exact", "same_value"),
        *("cell", "first_thread", "second_thread", "remedy"),
    )
    lines = {"first": _place(race.first), "second": _place(race.second)}
    return {name: getattr(race, name) for name in names} | lines

"""A run as plain data: dictionaries, lists, numbers and texts, which JSON can hold."""

TABLES = ("coalescing", "bank_conflicts", "local_memory", "divergence", "operations")
RACE = (
    *("kind", "space", "scope", "array", "first", "second", "hazards", "cell"),
    *("first_thread", "second_thread", "remedy", "first_kind", "second_kind"),
    *("same_value", "exact"),
)
TRAFFIC = ("bytes_asked", "bytes_moved", "bytes_distinct", "bytes_stored", "reuse")


def as_dict(run) -> dict:
    """All tables and findings of a run."""
    return {
        "kernel": run.kernel,
        "blocks": run.blocks,
        "threads_per_block": run.threads_per_block,
        **{name: _table(getattr(run, name)) for name in TABLES},
        "reuse": {name: _values(it, TRAFFIC) for name, it in run.reuse.items()},
        "waits": vars(run.waits),
        "balance": vars(run.balance),
        "barriers": [_named(it) for it in run.barriers],
        "lanes": [_named(it) for it in run.lanes],
        "uninitialised": [_named(it) for it in run.uninitialised],
        "warnings": [_named(it) for it in run.warnings],
        "races": [_values(it, RACE) for it in run.races],
        "minor_races": [_values(it, RACE) for it in run.races.minor],
    }


def _table(table):
    """The sums of a table, and its rows with their places."""
    by_line = [{**_site(site), **_row(row)} for site, row in table.by_line.items()]
    return {**_row(table), "by_line": by_line}


def _row(row):
    """A row's own numbers and texts, with the shares that they make."""
    values = {k: v for k, v in vars(row).items() if k not in ("by_line", "by_kind")}
    for share in ("active_share", "active_of_present"):
        if hasattr(row, share):
            values[share] = getattr(row, share)
    return {name: _plain(value) for name, value in values.items()}


def _values(record, names):
    """Some attributes of a record, by their names."""
    return {name: _plain(getattr(record, name)) for name in names}


def _named(record):
    """A finding's fields by their names, its site's first."""
    fields = record._asdict()
    site = _site(fields.pop("site"))
    return {**site, **{k: _plain(v) for k, v in fields.items()}}


def _site(site):
    """A site's place and text; its kind and array are in the row."""
    names = ("file", "line", "called_from", "text")
    return {name: getattr(site, name) for name in names}


def _plain(value):
    if hasattr(value, "called_from"):
        return _site(value)
    if isinstance(value, tuple):
        return list(value)
    return value.item() if hasattr(value, "item") else value

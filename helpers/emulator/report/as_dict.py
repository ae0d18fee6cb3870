"""A run as plain data: dictionaries, lists, numbers and texts, which JSON can hold."""

from dataclasses import is_dataclass

TABLES = ("coalescing", "bank_conflicts", "local_memory", "divergence", "operations")
TRAFFIC = ("bytes_asked", "bytes_moved", "bytes_distinct", "bytes_stored", "reuse")


def as_dict(run) -> dict:
    """All tables and findings of a run."""
    return {
        "kernel": run.kernel,
        "blocks": run.blocks,
        "threads_per_block": run.threads_per_block,
        **{name: _table(getattr(run, name)) for name in TABLES},
        "reuse": {name: _traffic(it) for name, it in run.reuse.items()},
        "uninitialised": [_named(it) for it in run.uninitialised],
        "warnings": [_named(it) for it in run.warnings],
        "races": [_named(it) for it in run.races],
        "minor_races": [_named(it) for it in run.races.minor],
    }


def _table(table):
    """The sums of a table, and its rows with their places."""
    by_line = [{**_site(site), **_row(row)} for site, row in table.by_line.items()]
    return {**_row(table), "by_line": by_line}


def _row(row):
    """A row's own numbers and texts, with the share that they make."""
    values = {k: v for k, v in vars(row).items() if k not in ("by_line", "by_kind")}
    if hasattr(row, "active_share"):
        values["active_share"] = row.active_share
    return {name: _plain(value) for name, value in values.items()}


def _traffic(traffic):
    return {name: _plain(getattr(traffic, name)) for name in TRAFFIC}


def _named(record):
    """A finding's fields by their names; a named tuple's or a dataclass's."""
    if is_dataclass(record):
        return {k: _plain(v) for k, v in vars(record).items()}
    fields = record._asdict() if hasattr(record, "_asdict") else vars(record)
    site = _site(fields["site"])
    return {**site, **{k: _plain(v) for k, v in fields.items() if k != "site"}}


def _site(site):
    """A site's place and text; its kind and array are in the row."""
    names = ("file", "line", "called_from", "text")
    return {name: getattr(site, name) for name in names}


def _plain(value):
    if hasattr(value, "called_from"):
        return _site(value)
    return value.item() if hasattr(value, "item") else value
